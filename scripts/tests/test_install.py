# SPDX-License-Identifier: GPL-2.0
"""`make install`: what is there then works from anywhere, and is not written to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from fastlab.base.cache import cache_dir
from fastlab.base.project import PROJECT, is_installed, python_package, work_dir
from fastlab.cli.commands import HELP

PAGES = {"fast", *(f"fast-{name}" for name in HELP)}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if not shutil.which("help2man"):
        pytest.skip("help2man is not installed (scripts/install-deps does)")
    # A checkout that is its owner's alone, and an older version.
    source = tmp_path_factory.mktemp("source") / "fast"
    leave = shutil.ignore_patterns(".git", "build", "results", "__pycache__")
    shutil.copytree(PROJECT, source, symlinks=True, ignore=leave)
    subprocess.run(["chmod", "-R", "go=", source], check=True)
    destination = tmp_path_factory.mktemp("root")
    share = destination / "opt/fast/share/fastlab"
    (share / "scripts/fastlab").mkdir(parents=True)
    (share / "scripts/fastlab/gone.py").touch()
    words = [f"DESTDIR={destination}", "PREFIX=/opt/fast", f"PYTHON={sys.executable}"]
    answer = subprocess.run(
        ["make", "-C", source, "install", *words],
        capture_output=True,
        text=True,
        timeout=600,
        umask=0o077,
    )
    assert answer.returncode == 0, answer.stderr
    yield destination / "opt/fast"


def fast(root: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The installed command, run in another directory, with a cache of its own."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), **more}
    return subprocess.run(
        [root / "bin/fast", *words], cwd="/", env=environment, capture_output=True, text=True
    )


def test_what_needs_no_packages_answers_at_once(root: Path) -> None:
    answer = fast(root, "--version")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert re.fullmatch(r"fast \d+\.\d+\.\d+\n", answer.stdout)
    assert "work/" in fast(root, "doctor").stdout
    assert not (root.parent / ".cache").exists()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["kernel", "--help"], 0, "usage: fast kernel"),
        (["try", "-h", "--", "true"], 0, "usage: fast try"),
        (["frobnicate"], 2, "invalid choice: 'frobnicate'"),
        (["run", "x.toml", "--jbos", "2"], 2, "unrecognized arguments: --jbos 2"),
    ],
)
def test_what_the_parser_answers_installs_nothing(
    words: list[str], status: int, said: str, root: Path, tmp_path: Path
) -> None:
    answer = fast(root, *words, FAST_CACHE=str(tmp_path / "cache"))
    assert answer.returncode == status
    assert said in answer.stdout + answer.stderr
    assert not (tmp_path / "cache").exists()


def test_everybody_may_read_it_and_nothing_older_is_left(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            allowed = 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644
            assert path.stat().st_mode & 0o777 == allowed, path
    assert not (root / "share/fastlab/scripts/fastlab/gone.py").exists()
    assert (root / "share/fastlab/scripts/fastlab/base/project.py").is_file()


def test_zsh_finds_its_completion(root: Path) -> None:
    text = (root / "share/zsh/site-functions/_fast").read_text()
    assert text.startswith("#compdef fast\n")


def test_without_help2man_nothing_is_installed(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, PROJECT / "scripts/make-manual", tmp_path / "share"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 1
    assert "help2man is missing: install the Debian package help2man" in answer.stderr
    assert not (tmp_path / "share").exists()


def test_nothing_is_built_where_it_is_installed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAST_CACHE", str(tmp_path))
    share = root / "share/fastlab"
    assert is_installed(share) and not is_installed(PROJECT)
    assert work_dir(share).parent == tmp_path / "work"
    assert work_dir(PROJECT) == PROJECT / "build"
    before = work_dir(share)
    mark = share / "installed"
    text = mark.read_text()
    mark.write_text(f"{text}another\n")
    assert work_dir(share) != before
    mark.write_text(text)
    assert not list(share.rglob("__pycache__"))


def test_advice_is_for_where_it_is_installed(root: Path) -> None:
    said = python_package("rich", root / "share/fastlab")
    assert said.endswith(f"remove {cache_dir()}/venv; the next command creates it again")
    assert python_package("rich", PROJECT).endswith("run `make`, which installs it")


def test_a_wheel_has_all_that_the_package_reads() -> None:
    package = PROJECT / "scripts/fastlab"
    data = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]
    shipped = {
        path
        for name, patterns in data["package-data"].items()
        for pattern in patterns
        for path in (package.parent / name.replace(".", "/")).glob(pattern)
    }
    every = {path for path in package.rglob("*.*") if path.is_file()}
    assert {path for path in every if path.suffix not in (".py", ".pyc")} == shipped != set()


@pytest.fixture
def noting(tmp_path: Path) -> str:
    """A PATH whose Python notes which packages it is asked for."""
    programs = tmp_path / "bin"
    programs.mkdir()
    python = programs / "python3"
    python.write_text(
        "#!/bin/sh\n"
        f'case "$*" in "-m venv"*) for last; do :; done; mkdir -p "$last/bin"\n'
        f"printf '#!/bin/sh\\ncat >> {tmp_path}/asked\\n' > \"$last/bin/pip\"\n"
        f'printf \'#!/bin/sh\\necho run "$@"\\n\' > "$last/bin/python"\n'
        'chmod +x "$last"/bin/*;; *) exec /usr/bin/python3 "$@";; esac\n'
    )
    python.chmod(0o755)
    return f"{programs}:{os.environ['PATH']}"


def test_its_packages_are_installed_once(root: Path, tmp_path: Path, noting: str) -> None:
    answer = fast(root, "kernel", "list", PATH=noting, FAST_CACHE=str(tmp_path / "cache"))
    assert answer.stdout.startswith("run"), answer.stderr
    assert "fast: installing its Python packages into" in answer.stderr
    assert "rich>=13" in (tmp_path / "asked").read_text()
    version = "import sys; print('%d.%d' % sys.version_info[:2])"
    said = subprocess.run(["/usr/bin/python3", "-c", version], capture_output=True, text=True)
    (venv,) = (one for one in (tmp_path / "cache/venv").iterdir() if one.is_dir())
    assert venv.name.endswith(f"-{said.stdout.strip()}")
    again = fast(root, "kernel", "list", PATH=noting, FAST_CACHE=str(tmp_path / "cache"))
    assert (again.returncode, again.stderr) == (0, "")


def test_of_two_at_once_the_second_waits_for_the_firsts_packages(
    tmp_path: Path, noting: str
) -> None:
    words = [PROJECT / "scripts/make-venv", PROJECT / "pyproject.toml", tmp_path / "venv"]
    both = [subprocess.Popen(words, env={**os.environ, "PATH": noting}) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert (tmp_path / "asked").read_text().count("rich>=13") == 1


def test_every_command_has_a_page(root: Path) -> None:
    pages = {path.stem: path.read_text() for path in (root / "share/man/man1").iterdir()}
    assert pages.keys() >= PAGES
    assert "fast-kernel-build" in pages and "fast-cache-clean" in pages
    assert re.search(r"^calibrate\n[a-z]", pages["fast"], re.MULTILINE)
    assert ".SH SYNOPSIS" in pages["fast-try"] and "\\-\\-backend" in pages["fast-try"]
    # Nor do they tell where they were made: beside this.
    assert not [name for name, text in pages.items() if str(root.parents[2]) in text]


@pytest.mark.parametrize(
    ("line", "known"),
    [("fast c", "compare"), ("fast kernel b", "build"), ("fast try --back", "--backend")],
)
def test_bash_completes(line: str, known: str, root: Path) -> None:
    script = (
        f"source {root}/share/bash-completion/completions/fast\n"
        f"COMP_LINE='{line}' COMP_POINT={len(line)} COMP_WORDS=({line}) "
        "COMP_CWORD=1 COMP_TYPE=9 _python_argcomplete fast\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    venv = PROJECT / "build/venv/bin"
    environment = {"PATH": f"{root}/bin:{venv}:{os.environ['PATH']}", "HOME": "/nowhere"}
    answer = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
    assert known in [word.strip() for word in answer.stdout.split("\n")], answer.stderr


def asked_for(script: Path, programs: Path) -> set[str]:
    """The packages that install-deps misses on a Debian that has none."""
    programs.mkdir()
    for name in ("dpkg-query", "apt-get", "apt-cache"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    answer = subprocess.run(
        [script, "--dry-run"], env={"PATH": path}, capture_output=True, text=True
    )
    assert answer.returncode == 1
    (found,) = re.findall("would install ([a-z].*)", answer.stderr)
    return set(found.split())


def test_the_package_needs_what_an_installed_one_asks_for(root: Path, tmp_path: Path) -> None:
    wanted = asked_for(root / "share/fastlab/scripts/install-deps", tmp_path / "installed")
    control = (PROJECT / "debian/control").read_text().split("\nPackage:")[1]
    relations = re.search(r"\nDepends:(.*?)\nRecommends:", control, re.DOTALL)
    assert relations
    named = {one.split()[0] for one in relations[1].split(",")}
    # build-essential depends on it.
    assert wanted - named == {"dpkg-dev"}
    more = asked_for(PROJECT / "scripts/install-deps", tmp_path / "checkout") - wanted
    assert {"clang", "doxygen", "help2man"} <= more


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1:11.1.3+ds-1~bpo13+1", ""),
        ("1:12.0.0+ds-1", "QEMU 12.0 is installed, and the simulation runs with QEMU 9.2 to 11.1"),
    ],
)
def test_install_deps_warns_of_a_qemu_that_is_too_new(
    version: str, said: str, tmp_path: Path
) -> None:
    """On a Debian that has all packages, and this version of QEMU's."""
    for name, text in (
        ("dpkg-query", f"case $3 in *Version*) echo '{version}';; *) echo installed;; esac"),
        ("apt-get", ""),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    answer = subprocess.run(
        [PROJECT / "scripts/install-deps", "--dry-run"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0
    assert said in answer.stderr
    assert bool(answer.stderr) == bool(said)


def test_the_package_says_what_each_file_is_under() -> None:
    stanzas = (PROJECT / "debian/copyright").read_text().split("\n\n")
    fields = [dict(re.findall(r"^([\w-]+): (.*)$", one, re.MULTILINE)) for one in stanzas]
    # The last that fits counts.
    said = [(one["Files"].split(), one["License"]) for one in reversed(fields) if "Files" in one]
    checked = 0
    for path in (PROJECT / "userspace").rglob("*.*"):
        if path.suffix not in (".c", ".h", ".cpp", ".hpp", ".py"):
            continue
        license = re.search(r"SPDX-License-Identifier: (\S+)", path.read_text())
        assert license, path
        name = str(path.relative_to(PROJECT))
        (told, *_) = (what for names, what in said if any(fnmatch(name, one) for one in names))
        assert told.removesuffix("-only") == license[1], path
        checked += 1
    assert checked > 100


def test_what_it_does_not_know_installs_nothing() -> None:
    answer = subprocess.run(
        [PROJECT / "scripts/install-deps", "--brwoser"], capture_output=True, text=True
    )
    assert (answer.returncode, answer.stdout) == (2, "")
    options = "--dry-run, --browser, --aarch64, --openmp and --scx"
    assert f"unknown option --brwoser; there are {options}" in answer.stderr


def test_the_library_alone_wants_no_packages_of_the_laboratory(tmp_path: Path) -> None:
    words = ["make", "-n", "-C", PROJECT, "install-intervals", f"LIBRARY={tmp_path}/build"]
    answer = subprocess.run(words, capture_output=True, text=True)
    assert "meson setup" in answer.stdout and "install-deps" not in answer.stdout


def make_sysroot(*arguments: Path, path: str = os.environ["PATH"]) -> tuple[int, str]:
    answer = subprocess.run(
        ["/bin/sh", PROJECT / "scripts/make-sysroot", *arguments],
        env={"PATH": path},
        capture_output=True,
        text=True,
    )
    assert answer.stdout == ""
    return answer.returncode, answer.stderr


def test_a_sysroot_wants_a_directory() -> None:
    assert make_sysroot() == (2, "make-sysroot: one argument is wanted: the directory to be made\n")


def test_a_sysroot_wants_a_compiler(tmp_path: Path) -> None:
    for program in ("mkdir", "realpath"):
        (tmp_path / program).symlink_to(shutil.which(program) or program)
    status, said = make_sysroot(tmp_path / "root", path=str(tmp_path))
    assert status == 1
    assert said.startswith("make-sysroot: apt-get is not there: scripts/install-deps --aarch64")


def test_a_sysroot_that_is_there_is_left(tmp_path: Path) -> None:
    (tmp_path / "meson.ini").write_text("[constants]\n")
    assert make_sysroot(tmp_path) == (0, "")
    assert list(tmp_path.iterdir()) == [tmp_path / "meson.ini"]
