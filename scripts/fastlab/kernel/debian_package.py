# SPDX-License-Identifier: GPL-2.0
"""A file of a Debian package that is not installed, fetched and verified by apt.

apt is given a directory of its own for its sources, lists, cache and status, with the system's keys
and proxy: nothing of the system changes, and root is not needed. What is not signed is refused.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from fastlab.base.cache import full_disk
from fastlab.base.model import FastError
from fastlab.base.progress import Reporter

# Without it apt trusts the keys of /etc/apt/trusted.gpg.d.
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# apt reads this last, so that nothing of the system's own configuration wins. Hooks of the system
# would clean its caches.
_CONFIGURATION = """\
Dir::State "{here}/state";
Dir::State::lists "{here}/lists";
Dir::State::status "{here}/status";
Dir::Cache "{here}/cache";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::sourcelist "{here}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
#clear APT::Update;
APT::Update::Error-Mode "any";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
"""


def fetch(package: str, suite: str, file: Path, directory: Path, reporter: Reporter) -> Path:
    """The installed path `file` of the suite's newest package, in the directory, which is empty
    and becomes apt's.

    The mirror is the one that the system takes Debian from. A FastError says why there is none, or
    what apt said.
    """
    missing = [tool for tool in ("apt-get", "dpkg-deb") if not shutil.which(tool)]
    if missing:
        raise FastError(f"{' and '.join(missing)}: not there, this is no Debian")
    mirror = _mirror()
    where = f"{package} of {suite} ({mirror})"
    reporter.say(f"fetching {where}; apt verifies it")
    signed = f" signed-by={KEYRING}" if KEYRING.is_file() else ""
    (directory / "sources.list").write_text(f"deb [arch=amd64{signed}] {mirror} {suite} main\n")
    (directory / "apt.conf").write_text(_CONFIGURATION.format(here=directory))
    (directory / "status").touch()
    for name in ("state", "lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True)
    _apt(directory, where, f"reading {suite} (%)", reporter, "update")
    _apt(directory, where, f"fetching {package} (%)", reporter, "download", package)
    (archive,) = directory.glob(f"{package}_*.deb")
    return _member(archive, file, directory / file.name)


def _mirror() -> str:
    """The address that Debian itself comes from; apt knows it once it has lists."""
    words = ("--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages")
    answer = subprocess.run(
        ["apt-get", "indextargets", *words, "Origin: Debian"],
        capture_output=True,
        text=True,
        env=_environment(),
    )
    # The codename of updates and of security updates has a hyphen.
    match = re.search(r"^[^- ]+ main (\S+)$", answer.stdout, re.MULTILINE)
    if match is None:
        raise FastError(
            "apt has no lists of a mirror of Debian: run apt-get update as root, once, if its "
            f"sources have one{_said(answer.stderr)}"
        )
    return match[1]


def _apt(directory: Path, where: str, task: str, reporter: Reporter, *words: str) -> None:
    """Run apt-get within the directory, and show what it tells of its progress."""
    command = ["apt-get", "-qq", "-c", f"{directory}/apt.conf", "-o", "APT::Status-Fd=1", *words]
    errors = directory / "errors"
    reporter.start(task, 100)
    try:
        with (
            errors.open("wb") as log,
            subprocess.Popen(
                command,
                cwd=directory,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                if match := re.match(r"dlstatus:\d+:(\d+)", line):
                    reporter.advance(task, int(match[1]))
    finally:
        reporter.finish(task)
    if process.returncode:
        said = errors.read_text(errors="replace")
        if "No space left on device" in said:
            raise full_disk(directory)
        raise FastError(f"{where} cannot be fetched{_said(said)}")


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


def _said(errors: str) -> str:
    lines = [line for line in errors.splitlines() if line.startswith(("E: ", "W: "))]
    return f"; apt says: {' '.join(lines)[:500]}" if lines else ""


def _member(archive: Path, file: Path, target: Path) -> Path:
    """Write the package's file to `target`."""
    with target.open("wb") as output:
        unpacked = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE)
        with unpacked:
            tar = subprocess.run(
                ["tar", "-x", "-O", f".{file}"],
                stdin=unpacked.stdout,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
            )
    if tar.returncode:
        if "No space left on device" in tar.stderr:
            raise full_disk(target.parent)
        raise FastError(f"{archive.name} has no {file}; tar says: {tar.stderr.strip()[:500]}")
    return target
