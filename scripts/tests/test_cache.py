# SPDX-License-Identifier: GPL-2.0
"""The cache says what it has and what of it is damaged, and gives room back."""

from __future__ import annotations

import fcntl
import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fastlab.base import cache_list, checksums
from fastlab.base.cache import cache_dir, locked, publish, reusable
from fastlab.base.model import FastError, Kernel, Machine, Watchdogs
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest import machines, vm
from fastlab.trial import in_simulation

MB = 1 << 20


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with a kernel, two saved machines and what is beside them."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("FAST_CACHE", str(cache))
    for name in ("builds/6.12-fast-1234", "machines/aaaa", "machines/bbbb"):
        directory = cache / name
        staging = directory.with_name("staging")
        staging.mkdir(parents=True)
        (staging / "content").write_bytes(os.urandom(MB))
        publish(staging, directory)
    (cache / "machines/aaaa.lock").touch()
    source = cache / "sources/ffff"
    source.mkdir(parents=True)
    (source / "main.c").write_bytes(os.urandom(MB))
    tree = cache / "trees/6.12-fast/source"
    tree.mkdir(parents=True)
    (tree / "main.c").hardlink_to(source / "main.c")
    (cache / "trees/6.12-fast.lock").touch()
    return cache


def test_no_home(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def homeless() -> None:
        raise RuntimeError("Could not determine home directory.")

    for name in ("FAST_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert fast(capsys, "list") == (
        1,
        "",
        "fast: no home directory: set FAST_CACHE to a directory for the cache\n",
    )


def test_a_relative_xdg_cache_home_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAST_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert cache_dir() == Path("/home/me/.cache/fast")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_dir() == Path("/caches/fast")


def fast(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main.main(["cache", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_what_is_sealed_can_be_read_by_others(cache: Path) -> None:
    subprocess.run(
        ["sha256sum", "--check", "--quiet", checksums.NAME], cwd=cache / "machines/aaaa", check=True
    )


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: os.truncate(path / "content", MB - 1), "content altered or cut short"),
        (lambda path: (path / "content").write_bytes(b"x"), "content altered or cut short"),
        (lambda path: (path / "content").unlink(), "content missing"),
        (lambda path: (path / checksums.NAME).write_text(""), "SHA256SUMS is not readable"),
        (lambda path: (path / checksums.NAME).write_bytes(b"\xff"), "SHA256SUMS is not readable"),
    ],
)  # fmt: skip
def test_damage_is_named_and_thrown_away(
    damage: object, said: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = cache / "machines/aaaa"
    damage(directory)  # type: ignore[operator]
    status, out, err = fast(capsys, "verify")
    assert (status, out) == (1, "2 whole, 1 damaged\n")
    assert f"  {directory}: {said}\n" in err
    heard = io.StringIO()
    assert not reusable(directory, "content", PlainReporter(heard))
    assert heard.getvalue() == (
        f"{directory} is damaged ({said}); removing and building it again\n"
    )
    assert not directory.exists()
    assert fast(capsys, "verify")[:2] == (0, "2 whole, 0 damaged\n")


def test_what_an_older_version_left_is_no_damage(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = cache / "machines/bbbb"
    (directory / checksums.NAME).unlink()
    status, out, _ = fast(capsys, "verify")
    assert status == 0
    assert "2 whole, 0 damaged, 1 without checksums" in out
    assert reusable(directory, "content", PlainReporter(io.StringIO()))
    assert fast(capsys, "verify")[1] == "3 whole, 0 damaged\n"


def test_sizes_and_ages(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.utime(cache / "machines/bbbb", (0, cache.stat().st_mtime - 72 * 3600))
    status, out, _ = fast(capsys, "list")
    assert status == 0
    assert out.startswith(f"{cache}: 4.")
    assert "  machines: 2 (saved machines), 2." in out
    lines = {line.split()[1]: line for line in out.splitlines() if " ago" in line}
    assert sorted(lines) == ["6.12-fast", "6.12-fast-1234", "aaaa", "bbbb", "ffff"]
    assert lines["bbbb"].split()[-3:] == ["3", "days", "ago"]
    assert lines["aaaa"].rstrip().endswith("0 min ago")
    # The tree has the source's file by a hard link.
    assert "KiB" in lines["6.12-fast"] and "MiB" in lines["ffff"]


def test_what_is_used_again_is_not_old(cache: Path) -> None:
    directory = cache / "machines/bbbb"
    os.utime(directory, (0, 0))
    assert reusable(directory, "content", PlainReporter(io.StringIO()))
    (entry,) = (one for one in cache_list.entries(cache, ["machines"]) if one.path == directory)
    assert not cache_list.unused_for(entry, 1)


def test_an_empty_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAST_CACHE", str(tmp_path / "none"))
    assert fast(capsys, "list") == (0, f"{tmp_path}/none: 0 KiB\n", "")
    assert fast(capsys, "verify")[:2] == (0, "0 whole, 0 damaged\n")
    assert fast(capsys, "clean", "machines")[:2] == (0, "freed 0 KiB\n")


def test_cleaning_takes_what_is_named_and_old(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, hours in (("aaaa", 47), ("bbbb", 72)):
        os.utime(cache / "machines" / name, (0, cache.stat().st_mtime - hours * 3600))
    status, out, _ = fast(capsys, "clean", "machines", "builds", "--unused-for", "2")
    assert status == 0
    assert out.splitlines()[0] == f"removed {cache}/machines/bbbb"
    assert re.fullmatch(r"freed [\d.]+ MiB", out.splitlines()[1])
    assert (cache / "machines/aaaa").is_dir()
    fast(capsys, "clean", "machines")
    assert not (cache / "machines/aaaa").exists()
    assert (cache / "builds/6.12-fast-1234").is_dir() and (cache / "trees/6.12-fast").is_dir()


@pytest.mark.parametrize(
    ("kind", "lock"), [("machines", "machines/aaaa.lock"), ("trees", "trees/6.12-fast.lock")]
)
def test_what_is_being_made_stays(
    kind: str, lock: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (cache / lock).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        status, _, err = fast(capsys, "clean", kind)
    assert status == 1
    assert err.startswith("fast: these are being built, and were kept:\n")
    assert (cache / "machines/aaaa").is_dir()
    assert (cache / "trees/6.12-fast").is_dir()


@pytest.mark.parametrize("lock", ["user.lock", "bench-runtime.lock"])
def test_what_is_being_built_of_an_installed_fast_stays(
    lock: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its directories are built each under a lock of its own."""
    work = cache / "work/abcd"
    (work / "user").mkdir(parents=True)
    for name in ("bench-runtime.lock", "user.lock"):
        (work / name).touch()
    with (work / lock).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        status, _, err = fast(capsys, "clean", "work")
    assert (status, (work / "user").is_dir()) == (1, True)
    assert err.startswith("fast: these are being built, and were kept:\n")
    assert fast(capsys, "clean", "work")[0] == 0
    assert not work.exists()


@pytest.mark.parametrize(
    ("half", "lock"),
    [
        ("sources/eeee.partial", "sources/eeee.lock"),
        ("downloads/linux-6.12.tar.xz.partial", "downloads/linux-6.12.tar.xz.lock"),
        ("machines/cccc.new", "machines/cccc.lock"),
    ],
)
def test_a_half_stays_while_it_is_made_and_goes_when_nobody_makes_it(
    half: str, lock: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, kind = cache / half, half.partition("/")[0]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"half")
    (cache / lock).touch()
    with (cache / lock).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert fast(capsys, "clean", kind)[0] == 1
    assert path.is_file()
    assert path.name in fast(capsys, "list")[1]
    status, out, _ = fast(capsys, "clean", kind)
    assert status == 0 and f"removed {path}\n" in out
    assert not path.exists() and (cache / lock).is_file()


def test_a_half_is_no_damage(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cache / "machines/cccc.new").mkdir()
    (cache / "machines/aaaa").rename(cache / "machines/aaaa.gone")
    (cache / "machines/aaaa.gone/content").unlink()
    assert fast(capsys, "verify")[:2] == (0, "2 whole, 0 damaged\n")


def test_a_removal_that_is_stopped_leaves_nothing_to_be_taken_for_the_whole(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cache_list.shutil, "rmtree", stop)
        with pytest.raises(KeyboardInterrupt):
            for one in cache_list.entries(cache, ["sources"]):
                cache_list.remove(one)
    assert [path.name for path in (cache / "sources").iterdir()] == ["ffff.gone"]
    (cache / "sources/ffff").mkdir()
    fast(capsys, "clean", "sources")
    assert list((cache / "sources").iterdir()) == []


def test_what_an_installed_fast_built_goes_but_for_what_runs_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("venv/123-3.11", "venv/123-3.13", "work/abcd/user"):
        (cache / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(cache / "venv/123-3.13"))
    out = fast(capsys, "list")[1]
    assert "  work: 1 (" in out and "  venv: 2 (" in out
    status, out, _ = fast(capsys, "clean", "venv", "work")
    assert status == 0
    gone = [cache / "venv" / "123-3.11", cache / "work" / "abcd"]
    assert out.splitlines()[:2] == [f"removed {one}" for one in gone]
    assert list((cache / "venv").iterdir()) == [cache / "venv/123-3.13"]


def test_what_has_another_name_is_not_free_again(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.search(r"^freed \d+ KiB$", fast(capsys, "clean", "sources")[1], re.MULTILINE)
    assert "freed 1.0 MiB" in fast(capsys, "clean", "trees")[1]
    assert (cache / "trees/6.12-fast.lock").is_file()


def test_what_has_both_its_names_there_is_free_again(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = cache / "trees/6.12-fast"
    (tree / "source/main.c").unlink()
    (tree / "one").write_bytes(os.urandom(MB))
    (tree / "other").hardlink_to(tree / "one")
    assert "freed 1.0 MiB" in fast(capsys, "clean", "trees")[1]


@pytest.mark.parametrize("words", [["clean"], ["clean", "all"], ["clean", "try", "--unused-for=0"]])
def test_bad_usage(words: list[str], cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        fast(capsys, *words)
    assert end.value.code == 2
    assert (cache / "machines/aaaa").is_dir()


class Saving:
    """Machines that are saved in a moment; `boots` are the directories that they were saved in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.boots: list[Path] = []
        self.heard = io.StringIO()
        monkeypatch.setattr(vm, "save_machine", self._save)

    def _save(self, simulation: object, directory: Path, *_: object) -> None:
        self.boots.append(directory)
        directory.mkdir(parents=True)
        (directory / vm.SNAPSHOT).write_bytes(b"memory" * 1000)

    def saved(self, tools: str = "tools") -> Path:
        kernel = Kernel("6.12", "fast", "6.12-fast-1", "vmlinux", "System.map")
        simulation = vm.Simulation(Path("qemu"), kernel, Path("image"), Machine())
        reporter = PlainReporter(self.heard)
        return machines.saved_machine(
            simulation, [tools], Watchdogs(), threading.Event(), reporter, "machines"
        )


@pytest.fixture
def saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Saving:
    monkeypatch.setenv("FAST_CACHE", str(tmp_path))
    return Saving(monkeypatch)


def test_a_damaged_machine_is_booted_again(saving: Saving) -> None:
    snapshot = saving.saved()
    assert saving.saved() == snapshot and len(saving.boots) == 1
    os.truncate(snapshot, 3000)
    assert saving.saved() == snapshot and len(saving.boots) == 2
    assert snapshot.stat().st_size == 6000
    assert f"{snapshot.parent} is damaged (snapshot altered or cut" in saving.heard.getvalue()


@pytest.mark.parametrize("locks", [True, False])
def test_what_is_in_a_cache_that_is_only_read_is_used(
    locks: bool, saving: Saving, tmp_path: Path, read_only: Callable[[Path], None]
) -> None:
    snapshot = saving.saved()
    if not locks:
        # As where the cache was copied.
        for lock in tmp_path.rglob("*.lock"):
            lock.unlink()
    read_only(tmp_path)
    assert saving.saved() == snapshot and len(saving.boots) == 1
    with pytest.raises(FastError) as error:
        saving.saved("other tools")
    assert f"the cache {tmp_path}, and the cache cannot be written" in str(error.value)
    assert "Set FAST_CACHE to a directory" in str(error.value)


def test_a_lock_can_be_waited_for_where_it_is_only_read(
    tmp_path: Path, read_only: Callable[[Path], None]
) -> None:
    path = tmp_path / "one.lock"
    path.touch()
    with path.open() as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        read_only(tmp_path)
        heard = io.StringIO()
        waiting = threading.Timer(0.3, lambda: fcntl.flock(holder, fcntl.LOCK_UN))
        waiting.start()
        with locked(path, PlainReporter(heard)):
            pass
        waiting.join()
    assert "is at work; waiting" in heard.getvalue()
    # None is there, and none can be made.
    with locked(tmp_path / "other.lock", PlainReporter(heard)):
        pass


def test_what_an_older_version_left_is_used_where_it_is_only_read(
    cache: Path, read_only: Callable[[Path], None]
) -> None:
    directory = cache / "machines/bbbb"
    (directory / checksums.NAME).unlink()
    read_only(cache)
    assert reusable(directory, "content", PlainReporter(io.StringIO()))


def test_trials_leave_the_machines_of_a_cache_that_is_only_read(
    cache: Path, read_only: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_simulation, "KEPT", 1)
    read_only(cache)
    in_simulation._forget_older(cache / "machines", [cache / "machines/aaaa"])
    assert (cache / "machines/bbbb").is_dir()
