# SPDX-License-Identifier: GPL-2.0
"""Sources are found, verified, unpacked once, and kept up to date file by file."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_kernel import make_source, pack
from heard import Heard

from fastlab.base.model import FastError
from fastlab.kernel import sources
from fastlab.kernel.sources import Origin, Source


@pytest.fixture
def tarball(tmp_path: Path) -> Path:
    return pack(make_source(tmp_path / "linux-6.12.117"), tmp_path / "linux-6.12.117.tar.xz")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def origin(tarball: Path, *, sha256: str | None = None, debian: Path = Path("/none")) -> Origin:
    real = hashlib.sha256(tarball.read_bytes()).hexdigest()
    return Origin("linux-source-6.12", debian, "", f"file://{tarball}", sha256 or real)


def test_debians_tarball_comes_first(tarball: Path, cache: Path) -> None:
    where = origin(tarball, sha256="0", debian=tarball)
    found = sources.locate(where, "6.12", None, cache, Heard())
    assert found == Source(tarball, hashlib.sha256(tarball.read_bytes()).hexdigest())


def test_kernel_orgs_tarball_is_downloaded_once_and_verified(tarball: Path, cache: Path) -> None:
    where = origin(tarball)
    heard = Heard()
    found = sources.locate(where, "6.12", None, cache, heard)
    assert found == Source(cache / "downloads" / tarball.name, where.sha256)
    assert found.path.read_bytes() == tarball.read_bytes()
    assert "linux-source-6.12" in heard.said[0] and "downloading file://" in heard.said[0]
    tarball.unlink()
    os.utime(found.path, (0, 0))
    assert sources.locate(where, "6.12", None, cache, Heard()) == found
    assert found.path.stat().st_mtime > 0  # it has been used


def test_a_tarball_with_another_hash_is_thrown_away(tarball: Path, cache: Path) -> None:
    with pytest.raises(FastError, match=r"has the SHA-256 \w{64}, not beef as .*--source"):
        sources.locate(origin(tarball, sha256="beef"), "6.12", None, cache, Heard())
    assert not list((cache / "downloads").glob("*.tar.xz*[!k]"))


def test_an_unreachable_server_names_the_other_ways(tarball: Path, cache: Path) -> None:
    where = origin(tarball)
    tarball.unlink()
    with pytest.raises(FastError, match=r"cannot be downloaded .*linux-source-6\.12.*--source"):
        sources.locate(where, "6.12", None, cache, Heard())


def test_without_a_hash_nothing_is_downloaded(tarball: Path, cache: Path) -> None:
    where = replace(origin(tarball), sha256="")
    with pytest.raises(FastError, match=r"/none is not there .*no SHA-256 of file://.*--source"):
        sources.locate(where, "6.12", None, cache, Heard())
    assert [one.suffix for one in (cache / "downloads").iterdir()] == [".lock"] * 2


def test_a_tarball_is_unpacked_once(tarball: Path, cache: Path) -> None:
    source = Source(tarball, "d" * 64)
    tree = sources.unpack(source, "6.12", cache, Heard())
    assert sources.version(tree) == "6.12.117"
    tarball.unlink()
    os.utime(tree, (0, 0))
    assert sources.unpack(source, "6.12", cache, heard := Heard()) == tree
    assert heard.said == []
    assert tree.stat().st_mtime > 0


def test_an_interrupted_unpacking_is_begun_again(tarball: Path, cache: Path) -> None:
    source = Source(tarball, "d" * 64)
    partial = cache / "sources/dddddddddddddddd.partial"
    partial.mkdir(parents=True)
    (partial / "stale").touch()
    tree = sources.unpack(source, "6.12", cache, Heard())
    assert not (tree / "stale").exists() and not partial.exists()


def test_a_broken_tarball(tarball: Path, cache: Path) -> None:
    tarball.write_bytes(tarball.read_bytes()[:200])
    with pytest.raises(FastError, match=r"117\.tar\.xz cannot be unpacked; tar says: .*xz"):
        sources.unpack(Source(tarball, "d" * 64), "6.12", cache, Heard())
    assert not (cache / "sources/dddddddddddddddd").exists()


def test_a_source_of_another_series(tarball: Path, cache: Path) -> None:
    source = Source(tarball, "d" * 64)
    with pytest.raises(FastError, match=r"is Linux 6\.12\.117, not of series 6\.1: give a"):
        sources.unpack(source, "6.1", cache, Heard())
    with pytest.raises(FastError, match="not of series"):  # and the failure is not remembered
        sources.unpack(source, "6.1", cache, Heard())


def test_a_given_source_of_another_series_is_not_unpacked(
    tarball: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_digest(path: Path) -> str:
        raise AssertionError("all of it is read")

    where = origin(tarball)
    monkeypatch.setattr(sources, "_file_digest", no_digest)
    directory = tarball.with_name("linux-6.12.117")
    for given in (tarball, directory):
        with pytest.raises(FastError, match=f"{given} is Linux 6.12.117, not of series 6.1: "):
            sources.locate(where, "6.1", given, cache, Heard())
    assert not cache.exists()


@pytest.mark.parametrize("name", ["linux/kernel/Makefile", "linux/Kconfig"])
def test_a_given_tarball_that_is_no_kernel(name: str, tmp_path: Path, cache: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("VERSION = 6\nPATCHLEVEL = 12\n")
    tarball = pack(tmp_path / "linux", tmp_path / "some.tar.xz")
    with pytest.raises(FastError, match=r"some\.tar\.xz is no kernel source"):
        sources.locate(origin(tarball), "6.12", tarball, cache, Heard())
    tarball.write_bytes(tarball.read_bytes()[:100])
    with pytest.raises(FastError, match=r"some\.tar\.xz cannot be unpacked; tar says: "):
        sources.locate(origin(tarball), "6.12", tarball, cache, Heard())


@pytest.mark.parametrize("ends", [KeyboardInterrupt, FastError("the disk is full")])
def test_what_ends_an_unpacking_leaves_nothing(
    ends: Any, tarball: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sources._tar

    def interrupted(*words: Any) -> str:
        real(*words)
        raise ends

    monkeypatch.setattr(sources, "_tar", interrupted)
    with pytest.raises((KeyboardInterrupt, FastError)):
        sources.unpack(Source(tarball, "d" * 64), "6.12", cache, Heard())
    with pytest.raises((KeyboardInterrupt, FastError)):
        sources.unpack(Source(tarball, "d" * 64), "6.1", cache, Heard())
    assert [one.name for one in (cache / "sources").iterdir()] == ["dddddddddddddddd.lock"]


def test_an_interrupted_download_leaves_nothing(
    tarball: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Heard, task: str, done: int, note: str = "") -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Heard, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sources.locate(origin(tarball), "6.12", None, cache, Heard())
    assert [one.suffix for one in (cache / "downloads").iterdir()] == [".lock"] * 2


def test_a_directory_that_is_no_kernel(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(FastError, match=r"is no kernel source: .*; name the directory that"):
        sources.unpack(Source(tmp_path, "d" * 64), "6.12", cache, Heard())


def test_a_directory_that_is_no_kernel_is_not_read(
    tmp_path: Path, tarball: Path, cache: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    heard = Heard()
    with pytest.raises(FastError, match="home is no kernel source"):
        sources.locate(origin(tarball), "6.12", home, cache, heard)
    assert heard.said == []


def test_a_directory_with_a_build_in_it(tmp_path: Path, cache: Path) -> None:
    tree = make_source(tmp_path / "linux")
    (tree / ".config").touch()
    with pytest.raises(FastError, match=f"run make -C {tree} mrproper"):
        sources.locate(origin(tree / "Makefile"), "6.12", tree, cache, Heard())


@pytest.mark.parametrize(
    ("makefile", "version"),
    [
        ("VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n", "7.2.0-rc3"),
        ("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n", "6.12.117"),
    ],
)
def test_versions(tmp_path: Path, makefile: str, version: str) -> None:
    (tmp_path / "Makefile").write_text(makefile)
    assert sources.version(tmp_path) == version


class Trees:
    """An unpacked tarball, a scratch directory of patched files, and the tree to keep."""

    def __init__(self, root: Path) -> None:
        self.pristine = make_source(root / "sources" / "hash")
        (self.pristine / "link").symlink_to("kernel")
        self.scratch = root / "scratch"
        self.working = root / "working"
        (self.scratch / "kernel").mkdir(parents=True)

    def sync(self, *touched: str) -> set[str]:
        """Bring the tree up to date; returns the files that were replaced or came or went."""
        before = self.stamps()
        sources.sync(self.pristine, self.scratch, set(touched), self.working, share=True)
        after = self.stamps()
        return {path for path, stamp in before.items() ^ after.items()}

    def stamps(self) -> dict[str, tuple[int, int]]:
        files = [path for path in self.working.rglob("*") if path.is_file()]
        return {
            str(path.relative_to(self.working)): (path.stat().st_mtime_ns, path.stat().st_ino)
            for path in files
        }


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    trees = Trees(tmp_path)
    trees.sync()
    return trees


def test_a_new_tree_shares_the_files_of_the_unpacked_source(trees: Trees) -> None:
    assert (trees.working / "Makefile").samefile(trees.pristine / "Makefile")
    assert (trees.working / "link").readlink() == Path("kernel")
    assert trees.sync() == set()


def test_a_tree_that_shares_nothing_has_copies(trees: Trees) -> None:
    other = trees.working.with_name("other")
    sources.sync(trees.pristine, trees.scratch, set(), other, share=False)
    assert not (other / "Makefile").samefile(trees.pristine / "Makefile")
    assert (other / "link").readlink() == Path("kernel")


def test_only_a_file_that_differs_is_written_and_gets_a_new_time(trees: Trees) -> None:
    (trees.scratch / "Makefile").write_bytes((trees.pristine / "Makefile").read_bytes())
    (trees.scratch / "kernel/fork.c").write_text("int patched;\n")
    assert trees.sync("Makefile", "kernel/fork.c") == {"kernel/fork.c"}
    patched = (trees.working / "kernel/fork.c").stat().st_mtime_ns
    assert (trees.pristine / "kernel/fork.c").read_text() == "int fork = 1;\n"
    # Taking the patch back is a change too: the old time would hide it from make.
    assert trees.sync() == {"kernel/fork.c"}
    assert (trees.working / "kernel/fork.c").stat().st_mtime_ns >= patched
    assert (trees.working / "kernel/fork.c").read_text() == "int fork = 1;\n"


def test_new_and_deleted_files_come_and_go(trees: Trees) -> None:
    (trees.scratch / "kernel/fast.c").write_text("int fast;\n")
    assert trees.sync("kernel/fast.c", "kernel/sched.c") == {"kernel/fast.c", "kernel/sched.c"}
    assert not (trees.working / "kernel/sched.c").exists()
    assert trees.sync() == {"kernel/fast.c", "kernel/sched.c"}
    assert not (trees.working / "kernel/fast.c").exists()
    assert (trees.pristine / "kernel/sched.c").exists()


def test_a_changed_mode_or_link_is_seen(trees: Trees) -> None:
    (trees.working / "link").unlink()
    (trees.working / "link").symlink_to("scripts")
    (trees.scratch / "kernel/fork.c").write_text("int fork = 1;\n")
    (trees.scratch / "kernel/fork.c").chmod(0o755)
    assert trees.sync("kernel/fork.c") == {"kernel/fork.c"}
    assert (trees.working / "link").readlink() == Path("kernel")


def test_an_interrupted_first_copy_is_begun_again(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    partial = tmp_path / "working.partial"
    partial.mkdir()
    (partial / "stale").touch()
    trees.sync()
    assert not (trees.working / "stale").exists()
    assert (trees.working / "Makefile").is_file()
