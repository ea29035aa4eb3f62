#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The seven programs, run as they are: results, options, and bad input."""

import json
import os
import resource
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAMS = {Path(p).name: p for p in sys.argv[1:]}
SINGLE_LOCK = {"single_ctr", "multiple_ctr", "doubly_list", "prod_cons"}
MANY_LOCKS = {"mlt_ctr_mlt_lock", "multiple_fifo"}
PAIRED = {"prod_cons", "affinity", "multiple_fifo"}
SANITIZED = any(
    b"__asan_init" in Path(p).read_bytes() or b"__tsan_init" in Path(p).read_bytes()
    for p in PROGRAMS.values()
)


def run(name: str, *options: str, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [PROGRAMS[name], *options], capture_output=True, text=True, timeout=120, **kwargs
    )


def result(name: str, *options: str) -> dict[str, object]:
    done = run(name, "--json", *options)
    assert done.returncode == 0, done
    assert done.stderr == "", done
    assert done.stdout.count("\n") == 1, "one line"
    parsed: dict[str, object] = json.loads(done.stdout)
    return parsed


class Results(unittest.TestCase):
    def test_every_thread_count(self) -> None:
        for name in PROGRAMS:
            for threads in (1, 2, 6, 16, 128):
                if threads % 2 and name in PAIRED:
                    continue
                with self.subTest(name, threads=threads):
                    r = result(name, f"--threads={threads}", "--iterations=3334", "--cs-lines=3")
                    self.assertEqual(r["schema"], 1)
                    self.assertEqual(r["benchmark"], name)
                    self.assertEqual(r["threads"], threads)
                    self.assertEqual(r["iterations"], 3334)
                    self.assertEqual(r["cs_lines"], 3)
                    self.assertEqual(r["check"], "ok")
                    self.assertEqual(r["check_detail"], "")
                    self.check_figures(r, threads)

    def check_figures(self, r: dict, threads: int) -> None:  # type: ignore[type-arg]
        self.assertAlmostEqual(
            r["throughput"], r["iterations"] * 1e9 / r["elapsed_ns"], delta=0.001
        )
        self.assertEqual(len(r["thread_throughput"]), threads)
        x = r["thread_throughput"]
        jain = sum(x) ** 2 / (threads * sum(v * v for v in x))
        self.assertAlmostEqual(r["fairness"], jain, delta=1e-5)
        self.assertGreaterEqual(r["context_switches"], 0)
        if Path("/proc/self/sched").exists():
            self.assertGreaterEqual(r["migrations"], 0)
        else:
            self.assertIsNone(r["migrations"])

    def test_defaults(self) -> None:
        for name in PROGRAMS:
            with self.subTest(name):
                r = result(name, "--threads=16")
                self.assertEqual(r["iterations"], 200000)
                self.assertEqual(r["warmup"], 20000)
                self.assertEqual(r["cs_lines"], 16)
                self.assertEqual(r["think"], 100)
                self.assertEqual(r["seed"], 1)
                self.assertGreaterEqual(int(str(r["line"])), 128)
                locks = 1 if name in SINGLE_LOCK else 2 if name == "affinity" else 4
                self.assertEqual(r["locks"], locks)

    def test_default_locks_fit_few_threads(self) -> None:
        self.assertEqual(result("mlt_ctr_mlt_lock", "-t4", "-n100")["locks"], 2)
        self.assertEqual(result("mlt_ctr_mlt_lock", "-t1", "-n100")["locks"], 1)
        self.assertEqual(result("multiple_fifo", "-t2", "-n100")["locks"], 1)

    def test_options_take_effect(self) -> None:
        for name in PROGRAMS:
            for extra in ("--line=32", "--line=1024", "--cs-lines=1", "--think=0", "--warmup=0"):
                with self.subTest(name, extra=extra):
                    r = result(name, "--threads=4", "--iterations=1000", extra)
                    option, value = extra.removeprefix("--").split("=")
                    self.assertEqual(r[option.replace("-", "_")], int(value))
        for name in MANY_LOCKS:
            for locks in (1, 3, 8):
                with self.subTest(name, locks=locks):
                    r = result(name, "--threads=16", "--iterations=1000", f"--locks={locks}")
                    self.assertEqual(r["locks"], locks)

    def test_most_threads(self) -> None:
        self.assertEqual(result("single_ctr", "-t1024", "-n2048")["check"], "ok")

    def test_table(self) -> None:
        done = run("affinity", "--threads=2", "--iterations=100")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^affinity$")
        self.assertRegex(done.stdout, r"(?m)^  critical section  16 lines of \d+ bytes, 2 locks$")
        self.assertRegex(done.stdout, r"(?m)^  self-check        ok$")

    def test_list(self) -> None:
        for name in PROGRAMS:
            lines = run(name, "--list").stdout.splitlines()
            self.assertEqual([line.split()[0] for line in lines], list(PROGRAMS))

    def test_help(self) -> None:
        done = run("single_ctr", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("TOTAL over all threads", " ".join(done.stdout.split()))


BAD_INPUT = [
    ("single_ctr", "--threads=0", "--threads 0: must be a whole number from 1 to 1024"),
    ("single_ctr", "--threads=-1", "--threads -1: must be a whole number from 1 to 1024"),
    ("single_ctr", "--threads=100000", "--threads 100000: must be a whole number from 1 to 1024"),
    ("single_ctr", "--threads=four", "--threads four: must be a whole number"),
    ("single_ctr", "--threads=4x", "--threads 4x: must be a whole number"),
    ("single_ctr", "--threads= 4", "--threads  4: must be a whole number"),
    ("single_ctr", "--threads=", "--threads : must be a whole number"),
    ("single_ctr", "--threads=18446744073709551617", "must be a whole number from 1 to 1024"),
    ("single_ctr", "--iterations=0", "--iterations 0: must be a whole number from 1 to 1000000000"),
    ("single_ctr", "--iterations=1e6", "--iterations 1e6: must be a whole number"),
    ("single_ctr", "--iterations=3", "--iterations 3: must be from 4 (one for each of the"),
    ("single_ctr", "--warmup=-5", "--warmup -5: must be a whole number from 0"),
    ("single_ctr", "--cs-lines=0", "--cs-lines 0: must be a whole number from 1 to 1024"),
    ("single_ctr", "--cs-lines=1025", "--cs-lines 1025: must be a whole number from 1 to 1024"),
    ("single_ctr", "--think=1000001", "--think 1000001: must be a whole number from 0 to 1000000"),
    ("single_ctr", "--seed=4294967296", "--seed 4294967296: must be a whole number from 0"),
    ("single_ctr", "--line=96", "--line 96: must be a power of two from 32 to 1024"),
    ("single_ctr", "--line=16", "--line 16: must be a whole number from 32 to 1024"),
    ("single_ctr", "--locks=2", "--locks 2: single_ctr always has 1"),
    ("affinity", "--locks=1", "--locks 1: affinity always has 2"),
    ("mlt_ctr_mlt_lock", "--locks=5", "--locks 5: must be from 1 to 4 (one for each thread"),
    ("multiple_fifo", "--locks=3", "--locks 3: must be from 1 to 2 (one for each pair"),
    ("affinity", "--threads=1", "--threads 1: must be an even number from 2 to 1024"),
    ("prod_cons", "--threads=3", "--threads 3: must be an even number from 2 to 1024"),
    ("multiple_fifo", "--threads=5", "--threads 5: must be an even number from 2 to 1024"),
    ("prod_cons", "--iterations=101", "--iterations 101: must be even"),
    ("affinity", "--warmup=7", "--warmup 7: must be even"),
    ("single_ctr", "--frobnicate", "unrecognized option"),
    ("single_ctr", "extra", "extra: takes options only"),
]


class BadInput(unittest.TestCase):
    def test_options(self) -> None:
        for name, option, message in BAD_INPUT:
            with self.subTest(name, option=option):
                done = run(name, "--threads=4", "--json", option)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(message, done.stderr)

    @unittest.skipIf(SANITIZED, "sanitizers need address space themselves")
    def test_threads_that_do_not_fit(self) -> None:
        def little_memory() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (24 << 20, 24 << 20))

        done = run("single_ctr", "--threads=1024", preexec_fn=little_memory)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"cannot create thread \d+ of 1024: lower --threads")

    @unittest.skipIf(SANITIZED, "sanitizers need address space themselves")
    def test_data_that_does_not_fit(self) -> None:
        def little_memory() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (24 << 20, 24 << 20))

        done = run("multiple_ctr", "--threads=512", "--cs-lines=1024", preexec_fn=little_memory)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"cannot allocate 512 x \d+ bytes: lower --threads")


class Marks(unittest.TestCase):
    def test_perf_hears_of_the_region(self) -> None:
        ctl_read, ctl_write = os.pipe()
        ack_read, ack_write = os.pipe()
        os.write(ack_write, b"ack\n\0ack\n\0")
        done = run(
            "single_ctr",
            "-t2",
            "-n100",
            env={**os.environ, "FAST_PERF_CTL": f"{ctl_write},{ack_read}"},
            pass_fds=(ctl_write, ack_read),
        )
        self.assertEqual(done.returncode, 0)
        self.assertEqual(os.read(ctl_read, 100), b"enable\ndisable\n")
        for fd in (ctl_read, ctl_write, ack_read, ack_write):
            os.close(fd)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
