#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fast-trace on this machine: hand-offs whose number is known, and all that can go wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

SUBJECT = Path(sys.argv.pop())
FAST_TRACE = Path(sys.argv.pop())
OTHER_USER = 65534


def instances() -> list[str]:
    """What fast-trace has in tracefs, wherever it found or mounted that."""
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    tracefs = next(where for _, where, kind, *_ in mounts if kind == "tracefs")
    return [path.name for path in Path(tracefs, "instances").glob("fast-trace-*")]


class Tracing(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.trace = Path(directory.name) / "trace.dat"
        self.json = Path(directory.name) / "trace.json"

    def run_it(
        self, *words: str | Path, path: str | None = None, **how: Any
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **({"PATH": path} if path else {})}
        command: list[str | Path] = [FAST_TRACE, "-o", self.trace, "-j", self.json, *words]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=environment, **how
        )


class Recordings(Tracing):
    def setUp(self) -> None:
        super().setUp()
        done = self.run_it("--", "true")
        if done.returncode:
            self.skipTest(done.stderr.strip())

    def record(self, *words: str | Path, status: int = 0) -> dict[str, Any]:
        done = self.run_it(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        document: dict[str, Any] = json.loads(self.json.read_text())
        return document

    def events(self) -> list[str]:
        report = ["trace-cmd", "report", "-N", "-i", str(self.trace)]
        text = subprocess.run(report, capture_output=True, text=True, check=True).stdout
        return [line for line in text.splitlines() if "[" in line]

    def handoffs(self) -> int:
        """FUTEX_WAKE of one that woke one, by the subject's threads."""
        lines = [line for line in self.events() if SUBJECT.name[:15] in line.split("[")[0]]
        return sum(bool(re.search(r"sys_exit: +NR 202 = 1$", line)) for line in lines)

    def test_every_handoff_is_there(self) -> None:
        document = self.record("--", SUBJECT, "handoffs", "20", "mutex")
        # Some find no thread asleep yet, and a sanitizer wakes threads of its own.
        self.assertGreater(self.handoffs(), 10)
        self.assertLess(self.handoffs(), 30)
        self.assertEqual(document["exit_status"], 0)
        self.assertIsNone(document["regions"])
        self.assertIsNone(document["maps"])
        self.assertEqual(document["lost"], [])

    def test_only_the_region_is_recorded(self) -> None:
        document = self.record("--roi", "--", SUBJECT, "region", "5", "40")
        self.assertLess(self.handoffs(), 15)
        self.assertEqual(document["regions"], 1)
        self.assertIn(str(SUBJECT.resolve()), document["maps"])

    def test_a_full_buffer_keeps_what_is_in_it(self) -> None:
        document = self.record("--buffer-kb", "16", "--", SUBJECT, "handoffs", "200", "mutex")
        self.assertEqual(document["buffer_kb"], 16)
        lost = {one["cpu"]: one["events"] for one in document["lost"]}
        self.assertTrue(lost)
        self.assertTrue(all(lost.values()))
        self.assertGreater(len(self.events()), 50)
        self.assertLess(self.handoffs(), 190)
        words = ["-o", self.trace, "-b", "16", "--", SUBJECT, "handoffs", "200", "mutex"]
        done = subprocess.run([FAST_TRACE, *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stderr,
            r"^fast-trace: the buffer of CPU \d+ was full: its last \d+ events are not in the "
            r"trace; more than 16 KiB: --buffer-kb\n",
        )

    def test_a_buffer_that_no_memory_is_enough_for(self) -> None:
        done = self.run_it("-b", str(1 << 50), "--", "echo", "x")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(f"no memory for a buffer of {1 << 50} KiB for each CPU", done.stderr)

    def test_a_file_whose_name_is_no_utf8(self) -> None:
        program = self.trace.parent / os.fsdecode(b"caf\xe9")
        shutil.copy(SUBJECT, program)
        document = self.record("--roi", "--", program, "region", "1", "1")
        self.assertIn(f"{program}\n", document["maps"])

    def test_statuses_are_the_programs(self) -> None:
        self.assertEqual(self.record("--", "sh", "-c", "exit 3", status=3)["exit_status"], 3)
        killed = self.record("--", "sh", "-c", "kill -9 $$", status=128 + signal.SIGKILL)
        self.assertEqual(killed["signal"], signal.SIGKILL)

    def test_it_says_nothing_of_its_own(self) -> None:
        done = self.run_it("--", "echo", "x")
        self.assertEqual((done.stdout, done.stderr), ("x\n", ""))

    def test_why_it_cannot_be_written_is_said(self) -> None:
        tool = self.trace.parent / "trace-cmd"
        tool.write_text("#!/bin/sh\necho No space >&2\nexit 1\n")
        tool.chmod(0o755)
        done = self.run_it("--", "/bin/true", path=str(tool.parent))
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr, "fast-trace: trace-cmd has failed\nNo space\n")

    def test_who_ends_it_late_has_a_trace_and_leaves_nothing(self) -> None:
        before = instances()
        tool = self.trace.parent / "trace-cmd"
        tool.write_text(f'#!/bin/sh\nkill -TERM $PPID\nexec {shutil.which("trace-cmd")} "$@"\n')
        tool.chmod(0o755)
        done = self.run_it("--", "/bin/true", path=f"{tool.parent}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.trace.stat().st_size, 0)
        self.assertEqual(instances(), before)

    def test_failures_where_nobody_wants_to_know_of_children(self) -> None:
        def ignore() -> None:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        done = self.run_it("--", "sh", "-c", "exit 3", preexec_fn=ignore)
        self.assertEqual(done.returncode, 3, done.stderr)
        tool = self.trace.parent / "trace-cmd"
        tool.write_text("#!/bin/sh\nexit 1\n")
        tool.chmod(0o755)
        done = self.run_it("--", "/bin/true", path=str(tool.parent), preexec_fn=ignore)
        self.assertEqual(done.returncode, 125)

    def test_nothing_is_left(self) -> None:
        before = instances()
        self.record("--", "true")
        self.assertEqual(self.run_it("--", "/no/such/program").returncode, 127)
        self.assertEqual(self.run_it("--roi", "--", "true").returncode, 125)
        self.assertEqual(instances(), before)

    def test_where_it_cannot_be_written(self) -> None:
        done = self.run_it("-o", "/no/such/directory/trace.dat", "--", "echo", "x")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("/no/such/directory/trace.dat", done.stderr)
        done = self.run_it("-o", "/dev/null", "--", "echo", "x")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("/dev/null: it is no file", done.stderr)

    def test_without_trace_cmd(self) -> None:
        done = self.run_it("--", "/bin/echo", "x", path="/no/such/directory")
        self.assertEqual((done.returncode, done.stdout), (125, ""), "the program has run")
        self.assertRegex(done.stderr, "cannot run trace-cmd: .*; install it")


class Refusals(Tracing):
    def test_a_document_is_no_standard_error(self) -> None:
        done = self.run_it("-o", "/dev/null", "--", "true", preexec_fn=lambda: os.close(2))
        self.assertEqual((done.returncode, self.json.read_text()), (125, ""))

    def test_usage(self) -> None:
        sizes = (["-b", text, "--", "true"] for text in ("0", "-1", " 1", "1x", "", "9" * 30))
        for words in ([], ["--nothing"], ["-o"], *sizes):
            with self.subTest(words=words):
                done = self.run_it(*words)
                self.assertEqual(done.returncode, 125)
                self.assertIn("fast-trace", done.stderr)

    def test_an_option_does_not_take_the_dashes_for_its_value(self) -> None:
        for option in ("--json", "--output", "--buffer-kb"):
            with self.subTest(option), tempfile.TemporaryDirectory() as directory:
                done = subprocess.run(
                    [FAST_TRACE.absolute(), option, "--", "true"],
                    cwd=directory,
                    capture_output=True,
                    text=True,
                )
                self.assertEqual(done.returncode, 125)
                self.assertIn("an option before the -- has no value", done.stderr)
                self.assertEqual(list(Path(directory).iterdir()), [])

    def test_who_may_not_trace(self) -> None:
        if os.geteuid():
            self.skipTest("it takes root to become another user")
        # Another user may not read its directory, as in root's home, nor the list of known leaks.
        with tempfile.TemporaryDirectory() as directory:
            Path(directory).chmod(0o755)
            done = subprocess.run(
                [shutil.copy(FAST_TRACE, directory), "--", "true"],
                capture_output=True,
                text=True,
                user=OTHER_USER,
                env={**os.environ, "LSAN_OPTIONS": "detect_leaks=0"},
            )
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, "tracefs cannot be used: .*root")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
