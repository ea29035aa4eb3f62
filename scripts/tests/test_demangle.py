# SPDX-License-Identifier: GPL-2.0
"""Names of C++ and Rust: as their sources have them, and short where there is little room."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from typing import Any

import pytest
import samples
from rich.console import Console

from fastlab.attribution.names import ProgramNames
from fastlab.base.demangle import demangle, demangle_all, short
from fastlab.base.model import Place
from fastlab.cli import fitting
from fastlab.guest.symbols import Symbols, static_maps
from fastlab.plan.experiment import plan
from fastlab.report import lock_tables
from fastlab.report.markup import markdown_table
from fastlab.statistics.lock_uses import lock_uses

# Of the Itanium ABI, and of Rust in its older form and its newer one.
MANGLED = {
    "_ZN5store5queue4pushERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE": (
        "store::queue::push(std::__cxx11::basic_string<char, std::char_traits<char>, "
        "std::allocator<char> > const&)"
    ),
    "_ZN5storeL5guardE": "store::guard",
    "_ZN3std4sync14Mutex$LT$T$GT$4lock17h0123456789abcdefE": "std::sync::Mutex<T>::lock",
    "_RNvMs_NtCs4fqI2P2rA04_4core3fmtNtB4_9Formatter3pad": "<core::fmt::Formatter>::pad",
}


@pytest.fixture(autouse=True)
def forget() -> None:
    demangle.cache_clear()


def test_names() -> None:
    assert demangle_all([*MANGLED, "main"]) == [*MANGLED.values(), "main"]
    assert demangle_all([]) == []


def test_names_in_a_text() -> None:
    found = demangle("libx.so.1: _ZN5storeL5guardE+0x8, _Read, a_ZN5storeL5guardE")
    assert found == "libx.so.1: store::guard+0x8, _Read, a_ZN5storeL5guardE"
    assert demangle("caf\ufffd: _ZN5storeL5guardE") == "caf\ufffd: store::guard"


def test_without_the_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert demangle_all(MANGLED) == [*MANGLED]
    broken = tmp_path / "c++filt"
    broken.write_text("#!/bin/sh\necho one line\n")
    broken.chmod(0o755)
    assert demangle_all(MANGLED) == [*MANGLED]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("main", "main"),
        ("store::guard+0x8", "store::guard+0x8"),
        ("f(int)", "f"),
        ("f(void (*)(int)) const", "f"),
        ("(anonymous namespace)::f(a<(b)1>)", "(anonymous namespace)::f"),
        ("a::operator()(int) const", "a::operator()"),
        ("a::operator()", "a::operator()"),
        ("(program)", "(program)"),
        ("f (x.cc:12)", "f (x.cc:12)"),
        ("f())", "f())"),
        (
            "std::vector<int, std::allocator<int> >::push_back(int&&)",
            "std::vector...llocator<int> >::push_back",
        ),
    ],
)
def test_short_names(name: str, shown: str) -> None:
    assert short(name) == shown


SOURCE = """
#include <string>
namespace store {
long guard __attribute__((used)) = 1;
struct queue { void push(const std::string &one); };
void __attribute__((noinline)) queue::push(const std::string &one) { guard += one.size(); }
}
int main(int n, char **v) { store::queue q; q.push(v[0]); return 0; }
"""


def test_of_a_program(tmp_path: Path) -> None:
    """What is recorded of a run has the linker's names: the digest of the results is the same with
    any c++filt. What is told of it has the source's."""
    program = tmp_path / "program"
    (tmp_path / "program.cc").write_text(SOURCE)
    subprocess.run(["g++", "-O1", "-no-pie", "-o", program, tmp_path / "program.cc"], check=True)
    nm = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    at = {line.split()[2]: int(line.split()[0], 16) for line in nm.splitlines() if line[0] != " "}
    push, guard = next(iter(MANGLED)), "_ZN5store5guardE"
    symbols = Symbols(static_maps(program), program)
    names = ProgramNames(symbols)
    assert symbols.describe(at[guard] + 4) == f"{guard}+0x4"
    assert names.data(at[guard] + 4) == "store::guard+0x4"
    assert names.code(at[push]).function == MANGLED[push]


LONG = next(iter(MANGLED))


def use(**changes: Any) -> Any:
    of = samples.experiment(seeds=(1,))
    run = next(one for one in plan(of) if one.variant.name == "baseline")
    row = samples.row(of, run)
    spans = {name: {"count": 1, "ns": 10} for name in ("handoff", "hold_local", "outside")}
    counts = dict.fromkeys(("wakes", "handoffs", "left", "local", "moved"), 3)
    lock: Any = {"name": f"heap+0x10, {LONG}", "taken_in": [LONG], "released_in": [LONG, "main"]}
    row["locks"] = [lock | counts | spans | {"remote": 0, "hold_remote": {"count": 0, "ns": 0}}]
    (found,) = lock_uses(Place("", 0, ()), "baseline", {"baseline": [row]})
    return found


def test_tables_of_locks_have_room_on_a_terminal() -> None:
    found = use()
    assert found.name == f"heap+0x10, {MANGLED[LONG]}"
    assert found.released_in == ("main", MANGLED[LONG])
    out = io.StringIO()
    console = Console(file=out, width=130)
    for table in lock_tables.of_program([found], ""):
        for drawn in fitting.drawn(table, console):
            console.print(drawn)
        assert MANGLED[LONG] in markdown_table(table)
    said = out.getvalue()
    assert "heap+0x10, store::queue::push" in said
    assert "main, store::queue::push" in said
    assert "basic_string" not in said
    # No column goes on below.
    assert any({"hand-offs", "outside"} <= set(line.split()) for line in said.splitlines())
