# SPDX-License-Identifier: GPL-2.0
"""A series applies exactly, or says which hunk met what."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastlab.base.model import FastError
from fastlab.kernel import patches

FORK = "".join(f"line {n}\n" for n in range(1, 41))


class Tree:
    """A pristine tree, a folder of patches and the scratch directory to apply them in."""

    def __init__(self, root: Path) -> None:
        self.pristine, self.folder, self.scratch = root / "tree", root / "patches", root / "scratch"
        for directory in (self.pristine / "kernel", self.folder, self.scratch):
            directory.mkdir(parents=True)
        (self.pristine / "kernel/fork.c").write_text(FORK)
        (self.pristine / "README").write_text("old\n")

    def patch(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        with (self.folder / "series").open("a") as series:
            series.write(f"{name}\n")

    def apply(self) -> set[str]:
        return patches.apply(patches.read_series(self.folder), self.pristine, self.scratch)

    def error(self) -> str:
        with pytest.raises(FastError) as error:
            self.apply()
        return str(error.value)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def change(line: int, *, old: str | None = None, new: str = "new", at: int | None = None) -> str:
    """A git-format patch of kernel/fork.c that replaces `line`, claiming to stand at `at`."""
    at = line if at is None else at
    return (
        "Subject: [PATCH] sched/fast: change\n\n---\n"
        " kernel/fork.c | 2 +-\n\n"
        "diff --git a/kernel/fork.c b/kernel/fork.c\n"
        "--- a/kernel/fork.c\n+++ b/kernel/fork.c\n"
        f"@@ -{at - 2},5 +{at - 2},5 @@ int fork(void)\n"
        f" line {line - 2}\n line {line - 1}\n-{old or f'line {line}'}\n+{new}\n"
        f" line {line + 1}\n line {line + 2}\n-- \n2.39.5\n"
    )


CREATE = (
    "diff --git a/kernel/fast.c b/kernel/fast.c\nnew file mode 100644\n"
    "--- /dev/null\n+++ b/kernel/fast.c\n@@ -0,0 +1 @@\n+int fast;\n"
)
DELETE = (
    "diff --git a/README b/README\ndeleted file mode 100644\n"
    "--- a/README\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
)


def test_patches_build_on_each_other_and_the_tree_stays_pristine(tree: Tree) -> None:
    tree.patch("1.patch", change(10))
    tree.patch("2.patch", change(10, old="new", new="newer"))
    tree.patch("3.patch", CREATE)
    tree.patch(
        "4.patch",
        CREATE.replace("/dev/null", "a/kernel/fast.c")
        .replace("new file mode 100644\n", "")
        .replace("@@ -0,0 +1 @@\n", "@@ -1 +1,2 @@\n int fast;\n"),
    )
    tree.patch("5.patch", DELETE)
    assert tree.apply() == {"kernel/fork.c", "kernel/fast.c", "README"}
    assert (tree.scratch / "kernel/fork.c").read_text() == FORK.replace("line 10\n", "newer\n")
    assert (tree.scratch / "kernel/fast.c").read_text() == "int fast;\nint fast;\n"
    assert not (tree.scratch / "README").exists()
    assert (tree.pristine / "kernel/fork.c").read_text() == FORK
    assert (tree.pristine / "README").read_text() == "old\n"


def test_an_offset_is_fine(tree: Tree) -> None:
    tree.patch("1.patch", change(20, at=10))
    tree.apply()
    assert (tree.scratch / "kernel/fork.c").read_text() == FORK.replace("line 20\n", "new\n")


def test_a_rename_touches_both_names(tree: Tree) -> None:
    tree.patch(
        "1.patch",
        "diff --git a/README b/README.rst\nsimilarity index 100%\n"
        "rename from README\nrename to README.rst\n",
    )
    assert tree.apply() == {"README", "README.rst"}
    assert (tree.scratch / "README.rst").read_text() == "old\n"


def test_fuzz_is_refused_and_explained(tree: Tree) -> None:
    """Only the outermost context line differs: patch's default fuzz would take it."""
    tree.patch("0001-bad.patch", change(30).replace(" line 28\n", " line XX\n"))
    assert tree.error() == (
        f"{tree.folder}/0001-bad.patch: hunk 1 of kernel/fork.c does not apply\n"
        "  @@ -28,5 +28,5 @@ int fork(void)\n"
        "  the patch expects (-), line 28 and following are (+):\n"
        "    - line XX\n"
        "    + line 28\n"
        "      line 29\n"
        "      line 30\n"
        "      line 31\n"
        "      line 32\n"
        "refresh the patch against this source, or build from the source it was made for"
    )


def test_uneven_context_is_told_where_nothing_differs(tree: Tree) -> None:
    uneven = change(30).replace(" line 32\n", "").replace("-28,5 +28,5", "-28,4 +28,4")
    tree.patch("1.patch", uneven)
    text = tree.error()
    assert "its lines are there, from line 28 on" in text
    assert "less context after its change" in text


def test_the_failing_file_and_hunk_are_named_among_several(tree: Tree) -> None:
    second = change(30, old="line thirty").partition("@@")
    tree.patch("1.patch", CREATE + change(5).partition("-- \n")[0] + "@@" + second[2])
    text = tree.error()
    assert "1.patch: hunk 2 of kernel/fork.c" in text
    assert "- line thirty\n    + line 30\n" in text


def test_the_place_is_searched_when_lines_have_moved(tree: Tree) -> None:
    tree.patch("1.patch", change(30, old="line thirty", at=5))
    assert "line 28 and following" in tree.error()


def test_the_patch_that_fails_is_the_one_named(tree: Tree) -> None:
    tree.patch("1.patch", change(10))
    tree.patch("2.patch", change(10))
    text = tree.error()
    assert "2.patch: hunk 1 of kernel/fork.c" in text
    assert "- line 10\n    + new\n" in text


def test_a_form_feed_does_not_shift_the_lines(tree: Tree) -> None:
    (tree.pristine / "kernel/fork.c").write_text("\f\n" + FORK)
    tree.patch("1.patch", change(30, old="line thirty"))
    assert "line 29 and following" in tree.error()


def test_a_file_that_is_not_there(tree: Tree) -> None:
    tree.patch("1.patch", change(10).replace("fork.c", "spoon.c"))
    assert "1.patch: there is no file kernel/spoon.c in this source" in tree.error()


def test_a_new_file_that_is_there_already(tree: Tree) -> None:
    (tree.pristine / "kernel/fast.c").write_text("something\n")
    tree.patch("1.patch", CREATE)
    assert "would create kernel/fast.c, which this source already has" in tree.error()


def test_an_applied_patch_is_not_reversed(tree: Tree) -> None:
    (tree.pristine / "kernel/fork.c").write_text(FORK.replace("line 10\n", "new\n"))
    tree.patch("1.patch", change(10))
    assert "hunk 1 of kernel/fork.c does not apply" in tree.error()


def test_a_truncated_patch(tree: Tree) -> None:
    tree.patch("1.patch", change(10).partition(" line 11\n")[0])
    assert "1.patch is no well-formed patch: Hunk is shorter than expected" in tree.error()


def test_a_patch_without_a_change(tree: Tree) -> None:
    tree.patch("1.patch", "Subject: nothing\n")
    assert "1.patch holds no change" in tree.error()


@pytest.mark.parametrize("name", ["../outside", "/etc/outside"])
def test_a_patch_stays_inside_the_tree(tree: Tree, name: str) -> None:
    tree.patch("1.patch", CREATE.replace("b/kernel/fast.c", f"b/{name}"))
    assert "outside the kernel's tree" in tree.error()


def test_patch_missing_names_its_package(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    tree.patch("1.patch", change(10))
    assert "apt-get install patch" in tree.error()


def test_the_series_file_takes_comments_and_blank_lines(tree: Tree) -> None:
    tree.patch("1.patch", change(10))
    (tree.folder / "series").write_text("# why\n\n1.patch # this one\n")
    assert patches.read_series(tree.folder) == [tree.folder / "1.patch"]


@pytest.mark.parametrize(
    ("series", "said"),
    [
        (None, "series is missing"),
        ("# nothing\n", "lists no patch"),
        ("none.patch\n", "lists none.patch, but"),
    ],
)
def test_bad_series_files(tree: Tree, series: str | None, said: str) -> None:
    if series is not None:
        (tree.folder / "series").write_text(series)
    with pytest.raises(FastError, match=said):
        patches.read_series(tree.folder)


def test_the_digest_follows_content_and_order(tree: Tree) -> None:
    def digest(*order: str) -> str:
        (tree.folder / "series").write_text("".join(f"{name}\n" for name in order))
        return patches.digest(patches.read_series(tree.folder))

    tree.patch("1.patch", change(10))
    tree.patch("2.patch", CREATE)
    first = digest("1.patch", "2.patch")
    assert first != digest("2.patch", "1.patch") != digest("1.patch")
    tree.patch("2.patch", CREATE.replace("int", "long"))
    assert first != digest("1.patch", "2.patch")
