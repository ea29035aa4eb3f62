# SPDX-License-Identifier: GPL-2.0
"""The guest of a user's program has the program's files at the same paths as the host."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from fastlab.base.model import FastError
from fastlab.trial import subject
from fastlab.trial.given import NOTHING, Given
from fastlab.trial.opened import Opened
from fastlab.trial.subject import RUNNER, Subject, find_subject, runners_words

MARKED = """
int main(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\\n\\t.long 0x46410002");
	return 0;
}
"""


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stands for init and the runner."""
    return compiled(tmp_path_factory.mktemp("ours"), "ours", options=("-static",))


def compiled(
    directory: Path,
    name: str,
    source: str = "int main(void) { return 0; }\n",
    options: tuple[str, ...] = (),
) -> Path:
    (directory / "main.c").write_text(source)
    subprocess.run(["gcc", "-o", name, "main.c", *options], cwd=directory, check=True)
    return directory / name


def find(
    ours: Path,
    directory: Path,
    *argv: str,
    more: tuple[Path, ...] = (),
    memory_mb: int = 512,
    given: Given = NOTHING,
    opened: Opened | None = None,
) -> Subject:
    binaries = {"/init": ours, RUNNER: ours}
    return find_subject(argv, more, directory, binaries, memory_mb, given, opened)


def unpacked(found: Subject, root: Path) -> Path:
    root.mkdir()
    unpack = ["cpio", "-id", "--quiet", "--no-absolute-filenames"]
    subprocess.run(unpack, input=found.image, cwd=root, check=True)
    return root


def below(root: Path, path: Path) -> Path:
    return root / str(path).lstrip("/")


def test_the_program_runs_with_nothing_but_what_the_guest_has(ours: Path, tmp_path: Path) -> None:
    program = compiled(tmp_path, "one", "int main(void) { return 7; }\n", ("-pthread",))
    found = find(ours, tmp_path, "./one")
    root = unpacked(found, tmp_path / "root")
    assert found.path == program
    assert not found.marked
    run = [shutil.which("chroot") or "/usr/sbin/chroot", root, program]
    if os.geteuid():
        pytest.skip("only root may chroot")
    assert subprocess.run(run).returncode == 7


def test_files_stand_where_links_lead_and_links_are_kept(ours: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    compiled(real, "program")
    (tmp_path / "link").symlink_to("real/../real")
    (real / "short").symlink_to(real / "program")
    found = find(ours, tmp_path, "link/short")
    root = unpacked(found, tmp_path / "root")
    assert below(root, tmp_path / "link").readlink() == Path("real/../real")
    assert below(root, real / "short").readlink() == real / "program"
    assert below(root, real / "program").read_bytes() == (real / "program").read_bytes()
    # The unwinder is loaded when a thread ends itself, and no table of the program says so.
    libraries = {path.name for path in root.rglob("lib*.so*")}
    assert {"libc.so.6", "libgcc_s.so.1"} <= libraries


def test_arguments_that_name_files_bring_them(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    (tmp_path / "in put").write_text("data")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "old").write_text("not asked for")
    absolute = tmp_path / "results" / "named"
    absolute.write_text("too")
    words = ["./program", "in put", "results", str(absolute), "", "x" * 5000, "/dev/null", "-k"]
    found = find(ours, tmp_path, *words)
    root = unpacked(found, tmp_path / "root")
    assert below(root, tmp_path / "in put").read_text() == "data"
    assert below(root, absolute).read_text() == "too"
    assert not below(root, tmp_path / "results" / "old").exists()
    assert not (root / "dev/null").exists()


def test_any_words_reach_the_runner(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    words = ["./program", "two words", "", "%41", "ü\n", "\udcff"]
    command, word = find(ours, tmp_path, *words).job(500)
    assert command == RUNNER
    assert " " not in word and "\n" not in word
    region, delay, directory, stdin, path, *argv = unquote_to_bytes(word).split(b"\0")
    assert (region, delay) == (b"whole", b"500")
    assert (directory, path) == (bytes(tmp_path), bytes(tmp_path / "program"))
    assert argv == [os.fsencode(one) for one in words]
    assert stdin == b"/dev/null"


def test_its_input_is_a_file_of_the_guest(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    (tmp_path / "input").write_text("read")
    found = find(ours, tmp_path, "./program", given=Given(tmp_path / "input"))
    assert unquote_to_bytes(found.job(0)[1]).split(b"\0")[3] == bytes(tmp_path / "input")
    root = unpacked(found, tmp_path / "root")
    assert below(root, tmp_path / "input").read_text() == "read"


def test_with_brings_whole_directories(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    (tmp_path / "data/deep").mkdir(parents=True)
    (tmp_path / "data/deep/file").write_text("deep")
    (tmp_path / "data/gone").symlink_to("nothing")
    (tmp_path / "single").write_text("single")
    more = (Path("data"), tmp_path / "single")
    root = unpacked(find(ours, tmp_path, "./program", more=more), tmp_path / "root")
    assert below(root, tmp_path / "data/deep/file").read_text() == "deep"
    assert below(root, tmp_path / "single").read_text() == "single"


def test_a_script_brings_its_interpreter(ours: Path, tmp_path: Path) -> None:
    for name, line in (("plain", "#!/bin/sh"), ("env", "#!/usr/bin/env -S LANG=C sh -e")):
        script = tmp_path / name
        script.write_text(f"{line}\nexit 0\n")
        script.chmod(0o755)
        found = find(ours, tmp_path, f"./{name}")
        assert "--with" in found.advice
        root = unpacked(found, tmp_path / f"root-{name}")
        assert below(root, Path("/bin/sh").resolve()).is_file()
        # What is executed is not the script.
        assert Path("/bin/sh").resolve() in found.binaries
        assert script not in found.binaries
    assert below(root, Path("/usr/bin/env").resolve()).is_file()


def test_a_program_with_markers_is_known_by_them(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "marked", MARKED)
    found = find(ours, tmp_path, "./marked")
    assert found.marked
    assert found.job(0)[1].startswith("marked%00")


def test_the_same_files_give_the_same_image(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    first = find(ours, tmp_path, "./program").image
    os.utime(tmp_path / "program", (1, 1))
    assert find(ours, tmp_path, "./program").image == first


def test_what_cannot_be_in_the_guest_is_named(ours: Path, tmp_path: Path) -> None:
    def refusal(*argv: str, more: tuple[Path, ...] = (), memory_mb: int = 512) -> str:
        with pytest.raises(FastError) as caught:
            find(ours, tmp_path, *argv, more=more, memory_mb=memory_mb)
        return str(caught.value)

    program = compiled(tmp_path, "program")
    (tmp_path / "text").write_text("text")
    assert "no-such-program: no such program in PATH" in refusal("no-such-program")
    assert "'': no such program in PATH" in refusal("")
    assert f"{tmp_path}/nothing: no such program" in refusal("./nothing")
    assert "text: not executable" in refusal("./text")
    (tmp_path / "text").chmod(0o755)
    assert "neither an ELF program nor a script" in refusal("./text")
    (tmp_path / "text").write_text("#!/no/such/interpreter -x\n")
    assert "its interpreter /no/such/interpreter does not exist" in refusal("./text")
    (tmp_path / "text").write_text("#!/usr/bin/env no-such-interpreter\n")
    assert "no-such-interpreter does not exist" in refusal("./text")
    content = bytearray(program.read_bytes())
    content[18] = 0xB7
    (tmp_path / "arm").write_bytes(content)
    (tmp_path / "arm").chmod(0o755)
    assert "arm: not an x86-64 program, as the simulated machine needs" in refusal("./arm")
    assert "data: no such file for the guest" in refusal("./program", more=(Path("data"),))
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: neither a file nor a directory" in refusal("./program", more=(Path("pipe"),))
    (tmp_path / "loop").symlink_to("loop")
    assert "loop: no such file for the guest" in refusal("./program", more=(Path("loop"),))
    with (tmp_path / "large").open("wb") as file:
        file.truncate(300 << 20)
    assert "(--memory-mb)" in refusal("./program", "large")
    library = compiled(tmp_path, "libx.so", options=("-shared", "-fPIC", "-Wl,-soname,libx.so"))
    compiled(tmp_path, "program", options=("-Wl,--no-as-needed", str(library)))
    assert "libx.so => not found" in refusal("./program")
    compiled(tmp_path, "program")
    nothing = Given(server=("no-such-server",))
    with pytest.raises(FastError, match="no-such-server: no such program"):
        find(ours, tmp_path, "./program", given=nothing)


def test_a_library_that_a_plugin_lacks_is_a_remark(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    library = compiled(tmp_path, "liby.so", options=("-shared", "-fPIC", "-Wl,-soname,liby.so"))
    options = ("-shared", "-fPIC", "-Wl,--no-as-needed", str(library))
    for name in ("one.so", "two.so"):
        compiled(tmp_path, f"plugins/{name}", options=options)
    library.unlink()
    for found in (
        find(ours, tmp_path, "./program", more=(plugins,)),
        find(ours, tmp_path, "./program", opened=Opened(tuple(plugins.iterdir()), ())),
    ):
        (remark,) = found.remarks
        assert ".so lacks liby.so, and 1 more like it: not in the guest" in remark
        root = unpacked(found, tmp_path / f"root-{len(list(tmp_path.iterdir()))}")
        assert below(root, plugins / "two.so").is_file()
    # One that is there under another path is loaded by that path.
    (plugins / "liby.so").write_bytes((plugins / "one.so").read_bytes())
    assert not find(ours, tmp_path, "./program", more=(plugins,)).remarks


def test_names_and_times_of_files(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    (tmp_path / "source.py").write_text("pass")
    os.utime(tmp_path / "source.py", (5, 1_600_000_000))
    root = unpacked(find(ours, tmp_path, "./program", "source.py"), tmp_path / "root")
    assert "localhost" in (root / "etc/hosts").read_text()
    assert "passwd: files" in (root / "etc/nsswitch.conf").read_text()
    assert (root / "etc/passwd").read_text() == Path("/etc/passwd").read_text()
    found = find(ours, tmp_path, "./program", "source.py")
    subprocess.run(
        ["cpio", "-idm", "--quiet", "--no-absolute-filenames"],
        input=found.image,
        cwd=below(root, tmp_path).parent,
        check=True,
    )
    kept = below(below(root, tmp_path).parent, tmp_path / "source.py")
    assert kept.stat().st_mtime == 1_600_000_000


def test_a_server_is_in_the_guest_with_its_files(ours: Path, tmp_path: Path) -> None:
    compiled(tmp_path, "program")
    compiled(tmp_path, "server")
    (tmp_path / "its.conf").write_text("port 1")
    found = find(ours, tmp_path, "./program", given=Given(server=("./server", "its.conf", "x y")))
    _, _, word = found.job(0)
    assert unquote_to_bytes(word).split(b"\0") == [
        bytes(tmp_path / "server"),
        b"./server",
        b"its.conf",
        b"x y",
    ]
    root = unpacked(found, tmp_path / "root")
    assert below(root, tmp_path / "its.conf").read_text() == "port 1"
    assert tmp_path / "server" in found.binaries


def test_the_runners_words_are_told_from_the_programs() -> None:
    errors = ("earlier", "subject: the server x ended", "why")
    assert list(runners_words(126, errors)) == ["the server x ended", "why"]
    assert not runners_words(1, errors)
    assert not runners_words(126, ("of the program",))


def test_a_file_is_not_read_before_it_is_known_to_fit(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(tmp_path, "program")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(100 << 30)
    monkeypatch.setattr(
        subject,
        "_read",
        lambda path: pytest.fail("read") if path.name == "large" else path.read_bytes(),
    )
    with pytest.raises(FastError, match="large: with it the guest's files"):
        find(ours, tmp_path, "./program", "large")
