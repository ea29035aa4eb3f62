# SPDX-License-Identifier: GPL-2.0
"""Names of a program's addresses: of a real program's, and of mappings made for the purpose."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from fastlab.guest.symbols import Symbols, parse_maps

PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t quiet = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t unset;
extern pthread_mutex_t shared;
static struct { long before; pthread_mutex_t lock; } pool = { 1 };

static void tell(const char *name, void *address)
{
	printf("\\"%s\\":%lu,", name, (unsigned long)address);
}

static void *thread(void *unused)
{
	char local;

	tell("thread", &local);
	tell("thread heap", malloc(10));
	return unused;
}

int main(void)
{
	char line[512], *name = "";
	pthread_t id;
	FILE *maps;

	printf("{");
	tell("quiet", &quiet);
	tell("unset", &unset);
	tell("shared", &shared);
	tell("pool", &pool.lock);
	tell("heap", malloc(10));
	tell("stack", line);
	tell("code", main);
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	maps = fopen("/proc/self/maps", "r");
	printf("\\"maps\\":[");
	while (fgets(line, sizeof(line), maps)) {
		line[sizeof(line) - 1] = 0;
		printf("%s\\"%.*s\\"", name, (int)(__builtin_strlen(line) - 1), line);
		name = ",";
	}
	puts("]}");
	return 0;
}
"""


@pytest.mark.parametrize("options", [("-pie", "-fPIE"), ("-no-pie",)], ids=["pie", "fixed"])
def test_a_programs_own_addresses(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "library.c").write_text(
        "#include <pthread.h>\npthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;\n"
    )
    (tmp_path / "program.c").write_text(PROGRAM)
    library = ["gcc", "-shared", "-fPIC", "-o", "libshared.so", "library.c"]
    subprocess.run(library, cwd=tmp_path, check=True)
    words = ["gcc", *options, "-o", "program", "program.c", "./libshared.so", "-pthread"]
    subprocess.run(words, cwd=tmp_path, check=True)
    answer = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, check=True)
    said = json.loads(answer.stdout)
    maps = "\n".join(said["maps"])
    symbols = Symbols(parse_maps(maps), tmp_path / "program")

    assert symbols.describe(said["quiet"]) == "quiet"
    assert symbols.describe(said["quiet"] + 4) == "quiet+0x4"
    assert symbols.describe(said["unset"]) == "unset"
    assert symbols.describe(said["pool"]) == "pool+0x8"
    # A program at fixed addresses has its own copy of a library's object.
    expected = "shared" if options == ("-no-pie",) else "libshared.so: shared"
    assert symbols.describe(said["shared"]) in (expected, "shared")
    assert symbols.describe(said["heap"]).startswith("heap+0x")
    assert symbols.describe(said["stack"]) == "stack of the first thread"
    assert symbols.describe(said["thread"]) == "stack of a thread"
    assert symbols.describe(said["thread heap"]) == "heap of a thread"
    # No object: a place in the file.
    assert symbols.describe(said["code"]).startswith("program+0x")

    subprocess.run(["strip", "program"], cwd=tmp_path, check=True)
    stripped = Symbols(parse_maps(maps), tmp_path / "program")
    assert stripped.describe(said["quiet"]).startswith("program+0x")


def test_files_whose_names_are_no_utf8(tmp_path: Path) -> None:
    """Nor lines to Python: it ends one at a form feed. What is told of them is UTF-8."""
    place = tmp_path / os.fsdecode(b"caf\xe9\x0c")
    place.mkdir()
    library = place / os.fsdecode(b"lib\xe9.so")
    (tmp_path / "library.c").write_text("#include <pthread.h>\npthread_mutex_t shared;\n")
    (tmp_path / "program.c").write_text(PROGRAM)
    words = ["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "library.c"]
    subprocess.run(words, check=True)
    # -fPIC: no copy of the library's object in the program.
    words = ["gcc", "-pie", "-fPIC", "-o", place / "program", tmp_path / "program.c", library]
    subprocess.run([*words, "-pthread"], check=True)
    answer = subprocess.run([place / "program"], capture_output=True, check=True)
    said = json.loads(os.fsdecode(answer.stdout), strict=False)
    text = "".join(f"{line}\n" for line in said["maps"])
    symbols = Symbols(parse_maps(text), place / "program")

    assert symbols.describe(said["quiet"]) == "quiet"
    assert symbols.describe(said["shared"]) == "lib\ufffd.so: shared"
    mapping = parse_maps(f"10000000-10001000 rw-s 00002000 00:00 7   {place}/data\n")
    told = Symbols(mapping, place / "program").describe(0x10000010)
    assert told == f"{tmp_path}/caf\ufffd\x0c/data+0x2010"


def test_what_is_no_file_of_ours(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no ELF")
    maps = parse_maps(
        f"10000000-10001000 rw-s 00002000 00:00 7   {tmp_path}/data\n"
        "10001000-10002000 rw-p 00000000 00:00 0   /gone (deleted)\n"
        "10003000-10004000 rw-p 00000000 00:00 0\n"
        "20000000-20010000 ---p 00000000 00:00 0\n"
        "20010000-20020000 rw-p 00000000 00:00 0\n"
        "30000000-38000000 ---p 00000000 00:00 0\n"
        "38001000-38002000 rw-p 00000000 00:00 0\n"
    )
    symbols = Symbols(maps, tmp_path / "program")
    assert symbols.describe(0x10000010) == f"{tmp_path}/data+0x2010"
    assert symbols.describe(0x10001010) == "/gone (deleted)+0x10"
    assert symbols.describe(0x10003000) == "anonymous memory"
    assert symbols.describe(0x20010010) == "stack of a thread"
    assert symbols.describe(0x38001000) == "anonymous memory"
    for address in (0, 0x10002000, 0x7FFFFFFFF000):
        assert symbols.describe(address) == "memory that was given back before the end"


def test_no_mappings_name_nothing(tmp_path: Path) -> None:
    symbols = Symbols([], tmp_path / "program")
    assert symbols.describe(0x1000) == "somewhere"
