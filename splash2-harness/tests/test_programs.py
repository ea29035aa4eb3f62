#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The programs, run as they are: results at every thread count, options, and bad input."""

import json
import os
import resource
import subprocess
import sys
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUILT = {Path(p).name: p for p in sys.argv[1:]}
SANITIZED = any(
    b"__asan_init" in Path(p).read_bytes() or b"__tsan_init" in Path(p).read_bytes()
    for p in BUILT.values()
)
THREADS = (1, 2, 4, 7, 16, 64, 128)


@dataclass(frozen=True)
class Program:
    """How a program is tried. `tolerance` is the most that two thread counts' results differ, as
    a part of them; 0: not a bit. `refused` are thread counts that its algorithm does not allow.
    """

    tolerance: float
    options: tuple[str, ...] = ()
    refused: tuple[int, ...] = ()


PROGRAMS = {
    "barnes": Program(1e-10),
    "cholesky": Program(1e-12),
    "fft": Program(0, ("-m14",)),
    "fmm": Program(1e-10),
    "lu_contiguous": Program(0, ("-n256", "-b8")),
    "lu_noncontiguous": Program(0, ("-n250", "-b8")),
    "radix": Program(0, ("-n30000", "-r256")),
    "water_nsquared": Program(1e-10),
    # 64 cells.
    "water_spatial": Program(1e-10, refused=(128,)),
}

# Program, options, what it says.
BAD_INPUT = [
    ("barnes", "--bodies=1", "--bodies 1: must be a whole number from 2 to 4294967295"),
    ("barnes", "--theta=1.1", "--theta 1.1: must be a number from 0 to 1"),
    ("barnes", "--softening=0", "--softening 0: must be a number from 0.001 to 1"),
    ("barnes", "--distribution=x", "--distribution x: must be plummer or uniform"),
    ("fft", "-m15", "2^15 points are no square matrix: choose an even -m, such as 14"),
    ("fft", "-m0", "--m 0: must be a whole number from 2 to 30"),
    ("fft", "-m32", "--m 32: must be a whole number from 2 to 30"),
    ("fft", "-n1000", "-n 1000: the number of points must be a power of 4"),
    ("fft", "-n2048", "2^11 points are no square matrix"),
    ("fft", "-m4 -t5", "5 threads cannot share the 4 rows of 2^4 points"),
    ("fft", "--dump=/nowhere/file", "/nowhere/file cannot be written: No such file"),
    ("fmm", "--particles=1", "--particles 1: must be a whole number from 2 to 4294967295"),
    ("fmm", "--precision=1e-13", "--precision 1e-13: must be a number from 1e-12 to 0.1"),
    ("fmm", "--clusters=3", "--clusters 3: must be a whole number from 1 to 2"),
    ("fmm", "--distribution=x", "--distribution x: must be plummer or uniform"),
    ("lu_contiguous", "-n8 -b16", "blocks of 16 x 16 are larger than the matrix, 8 x 8"),
    ("lu_contiguous", "-t37", "37 threads form a grid of 37 x 1, and the matrix has 32 x 32"),
    ("lu_noncontiguous", "-n64 -t64", "64 threads form a grid of 8 x 8, and the matrix has 4 x 4"),
    ("lu_noncontiguous", "-b0", "--b 0: must be a whole number from 1 to 1024"),
    ("radix", "-r1000", "-r 1000: the radix must be a power of two from 2 to 65536"),
    ("radix", "-r1", "--r 1: must be a whole number from 2 to 65536"),
    ("radix", "-n5 -t6", "6 threads have no more than 5 keys to sort"),
    ("radix", "-m0", "--m 0: must be a whole number from 1 to 4294967296"),
]

# What every program refuses.
BAD_OPTIONS = [
    ("--threads=0", "--threads 0: must be a whole number from 1 to 1024"),
    ("--threads=four", "--threads four: must be a whole number"),
    ("--threads=1025", "--threads 1025: must be a whole number from 1 to 1024"),
    ("--seed=-1", "--seed -1: must be a whole number from 0 to 4294967295"),
    ("--frobnicate", "unrecognized option"),
    ("extra", "extra: takes options only"),
]


def run(name: str, *options: str, **kwargs: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILT[name], *options], capture_output=True, text=True, timeout=120, **kwargs
    )


def result(name: str, *options: str) -> dict[str, Any]:
    done = run(name, "--json", *PROGRAMS[name].options, *options)
    assert done.returncode == 0, done
    assert done.stderr == "", done
    assert done.stdout.count("\n") == 1, "one line"
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def allowed(name: str) -> Iterator[int]:
    return (threads for threads in THREADS if threads not in PROGRAMS[name].refused)


class Built(unittest.TestCase):
    def test_all_nine(self) -> None:
        self.assertEqual(set(BUILT), set(PROGRAMS))


class Results(unittest.TestCase):
    def test_every_thread_count(self) -> None:
        for name in BUILT:
            results = {}
            for threads in allowed(name):
                with self.subTest(name, threads=threads):
                    r = result(name, f"--threads={threads}")
                    self.assertEqual(r["schema"], 1)
                    self.assertEqual(r["benchmark"], name)
                    self.assertEqual(r["threads"], threads)
                    self.assertEqual(r["seed"], 1)
                    self.assertEqual(r["check_detail"], "")
                    self.assertEqual(r["check"], "ok")
                    self.check_figures(r, threads)
                    results[threads] = r["result"]
            with self.subTest(name):
                most = PROGRAMS[name].tolerance * abs(results[1])
                for threads, digest in results.items():
                    self.assertLessEqual(abs(digest - results[1]), most, f"{threads} threads")

    def check_figures(self, r: dict[str, Any], threads: int) -> None:
        self.assertAlmostEqual(r["throughput"], 1e9 / r["elapsed_ns"], delta=1e-5)
        self.assertEqual(r["iterations"], 1)
        busy = r["thread_busy_ns"]
        self.assertEqual(len(busy), threads)
        jain = sum(busy) ** 2 / (threads * sum(v * v for v in busy))
        self.assertAlmostEqual(r["fairness"], jain, delta=1e-5)
        self.assertGreaterEqual(r["context_switches"], 0)
        if Path("/proc/self/sched").exists():
            self.assertGreaterEqual(r["migrations"], 0)
        else:
            self.assertIsNone(r["migrations"])
        profile = r["profile"]
        self.assertGreater(profile["locks"] + profile["barriers"] + profile["flags"], 0)
        # Each thread passes each barrier.
        self.assertEqual(profile["barriers"] % threads, 0)
        for figure in ("contended", "lock_ns", "barrier_ns", "flag_ns"):
            self.assertIsNone(profile[figure])

    def test_thread_counts_that_are_refused(self) -> None:
        for name in BUILT:
            for threads in PROGRAMS[name].refused:
                with self.subTest(name, threads=threads):
                    done = run(name, f"-t{threads}", *PROGRAMS[name].options)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(f"{threads} threads", done.stderr)

    def test_defaults(self) -> None:
        for name in BUILT:
            with self.subTest(name):
                done = run(name, "--threads=4", "--json")
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(json.loads(done.stdout)["check"], "ok")

    def test_another_seed_is_another_problem(self) -> None:
        for name in BUILT:
            with self.subTest(name):
                one, two = (result(name, "-t2", f"--seed={seed}") for seed in (1, 2))
                self.assertEqual(two["seed"], 2)
                self.assertNotEqual(one["result"], two["result"])

    def test_profile(self) -> None:
        for name in BUILT:
            with self.subTest(name):
                r = result(name, "-t4", "--profile")
                waited = sum(r["profile"][kind] for kind in ("lock_ns", "barrier_ns", "flag_ns"))
                self.assertGreater(waited, 0)
                self.assertLessEqual(waited, 4 * r["elapsed_ns"])
                self.assertLessEqual(r["profile"]["contended"], r["profile"]["locks"])

    def test_table(self) -> None:
        for name in BUILT:
            with self.subTest(name):
                done = run(name, "--threads=2", "--profile", *PROGRAMS[name].options)
                self.assertEqual(done.returncode, 0, done)
                self.assertRegex(done.stdout, rf"(?m)^{name}$")
                self.assertRegex(done.stdout, r"(?m)^  threads           2$")
                self.assertRegex(done.stdout, r"(?m)^  self-check        ok$")

    def test_help(self) -> None:
        for name in BUILT:
            with self.subTest(name):
                done = run(name, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertRegex(" ".join(done.stdout.split()), r"[Aa]ny number of threads|threads")


class Shapes(unittest.TestCase):
    """Sizes at the edges of what an algorithm takes."""

    def test_fft(self) -> None:
        for size, threads in (("-m2", 1), ("-m2", 2), ("-m6", 7), ("-n256", 16), ("-m10", 5)):
            with self.subTest(size, threads=threads):
                self.assertEqual(result("fft", size, f"-t{threads}")["check"], "ok")

    def test_lu(self) -> None:
        for name in ("lu_contiguous", "lu_noncontiguous"):
            for n, b, threads in ((1, 1, 1), (100, 16, 6), (100, 100, 1), (97, 3, 15), (64, 1, 9)):
                with self.subTest(name, n=n, b=b, threads=threads):
                    r = result(name, f"-n{n}", f"-b{b}", f"-t{threads}")
                    self.assertEqual(r["sizes"], {"n": n, "b": b, "dump": None})
                    self.assertEqual(r["check"], "ok")

    def test_the_two_lu_agree(self) -> None:
        digests = {
            result(name, "-n200", "-b12", "-t6")["result"]
            for name in ("lu_contiguous", "lu_noncontiguous")
        }
        self.assertEqual(len(digests), 1)

    def test_radix(self) -> None:
        for n, radix, keys, threads in (
            (1, 2, 1, 1),
            (5, 2, 2, 5),
            (1000, 65536, 2**32, 3),
            (1000, 16, 17, 13),
            (1000, 16, 16, 13),
        ):
            with self.subTest(n=n, radix=radix, keys=keys, threads=threads):
                r = result("radix", f"-n{n}", f"-r{radix}", f"-m{keys}", f"-t{threads}")
                self.assertEqual(r["check"], "ok")

    def test_radix_synchronisation(self) -> None:
        # Two digits: two barriers for each, and two flags for each inner node of the tree.
        for threads in (1, 2, 7, 32):
            with self.subTest(threads=threads):
                profile = result("radix", "-r256", "-m65536", f"-t{threads}")["profile"]
                self.assertEqual(profile["barriers"], 4 * threads)
                self.assertEqual(profile["flags"], 4 * (threads - 1))

    def test_barnes(self) -> None:
        for options in (
            "--bodies=2 -t3",
            "--bodies=11 -t16",
            "--bodies=500 --theta=0 -t3",
            "--bodies=2000 --theta=0.3 -t5",
            "--distribution=uniform -t3",
            "--bodies=500 --softening=1 -t2",
            "--bodies=1000 --dtime=0 -t2",
            "--bodies=500 --steps=50 -t2",
        ):
            with self.subTest(options):
                self.assertEqual(result("barnes", *options.split())["check"], "ok")

    def test_fmm(self) -> None:
        for options in (
            "--particles=2 -t3",
            "--particles=41 -t16",
            "--precision=0.1 -t3",
            "--precision=1e-12 -t2",
            "--distribution=uniform -t3",
            "--clusters=2 -t5",
            "--clusters=2 --distribution=uniform -t4",
            "--particles=500 --steps=50 -t2",
        ):
            with self.subTest(options):
                self.assertEqual(result("fmm", *options.split())["check"], "ok")

    def test_nbody_synchronisation(self) -> None:
        # A barrier ends each phase of a step: Barnes has five, FMM seven.
        for name, phases in (("barnes", 5), ("fmm", 7)):
            with self.subTest(name):
                profile = result(name, "-t6", "--steps=2")["profile"]
                self.assertEqual(profile["barriers"], 2 * phases * 6)

    def test_most_threads(self) -> None:
        self.assertEqual(result("radix", "-t1024", "-r16")["check"], "ok")


class BadInput(unittest.TestCase):
    def refused(self, name: str, options: list[str], message: str) -> None:
        done = run(name, "--json", *options)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertIn(message, done.stderr)

    def test_of_every_program(self) -> None:
        for name in BUILT:
            for option, message in BAD_OPTIONS:
                with self.subTest(name, option=option):
                    self.refused(name, [option], message)

    def test_of_its_own(self) -> None:
        for name, options, message in BAD_INPUT:
            with self.subTest(name, options=options):
                self.refused(name, options.split(), message)

    @unittest.skipIf(SANITIZED, "sanitizers need address space themselves")
    def test_more_than_memory(self) -> None:
        def little_memory() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))

        done = run("fft", "-m24", "-t1", preexec_fn=little_memory)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(
            done.stderr, r"^fft: 4096 x 65664 bytes of memory cannot be had, .*: choose a smaller"
        )


class Marks(unittest.TestCase):
    def test_perf_hears_of_the_region(self) -> None:
        ctl_read, ctl_write = os.pipe()
        ack_read, ack_write = os.pipe()
        os.write(ack_write, b"ack\n\0ack\n\0")
        done = run(
            "fft",
            "-t2",
            env={**os.environ, "FAST_PERF_CTL": f"{ctl_write},{ack_read}"},
            pass_fds=(ctl_write, ack_read),
        )
        self.assertEqual(done.returncode, 0)
        self.assertEqual(os.read(ctl_read, 100), b"enable\ndisable\n")
        for fd in (ctl_read, ctl_write, ack_read, ack_write):
            os.close(fd)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
