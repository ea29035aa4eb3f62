# SPDX-License-Identifier: GPL-2.0
"""Kernels are built once, rebuilt when they must be, and never taken half-made."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fake_kernel import Heard, bin_without, make_project, make_source, pack

from fastlab.base import cache
from fastlab.base.model import FastError, Kernel
from fastlab.kernel import kconfig, kernels, patches
from fastlab.kernel.catalogue import load_catalogue, patch_folder
from fastlab.kernel.kernels import BuildRequest, DebRequest, Places


class Lab:
    """A project, a source tarball and a cache, all of the test's own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = make_source(root / "linux-source-6.12")
        self.tarball = pack(self.source, root / "linux-source-6.12.tar.xz")
        self.places = Places(make_project(root / "project", self.tarball), root / "cache")
        self.patches = self.places.project / "kernel-patches/6.12"
        self.fragments = self.places.project / "Kbuild"

    def build(
        self, *variants: str, heard: Heard | None = None, **options: object
    ) -> tuple[Kernel, ...]:
        request = BuildRequest(variants=variants, places=self.places)
        return kernels.build(replace(request, **options), heard or Heard())  # type: ignore[arg-type]

    def compiled(self, *variants: str, **options: object) -> list[str]:
        """Build, and tell the objects that were compiled."""
        heard = Heard()
        self.build(*variants, heard=heard, **options)
        return sorted(heard.objects)

    def error(self, *variants: str, **options: object) -> str:
        with pytest.raises(FastError) as error:
            self.build(*variants, **options)
        return str(error.value)

    def repack(self) -> None:
        pack(self.source, self.tarball)

    def builds(self) -> list[str]:
        return sorted(path.name for path in self.places.cache.glob("builds/*"))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    return Lab(tmp_path)


ALL = ["kernel/fork.o", "kernel/futex.o", "kernel/sched.o"]


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


def test_patches_that_are_not_there_are_named(lab: Lab) -> None:
    path = lab.fragments / "kernels.toml"
    path.write_text(path.read_text().replace("patches = []", 'patches = ["none"]'))
    assert "Kbuild/patches/6.12/none/series is missing" in lab.error("baseline")


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


def test_a_compile_error_is_quoted_with_file_and_line(lab: Lab) -> None:
    patch = lab.patches / "0001-fast.patch"
    patch.write_text(patch.read_text().replace("int fast = 1;", "int fast = ;"))
    text = lab.error("fast")
    assert "kernel/fast.c:1:12: error: expected expression" in text
    assert "int fast = ;" in text
    log = lab.places.cache / "trees/6.12-fast/build.log"
    assert text.endswith(f"all that it said: {log}")
    assert log.is_file()
    assert lab.builds() == []


def test_a_bad_patch_is_explained_and_leaves_the_tree_alone(lab: Lab) -> None:
    lab.build("fast")
    patch = lab.patches / "0001-fast.patch"
    good = patch.read_text()
    patch.write_text(good.replace(" config DEBUG", " config GUBED"))
    assert f"{patch}: hunk 1 of Kconfig does not apply" in lab.error("fast")
    patch.write_text(good)
    assert lab.compiled("fast") == []


def test_a_full_disk_under_make(lab: Lab) -> None:
    (lab.source / "kernel/futex.c").write_text("int futex; /* DISK_IS_FULL */\n")
    lab.repack()
    text = lab.error("baseline")
    assert text.startswith("the disk is full: ")
    assert str(lab.places.cache) in text
    assert lab.builds() == []


def test_a_full_disk_at_publication(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(kernels.shutil, "copy", full)
        assert lab.error("baseline").startswith("the disk is full: ")
    assert lab.builds() == []
    assert lab.compiled("baseline") == []
    assert len(lab.builds()) == 1


def test_an_interrupted_build_goes_on_where_it_stopped(lab: Lab) -> None:
    for n in range(20):
        (lab.source / f"kernel/slow{n:02}.c").write_text(f"int slow{n};\n")
    lab.repack()
    with pytest.raises(KeyboardInterrupt):
        lab.build("baseline", heard=Heard(stop_at="slow10"))
    assert lab.builds() == []
    assert not (lab.places.cache / "trees/6.12-baseline/running").exists()
    rest = lab.compiled("baseline")
    assert "kernel/slow19.o" in rest
    assert "kernel/fork.o" not in rest
    assert len(lab.builds()) == 1


def test_objects_of_a_killed_make_are_not_trusted(lab: Lab) -> None:
    whole = Path(lab.build("baseline")[0].vmlinux).read_bytes()
    tree = lab.places.cache / "trees/6.12-baseline"
    shutil.rmtree(lab.places.cache / "builds")
    (tree / "objects/fork.o").write_bytes(b"half an obj")  # and newer than its source
    (tree / "running").touch()
    assert lab.compiled("baseline") == ALL
    assert Path(lab.build("baseline")[0].vmlinux).read_bytes() == whole


@pytest.mark.parametrize("name", ["vmlinux", "System.map", "kernel.json"])
def test_a_damaged_kernel_is_named_and_made_again(lab: Lab, name: str) -> None:
    (first,) = lab.build("baseline")
    directory = Path(first.vmlinux).parent
    whole = Path(first.vmlinux).read_bytes()
    file = directory / name
    os.truncate(file, file.stat().st_size // 2)
    heard = Heard()
    assert lab.build("baseline", heard=heard) == (first,)
    assert f"{directory}: {name} altered or cut short: damaged; it is thrown away" in "\n".join(
        heard.said
    )
    assert Path(first.vmlinux).read_bytes() == whole
    again = Heard()
    lab.build("baseline", heard=again)
    assert "thrown away" not in "\n".join(again.said) and again.objects == []


def test_a_kernel_without_checksums_gets_them(lab: Lab) -> None:
    """An older version of this program has built it."""
    (first,) = lab.build("baseline")
    sums = Path(first.vmlinux).with_name("SHA256SUMS")
    before = sums.read_text()
    sums.unlink()
    assert lab.compiled("baseline") == []
    assert sums.read_text() == before
    # What nobody knows the content of, and what is no kernel, is not taken.
    sums.unlink()
    Path(first.vmlinux).with_name("kernel.json").unlink()
    heard = Heard()
    lab.build("baseline", heard=heard)
    assert "thrown away" in "\n".join(heard.said)


def test_make_is_marked_while_it_runs(lab: Lab) -> None:
    mark = lab.places.cache / "trees/6.12-baseline/running"

    class Looking(Heard):
        def advance(self, task: str, done: int, note: str = "") -> None:
            assert mark.exists()
            super().advance(task, done, note)

    heard = Looking()
    lab.build("baseline", heard=heard)
    assert heard.objects and not mark.exists()


def test_two_builds_at_once_take_turns(lab: Lab) -> None:
    lock = lab.places.cache / "trees/6.12-baseline/lock"
    heard = Heard()
    with cache.locked(lock, Heard()):
        other = threading.Thread(target=lambda: lab.build("baseline", heard=heard))
        other.start()
        while not heard.said and other.is_alive():
            pass
        assert heard.said == [f"somebody is at work here, waiting for the end of it ({lock})"]
        assert heard.objects == []
    other.join()
    assert len(lab.builds()) == 1


def test_a_kernel_that_is_there_waits_for_no_other_build(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = lab.build("fast")

    def wait(path: Path, reporter: Heard) -> None:
        pytest.fail(f"it waits for {path}")

    monkeypatch.setattr(kernels, "locked", wait)
    assert lab.build("fast") == first


def test_a_missing_tool_names_its_package(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bin_without(lab.root / "bin", "flex")))
    assert lab.error("baseline") == (
        "flex is missing: install the Debian package flex (apt-get install flex)"
    )


def test_a_missing_ccache_is_only_a_remark(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bin_without(lab.root / "bin", "ccache")))
    heard = Heard()
    lab.build("baseline", heard=heard)
    assert "apt-get install ccache" in heard.text
    assert len(lab.builds()) == 1


def test_a_symbol_that_does_not_stay_is_named_with_its_fragment(lab: Lab) -> None:
    (lab.fragments / "fast.config").write_text("CONFIG_SCHED_FAST=y\nCONFIG_NONE=y\n")
    assert "CONFIG_NONE=y of fast.config: the configuration has n" in lab.error("fast")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"series": "6.99"}, "there is no kernel series '6.99'; there are: 6.12"),
        ({"variants": ("slow",)}, "there is no variant 'slow'; there are: baseline, fast"),
        ({"fragments": ("nope",)}, "there is no configuration fragment in "),
        ({"source": Path("/nonexistent")}, "/nonexistent: there is no kernel source"),
    ],
)
def test_what_is_not_there_is_named(lab: Lab, options: dict[str, object], said: str) -> None:
    assert said in lab.error(**options)  # type: ignore[arg-type]


def test_deb_packs_the_given_configuration(lab: Lab) -> None:
    config = lab.root / "config.gz"
    config.write_bytes(gzip.compress(b"CONFIG_SMP=y\nCONFIG_DEBUG=y\n"))
    output = lab.root / "out"
    request = DebRequest(output, config=config, places=lab.places)
    (package,) = kernels.deb(request, heard := Heard())
    assert package == output / "linux-image-6.12.117-fast.deb"
    source = lab.places.cache / "trees/6.12-deb/source"
    assert (source / "kernel/fast.c").is_file()
    assert (source / "kernel/fork.c").read_text() == "int fork = 1;\n"
    assert package.read_text().splitlines() == [
        "CONFIG_DEBUG=y",
        'CONFIG_LOCALVERSION="-fast"',
        "CONFIG_SCHED_FAST=y",
        "CONFIG_SMP=y",
    ]
    assert heard.said[0] == f"starting from the configuration {config}"
    assert heard.said[-1] == f"built {package}"
    assert len(heard.objects) == 4
    # linux-libc-dev, which the kernel's build also makes, stays behind.
    assert list(output.iterdir()) == [package]


def test_an_interrupted_deb_leaves_no_make_behind(lab: Lab) -> None:
    for n in range(20):
        (lab.source / f"kernel/slow{n:02}.c").write_text(f"int slow{n};\n")
    lab.repack()
    config = lab.root / "config"
    config.write_text("CONFIG_SMP=y\n")
    request = DebRequest(lab.root / "out", config=config, places=lab.places)
    with pytest.raises(KeyboardInterrupt):
        kernels.deb(request, Heard(stop_at="slow10"))
    tree = lab.places.cache / "trees/6.12-deb"
    assert not (tree / "objects/slow19.o").exists()
    assert not (tree / "running").exists()
    kernels.deb(request, heard := Heard())
    assert "kernel/slow19.o" in heard.objects
    assert "kernel/fork.o" not in heard.objects


def test_deb_without_a_configuration_says_how_to_give_one(lab: Lab) -> None:
    request = DebRequest(lab.root, config=lab.root / "none", places=lab.places)
    with pytest.raises(FastError, match=r"no configuration .*/none: give one with --config"):
        kernels.deb(request, Heard())


def test_deb_names_the_packages_it_needs(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bin_without(lab.root / "bin", "dh", "rsync")))
    with pytest.raises(FastError, match=r"apt-get install debhelper rsync"):
        kernels.deb(DebRequest(lab.root, places=lab.places), Heard())


def test_deb_names_the_packages_that_the_configuration_needs(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = lab.root / "config"
    config.write_text("CONFIG_KERNEL_ZSTD=y\n")
    monkeypatch.setenv("PATH", str(bin_without(lab.root / "bin", "zstd")))
    heard = Heard()
    with pytest.raises(FastError, match="apt-get install zstd"):
        kernels.deb(DebRequest(lab.root / "out", config=config, places=lab.places), heard)
    assert heard.objects == []


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
    for series in catalogue.series:
        for entry in catalogue.variants.values():
            for name in entry.patches:
                assert patches.read_series(patch_folder(project, series, name))
    names = {name for entry in catalogue.variants.values() for name in entry.fragments}
    for name in {*names, "debug-locking", "debug-kcsan", "shell", "release", "deb"}:
        assert kconfig.read(project / f"Kbuild/{name}.config")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('sha256 = "0"', "", "the key 'sha256' is missing"),
        ("primary = true", "primary = false", "exactly one series must be primary"),
        ("objects = 3", 'objects = "many"', "invalid literal"),
        ("objects = 3", "objects =", "Invalid value"),
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
