# SPDX-License-Identifier: GPL-2.0
"""Kernels of an experiment: what they are made of, and what is refused before a build."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from kernel_lab import ALL, Lab

from fastlab.base.model import FastError, Kernel, Recipe, Variant
from fastlab.kernel import needs

SLICE = """Subject: [PATCH] sched: another default

---
diff --git a/kernel/sched.c b/kernel/sched.c
--- a/kernel/sched.c
+++ b/kernel/sched.c
@@ -1 +1 @@
-int sched = 1;
+int sched = 2;
"""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    (tmp_path / "slice.patch").write_text(SLICE)
    return lab


def made(lab: Lab, *recipes: Recipe, **options: object) -> tuple[Kernel, ...]:
    names = tuple(recipe.name for recipe in recipes)
    return lab.build(*names, recipes=recipes, directory=lab.root, **options)


def refusal(lab: Lab, recipe: Recipe) -> str:
    with pytest.raises(FastError) as error:
        made(lab, recipe)
    assert lab.builds() == []
    return str(error.value)


def test_a_kernel_has_its_own_patches_and_lines(lab: Lab) -> None:
    recipe = Recipe("mine", "6.12", ("slice.patch",), ("debug-locking", "CONFIG_DEBUG=y"))
    (kernel,) = made(lab, recipe)
    assert (kernel.series, kernel.variant) == ("6.12", "mine")
    source = lab.places.cache / "trees/6.12-own-mine/source/kernel/sched.c"
    assert source.read_text() == "int sched = 2;\n"
    config = Path(kernel.vmlinux).with_name(".config").read_text()
    assert "CONFIG_SMP=y" in config and "CONFIG_DEBUG=y" in config


def test_a_kernel_is_cached_by_its_content(lab: Lab) -> None:
    first, other = made(lab, Recipe("first", "6.12"), Recipe("other", "6.12"))
    (base,) = lab.build("baseline")
    # What is equal is built once, whatever it is called.
    assert first.id == other.id and (first.variant, other.variant) == ("first", "other")
    assert len(lab.builds()) == 2
    (again,) = made(lab, Recipe("again", "6.12", ("slice.patch",)))
    assert again.id not in (first.id, base.id)
    (lab.root / "slice.patch").write_text(SLICE.replace("= 2", "= 3"))
    (changed,) = made(lab, Recipe("again", "6.12", ("slice.patch",)))
    assert changed.id != again.id


def test_the_laboratorys_patches_have_names(lab: Lab) -> None:
    (kernel,) = made(lab, Recipe("mine", "6.12", ("simulator", "series"), ("fast",)))
    (fast,) = lab.build("fast")
    # Equal to the kernel that the laboratory calls so.
    assert Path(kernel.vmlinux).read_bytes() == Path(fast.vmlinux).read_bytes()


def test_a_source_is_a_directory_a_tarball_or_a_revision(lab: Lab) -> None:
    git = ["git", "-C", str(lab.source), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["tag", "one"]):
        subprocess.run([*git, *words], check=True)
    (lab.source / "kernel/sched.c").write_text("int sched = 4;\n")
    name = lab.source.name
    recipes = [
        Recipe("directory", name),
        Recipe("tarball", lab.tarball.name),
        Recipe("revision", f"{name}@one"),
    ]
    texts = [Path(kernel.vmlinux).read_bytes() for kernel in made(lab, *recipes)]
    assert texts[0] != texts[1] == texts[2]
    # The revision is unpacked once, and its tarball is gone.
    assert not list((lab.places.cache / "downloads").glob("git-*"))
    said = refusal_of(lab, Recipe("revision", f"{name}@two"))
    assert f"kernel revision: source {lab.source}@two: there is no such revision; `git -C" in said
    said = refusal_of(lab, Recipe("revision", f"{lab.root}@one"))
    assert f"{lab.root} is no git repository; leave the revision out" in said


def refusal_of(lab: Lab, recipe: Recipe) -> str:
    with pytest.raises(FastError) as error:
        made(lab, recipe)
    return str(error.value)


def test_a_missing_source_is_refused(lab: Lab) -> None:
    said = refusal(lab, Recipe("mine", "6.13"))
    assert said == (
        "kernel mine: source 6.13 is not there (did you mean 6.12?): name a series (6.12), a "
        "directory, a tarball, or DIRECTORY@REVISION of a git repository"
    )


def test_a_source_of_another_series_is_refused(lab: Lab) -> None:
    makefile = lab.source / "Makefile"
    makefile.write_text(makefile.read_text().replace("PATCHLEVEL = 12", "PATCHLEVEL = 9"))
    said = refusal(lab, Recipe("mine", lab.source.name))
    assert "source linux-source-6.12 is Linux 6.9.117, and the simulation's own patches are" in said
    assert "6.12" in said


def test_a_missing_patch_and_fragment_are_refused(lab: Lab) -> None:
    said = refusal(lab, Recipe("mine", "6.12", ("slise.patch",)))
    assert "kernel mine: patch slise.patch is not there: name a file" in said
    for line in ("CONFIG_DEBUG", "DEBUG=y"):
        said = refusal(lab, Recipe("mine", "6.12", config=(line,)))
        assert f"kernel mine: no configuration fragment '{line}'" in said
        assert said.endswith("; a line is CONFIG_NAME=value, or # CONFIG_NAME is not set")
    assert "a line is" not in refusal(lab, Recipe("mine", "6.12", config=("debug",)))


def test_a_file_that_is_no_patch_is_refused(lab: Lab) -> None:
    for name, text in (("empty.patch", ""), ("letter.patch", "Dear maintainer,\n")):
        (lab.root / name).write_text(text)
        said = refusal(lab, Recipe("mine", "6.12", (name,)))
        assert (
            f"kernel mine: {lab.root / name} holds no change: no line in it begins a diff" in said
        )
    (lab.root / "folder").mkdir()
    said = refusal(lab, Recipe("mine", "6.12", ("folder",)))
    assert f"{lab.root}/folder/series is missing: it lists the patches to apply" in said


def test_a_symbol_that_the_source_does_not_know_is_refused(lab: Lab) -> None:
    said = refusal(lab, Recipe("mine", "6.12", config=("CONFIG_DEBUGG=y",)))
    assert "CONFIG_DEBUGG=y" in said and "the configuration has n" in said


def test_a_patch_that_does_not_apply_is_refused_before_any_build(lab: Lab) -> None:
    (lab.root / "slice.patch").write_text(SLICE.replace("sched = 1", "sched = 7"))
    good, bad = Recipe("good", "6.12"), Recipe("bad", "6.12", ("slice.patch",))
    said = refusal_of_both(lab, good, bad)
    assert "kernel bad: " in said and "slice.patch: hunk 1 of kernel/sched.c does not apply" in said
    assert "(-), line 1 and following are (+)" in said
    assert lab.builds() == []


def refusal_of_both(lab: Lab, *recipes: Recipe) -> str:
    with pytest.raises(FastError) as error:
        made(lab, *recipes)
    return str(error.value)


def test_one_tree_for_a_name_is_built_on(lab: Lab) -> None:
    made(lab, Recipe("mine", "6.12"))
    recipe = Recipe("mine", "6.12", ("slice.patch",))
    names = lab.compiled("mine", recipes=(recipe,), directory=lab.root)
    assert names == ["kernel/sched.o"] and set(names) < set(ALL)


NEEDS = {
    "a policy": (Variant("a", "k", policy="strict"), "has a policy or knobs, and kernel k (id)"),
    "a scheduler": (Variant("a", "k", scheduler=("s",)), 'no sched_ext: use config = ["scx"]'),
    "a feature": (
        Variant("a", "k", features=("NO_WAKE_SLOW",)),
        "no scheduler feature NO_WAKE_SLOW",
    ),
    "a sysctl": (Variant("a", "k", sysctl={"kernel.sched_no": "1"}), "no sysctl kernel.sched_no"),
    "a file": (Variant("a", "k", debugfs={"sched/slice": "1"}), "no file of debugfs sched/slice"),
}


def a_kernel(directory: Path, config: str = "CONFIG_SMP=y\n") -> Kernel:
    (directory / ".config").write_text(config)
    (directory / "vmlinux").write_bytes(b"\0WAKE_AFFINE\0base_slice_ns\0sched_yes\0")
    return Kernel("6.12", "k", "id", str(directory / "vmlinux"), "")


@pytest.mark.parametrize(("arm", "words"), NEEDS.values(), ids=NEEDS.keys())
def test_a_kernel_without_what_an_arm_needs_is_refused(
    tmp_path: Path, arm: Variant, words: str
) -> None:
    with pytest.raises(FastError) as error:
        needs.check([arm], {"k": a_kernel(tmp_path)})
    assert str(error.value).startswith("a kernel lacks what an arm needs:\n  arm a: ")
    assert words in str(error.value)


def test_a_kernel_that_has_it_is_not_refused(tmp_path: Path) -> None:
    arm = Variant(
        *("a", "k", "strict", {}, ("NO_WAKE_AFFINE",)),
        sysctl={"kernel.sched_yes": "1"},
        # The kernel makes this name of parts.
        debugfs={"sched/base_slice_ns": "1", "sched/fair_server/cpu0": "1"},
        scheduler=("s",),
    )
    config = "CONFIG_SCHED_FAST=y\nCONFIG_SCHED_CLASS_EXT=y\n"
    needs.check([arm], {"k": a_kernel(tmp_path, config)})
