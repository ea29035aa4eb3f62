# SPDX-License-Identifier: GPL-2.0
"""`make install-intervals`, and projects that build against it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
RUNTIME = PROJECT / "userspace/intervals"
# One in C, one in C++; both check what they have computed.
PROGRAMS = {"c_program": "graph.c", "cpp_program": "sum.cpp"}

CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(user C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(intervals 1.0 REQUIRED)
add_executable(c_program graph.c)
target_link_libraries(c_program intervals::intervals)
add_executable(cpp_program sum.cpp)
target_link_libraries(cpp_program intervals::static)
add_executable(static_program graph.c)
target_link_libraries(static_program intervals::static -static)
"""
MESON = """
project('user', 'c', 'cpp', default_options: ['cpp_std=c++17'])
intervals = dependency('intervals', version: '>=1.0', fallback: 'intervals')
executable('c_program', 'graph.c', dependencies: intervals)
executable('cpp_program', 'sum.cpp', dependencies: intervals)
"""


def run(words: list[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """Its output; a test that fails shows it."""
    # What `make test` says to its own makes is not for these.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        words,
        env={**inherited, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}"
    return done.stdout


@dataclass(frozen=True)
class Installed:
    prefix: Path

    def find(self, name: str) -> Path:
        (path,) = self.prefix.glob(f"**/{name}")
        return path

    def pkg_config(self) -> dict[str, str]:
        return {"PKG_CONFIG_PATH": str(self.find("intervals.pc").parent)}

    def runs(self, program: Path) -> None:
        libraries = {"LD_LIBRARY_PATH": str(self.find("libintervals.so").parent)}
        run([program], libraries)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    directory = tmp_path_factory.mktemp("installed")
    library = f"LIBRARY={directory / 'build'}"
    run(["make", "-C", PROJECT, "install-intervals", f"PREFIX={directory / 'prefix'}", library])
    return Installed(directory / "prefix")


def user(directory: Path, build_file: str, text: str) -> None:
    """A user's project: a build file and two sources."""
    (directory / build_file).write_text(text)
    for source in PROGRAMS.values():
        (directory / source).write_bytes((RUNTIME / "examples" / source).read_bytes())


def needs(program: Path) -> str:
    """The libraries that a program names."""
    return run(["readelf", "--dynamic", program])


def test_pkg_config(installed: Installed, tmp_path: Path) -> None:
    environment = installed.pkg_config()
    assert run(["pkg-config", "--modversion", "intervals"], environment).startswith("1.")
    flags = run(["pkg-config", "--cflags", "--libs", "intervals"], environment).split()
    for compiler, (name, source) in zip(("cc", "c++"), PROGRAMS.items(), strict=True):
        program = tmp_path / name
        # The C++ header gives users no warning.
        run(
            [
                compiler,
                "-Wall",
                "-Wextra",
                "-Wshadow",
                "-Werror",
                "-o",
                program,
                RUNTIME / "examples" / source,
                *flags,
            ]
        )
        assert "[libintervals.so.1]" in needs(program)
        installed.runs(program)


def test_static(installed: Installed, tmp_path: Path) -> None:
    """With nothing but what pkg-config says: with the library's own code in the program, and with
    all code in it."""
    environment = installed.pkg_config()
    words = ["pkg-config", "--cflags", "--static", "--libs", "intervals"]
    flags = run(words, environment).split()
    for compiler, (name, source) in zip(("cc", "c++"), PROGRAMS.items(), strict=True):
        program = tmp_path / name
        run([compiler, "-static", "-o", program, RUNTIME / "examples" / source, *flags])
        assert "NEEDED" not in needs(program)
        run([program])
        run([compiler, "-o", program, RUNTIME / "examples" / source, *flags])
        installed.runs(program)


def test_cmake(installed: Installed, tmp_path: Path) -> None:
    user(tmp_path, "CMakeLists.txt", CMAKE)
    build = tmp_path / "build"
    run(["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={installed.prefix}"])
    run(["cmake", "--build", build])
    assert "[libintervals.so.1]" in needs(build / "c_program")
    assert "libintervals" not in needs(build / "cpp_program")
    assert "NEEDED" not in needs(build / "static_program")
    run([build / "static_program"])
    for name in PROGRAMS:
        installed.runs(build / name)


def test_cmake_in_another_place(installed: Installed, tmp_path: Path) -> None:
    """What is installed may be moved, and names no library that it does not need."""
    moved = Installed(tmp_path / "moved")
    shutil.copytree(installed.prefix, moved.prefix, symlinks=True)
    text = moved.find("intervals-config.cmake").read_text()
    assert str(installed.prefix) not in text
    assert "numa" not in text
    user(tmp_path, "CMakeLists.txt", CMAKE)
    build = tmp_path / "build"
    run(["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={moved.prefix}"])
    assert str(moved.prefix) in run(["cmake", "--build", build, "--verbose"])
    for name in PROGRAMS:
        moved.runs(build / name)


def test_cmake_refuses_another_abi(installed: Installed, tmp_path: Path) -> None:
    user(tmp_path, "CMakeLists.txt", CMAKE.replace("intervals 1.0", "intervals 2.0"))
    words = ["cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    words += [f"-DCMAKE_PREFIX_PATH={installed.prefix}"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode != 0
    assert "compatible with requested version" in done.stderr


@pytest.mark.parametrize("linking", ("separately", "link-time optimization"))
def test_meson_subproject(tmp_path: Path, linking: str) -> None:
    user(tmp_path, "meson.build", MESON)
    (tmp_path / "subprojects").mkdir()
    (tmp_path / "subprojects/intervals").symlink_to(RUNTIME)
    build = tmp_path / "build"
    lto = f"-Db_lto={str(linking != 'separately').lower()}"
    run(["meson", "setup", "--wrap-mode=forcefallback", "-Dwerror=true", lto, build, tmp_path])
    output = run(["ninja", "-C", build])
    assert "test_abi" not in output, "a user's build must not build our tests"
    for name in PROGRAMS:
        assert "[libintervals.so.1]" in needs(build / name)
        run([build / name])


def test_what_is_installed(installed: Installed) -> None:
    names = {
        path.name
        for path in installed.prefix.glob("**/*")
        if not path.is_dir() and path.parent.name not in ("man3", "intervals_openmp")
    }
    libraries = {f"libintervals{end}" for end in (".a", ".so", ".so.1", "-udev.a", "-debug.so")}
    (full,) = {name for name in names if name.startswith("libintervals.so.1.")}
    headers = {path.name for path in (RUNTIME / "include").glob("*.h*")}
    cmake = {"intervals-config.cmake", "intervals-config-version.cmake"}
    commands = {"intervals-view", "intervals-view.1", "intervals-openmp", "intervals-openmp.1"}
    openmp = {"libgomp.so.1"}
    assert names == libraries | {full} | headers | cmake | commands | openmp | {"intervals.pc"}
    sections = run(["readelf", "--sections", installed.find(full)])
    assert ".symtab" not in sections and ".debug" not in sections


def test_the_openmp_command_finds_its_library(installed: Installed) -> None:
    said = run([installed.find("intervals-openmp"), "--check", "true"])
    (library,) = installed.prefix.glob("lib*/**/intervals/libgomp.so.1")
    assert f"LD_PRELOAD={library}\n" in said
    # Only in a directory of its own, which no program looks into.
    assert library.parent.name == "intervals"


def test_manual_pages(installed: Installed) -> None:
    paths = list(installed.prefix.glob("share/man/man3/*"))
    pages = {path.name for path in paths}
    exported = {
        line.split("@")[0].strip() + ".3"
        for line in (RUNTIME / "debian/libintervals1.symbols").read_text().splitlines()[1:]
    }
    assert exported <= pages
    assert all(name.startswith(("ivl_", "IVL_", "intervals")) for name in pages)
    assert not [path.name for path in paths if str(PROJECT) in path.read_text()]
    manual = {"MANPATH": str(installed.prefix / "share/man"), "MANPAGER": "cat"}
    text = run(["man", "3", "ivl_spawn"], manual)
    assert "possibly at the same time as what follows" in " ".join(text.split())


def test_debian_packages(tmp_path: Path) -> None:
    source = tmp_path / "intervals"
    shutil.copytree(RUNTIME, source)
    # Checks its list of symbols too: a difference fails the build.
    environment = {"DPKG_GENSYMBOLS_CHECK_LEVEL": "4", "DEB_BUILD_OPTIONS": "parallel=1"}
    words = ["dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps"]
    run(["env", "-C", source, *words], environment)
    contents = {}
    packages = ("libintervals1", "libintervals-dev", "libintervals-tools", "libintervals-gomp")
    for name in (*packages, "intervals-openmp"):
        (package,) = tmp_path.glob(f"{name}_1.*.deb")
        contents[name] = run(["dpkg-deb", "--contents", package])
    assert "/libintervals.so.1\n" not in contents["libintervals-dev"]
    # Two architectures' are installed at the same time: there is one /usr/bin for both.
    assert "/bin/" not in contents["libintervals-dev"]
    for file in ("bin/intervals-view", "man1/intervals-view.1.gz"):
        assert f"/{file}\n" in contents["libintervals-tools"], file
    assert "/man1/" not in contents["libintervals-dev"]
    assert "/libintervals.so.1 ->" in contents["libintervals1"]
    for file in ("intervals.hpp", "libintervals.a", "intervals.pc", "man3/ivl_forkjoin.3.gz"):
        assert f"/{file}\n" in contents["libintervals-dev"], file
    assert "/intervals/libgomp.so.1\n" in contents["libintervals-gomp"]
    assert "/bin/" not in contents["libintervals-gomp"]
    assert "/bin/intervals-openmp\n" in contents["intervals-openmp"]
    for name in ("libintervals1", "libintervals-gomp"):
        assert list(tmp_path.glob(f"{name}-dbgsym_1.*deb")), name
