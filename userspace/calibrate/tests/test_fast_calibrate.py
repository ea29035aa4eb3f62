#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fast-calibrate on this machine: the shape of what it says, and what it says is not there."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any

BAD_WAKEUPS = str(Path(sys.argv.pop()).resolve())
PROGRAM = sys.argv.pop()
CPUS = sorted(os.sched_getaffinity(0))
# Half a second, but many times that on a machine that is busy, or under a sanitizer.
PATIENCE = 90
BETWEEN_CPUS = (
    "transfers_1",
    "transfers_16",
    "reload",
    "interrupt",
    "handoff_other_cpu",
    "handoff_idle_cpu",
)


def run(*words: str, cpus: list[int] = CPUS, **more: Any) -> subprocess.CompletedProcess[str]:
    def prepare() -> None:
        os.sched_setaffinity(0, cpus)
        if "address_space" in more:
            resource.setrlimit(resource.RLIMIT_AS, (more["address_space"],) * 2)

    return subprocess.run(
        [PROGRAM, *words],
        stdin=subprocess.DEVNULL,
        stdout=more.get("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        preexec_fn=prepare,
    )


def measure(*words: str, cpus: list[int] = CPUS) -> dict[str, Any]:
    done = run(*words, cpus=cpus)
    if done.returncode:
        raise AssertionError(done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


class Shape(unittest.TestCase):
    document: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.document = measure("--repeat", "2")

    def values(self, name: str) -> list[float] | None:
        values: list[float] | None = self.document["quantities"][name]["values"]
        return values

    def test_the_machine(self) -> None:
        self.assertEqual(self.document["schema"], 1)
        self.assertEqual(self.document["cpus"], len(CPUS))
        self.assertEqual(list(self.document["caches"]), ["l1i", "l1d", "l2", "l3"])
        for name, cache in self.document["caches"].items():
            if cache:
                self.assertEqual(list(cache), ["size", "ways", "line", "cpus"], name)
                self.assertGreater(cache["size"], 0, name)

    def test_every_value_or_a_reason(self) -> None:
        for name, one in self.document["quantities"].items():
            self.assertTrue(one["unit"], name)
            if one["values"] is None:
                self.assertTrue(one["why_not"], name)
            else:
                self.assertIsNone(one["why_not"], name)
                self.assertEqual(len(one["values"]), 2, name)
                self.assertGreater(min(one["values"]), 0, name)

    def test_memory_is_farther_than_the_nearest_cache(self) -> None:
        # The levels between are near each other where another user has evicted their lines.
        levels = [self.values(f"latency_{name}") for name in ("l1", "l2", "l3", "memory")]
        known = [min(values) for values in levels if values]
        self.assertGreater(len(known), 1)
        self.assertLess(known[0], known[-1])

    def test_the_clock_is_one_of_a_cpu(self) -> None:
        mhz = self.values("frequency")
        assert mhz
        self.assertTrue(200 < min(mhz) <= max(mhz) < 10000, mhz)


class Cpus(unittest.TestCase):
    def test_one_cpu_has_no_other(self) -> None:
        document = measure("--repeat", "1", cpus=CPUS[-1:])
        self.assertEqual(document["cpus"], 1)
        for name in (*BETWEEN_CPUS, "transfer_near", "transfer_far"):
            one = document["quantities"][name]
            self.assertIsNone(one["values"], name)
            self.assertIn("one core only", one["why_not"])
        self.assertTrue(document["quantities"]["handoff_same_cpu"]["values"])

    def test_two_cpus_are_near_or_far(self) -> None:
        if len(CPUS) < 2:
            self.skipTest("one CPU")
        quantities = measure("--repeat", "1")["quantities"]
        found = [quantities[name]["values"] for name in ("transfer_near", "transfer_far")]
        if not any(found):
            self.skipTest("one core")
        self.assertTrue(quantities["handoff_other_cpu"]["values"])


class BadMeasurements(unittest.TestCase):
    def same_cpu(self, bad_wakeups: int) -> dict[str, Any]:
        """The hand-off that is measured first, by 400 wake-ups each time."""
        environment = {**os.environ, "LD_PRELOAD": BAD_WAKEUPS, "BAD_WAKEUPS": str(bad_wakeups)}
        words = [PROGRAM, "--repeat", "1"]
        done = subprocess.run(words, capture_output=True, timeout=PATIENCE, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        one: dict[str, Any] = json.loads(done.stdout)["quantities"]["handoff_same_cpu"]
        return one

    def test_one_is_made_again(self) -> None:
        one = self.same_cpu(400)
        self.assertIsNone(one["why_not"])
        self.assertGreater(min(one["values"]), 0)

    def test_nearly_all_are_no_quantity(self) -> None:
        one = self.same_cpu(1_000_000)
        self.assertIsNone(one["values"])
        self.assertIn("hardly ever slept", one["why_not"])


class Usage(unittest.TestCase):
    def refused(self, *words: str) -> str:
        done = run(*words)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        return str(done.stderr)

    def test_repeat_is_a_number_in_its_range(self) -> None:
        for word in ("0", "1001", "-1", "many", "2x", ""):
            said = self.refused("--repeat", word)
            self.assertRegex(said, re.escape(f"--repeat {word}: must be a whole number from 1"))

    def test_it_takes_options_only(self) -> None:
        self.assertIn("cpu0: takes options only", self.refused("cpu0"))

    def test_help(self) -> None:
        self.assertIn("futex calls and hand-offs", " ".join(run("--help").stdout.split()))


class Trouble(unittest.TestCase):
    def test_a_full_disk_is_said(self) -> None:
        with Path("/dev/full").open("w") as full:
            done = run("--repeat", "1", stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the result: No space left on device", done.stderr)

    def test_too_little_memory_is_said(self) -> None:
        program = Path(PROGRAM).read_bytes()
        if b"__asan_init" in program or b"__tsan_init" in program:
            self.skipTest("a sanitizer takes more addresses than there may be")
        done = run("--repeat", "1", address_space=40 << 20)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "cannot allocate [0-9]+ MB to measure caches and memory")

    def test_an_interrupt_ends_it_at_once(self) -> None:
        process = subprocess.Popen([PROGRAM, "--repeat", "1000"], stdout=subprocess.PIPE)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), -signal.SIGINT)
        assert process.stdout
        self.assertEqual(process.stdout.read(), b"")
        process.stdout.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
