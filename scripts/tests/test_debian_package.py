# SPDX-License-Identifier: GPL-2.0
"""A kernel's source from a Debian package that is not installed: by the real apt, from a mirror of
the test's own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_kernel import bin_without
from heard import Heard

from fastlab.base.model import FastError
from fastlab.kernel import debian_package, sources
from fastlab.kernel.sources import Origin, Source

PACKAGE = "linux-source-7.3"
FILE = Path("/usr/src/of-the-test/linux-source-7.3.tar.xz")
SUITE = "trixie-backports"
NEEDED = ("apt-get", "dpkg-deb", "gpg")
MISSING = [tool for tool in NEEDED if not shutil.which(tool)]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)}: not there")


def run(*words: str | Path) -> None:
    subprocess.run(words, check=True, capture_output=True)


class Mirror:
    """A mirror of Debian with one package, and a system that takes Debian from there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.system = root / "system"
        self.archive = root / f"debian/pool/{PACKAGE}_7.3.4-1_all.deb"
        self.url = f"file:{root}/debian"
        self.content = b"the source of a kernel"
        self._pack()
        self.keyring = self._key("good")
        for suite in ("trixie", SUITE):
            self.publish(suite)
        self._configure()

    def _pack(self) -> None:
        package = self.root / "package"
        (package / "DEBIAN").mkdir(parents=True)
        (package / "DEBIAN/control").write_text(
            f"Package: {PACKAGE}\nVersion: 7.3.4-1\nArchitecture: all\n"
            "Maintainer: none <none@example.org>\nDescription: a source\n"
        )
        target = package / FILE.relative_to("/")
        target.parent.mkdir(parents=True)
        target.write_bytes(self.content)
        self.archive.parent.mkdir(parents=True)
        run("dpkg-deb", "--build", "--root-owner-group", package, self.archive)

    def _key(self, name: str) -> Path:
        """A new key, and its public half in a file."""
        self.home = self.root / f"gpg-{name}"
        self.home.mkdir(mode=0o700)
        gpg = ("gpg", "--homedir", self.home, "--batch", "--quiet")
        run(*gpg, "--passphrase", "", "--quick-generate-key", f"{name}@example.org", "ed25519")
        keyring = self.root / f"{name}.gpg"
        run(*gpg, "--output", keyring, "--export")
        return keyring

    def publish(self, suite: str) -> None:
        """Sign the suite's list of packages by the last key."""
        content = self.archive.read_bytes()
        control = (self.root / "package/DEBIAN/control").read_text()
        listed = (
            f"{control}Filename: pool/{self.archive.name}\nSize: {len(content)}\n"
            f"SHA256: {hashlib.sha256(content).hexdigest()}\n"
        ).encode()
        folder = self.root / "debian/dists" / suite
        packages = folder / "main/binary-amd64/Packages"
        packages.parent.mkdir(parents=True, exist_ok=True)
        packages.write_bytes(listed)
        (folder / "Release").write_text(
            f"Origin: Debian\nSuite: {suite}\nCodename: {suite}\nComponents: main\n"
            "Architectures: amd64\nDate: Sat, 01 Nov 2025 00:00:00 UTC\nSHA256:\n"
            f" {hashlib.sha256(listed).hexdigest()} {len(listed)} main/binary-amd64/Packages\n"
        )
        (folder / "InRelease").unlink(missing_ok=True)
        gpg = ("gpg", "--homedir", self.home, "--batch", "--quiet")
        run(*gpg, "--clearsign", "--output", folder / "InRelease", folder / "Release")

    def _configure(self) -> None:
        """The system's apt has the list of `trixie` alone, and a hook."""
        for name in ("lists/partial", "cache/archives/partial", "parts"):
            (self.system / name).mkdir(parents=True)
        (self.system / "status").touch()
        (self.system / "sources.list").write_text(
            f"deb [arch=amd64 signed-by={self.keyring}] {self.url} trixie main\n"
        )
        self.configuration = self.root / "apt.conf"
        self.configuration.write_text(
            f'Dir::State "{self.system}";\nDir::State::lists "{self.system}/lists";\n'
            f'Dir::State::status "{self.system}/status";\nDir::Cache "{self.system}/cache";\n'
            f'Dir::Etc "{self.system}";\nDir::Etc::sourcelist "sources.list";\n'
            f'Dir::Etc::sourceparts "parts";\nAPT::Sandbox::User "root";\n'
            f'APT::Update::Post-Invoke {{ "touch {self.system}/hook-ran"; }};\n'
        )

    def state(self) -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in self.system.rglob("*")}

    def origin(self, **changes: str) -> Origin:
        origin = Origin(PACKAGE, FILE, SUITE, "file:///none/linux-7.3.4.tar.xz", "")
        return replace(origin, **changes)


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    mirror = Mirror(tmp_path)
    monkeypatch.setenv("APT_CONFIG", str(mirror.configuration))
    monkeypatch.setattr(debian_package, "KEYRING", mirror.keyring)
    run("apt-get", "update")
    (mirror.system / "hook-ran").unlink()
    yield mirror
    # Not before: a command may still find the agent that ends.
    for home in tmp_path.glob("gpg-*"):
        run("gpgconf", "--homedir", home, "--kill", "gpg-agent")


def locate(mirror: Mirror, heard: Heard | None = None, **changes: str) -> Source:
    origin = mirror.origin(**changes)
    return sources.locate(origin, "7.3", None, mirror.root / "a cache", heard or Heard())


def left(mirror: Mirror) -> list[str]:
    """What is in the cache besides locks."""
    downloads = mirror.root / "a cache/downloads"
    return [one.name for one in downloads.iterdir() if one.suffix != ".lock"]


def test_the_package_of_the_suite_is_fetched_once_and_the_system_is_left_alone(
    mirror: Mirror,
) -> None:
    before = mirror.state()
    heard = Heard()
    found = locate(mirror, heard)
    assert found == Source(
        mirror.root / "a cache/downloads" / FILE.name, hashlib.sha256(mirror.content).hexdigest()
    )
    assert found.path.read_bytes() == mirror.content
    assert heard.said == [
        f"fetching {PACKAGE} of {SUITE} ({mirror.url}/); apt verifies it",
    ]
    assert mirror.state() == before
    assert left(mirror) == [FILE.name]
    shutil.rmtree(mirror.root / "debian")
    heard = Heard()
    assert locate(mirror, heard) == found
    assert heard.said == []


def test_a_suite_that_another_key_signed_is_refused(mirror: Mirror) -> None:
    mirror._key("bad")
    mirror.publish(SUITE)
    with pytest.raises(FastError, match=r"cannot be fetched; apt says: .*(sign|NO_PUBKEY)"):
        locate(mirror)
    assert left(mirror) == []


def test_the_systems_word_makes_an_unsigned_suite_no_better(mirror: Mirror) -> None:
    (mirror.root / f"debian/dists/{SUITE}/InRelease").unlink()
    with mirror.configuration.open("a") as file:
        file.write('APT::Get::AllowUnauthenticated "true";\n')
        file.write('Acquire::AllowInsecureRepositories "true";\n')
    with pytest.raises(FastError, match=r"cannot be fetched; apt says: .*is not signed"):
        locate(mirror)


def test_a_package_that_was_changed_is_refused(mirror: Mirror) -> None:
    content = bytearray(mirror.archive.read_bytes())
    content[-1] ^= 1
    mirror.archive.write_bytes(content)
    with pytest.raises(FastError, match=r"cannot be fetched; apt says: .*(Hash|hash|size)"):
        locate(mirror)
    assert left(mirror) == []


def test_a_suite_without_the_package(mirror: Mirror) -> None:
    with pytest.raises(FastError, match=r"Unable to locate package linux-source-9\.9"):
        locate(mirror, debian_package="linux-source-9.9")
    with pytest.raises(FastError, match=r"linux-source-7.3 of sid \(file:.* cannot be fetched"):
        locate(mirror, debian_suite="sid")


def test_a_package_without_the_file(mirror: Mirror) -> None:
    origin = replace(mirror.origin(), debian_tarball=Path("/usr/src/other.tar.xz"))
    with pytest.raises(FastError, match=r"_all\.deb has no /usr/src/other\.tar\.xz; tar says: "):
        sources.locate(origin, "7.3", None, mirror.root / "a cache", Heard())
    assert left(mirror) == []


def test_kernel_orgs_comes_next(mirror: Mirror) -> None:
    tarball = mirror.root / "linux-7.3.4.tar.xz"
    tarball.write_bytes(b"of kernel.org")
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    heard = Heard()
    found = locate(mirror, heard, debian_suite="sid", url=f"file://{tarball}", sha256=digest)
    assert found.path.name == tarball.name and found.digest == digest
    assert "cannot be fetched; apt says: " in heard.said[1]
    assert heard.said[1].endswith(f": downloading file://{tarball}")
    # Once there, it stays the source: apt is not asked again.
    heard = Heard()
    assert locate(mirror, heard, url=f"file://{tarball}", sha256=digest) == found
    assert heard.said == []


def test_an_apt_without_lists_says_what_to_do(mirror: Mirror) -> None:
    shutil.rmtree(mirror.system / "lists")
    with pytest.raises(FastError, match="no lists of a mirror of Debian: run apt-get update"):
        locate(mirror)


def test_another_system_than_debian(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bin_without(mirror.root / "bin", "apt-get", "dpkg-deb")
    monkeypatch.setenv("PATH", str(path))
    with pytest.raises(FastError, match=r"apt-get and dpkg-deb: not there, .*; and Kbuild"):
        locate(mirror)
