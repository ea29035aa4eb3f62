# SPDX-License-Identifier: GPL-2.0
"""Kernel sources: find one, verify and unpack it, and keep a patched tree of it up to date."""

from __future__ import annotations

import filecmp
import hashlib
import os
import re
import shutil
import stat
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

from fastlab.base import tools
from fastlab.base.cache import full_disk, locked, mark_used
from fastlab.base.fast_command import fast_command
from fastlab.base.model import FastError
from fastlab.base.progress import Reporter
from fastlab.kernel import debian_package


@dataclass(frozen=True)
class Origin:
    """Where the source of a series comes from when the user gives none.

    Without `debian_suite` the package is not fetched, without `sha256` nothing of `url` is.
    """

    debian_package: str
    debian_tarball: Path
    debian_suite: str
    url: str
    sha256: str


@dataclass(frozen=True)
class Source:
    """A kernel source: a directory or a tarball, and the hash of its content."""

    path: Path
    digest: str


def locate(
    origin: Origin, series: str, given: Path | None, cache: Path, reporter: Reporter
) -> Source:
    """The user's own source; else Debian's installed tarball; else the same from Debian's package,
    which apt fetches; else kernel.org's.

    One that the user gives has to be of the series. Its Makefile tells, before all of it is read or
    unpacked.
    """
    if given is not None:
        if given.is_dir():
            _check_clean(given)
            _check_version(version(given), series, given)
            reporter.say(f"reading {given}: its content tells whether a build is needed")
            return Source(given, _tree_digest(given, _files(given)))
        if given.is_file():
            _check_version(packed_version(given, cache), series, given)
            return Source(given, _file_digest(given))
        raise FastError(f"{given}: there is no kernel source, neither a directory nor a tarball")
    if origin.debian_tarball.is_file():
        return Source(origin.debian_tarball, _file_digest(origin.debian_tarball))
    fetched = cache / "downloads" / origin.debian_tarball.name
    released = cache / "downloads" / origin.url.rpartition("/")[2]
    why = f"{origin.debian_tarball} is not there (Debian package {origin.debian_package})"
    with locked(fetched.with_name(f"{fetched.name}.lock"), reporter):
        if origin.debian_suite and not fetched.is_file() and not released.is_file():
            try:
                _fetch(origin, fetched, reporter)
            except FastError as error:
                why = f"{why}; {error}"
        if fetched.is_file():
            mark_used(fetched)
            return Source(fetched, _file_digest(fetched))
    with locked(released.with_name(f"{released.name}.lock"), reporter):
        if not released.is_file():
            _download(origin, released, why, reporter)
        mark_used(released)
        return Source(released, origin.sha256)


def unpack(source: Source, series: str, cache: Path, reporter: Reporter) -> Path:
    """A directory with the unpacked source, never to be written to; it is unpacked only once."""
    if source.path.is_dir():
        _check_version(version(source.path), series, source.path)
        return source.path
    tree = cache / "sources" / source.digest[:16]
    with locked(tree.with_name(f"{tree.name}.lock"), reporter):
        if not tree.is_dir():
            reporter.say(f"unpacking {source.path}")
            partial = tree.with_name(f"{tree.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            with _nothing_left(partial):
                _tar(source.path, cache, "-x", "-C", str(partial), "--strip-components=1")
                _check_version(version(partial), series, source.path)
                partial.rename(tree)
        mark_used(tree)
    return tree


@contextmanager
def _nothing_left(partial: Path) -> Iterator[None]:
    """What is made there is removed again unless all of it is made."""
    try:
        yield
    except BaseException:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)
        raise


def version(tree: Path) -> str:
    """The kernel's version, such as 6.12.117, as its top Makefile states it."""
    makefile = tree / "Makefile"
    return stated_in(makefile.read_text(errors="replace") if makefile.is_file() else "", tree)


def packed_version(tarball: Path, cache: Path) -> str:
    """The version of a tarball, of which no more is read than is before that Makefile."""
    top = ("--wildcards", "--no-wildcards-match-slash", "*/Makefile")
    try:
        makefile = _tar(tarball, cache, "-x", "-O", "--occurrence=1", *top)
    except FastError as error:
        if "Not found in archive" not in str(error):
            raise
        makefile = ""
    return stated_in(makefile, tarball)


def stated_in(makefile: str, tree: Path) -> str:
    line = r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) = *(\S*)$"
    stated = dict(re.findall(line, makefile, re.MULTILINE))
    if not stated.get("VERSION") or not stated.get("PATCHLEVEL"):
        raise FastError(
            f"{tree} is no kernel source: its Makefile states no VERSION, PATCHLEVEL; name the "
            "directory that a kernel's own Makefile is in, or its tarball"
        )
    numbers = (stated[key] for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL") if stated.get(key))
    return f"{'.'.join(numbers)}{stated.get('EXTRAVERSION', '')}"


def sync(pristine: Path, scratch: Path, touched: Set[str], working: Path, *, share: bool) -> None:
    """Make `working` equal to `pristine`, with the `touched` files from `scratch`.

    Only changed files are written, so that make rebuilds only what depends on them. `share`: a new
    tree gets hard links, which requires that files of `pristine` are never written in place.
    """
    wanted = _files(pristine)
    for path in touched:
        wanted.pop(path, None)
        if (scratch / path).is_file():
            wanted[path] = scratch / path
    if working.is_dir():
        _update(working, wanted)
        return
    partial = working.with_name(f"{working.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for path, file in wanted.items():
        target = partial / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if share:
            target.hardlink_to(file)
        else:
            shutil.copy2(file, target, follow_symlinks=False)
    partial.rename(working)


def check_copied(source: Source, touched: Set[str], working: Path) -> None:
    """Raise FastError unless sync() has put into `working` what locate() has seen in a directory.

    The kernel would bear the name of another source, and be found under it ever after.
    """
    files = {path: file for path, file in _files(working).items() if path not in touched}
    for path in touched:
        file = source.path / path
        if file.is_symlink() or file.exists():
            # The tree has it patched.
            files[path] = file
    if _tree_digest(source.path, files) != source.digest:
        raise FastError(f"{source.path} was changed while it was being read; run this again")


def _update(working: Path, wanted: dict[str, Path]) -> None:
    present = _files(working)
    for path in present.keys() - wanted.keys():
        (working / path).unlink()
    for path, file in wanted.items():
        target = working / path
        if path in present and _same(file, target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # A copy, whose time is now: a link would keep the old time, and make would not see it.
        copy = target.with_name(f"{target.name}.fast-new")
        shutil.copy(file, copy, follow_symlinks=False)
        copy.replace(target)


def _same(path: Path, other: Path) -> bool:
    a, b = path.lstat(), other.lstat()
    if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino):
        return True
    if a.st_mode != b.st_mode or a.st_size != b.st_size:
        return False
    if stat.S_ISLNK(a.st_mode):
        return path.readlink() == other.readlink()
    return filecmp.cmp(path, other, shallow=False)


def _files(root: Path) -> dict[str, Path]:
    """Path below `root` -> file, for all files and symbolic links, without git's own."""
    files_below = {}
    for folder, directories, files in os.walk(root):
        if folder == str(root) and ".git" in directories:
            directories.remove(".git")
        # os.walk() counts a link to a directory as a directory, and does not enter it.
        links = [name for name in directories if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            path = f"{folder}/{name}"
            files_below[path[len(str(root)) + 1 :]] = Path(path)
    return files_below


def _file_digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _tree_digest(root: Path, files: Mapping[str, Path]) -> str:
    """Of the content of `files`, which are of `root`, or copies of those at the same paths."""
    digest = hashlib.sha256()
    for path, file in sorted(files.items()):
        link = file.is_symlink()
        content = str(file.readlink()) if link else _file_digest(file)
        # Not of the copy: it may have another owner, or be where nothing may be run.
        executable = not link and os.access(root / path, os.X_OK)
        digest.update(f"{path}\0{link}{executable}\0{content}\0".encode())
    return digest.hexdigest()


def _check_clean(tree: Path) -> None:
    if (tree / ".config").exists() or (tree / "include/config").exists():
        raise FastError(
            f"{tree} holds a build of its own, and a kernel builds out of tree only from a clean "
            f"source: run make -C {tree} mrproper (it deletes {tree}/.config too)"
        )


def _check_version(stated: str, series: str, origin: Path) -> None:
    if stated != series and not stated.startswith((f"{series}.", f"{series}-")):
        raise FastError(
            f"{origin} is Linux {stated}, not of series {series}: give a source of that series, or "
            f"name the series that it is of (`{fast_command('kernel', 'list')}` has all)"
        )


def _tar(tarball: Path, cache: Path, *words: str) -> str:
    """What GNU tar prints for the tarball with these words."""
    program = tools.require("tar")
    if tarball.suffix == ".xz":
        tools.require("xz")
    answer = subprocess.run(
        [program, "-f", tarball, *words],
        capture_output=True,
        text=True,
        errors="replace",
        # Some tarballs are in blocks, which xz decompresses on all CPUs when asked to.
        env={**os.environ, "LC_ALL": "C", "XZ_DEFAULTS": "-T0"},
    )
    if "No space left on device" in answer.stderr:
        raise full_disk(cache)
    if answer.returncode != 0:
        raise FastError(f"{tarball} cannot be unpacked; tar says: {answer.stderr.strip()[:500]}")
    return answer.stdout


def _fetch(origin: Origin, tarball: Path, reporter: Reporter) -> None:
    """Debian's tarball, from the package of its suite."""
    partial = tarball.with_name(f"{tarball.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    with _nothing_left(partial):
        file = debian_package.fetch(
            origin.debian_package, origin.debian_suite, origin.debian_tarball, partial, reporter
        )
        file.rename(tarball)
    shutil.rmtree(partial)


def _download(origin: Origin, tarball: Path, why: str, reporter: Reporter) -> None:
    """Fetch kernel.org's tarball; it gets its name only once its hash is right. `why` says why
    Debian's is not taken."""
    advice = (
        f"install the Debian package {origin.debian_package} (apt-get install "
        f"{origin.debian_package}), or give a source with --source"
    )
    if not origin.sha256:
        raise FastError(
            f"{why}; and Kbuild/kernels.toml has no SHA-256 of {origin.url}, without which nothing "
            f"of it is taken: {advice}"
        )
    reporter.say(f"{why}: downloading {origin.url}")
    partial = tarball.with_name(f"{tarball.name}.partial")
    digest = hashlib.sha256()
    task = f"downloading {tarball.name} (MiB)"
    with _nothing_left(partial):
        try:
            answer = urllib.request.urlopen(origin.url, timeout=30)
            with answer, partial.open("wb") as file:
                reporter.start(task, int(answer.headers.get("Content-Length", 0)) >> 20)
                try:
                    while block := answer.read(1 << 20):
                        digest.update(block)
                        file.write(block)
                        reporter.advance(task, file.tell() >> 20)
                finally:
                    reporter.finish(task)
        except (URLError, TimeoutError, ConnectionError) as error:
            raise FastError(f"{origin.url} cannot be downloaded ({error}): {advice}") from error
        if digest.hexdigest() != origin.sha256:
            raise FastError(
                f"{origin.url} has the SHA-256 {digest.hexdigest()}, not {origin.sha256} as "
                f"Kbuild/kernels.toml demands; it was thrown away: {advice}"
            )
        partial.rename(tarball)
