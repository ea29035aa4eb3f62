# SPDX-License-Identifier: GPL-2.0
"""Builds of kernels that fail, are interrupted, or run while another one does."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_kernel import bin_without
from heard import Heard
from kernel_lab import ALL, Lab
from waiting import eventually, kill_when

from fastlab.base import cache
from fastlab.kernel import kbuild, kernels
from fastlab.kernel.kbuild import Tree


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


def test_an_interrupt_amid_the_start_of_make_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = waiting_tree(tmp_path)
    popen, started = subprocess.Popen, []

    def start(*words: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(popen(*words, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    try:
        with pytest.raises(KeyboardInterrupt):
            kbuild.make(tree, "wait", cache=tmp_path)
        assert started[0].returncode is not None
        assert not tree.running.exists()
    finally:
        # Of what has failed nothing is left either.
        started[0].kill()


def test_a_make_that_outlives_its_killed_fast_has_the_tree(tmp_path: Path) -> None:
    tree = waiting_tree(tmp_path)
    script = (
        "import sys; from pathlib import Path; from fastlab.base.cache import locked\n"
        "from fastlab.base.progress import PlainReporter\n"
        "from fastlab.kernel import kbuild; from fastlab.kernel.kbuild import Tree\n"
        f"tree = Tree(Path({str(tree.root)!r}))\n"
        "with locked(tree.lock, PlainReporter(sys.stderr)):\n"
        "    kbuild.make(tree, 'wait', cache=tree.root)\n"
    )
    kill_when((tree.root / "make").exists, script)
    with tree.lock.open() as file:
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.killpg(int((tree.root / "make").read_text()), signal.SIGKILL)
        fcntl.flock(file, fcntl.LOCK_EX)


def waiting_tree(directory: Path) -> Tree:
    """Its `make wait` writes the number of make to the file of that name, and goes on."""
    tree = Tree(directory / "tree")
    tree.source.mkdir(parents=True)
    rule = "wait:\n\t@echo $$PPID >../make.new; mv ../make.new ../make; sleep 60\n"
    (tree.source / "Makefile").write_text(rule)
    return tree


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
    assert f"{directory} is damaged ({name} altered or cut short); removing" in "\n".join(
        heard.said
    )
    assert Path(first.vmlinux).read_bytes() == whole
    again = Heard()
    lab.build("baseline", heard=again)
    assert "; removing" not in "\n".join(again.said) and again.objects == []


def test_a_kernel_without_checksums_gets_them(lab: Lab) -> None:
    """An older version of this program has built it."""
    (first,) = lab.build("baseline")
    sums = Path(first.vmlinux).with_name("SHA256SUMS")
    before = sums.read_text()
    sums.unlink()
    assert lab.compiled("baseline") == []
    assert sums.read_text() == before
    # A kernel without its checksums or its description is not reused.
    sums.unlink()
    Path(first.vmlinux).with_name("kernel.json").unlink()
    heard = Heard()
    lab.build("baseline", heard=heard)
    assert "; removing" in "\n".join(heard.said)


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
    lock = lab.places.cache / "trees/6.12-baseline.lock"
    heard = Heard()
    with cache.locked(lock, Heard()):
        other = threading.Thread(target=lambda: lab.build("baseline", heard=heard))
        other.start()
        assert eventually(lambda: bool(heard.said) or not other.is_alive())
        assert heard.said == [f"another fast (pid {os.getpid()}) is at work; waiting ({lock})"]
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


def test_a_kernel_of_a_cache_that_is_only_read_is_used(
    lab: Lab, read_only: Callable[[Path], None]
) -> None:
    (kernel,) = lab.build("fast")
    read_only(lab.places.cache)
    heard = Heard()
    assert lab.build("fast", heard=heard) == (kernel,)
    assert f"{kernel.id} is built already" in heard.text
    said = lab.error("baseline")
    assert "Read-only file system: a file is missing from the cache" in said
