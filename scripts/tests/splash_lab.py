# SPDX-License-Identifier: GPL-2.0
"""An original tree and programs of ours, both of shell scripts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from fake_programs import give_manifest
from fake_tree import PROJECT

from fastlab.base.progress import PlainReporter
from fastlab.guest.initramfs import program_path
from fastlab.splash import driver, programs, side_by_side
from fastlab.splash.driver import BuiltProgram
from fastlab.splash.programs import PROGRAMS
from fastlab.splash.side_by_side import SplashRow, SplashSession
from fastlab.splash.source_tree import SourceTree
from fastlab.splash.timing import SplashCase

FFT = SplashCase("fft", "2^4 points", "4", {"m": 4}, tested_apart=True)
LU = SplashCase("lu_contiguous", "64 x 64", "64", {"n": 64, "b": 16})
TOTAL = "Total time without initialization : %16d"
SELF_TEST = 'for word; do [ "$word" = -t ] && echo TEST PASSED; done; exit 0'


def said(ms: float, check: str = "ok", detail: str = "") -> str:
    """What one of ours prints."""
    return json.dumps({"elapsed_ns": int(ms * 1e6), "check": check, "check_detail": detail})


class Lab:
    """Programs that note how they are called, and print the next of their lines each time."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.build = directory / "build"
        self.codes = directory / "codes"
        self.log = directory / "log"
        self.built: list[BuiltProgram] = []
        give_manifest(self.build)

    def ours(self, name: str, *answers: str, then: str = "exit 0") -> None:
        path = program_path(self.build, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(path, f"ours {name} ${{*%--json}}", answers, then)

    def theirs(self, name: str, *answers: str, then: str = SELF_TEST, threads: str = "") -> None:
        """It takes its threads from -pN unless they are given."""
        path = self.directory / name.upper()
        threads = threads or "${1#-p}"
        report = f'printf "threads %d\\nparallel_ns 9\\n" {threads} > $FAST_SPLASH_REPORT'
        self._write(path, f"theirs {name} $*", answers, f"{report}\n{then}")
        (program,) = programs.select([name])
        self.built.append(BuiltProgram(program, path))

    def times(self, *ms: float) -> list[str]:
        return [TOTAL % (1000 * one) for one in ms]

    def _write(self, path: Path, note: str, answers: tuple[str, ...], then: str) -> None:
        lines = path.with_name(f"{path.name}.answers")
        lines.write_text("".join(f"{one}\n" for one in answers))
        path.write_text(
            f'#!/bin/sh\necho "{note}" >> {self.log}\n'
            f'sed -n 1p {lines}; [ "$(wc -l < {lines})" -gt 1 ] && sed -i 1d {lines}\n'
            f"{then}\n"
        )
        path.chmod(0o755)

    def calls(self) -> list[str]:
        return [line.strip() for line in self.log.read_text().splitlines()]

    def session(self, *threads: int, rounds: int = 1, timeout: float = 60) -> SplashSession:
        request = driver.TreeRequest(
            self.directory,
            PROJECT,
            threads=threads or (1,),
            timeout=timeout,
            output=self.directory / "out",
        )
        tree = SourceTree(self.directory, self.codes, self.codes, PROGRAMS)
        return SplashSession(request, rounds, tree, self.built, self.build)

    def rows(self, *threads: int, rounds: int = 1, timeout: float = 60) -> list[SplashRow]:
        session = self.session(*threads, rounds=rounds, timeout=timeout)
        session.run(PlainReporter(io.StringIO()))
        return session.rows()


def only(monkeypatch: pytest.MonkeyPatch, *cases: SplashCase) -> None:
    monkeypatch.setattr(side_by_side, "CASES", cases)
