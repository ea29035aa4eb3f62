#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""scx_fast where it cannot load its scheduler: it says why, and the program runs all the same."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCX_FAST = sys.argv.pop()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCX_FAST, *words], capture_output=True, text=True, timeout=60)


def loads() -> bool:
    """Would it load its scheduler, for real?"""
    return os.geteuid() == 0 and Path("/sys/kernel/sched_ext").is_dir()


class ScxFast(unittest.TestCase):
    @unittest.skipIf(loads(), "this kernel has sched_ext, and this is root")
    def test_the_program_runs_without_it(self) -> None:
        answer = run("--", "sh", "-c", "echo here; exit 7")
        self.assertEqual((answer.returncode, answer.stdout), (7, "here\n"))
        self.assertIn("scx_fast: not loaded: ", answer.stderr)
        self.assertIn("; the program runs without it", answer.stderr)

    @unittest.skipIf(loads(), "this kernel has sched_ext, and this is root")
    def test_the_machine_does_not(self) -> None:
        answer = run("--all")
        self.assertEqual(answer.returncode, 125)
        self.assertNotIn("program", answer.stderr)

    @unittest.skipIf(loads(), "this kernel has sched_ext, and this is root")
    def test_the_services_options(self) -> None:
        unit = (Path(__file__).parents[1] / "scx_fast.service").read_text()
        (flags,) = re.findall(r'^Environment="SCX_FLAGS=(.*)"$', unit, re.MULTILINE)
        self.assertRegex(unit, r"(?m)^ExecStart=@bindir@/scx_fast --all \$SCX_FLAGS$")
        answer = run("--all", *flags.split())
        self.assertEqual(answer.returncode, 125)
        self.assertIn("scx_fast: not loaded: ", answer.stderr)

    @unittest.skipIf(loads(), "this kernel has sched_ext, and this is root")
    def test_how_the_program_ends(self) -> None:
        self.assertEqual(run("--", "sh", "-c", "kill -9 $$").returncode, 128 + 9)
        answer = run("--", "/no/such/program")
        self.assertEqual(answer.returncode, 127)
        self.assertIn("/no/such/program: No such file or directory", answer.stderr)

    def test_bad_options(self) -> None:
        for words, said in {
            (): "which program?",
            ("--mode", "lock", "--", "true"): "'lock' is neither off, strict nor adaptive",
            ("--stats", "0", "--", "true"): "'0' is no number of seconds",
            ("--stats", "--", "true"): "an option before the -- has no value",
        }.items():
            answer = run(*words)
            self.assertEqual(answer.returncode, 125, words)
            self.assertIn(said, answer.stderr)

    def test_a_file_that_cannot_be_written(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            answer = run("--json", f"{directory}/no/file", "--", "touch", f"{directory}/ran")
            self.assertEqual(answer.returncode, 125)
            self.assertIn("/no/file: No such file", answer.stderr)
            self.assertEqual(list(Path(directory).iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
