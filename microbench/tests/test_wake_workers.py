#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""wake_workers: each worker is woken as often as it asks, and the times are told."""

import json
import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1]
TIMES = re.compile(
    r"(?m)^  wake-up +50 % ([\d.]+) us, 90 % ([\d.]+), 99 % ([\d.]+), 99.9 % ([\d.]+), "
    r"longest ([\d.]+)$"
)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=60)


class WakeWorkers(unittest.TestCase):
    def test_times_are_told_by_percentile(self) -> None:
        done = run("--threads=4", "--iterations=4000")
        self.assertEqual(done.returncode, 0, done.stdout)
        found = TIMES.search(done.stdout)
        assert found, done.stdout
        times = [float(one) for one in found.groups()]
        self.assertEqual(times, sorted(times))
        # A worker that sleeps is not woken in no time.
        self.assertGreater(times[0], 0)

    def test_threads_whose_shares_differ(self) -> None:
        # The sender's share is the largest; with 7 threads two workers sit out the last round.
        for threads, iterations, warmup in ((2, 3, 0), (3, 100, 7), (7, 40, 11), (64, 130, 1)):
            with self.subTest(threads=threads):
                done = run(
                    *(f"--threads={threads}", f"--iterations={iterations}", f"--warmup={warmup}"),
                    "--json",
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(json.loads(done.stdout)["check"], "ok")

    def test_one_thread_is_refused(self) -> None:
        done = run("--threads=1", "--iterations=10")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--threads 1: one thread sends, so there must be 2 or more", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
