# SPDX-License-Identifier: GPL-2.0
"""Costs by function and line: from what the plugin tells to files, tables and a summary."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples

from fastlab.attribution.callgrind import callgrind_text
from fastlab.attribution.names import CodePlace, KernelNames, Names, ProgramNames
from fastlab.attribution.profile import ProfiledVariant, profile
from fastlab.backend.costs import RunCosts, Site, read_costs
from fastlab.base.metrics import EVENTS
from fastlab.base.model import FastError, Kernel
from fastlab.base.progress import PlainReporter
from fastlab.guest import source_lines
from fastlab.guest.symbols import Symbols, static_maps
from fastlab.plan import plan_file
from fastlab.plan.rows import Builds
from fastlab.report.attribution_tables import attribution_tables
from fastlab.report.contents import html_text, markdown
from fastlab.statistics import analysis, attributed

# The plugin's order, which is not the files'.
TOLD = (
    "instructions",
    *("l1i_misses", "l1d_misses", "l2_misses", "l3_misses"),
    *("bus_requests", "cache_to_cache", "stall_cycles", "cycles"),
)
BUILDS = Builds({}, "tools")
PER_CPU = 0xFFFF888000000000
WAKE = 0xFFFFFFFF81000010

SOURCE = """
int far[2];
static inline int twice(int n)
{
	return 2 * far[0] * n;
}

__attribute__((noinline)) int work(int n)
{
	far[1] = n;
	return twice(n);
}

int main(int n, char **words)
{
	return work(n) + !words;
}
"""


def build(directory: Path, *options: str) -> Path:
    (directory / "work.c").write_text(SOURCE)
    program = directory / "work"
    # It is looked at, and never run.
    alone = ("-static", "-no-pie", "-nostdlib", "-Wl,-e,main")
    words = ["gcc", "-O1", *alone, *options, "-o", program, "work.c"]
    subprocess.run(words, cwd=directory, check=True)
    return program


def symbol(program: Path, name: str) -> int:
    said = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^(\w+) \w {name}$", said, re.MULTILINE)
    assert found
    return int(found[1], 16)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("attribution"), "-g")


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    lines = (
        "0000000000000000 D __per_cpu_start",
        "0000000000000040 D runqueues",
        "0000000000001000 D __per_cpu_end",
        f"{WAKE - 16:x} T _text",
        f"{WAKE:x} T try_to_wake_up",
        f"{WAKE + 0x1000:x} D futex_queues",
        f"{WAKE + 0x2000:x} B _end",
    )
    (tmp_path / "System.map").write_text("\n".join(lines) + "\n")
    (tmp_path / "vmlinux").write_text("no ELF")
    paths = (tmp_path / name for name in ("vmlinux", "System.map"))
    return Kernel("6.12", "fast", "id", *map(str, paths))


def row(address: int, stall: int = 0, cycles: int = 0, others: int = 1) -> list[int]:
    return [address, *[others] * 7, stall, cycles]


def code(mode: str, program: bool, *rows: list[int]) -> dict[str, Any]:
    return {"mode": mode, "program": program, "instructions": list(rows)}


def document(
    codes: Sequence[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    return {
        "schema": 1,
        "cycle": 100,
        "events": TOLD,
        "code": codes,
        "line_bytes": 128,
        "lines": lines,
        "per_cpu": [PER_CPU, PER_CPU + 0x10000],
    }


def written(directory: Path, content: Mapping[str, Any]) -> RunCosts:
    path = directory / "attribution.jsonl"
    path.write_text(json.dumps(content) + "\n")
    return read_costs(path)


def line(
    address: int, moves: int, in_vain: int, stall: int, mode: str = "user", program: bool = True
) -> dict[str, Any]:
    users = [
        {"cpu": cpu, "moves": 1, "in_vain": in_vain, "instruction": WAKE + 4, "loads": loads}
        | {"stores": [[4 * cpu, 4 * cpu + 3]]}
        for cpu, loads in (
            (0, [[0, 3]]),
            (1, [[64, 71], *([at, at] for at in (80, 90, 92, 94, 96))]),
        )
    ]
    return {
        "mode": mode,
        "program": program,
        "address": address,
        "moves": moves,
        "in_vain": in_vain,
        "stall_cycles": stall,
        "cpus": users,
    }


def profiled(
    kernel: Kernel, program: Path, runs: Sequence[RunCosts], directory: Path
) -> attributed.Attributed:
    variant = ProfiledVariant("strict", KernelNames(kernel), runs)
    names = ProgramNames(Symbols(static_maps(program), program), "elsewhere")
    (found,) = profile("work-4", ["./work", "a b"], names, [variant], directory)
    return found


def total(found: Mapping[Site, Sequence[int]], event: str) -> int:
    return sum(costs[list(EVENTS).index(event)] for costs in found.values())


def test_sums_of_whole_cycles_are_those_of_the_document(tmp_path: Path) -> None:
    """The document rounds 3.98 cycles in user mode to 3, and 1.99 in the kernel to 1."""
    found = written(
        tmp_path,
        document(
            [
                code("user", True, row(16, 199, 266), row(20, 99, 66)),
                code("user", False, row(16, 100, 66)),
                code("kernel", False, row(WAKE, 199, 99)),
                code("idle", False, row(WAKE - 1, 1000, 1000)),
            ]
        ),
    )
    assert total(found.instructions, "stall_cycles") == 3 + 1
    assert total(found.instructions, "cycles") == 3 + 0
    assert total(found.instructions, "instructions") == 4
    assert found.instructions[Site(False, True, 16)][:3] == (2, 1, 1)


def test_other_programs_may_share_an_address(tmp_path: Path) -> None:
    codes = [code("user", False, row(16, 100)), code("user", False, row(16, 200))]
    found = written(tmp_path, document(codes)).instructions
    assert found == {Site(False, False, 16): (0, 3, 2, 2, 2, 2, 2, 2, 2)}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}\n", "{}\n{}\n"])
def test_what_is_no_attribution_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "attribution.jsonl"
    path.write_text(text)
    with pytest.raises(FastError, match=f"{path}: is not what a run with attribution leaves"):
        read_costs(path)
    path.unlink()
    with pytest.raises(FastError, match="No such file"):
        read_costs(path)


@pytest.mark.parametrize("options", [["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "no table"]])
def test_lines_of_source(tmp_path: Path, options: list[str]) -> None:
    program = build(tmp_path, options[0])
    if len(options) > 1:
        subprocess.run(["objcopy", "--remove-section=.debug_aranges", program], check=True)
    work, main = symbol(program, "work"), symbol(program, "main")
    found = source_lines.find_lines(program, {work: 1, main: 1, 0x10: 1, symbol(program, "far"): 1})
    assert set(found) == {work, main}
    for address, head in ((work, "int work("), (main, "int main(")):
        file, number = found[address]
        assert file == str(tmp_path / "work.c")
        begin = next(i for i, text in enumerate(SOURCE.splitlines(), 1) if head in text)
        assert begin < number < begin + 4


def test_a_source_whose_name_is_no_utf8(tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"caf\xe9")
    place.mkdir()
    program = build(place, "-g")
    work = symbol(program, "work")
    file, _ = source_lines.find_lines(program, {work: 1})[work]
    assert file == str(place / "work.c")


def test_lines_are_bounded(program: Path) -> None:
    work = symbol(program, "work")
    assert source_lines.find_lines(program, {work: 1}, most=10) == {}
    assert source_lines.find_lines(program, {work: 1}, most=1000) != {}


def test_a_file_without_lines_has_none(tmp_path: Path) -> None:
    plain = build(tmp_path)
    assert source_lines.find_lines(plain, {symbol(plain, "work"): 1}) == {}
    assert source_lines.find_lines(tmp_path / "work.c", {1: 1}) == {}
    assert source_lines.find_lines(tmp_path / "nowhere", {1: 1}) == {}


def test_names(kernel: Kernel, program: Path) -> None:
    work, far = symbol(program, "work"), symbol(program, "far")
    ours = ProgramNames(Symbols(static_maps(program), program), "elsewhere")
    ours.learn({work: 1})
    names = Names(KernelNames(kernel), ours)
    assert names.code(Site(False, True, work))[:2] == (str(program), "work")
    assert names.code(Site(False, True, work)).file.endswith("work.c")
    assert names.code(Site(False, True, 0x10)) == ("elsewhere", "(elsewhere)", "???", 0)
    assert names.code(Site(False, False, work)).function == "(other programs)"
    assert names.code(Site(True, False, WAKE + 4)) == ("kernel", "try_to_wake_up", "???", 0)
    data = {
        Site(False, True, far + 4): "far+0x4",
        Site(False, True, 0x10): "elsewhere (0x10)",
        Site(False, False, 0x20): "memory of other programs (0x20)",
        # The kernel for a program.
        Site(True, False, 0x20): "memory of other programs (0x20)",
        Site(True, False, WAKE + 0x1008): "futex_queues+0x8",
        Site(True, False, PER_CPU + 0x10048): "runqueues+0x8 of CPU 1",
        Site(True, False, PER_CPU + 0x1000): f"kernel memory ({PER_CPU + 0x1000:#x})",
    }
    for site, name in data.items():
        assert names.data(site, [PER_CPU, PER_CPU + 0x10000]) == name


def test_a_kernel_has_the_lines_of_its_build_with_debug_information(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the build whose code is the same, and of no other."""
    monkeypatch.setenv("FAST_CACHE", str(tmp_path))

    def built(name: str, *options: str) -> Kernel:
        directory = tmp_path / "builds" / name
        directory.mkdir(parents=True)
        build(directory, *options).rename(directory / "vmlinux")
        work = symbol(directory / "vmlinux", "work")
        (directory / "System.map").write_text(f"{work:x} T work\n")
        fragments = ["debug-info"] if "+" in name else []
        told = {"series": "6.12", "variant": "fast", "version": "6.12.1", "fragments": fragments}
        (directory / "kernel.json").write_text(json.dumps(told))
        paths = (directory / file for file in ("vmlinux", "System.map"))
        return Kernel("6.12", "fast", name, *map(str, paths))

    def place(kernel: Kernel) -> CodePlace:
        work = symbol(Path(kernel.vmlinux), "work")
        names = KernelNames(kernel)
        names.learn({work: 1})
        return names.code(work)

    plain = built("6.12-fast-1")
    built("6.12-fast+debug-info-2", "-g", "-O2", "-fno-inline")
    assert place(plain) == ("kernel", "work", "???", 0)
    built("6.12-fast+debug-info-3", "-g")
    found = place(plain)
    assert found.file.endswith("work.c") and found.line == 10
    assert found[:2] == ("kernel", "work")


def test_what_lies_between_functions_has_no_name(kernel: Kernel, tmp_path: Path) -> None:
    stripped = build(tmp_path)
    work, main = symbol(stripped, "work"), symbol(stripped, "main")
    subprocess.run(["objcopy", "--strip-symbol=main", stripped], check=True)
    names = ProgramNames(Symbols(static_maps(stripped), stripped))
    assert names.code(work).function == "work"
    assert names.code(main).function == "(work)"


def test_callgrind_annotate_reads_the_file(kernel: Kernel, program: Path, tmp_path: Path) -> None:
    annotate = shutil.which("callgrind_annotate")
    assert annotate, "install Debian's package valgrind"
    work = symbol(program, "work")
    codes = [
        code("user", True, row(work, 70000, 90000, others=3), row(work + 4, 0, 20000)),
        code("kernel", False, row(WAKE, 10000, 12000)),
    ]
    found = profiled(kernel, program, [written(tmp_path, document(codes))] * 2, tmp_path / "out")
    path = tmp_path / "out/strict.callgrind"
    said = subprocess.run([annotate, path], capture_output=True, text=True, check=True).stdout
    totals = re.search(r"^(.*) PROGRAM TOTALS$", said, re.MULTILINE)
    assert totals
    numbers = re.sub(r"\([^)]*\)|,", "", totals[1]).split()
    assert numbers == ["2440", "1600", *["10"] * 7]
    assert dict(zip(EVENTS, map(int, numbers), strict=True)) == found.totals
    assert re.search(rf"2,200 .*work\.c:work \[{program}\]$", said, re.MULTILINE)
    assert re.search(r"240 .*\?\?\?:try_to_wake_up \[kernel\]$", said, re.MULTILINE)
    assert "Profiled target:  ./work 'a b'" in said


def test_a_function_stands_under_its_own_file() -> None:
    places = {
        CodePlace("/bin/x", "f", "a.h", 3): (1,) * 9,
        CodePlace("/bin/x", "f", "b.c", 9): (5,) * 9,
    }
    body = callgrind_text("", "x", places).split("\n\n")[1].splitlines()
    nine = " ".join("5" * 9)
    assert body == ["ob=/bin/x", "fl=b.c", "fn=f", f"9 {nine}", "fi=a.h", f"3 {' '.join('1' * 9)}"]


def test_the_functions_that_wait_longest(kernel: Kernel, program: Path, tmp_path: Path) -> None:
    work = symbol(program, "work")
    many = [row(WAKE + 4 * i, 100, 100) for i in range(20)]
    codes = [code("user", True, row(work, 70000, 90000)), code("kernel", False, *many)]
    found = profiled(kernel, program, [written(tmp_path, document(codes))], tmp_path)
    assert [(one.function, one.binary) for one in found.functions] == [
        ("work", "work"),
        ("try_to_wake_up", "kernel"),
    ]
    assert re.fullmatch(r"work\.c:\d+", found.functions[0].source)
    assert found.functions[1].costs["stall_cycles"] == 20
    (functions, lines) = attribution_tables([found])
    assert [cell.text for cell in functions.rows[0][:5]] == [
        "strict",
        f"work ({found.functions[0].source})",
        "work",
        "700",
        "97.2 %",
    ]
    assert not lines.rows
    assert lines.note.endswith(" No relevant line: strict.")


def test_false_sharing_that_matters(kernel: Kernel, program: Path, tmp_path: Path) -> None:
    far = symbol(program, "far")
    codes = [code("kernel", False, row(WAKE, 100_000_00))]
    lines = [
        line(far, 100, 90, 5_000_00),
        # Mostly of use; of no weight; another run's.
        line(far + 0x1000, 100, 40, 50_000_00),
        line(far + 0x2000, 100, 90, 5_00),
        line(PER_CPU + 0x40, 30, 20, 9_000_00, "kernel", False),
    ]
    runs = [
        written(tmp_path, document(codes, lines)),
        written(tmp_path, document(codes, lines[:1])),
    ]
    first, second = profiled(kernel, program, runs, tmp_path).false_sharing
    assert (first.name, first.moves, first.stall_cycles) == ("far", 200, 10_000)
    assert first.touched[:2] == ("CPU 0 writes 0-3 (far)", "CPU 1 writes 4-7 (far+0x4)")
    # What lies there has no name.
    assert first.touched[2:] == ("CPU 1 reads 64-71, 80, 90, 92, more",)
    assert first.by == ("try_to_wake_up",)
    assert second.name == "runqueues of CPU 0"
    table = attribution_tables([profiled(kernel, program, runs, tmp_path)])[1]
    assert [cell.text for cell in table.rows[0]][4:] == ["100", "90", "5,000"]


def test_the_report_has_the_tables(kernel: Kernel, program: Path, tmp_path: Path) -> None:
    """Of a results directory, by way of its summary."""
    (tmp_path / "experiment.toml").touch()
    (tmp_path / "runs.jsonl").touch()
    plan_file.keep_simulations(tmp_path, replace(samples.experiment(), attribute=True), BUILDS)
    codes = [code("kernel", False, row(WAKE, 100_000_00))]
    costs = written(tmp_path, document(codes, [line(0x30, 100, 90, 5_000_00)]))
    attributed.keep(tmp_path, [profiled(kernel, program, [costs], tmp_path)], BUILDS)
    found = analysis.analyse(tmp_path, PlainReporter(io.StringIO()))
    page, text = html_text(found), markdown(found)
    for words in ("Stall cycles by function: work-4", "False sharing: work-4", "try_to_wake_up"):
        assert words in page
        assert words in text
    assert 'id="attribution"' in page
    assert 'id="attribution"' not in html_text(replace(found, attributed=()))


def test_the_summary_is_kept(kernel: Kernel, program: Path, tmp_path: Path) -> None:
    far = symbol(program, "far")
    codes = [code("kernel", False, row(WAKE, 100_000_00))]
    costs = written(tmp_path, document(codes, [line(far, 100, 90, 5_000_00)]))
    found = profiled(kernel, program, [costs], tmp_path)
    assert attributed.load(tmp_path, BUILDS) == ()
    attributed.keep(tmp_path, [found], BUILDS)
    (again,) = attributed.load(tmp_path, BUILDS)
    assert attribution_tables([again]) == attribution_tables([found])
    path = tmp_path / "attribution/attribution.json"
    for text in ("", "[]", '{"attributed": [{}]}'):
        path.write_text(text)
        with pytest.raises(FastError, match=f"{path}: is not what a run with attribution writes"):
            attributed.load(tmp_path, BUILDS)
