#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The program that the costs are counted of: it does what it says, and it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

OVERHEAD = Path(sys.argv.pop())


def overhead(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([OVERHEAD, *words], capture_output=True, text=True, timeout=60)


def switches(operation: str, count: int) -> int:
    """Voluntary and involuntary context switches of a run's threads."""
    pid = os.posix_spawn(OVERHEAD, [str(OVERHEAD), operation, str(count)], os.environ)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0
    return usage.ru_nvcsw + usage.ru_nivcsw


class Overhead(unittest.TestCase):
    def test_each_operation_is_done_and_ends(self) -> None:
        for operation in ("wake", "wait", "handoff", "wakeup", "switch"):
            with self.subTest(operation):
                result = overhead(operation, "50")
                self.assertEqual(result.returncode, 0, result.stderr)
                found = json.loads(result.stdout)
                self.assertIn(found.pop("cpu"), (0, 1))
                self.assertEqual(found, {"operation": operation, "count": 50, "check": "ok"})

    def test_two_threads_take_turns(self) -> None:
        """Each operation of two threads is at least two switches; of one it is none."""
        for operation in ("handoff", "wakeup"):
            with self.subTest(operation):
                self.assertGreaterEqual(switches(operation, 5000) - switches(operation, 1), 9000)
        for operation in ("wake", "wait"):
            self.assertLess(switches(operation, 5000), 2000)

    def test_what_it_does_not_understand(self) -> None:
        for words, said in (
            ((), "usage: overhead OPERATION COUNT"),
            (("wake",), "usage"),
            (("sleep", "1"), "no operation sleep: it is wake, wait, handoff, wakeup or switch"),
            (("wake", "0"), "COUNT is 0: it must be from 1 to 1000000"),
            (("wake", "9x"), "COUNT is 9x"),
        ):
            with self.subTest(words):
                result = overhead(*words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
