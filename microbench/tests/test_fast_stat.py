#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The microbenchmarks under fast-stat: what is counted is what they measured themselves."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FAST_STAT, *BENCHMARKS = (Path(word) for word in sys.argv[1:])
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


class Counted(unittest.TestCase):
    def test_each_is_counted_between_its_markers(self) -> None:
        for benchmark in BENCHMARKS:
            with self.subTest(benchmark=benchmark.name), tempfile.TemporaryDirectory() as directory:
                path = Path(directory) / "counts.json"
                done = subprocess.run(
                    [
                        FAST_STAT,
                        "--roi",
                        "--events=software",
                        f"--json={path}",
                        "--",
                        benchmark,
                        "--threads=4",
                        "--iterations=20000",
                        "--json",
                    ],
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                if f"{PARANOID.name} is" in done.stderr:
                    self.skipTest(done.stderr)
                self.assertEqual(done.returncode, 0, done.stderr)
                result = json.loads(done.stdout)
                counts = json.loads(path.read_text())
                self.assertEqual(result["check"], "ok")
                self.assertEqual(counts["regions"], 1)
                # The region holds the benchmark's own measurement; it counts only its workers.
                self.assertGreaterEqual(counts["elapsed_ns"], result["elapsed_ns"])
                self.assertGreaterEqual(
                    counts["counters"]["context_switches"]["value"], result["context_switches"]
                )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
