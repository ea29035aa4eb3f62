# SPDX-License-Identifier: GPL-2.0
"""Kernels are built once, and rebuilt when they must be."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_kernel import pack
from heard import Heard
from kernel_lab import ALL, Lab

from fastlab.base.model import FastError
from fastlab.kernel import kconfig, kernels, patches, sources
from fastlab.kernel.catalogue import load_catalogue, patch_folder
from fastlab.kernel.kernels import Places


def test_both_variants_are_built_and_compared(lab: Lab) -> None:
    heard = Heard()
    baseline, fast = lab.build(heard=heard)
    assert (baseline.series, baseline.variant, fast.variant) == ("6.12", "baseline", "fast")
    for kernel in (baseline, fast):
        directory = lab.places.cache / "builds" / kernel.id
        assert Path(kernel.vmlinux) == directory / "vmlinux"
        assert Path(kernel.system_map).read_text() == "symbols\n"
        assert "  LD      vmlinux\n" in (directory / "build.log").read_text()
    assert b"CONFIG_SCHED_FAST=y" in Path(fast.vmlinux).read_bytes()
    assert b"SCHED_FAST" not in Path(baseline.vmlinux).read_bytes()
    assert "configuration, baseline -> fast:\n  CONFIG_SCHED_FAST: n -> y" in heard.text


def test_one_variant_alone_is_compared_with_an_earlier_build(lab: Lab) -> None:
    lab.build("baseline")
    heard = Heard()
    lab.build("fast", heard=heard)
    assert "CONFIG_SCHED_FAST: n -> y" in heard.text


def test_a_kernel_that_is_reused_is_the_one_that_is_compared(lab: Lab) -> None:
    fragment = lab.fragments / "fast.config"
    before = fragment.read_text()
    lab.build()
    fragment.write_text(f"{before}CONFIG_DEBUG=y\n")
    heard = Heard()
    lab.build(heard=heard)
    assert "CONFIG_DEBUG: n -> y" in heard.text
    fragment.write_text(before)
    heard = Heard()
    lab.build(heard=heard)
    assert "CONFIG_SCHED_FAST: n -> y" in heard.text and "DEBUG" not in heard.text


def test_an_unchanged_kernel_is_reused(lab: Lab) -> None:
    first = lab.build("fast")
    heard = Heard()
    assert lab.build("fast", heard=heard) == first
    assert heard.objects == []
    assert f"{first[0].id} is built already" in heard.said


def test_a_variant_has_the_patches_that_it_lists(lab: Lab) -> None:
    lab.build()
    trees = lab.places.cache / "trees"
    for name, fork, fast in (("baseline", 1, False), ("fast", 2, True)):
        source = trees / f"6.12-{name}/source"
        assert (source / "kernel/fork.c").read_text() == f"int fork = {fork};\n"
        assert (source / "kernel/fast.c").is_file() == fast


def test_a_series_without_the_patches_of_a_variant_does_not_have_it(lab: Lab) -> None:
    path = lab.fragments / "kernels.toml"
    path.write_text(path.read_text().replace("patches = []", 'patches = ["none"]'))
    said = lab.error("baseline")
    assert "series 6.12 has no variant 'baseline': there is no " in said
    assert "/Kbuild/patches/6.12/none/series, which would list its patches" in said
    assert said.endswith("; its variants: fast")
    assert [kernel.variant for kernel in lab.build()] == ["fast"]
    heard = Heard()
    kernels.list_kernels(lab.places, heard)
    assert "6.12 fast" in heard.said and "6.12 baseline" not in heard.said
    (lab.patches / "series").unlink()
    assert lab.error("fast").endswith("its variants: none")


def test_fragments_of_a_series_win_over_those_of_a_variant(lab: Lab) -> None:
    before = lab.build("fast")[0].id
    path = lab.fragments / "kernels.toml"
    path.write_text(path.read_text().replace("fragments = []", 'fragments = ["series"]'))
    (lab.fragments / "series.config").write_text("# CONFIG_FUTEX is not set\nCONFIG_TINY=y\n")
    (kernel,) = lab.build("fast")
    assert kernel.id != before
    config = kconfig.read(Path(kernel.vmlinux).with_name(".config"))
    assert (config["FUTEX"], config["TINY"], config["SCHED_FAST"]) == ("n", "y", "y")
    # And those that are asked for win over both.
    (lab.fragments / "debug-locking.config").write_text("CONFIG_FUTEX=y\n")
    (kernel,) = lab.build("fast", fragments=("debug-locking",))
    assert kconfig.read(Path(kernel.vmlinux).with_name(".config"))["FUTEX"] == "y"


def new_source(lab: Lab) -> None:
    (lab.source / "kernel/futex.c").write_text("int futex = 2;\n")
    lab.repack()


def new_patch(lab: Lab) -> None:
    patch = lab.patches / "0001-fast.patch"
    patch.write_text(patch.read_text().replace("int fast = 1", "int fast = 2"))


def new_config(lab: Lab) -> None:
    with (lab.fragments / "base.config").open("a") as fragment:
        fragment.write("CONFIG_DEBUG=y\n")


def new_simulator_patch(lab: Lab) -> None:
    patch = lab.fragments / "patches/6.12/simulator/0001-fork.patch"
    patch.write_text(patch.read_text().replace("int fork = 2", "int fork = 3"))


def no_patched_file(lab: Lab) -> None:
    patch = lab.patches / "0001-fast.patch"
    patch.write_text(patch.read_text().partition("diff --git a/kernel/fast.c")[0])


@pytest.mark.parametrize(
    ("change", "compiled"),
    [
        (new_source, ["kernel/futex.o"]),
        (new_patch, ["kernel/fast.o"]),
        (new_simulator_patch, ["kernel/fork.o"]),
        (new_config, ["kernel/fast.o", *ALL]),
        (no_patched_file, []),
    ],
)
def test_a_change_makes_a_new_kernel_of_just_what_it_touches(
    lab: Lab, change: Callable[[Lab], None], compiled: list[str]
) -> None:
    first = lab.build("fast")
    before = Path(first[0].vmlinux).read_bytes()
    change(lab)
    assert lab.compiled("fast") == compiled
    second = lab.build("fast")
    assert second != first
    assert Path(second[0].vmlinux).read_bytes() != before
    assert Path(first[0].vmlinux).read_bytes() == before


def test_a_change_taken_back_finds_the_first_kernel_and_its_content(lab: Lab) -> None:
    patch = (lab.patches / "0001-fast.patch").read_text()
    first = lab.build("fast")
    new_patch(lab)
    lab.build("fast")
    (lab.patches / "0001-fast.patch").write_text(patch)
    assert lab.build("fast") == first
    # Built once more from the tree that went there and back, it is the same to the byte.
    vmlinux = Path(first[0].vmlinux).read_bytes()
    shutil.rmtree(lab.places.cache / "builds")
    assert lab.compiled("fast") == ["kernel/fast.o"]
    assert Path(first[0].vmlinux).read_bytes() == vmlinux


def test_another_compiler_makes_another_kernel(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lab.build("baseline")
    real, wrapper = shutil.which("gcc"), lab.root / "bin/gcc"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "gcc 99" && exit\nexec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    assert lab.build("baseline")[0].id != first[0].id


def test_the_environment_does_not_leak_into_the_kernel(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Path(lab.build("baseline")[0].vmlinux).read_bytes()
    for name in ("ARCH", "KCFLAGS", "KBUILD_OUTPUT", "KBUILD_BUILD_USER"):
        monkeypatch.setenv(name, "leak")
    shutil.rmtree(lab.places.cache)
    second = Path(lab.build("baseline")[0].vmlinux).read_bytes()
    assert first == second
    assert b"KBUILD_BUILD_USER=fast\n" in second


def test_a_fragment_makes_a_kernel_of_its_own(lab: Lab) -> None:
    plain, debug = lab.build("fast"), lab.build("fast", fragments=("debug-locking",))
    assert debug[0].id.startswith("6.12-fast+debug-locking-")
    assert b"CONFIG_DEBUG=y" in Path(debug[0].vmlinux).read_bytes()
    assert lab.build("fast") == plain


def test_a_project_whose_path_has_a_space(lab: Lab) -> None:
    first = lab.build("fast")
    project = lab.root / "a project"
    lab.places.project.rename(project)
    moved = Places(project, lab.places.cache)
    assert lab.build("fast", places=moved) == first
    shutil.rmtree(lab.places.cache)
    assert lab.build("fast", places=moved) == first
    assert b"CONFIG_SCHED_FAST=y" in Path(first[0].vmlinux).read_bytes()


def test_the_users_own_directory_is_built_and_not_written_to(lab: Lab) -> None:
    (lab.source / ".git").mkdir()
    (lab.source / ".git/HEAD").write_text("ref\n")
    before = sorted(lab.source.rglob("*"))
    first = lab.build("fast", source=lab.source)
    assert sorted(lab.source.rglob("*")) == before
    (lab.source / ".git/HEAD").write_text("other\n")
    assert lab.build("fast", source=lab.source) == first
    kept = lab.places.cache / "trees/6.12-fast/source/kernel/fork.c"
    with (lab.source / "kernel/fork.c").open("a") as file:  # in place, as some editors save
        file.write("int more;\n")
    assert "more" not in kept.read_text()
    assert lab.compiled("fast", source=lab.source) == ["kernel/fork.o"]
    assert "more" in kept.read_text()


@pytest.mark.parametrize("name", ["futex", "fork"])  # one that no patch touches, and one of a patch
def test_a_directory_that_changes_meanwhile_makes_no_kernel(
    name: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, unpack = lab.source / f"kernel/{name}.c", sources.unpack
    before = file.read_text()

    def edit(*arguments: Any) -> Path:
        file.write_text(f"{before}int more;\n")
        return unpack(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(sources, "unpack", edit)
        text = lab.error("fast", source=lab.source)
    assert text == f"{lab.source} was changed while it was being read; run this again"
    assert lab.builds() == []
    lab.build("fast", source=lab.source)
    file.write_text(before)
    (kernel,) = lab.build("fast", source=lab.source)
    assert "more" not in (lab.places.cache / f"trees/6.12-fast/source/kernel/{name}.c").read_text()
    assert kernel.id in lab.builds()


def test_the_users_own_tarball_is_built(lab: Lab) -> None:
    (lab.source / "kernel/fork.c").write_text("int fork = 3;\n")
    mine = pack(lab.source, lab.root / "mine.tar.xz")
    assert lab.build("baseline", source=mine) != lab.build("baseline")


def test_progress_counts_objects_against_the_last_whole_build(lab: Lab) -> None:
    heard = Heard()
    (kernel,) = lab.build("fast", heard=heard)
    task = f"building {kernel.id}"
    # kernels.toml says about 3 objects; the fourth shows that there are more.
    assert heard.steps == [(f"start {task}", 3), (f"start {task}", 4), (f"finish {task}", 0)]
    new_config(lab)
    again = Heard()
    (kernel,) = lab.build("fast", heard=again)
    assert again.steps[0] == (f"start building {kernel.id}", 4)


def test_an_empty_count_of_objects_is_none(lab: Lab) -> None:
    lab.build("fast")
    (lab.places.cache / "trees/6.12-fast/objects-count").write_text("")
    new_config(lab)
    heard = Heard()
    (kernel,) = lab.build("fast", heard=heard)
    assert heard.steps[0] == (f"start building {kernel.id}", 3)


def test_a_symbol_that_does_not_stay_is_named_with_its_fragment(lab: Lab) -> None:
    (lab.fragments / "fast.config").write_text("CONFIG_SCHED_FAST=y\nCONFIG_NONE=y\n")
    assert "CONFIG_NONE=y of fast.config: the configuration has n" in lab.error("fast")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"series": "6.99"}, "no kernel series '6.99'; known: 6.12"),
        ({"variants": ("slow",)}, "no variant 'slow'; known: baseline, fast"),
        ({"fragments": ("nope",)}, "no configuration fragment 'nope' in "),
        ({"source": Path("/nonexistent")}, "/nonexistent: there is no kernel source"),
    ],
)
def test_what_is_not_there_is_named(lab: Lab, options: dict[str, object], said: str) -> None:
    assert said in lab.error(**options)  # type: ignore[arg-type]


def test_list_tells_what_is_built_and_where(lab: Lab) -> None:
    (kernel,) = lab.build("fast", fragments=("debug-locking",))
    heard = Heard()
    kernels.list_kernels(lab.places, heard)
    assert heard.said == [
        "6.12 baseline",
        "  not built",
        "6.12 fast",
        f"  Linux 6.12.117 with debug-locking: {lab.places.cache}/builds/{kernel.id}",
    ]


def test_the_projects_own_catalogue_and_fragments_are_well_formed() -> None:
    project = Places().project
    catalogue = load_catalogue(project)
    assert catalogue.pick_series(None).name == "6.12"
    for series in catalogue.series.values():
        for entry in catalogue.pick_variants(series, ()):
            for name in entry.patches:
                assert patches.read_series(patch_folder(project, series.name, name))
    entries = (*catalogue.variants.values(), *catalogue.series.values())
    names = {name for entry in entries for name in entry.fragments}
    for name in {*names, "debug-locking", "debug-kcsan", "shell", "release", "deb"}:
        assert kconfig.read(project / f"Kbuild/{name}.config")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('sha256 = "0"', "", "the key 'sha256' is missing"),
        ("primary = true", "primary = false", "exactly one series must be primary"),
        ("objects = 3", 'objects = "many"', "invalid literal"),
        ("objects = 3", "objects =", "Invalid value"),
        ('debian_suite = ""', "", "the key 'debian_suite' is missing"),
        ("fragments = []", 'fragments = "base"', "fragments must be a list of names"),
        ("patches = []", "patches = true", "patches must be a list of names"),
        ("patches = []", "patches = [1]", "patches must be a list of names"),
        ("patches = []", "", "the key 'patches' is missing"),
    ],
)
def test_a_bad_catalogue_says_where(lab: Lab, old: str, new: str, said: str) -> None:
    path = lab.fragments / "kernels.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FastError, match=f"kernels.toml: .*{said}"):
        load_catalogue(lab.places.project)
