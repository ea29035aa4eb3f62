# SPDX-License-Identifier: GPL-2.0
"""The initramfs: cpio reads it, and where a program was built makes no difference."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fake_programs import BENCHMARKS, give_manifest

from fastlab.base.model import FastError
from fastlab.guest import initramfs
from fastlab.guest.initramfs import build_image, find_built, libraries, program_path


def compiled(directory: Path, status: int = 0, options: tuple[str, ...] = ("-static",)) -> Path:
    directory.mkdir()
    (directory / "main.c").write_text(f"int main(void) {{ return {status}; }}\n")
    command = ["gcc", "-g", "-o", "main", directory / "main.c", *options]
    subprocess.run(command, cwd=directory, check=True)
    return directory / "main"


def listed(image: bytes) -> dict[str, str]:
    """The image's files, in their order, and the mode of each."""
    answer = subprocess.run(["cpio", "-itv"], input=image, capture_output=True, check=True)
    lines = [line.split() for line in answer.stdout.decode().splitlines()]
    return {line[-1]: line[0] for line in lines}


def test_cpio_unpacks_the_image(tmp_path: Path) -> None:
    program = compiled(tmp_path / "one", status=7)
    image = build_image({"/init": program, "/bin/single_ctr": program})
    assert list(listed(image).items()) == [
        ("bin", "drwxr-xr-x"),
        ("dev", "drwxr-xr-x"),
        ("dev/console", "crw-------"),
        ("bin/single_ctr", "-rwxr-xr-x"),
        ("init", "-rwxr-xr-x"),
    ]
    unpack = ["cpio", "-i", "--quiet", "init"]
    subprocess.run(unpack, input=image, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "init"]).returncode == 7


def test_tables_for_the_kernel_stand_where_it_looks(tmp_path: Path) -> None:
    archive = initramfs.firmware({"SRAT.aml": b"table"})
    subprocess.run(["cpio", "-id", "--quiet"], input=archive, cwd=tmp_path, check=True)
    assert (tmp_path / "kernel/firmware/acpi/SRAT.aml").read_bytes() == b"table"


def test_the_image_does_not_tell_where_it_was_built(tmp_path: Path) -> None:
    images = {build_image({"/init": compiled(tmp_path / name)}) for name in ("one", "two")}
    assert len(images) == 1
    assert build_image({"/init": compiled(tmp_path / "three", status=1)}) not in images


def test_a_dynamic_program_brings_what_it_needs(tmp_path: Path) -> None:
    image = build_image({"/init": compiled(tmp_path / "one", status=7, options=())})
    files = listed(image)
    names = list(files)
    for name in names:
        around = str(Path(name).parent)
        assert around == "." or names.index(around) < names.index(name)
    assert all(mode == "-rwxr-xr-x" for name, mode in files.items() if ".so" in name)

    root = tmp_path / "root"
    root.mkdir()
    unpack = ["cpio", "-i", "--quiet", "-d", "*lib*", "init"]
    subprocess.run(unpack, input=image, cwd=root, check=True)
    (loader,) = root.glob("lib64/ld-*")
    (library,) = root.glob("**/libc.so.6")
    # Its own loader and libraries are enough for it.
    run = [loader, "--library-path", library.parent, "--inhibit-cache", root / "init"]
    assert subprocess.run(run).returncode == 7


@pytest.mark.parametrize("options", [("-Wl,-soname,libx.so",), ()])  # ldd shows a name, or none
def test_a_library_whose_path_has_a_space(options: tuple[str, ...], tmp_path: Path) -> None:
    built = compiled(tmp_path / "a library", options=("-shared", "-fPIC", *options))
    library = built.rename(built.with_name("libx.so"))
    search = f"-Wl,--no-as-needed,-rpath,{library.parent}"
    program = compiled(tmp_path / "one", options=(search, str(library)))
    assert str(library) in libraries([program])


def test_a_library_that_is_not_there_is_named(tmp_path: Path) -> None:
    library = compiled(tmp_path / "library", options=("-shared", "-fPIC", "-Wl,-soname,libx.so"))
    program = compiled(tmp_path / "one", options=("-Wl,--no-as-needed", str(library)))
    with pytest.raises(FastError, match=r"libx\.so => not found; install the library"):
        build_image({"/init": program})


def test_further_programs_are_only_where_they_are_asked_for(tmp_path: Path) -> None:
    give_manifest(tmp_path)
    further = ("intervals_stealing", "overhead", "theses_pthreads", "intervals_idle", "barnes")
    files = [tmp_path / "userspace/guest/init", tmp_path / "userspace/cachesim/libcachesim-7.so"]
    files += [program_path(tmp_path, name) for name in (*BENCHMARKS, *further)]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    always = find_built(tmp_path, 7).programs
    assert set(always) == {"/init", *(f"/bin/{name}" for name in BENCHMARKS)}
    more = find_built(tmp_path, 7, further).programs
    assert set(more) - set(always) == {f"/bin/{name}" for name in further}


def test_a_program_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "init").write_text("#!/bin/sh\n")
    with pytest.raises(FastError, match="cannot be put into the guest"):
        build_image({"/init": tmp_path / "init"})


def test_what_is_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"programs.json: No such file.*meson setup .* && ninja"):
        find_built(tmp_path, 4)
    give_manifest(tmp_path)
    with pytest.raises(FastError, match=r"guest/init.*libcachesim-4.so: not built.*ninja"):
        find_built(tmp_path, 4)
