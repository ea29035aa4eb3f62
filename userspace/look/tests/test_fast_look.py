#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fast-look on this machine: hand-offs whose number is known, and all that can go wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

SUBJECT = Path(sys.argv.pop())
FAST_LOOK = Path(sys.argv.pop())
OTHER_USER = 65534


def left() -> list[str]:
    """What fast-look has in tracefs."""
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    tracefs = next(Path(where) for _, where, kind, *_ in mounts if kind == "tracefs")
    instances = [path.name for path in (tracefs / "instances").glob("fast-look-*")]
    events = (tracefs / "dynamic_events").read_text().splitlines()
    return instances + [line for line in events if "fast_look" in line]


class Looking(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.json = Path(directory.name) / "look.json"

    def run_it(self, *words: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
        command: list[str | Path] = [FAST_LOOK, "-j", self.json, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, **how)


class Looks(Looking):
    def setUp(self) -> None:
        super().setUp()
        done = self.run_it("--", "true")
        if done.returncode:
            self.skipTest(done.stderr.strip())

    def look(self, *words: str | Path, status: int = 0) -> dict[str, Any]:
        done = self.run_it(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        document: dict[str, Any] = json.loads(self.json.read_text())
        return document

    def test_every_handoff_is_there(self) -> None:
        document = self.look("--", SUBJECT, "handoffs", "20", "mutex")
        # Some find no thread asleep yet.
        mutex = max(document["words"], key=lambda word: word["wakes"])
        self.assertGreater(mutex["wakes"], 10)
        self.assertLessEqual(mutex["wakes"], 20)
        self.assertEqual((mutex["first"], mutex["last"], mutex["changes"]), (2, 2, 0))
        self.assertGreaterEqual(len(mutex["threads"]), 2)
        self.assertEqual((document["lost"], document["stretches"]), (0, 1))

    def test_a_process_that_runs_already(self) -> None:
        with subprocess.Popen([SUBJECT, "handoffs", "100000", "mutex"]) as process:
            try:
                document = self.look("--pid", str(process.pid), "--", "sleep", "0.3")
            finally:
                process.kill()
        self.assertEqual(document["process"], process.pid)
        self.assertIn(str(SUBJECT.resolve()), document["maps"])
        self.assertGreater(sum(word["wakes"] for word in document["words"]), 10)

    def test_a_process_that_ends_ends_the_look(self) -> None:
        with subprocess.Popen(["sleep", "0.2"]) as process:
            document = self.look("--pid", str(process.pid), "--", "sleep", "50", status=137)
        self.assertEqual(document["signal"], signal.SIGKILL)

    def test_a_probe_and_nothing_is_left_of_it(self) -> None:
        before = left()
        # Too far into the file: the kernel refuses it, and all else is counted.
        words = ("--probe", f"each:%di:0x7fffffffff:{SUBJECT.resolve()}", "--", SUBJECT)
        document = self.look(*words, "handoffs", "20", "mutex")
        self.assertGreater(sum(word["wakes"] for word in document["words"]), 10)
        self.assertEqual(left(), before)

    def test_statuses_are_the_programs(self) -> None:
        self.assertEqual(self.look("--", "sh", "-c", "exit 3", status=3)["exit_status"], 3)
        self.assertEqual(self.run_it("--", "/no/such/program").returncode, 127)

    def test_it_says_nothing_of_its_own(self) -> None:
        done = self.run_it("--", "echo", "x")
        self.assertEqual((done.stdout, done.stderr), ("x\n", ""))

    def test_no_such_process(self) -> None:
        done = self.run_it("--pid", "4194303", "--", "echo", "x")
        self.assertEqual((done.returncode, done.stdout), (125, ""), "the program has run")
        self.assertIn("process 4194303 has ended", done.stderr)


class Refusals(Looking):
    def test_usage(self) -> None:
        pids = (["--pid", text, "--", "true"] for text in ("0", "-1", " 1", "1x", "", "9" * 30))
        probes = (["--probe", text, "--", "true"] for text in ("", "each:%di:x:/a"))
        for words in ([], ["--nothing"], ["--pid"], *pids, *probes):
            with self.subTest(words=words):
                done = self.run_it(*words)
                self.assertEqual(done.returncode, 125)
                self.assertIn("fast-look", done.stderr)

    def test_without_a_file(self) -> None:
        done = subprocess.run([FAST_LOOK, "--", "echo", "x"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("--json FILE", done.stderr)

    def test_who_may_not_trace(self) -> None:
        if os.geteuid():
            self.skipTest("it takes root to become another user")
        with tempfile.TemporaryDirectory() as directory:
            Path(directory).chmod(0o777)
            done = subprocess.run(
                [shutil.copy(FAST_LOOK, directory), "-j", f"{directory}/x", "--", "true"],
                capture_output=True,
                text=True,
                user=OTHER_USER,
                env={**os.environ, "LSAN_OPTIONS": "detect_leaks=0"},
            )
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, "tracefs cannot be used: .*root")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
