#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fast-latency on this machine: hand-offs and wake-ups whose number is known."""

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

STATIC = Path(sys.argv.pop())
SUBJECT = Path(sys.argv.pop())
FAST_LATENCY = Path(sys.argv.pop())
OTHER_USER = 65534


def fast_latency(
    *words: str | Path, program: Path = FAST_LATENCY, **how: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, **how)


def instance(process: subprocess.Popen[bytes]) -> Path:
    """What a fast-latency has in tracefs, wherever it found or mounted that."""
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    tracefs = next(where for _, where, kind, *_ in mounts if kind == "tracefs")
    return Path(tracefs, "instances", f"fast-latency-{process.pid}")


class Measuring(unittest.TestCase):
    def measure(self, *words: str | Path, roi: bool = False) -> dict[str, Any]:
        """The JSON document of a program that goes well."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "latencies.json"
            done = fast_latency(*(["--roi"] if roi else []), "--json", path, "--", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.output = done.stdout
            document: dict[str, Any] = json.loads(path.read_text())
            return document

    def handoffs(self, *words: str, roi: bool = False) -> int:
        latency = self.measure(SUBJECT, *words, roi=roi)["latencies"]["handoff"]
        self.assertEqual((latency["why_not"], latency["unseen"]), (None, None))
        self.assertEqual(sum(count for _, count in latency["buckets"]), latency["events"])
        return int(latency["events"])


class Handoffs(Measuring):
    def test_each_is_counted_once(self) -> None:
        for mode in ("mutex", "recursive", "cond", "timed"):
            with self.subTest(mode=mode):
                self.assertEqual(self.handoffs("handoffs", "5", mode), 5)

    def test_what_is_none(self) -> None:
        self.assertEqual(self.handoffs("alone", "1000"), 0)
        self.assertEqual(self.handoffs("polls", "3"), 0)

    def test_a_program_whose_mutexes_cannot_be_seen(self) -> None:
        """None is no 0: there may be hand-offs, as of Rust's std::sync::Mutex."""
        self.assertIn("no pthread mutex was seen", self.why_no_handoffs("sleeps", "1"))
        self.assertIn("fast trace", self.why_no_handoffs("sleeps", "1"))
        # What another process does to it could not be seen.
        self.assertIn("PTHREAD_PROCESS_SHARED", self.why_no_handoffs("handoffs", "3", "shared"))

    def test_a_program_that_hands_no_mutex_over(self) -> None:
        note = "handoff: no pthread mutex was handed over; fast trace shows"
        self.assertIn(note, fast_latency("--", SUBJECT, "alone", "10").stderr)
        self.assertNotIn(note, fast_latency("--", SUBJECT, "handoffs", "1").stderr)
        self.assertNotIn(note, fast_latency("--", SUBJECT, "sleeps", "1").stderr)

    def why_no_handoffs(self, *words: str) -> str:
        latency = self.measure(SUBJECT, *words)["latencies"]["handoff"]
        self.assertEqual((latency["events"], latency["why_not"]), (0, None))
        return str(latency["unseen"])

    def test_only_the_region_is_measured(self) -> None:
        self.assertEqual(self.handoffs("region", "4", "3", roi=True), 4)

    def test_of_processes(self) -> None:
        """After fork() there are two mutexes at one address."""
        document = self.measure(SUBJECT, "forks", "2")
        self.assertEqual(document["latencies"]["handoff"]["events"], 4)
        locks = document["locks"]
        self.assertEqual(sorted(lock["process"] for lock in locks), [1, 2])
        self.assertEqual({lock["handoffs"] for lock in locks}, {2})
        self.assertEqual({lock["address"] for lock in locks}, {self.output.split()[0]})

    def test_times(self) -> None:
        """From the release on: not the time for which it was held, that is a millisecond."""
        document = self.measure(SUBJECT, "handoffs", "50")
        buckets = document["latencies"]["handoff"]["buckets"]
        times = [end for end, count in buckets for _ in range(count)]
        self.assertGreater(times[0], 100)
        # On a busy machine some take long, but the half does not.
        self.assertLess(times[25], document["elapsed_ns"] / 50)

    def test_the_lock_and_its_place(self) -> None:
        document = self.measure(SUBJECT, "handoffs", "3")
        (lock,) = document["locks"]
        self.assertEqual((lock["address"], lock["handoffs"]), (self.output.strip(), 3))
        self.assertEqual(document["maps"]["process"], lock["process"])
        ranges = [
            line.split()[0].split("-")
            for line in document["maps"]["text"].splitlines()
            if line.endswith(str(SUBJECT.resolve()))
        ]
        address = int(lock["address"], 16)
        self.assertTrue(any(int(a, 16) <= address < int(b, 16) for a, b in ranges), ranges)

    def test_a_static_program(self) -> None:
        document = self.measure(STATIC, "handoffs", "2")
        latency = document["latencies"]["handoff"]
        self.assertEqual((latency["events"], latency["buckets"]), (None, None))
        self.assertIn("it is static", latency["why_not"])

    def test_a_file_in_the_memorys_place(self) -> None:
        """The shell gives the descriptor to a file of the user's: that is not written to."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "file"
            content = b"mine" * 1_000_000
            path.write_bytes(content)
            take = f'eval "exec ${{FAST_LATENCY##*/}}<>{path}"; '
            self.assertEqual(self.handoffs_of_a_shell(take), 2)
            self.assertEqual(path.read_bytes(), content)
            self.assertIsNone(self.handoffs_of_a_shell(take + self.ELSEWHERE))
            self.assertEqual(path.read_bytes(), content)

    # As another mount namespace may have it.
    ELSEWHERE = "FAST_LATENCY=/no/such/proc/${FAST_LATENCY##*/}; "

    def handoffs_of_a_shell(self, script: str) -> int | None:
        """Of two that are made by what a shell starts after the script; None: not available."""
        done = fast_latency("--", "bash", "-c", script + 'exec "$0" handoffs 2', SUBJECT)
        self.assertEqual(done.returncode, 0, done.stderr)
        ((events, why),) = re.findall(r"(?m)^handoff +(?:(\d+) |not available: (.*))", done.stderr)
        self.assertTrue(events or why.startswith("no pthread mutex was seen"), why)
        return int(events) if events else None

    def test_a_program_without_our_descriptors(self) -> None:
        """Python's subprocess closes what it does not know, and so do daemons."""
        script = "import subprocess, sys; subprocess.run(sys.argv[1:])"
        document = self.measure(sys.executable, "-c", script, SUBJECT, "handoffs", "2")
        self.assertEqual(document["latencies"]["handoff"]["events"], 2)

    def test_a_proc_that_has_not_our_process(self) -> None:
        self.assertEqual(self.handoffs_of_a_shell(self.ELSEWHERE), 2)

    def test_a_process_that_was_killed_with_the_maps_lock(self) -> None:
        """The fourth word of the shared memory; no process waits for it forever."""
        script = (
            "import mmap, os, sys\n"
            "with open(os.environ['FAST_LATENCY'], 'r+b') as shared:\n"
            "    mmap.mmap(shared.fileno(), 0)[12] = 1\n"
            "os.execv(sys.argv[1], sys.argv[1:])\n"
        )
        document = self.measure(sys.executable, "-c", script, SUBJECT, "handoffs", "2")
        self.assertEqual(document["latencies"]["handoff"]["events"], 2)
        self.assertIsNone(document["maps"])

    def test_another_preloaded_library_stays(self) -> None:
        os.environ["LD_PRELOAD"] = "libpthread.so.0"
        self.addCleanup(os.environ.pop, "LD_PRELOAD")
        self.measure("sh", "-c", "echo $LD_PRELOAD")
        self.assertRegex(self.output, r"/libfast-handoff.so:libpthread.so.0$")


class Wakeups(Measuring):
    def wakeups(self, *words: str, roi: bool = False) -> dict[str, Any]:
        latency: dict[str, Any] = self.measure(SUBJECT, *words, roi=roi)["latencies"]["wakeup"]
        if latency["why_not"]:
            self.skipTest(latency["why_not"])
        return latency

    def test_each_sleep_ends_in_one(self) -> None:
        # A machine that is busy enough ends one before it has begun, but not each time.
        few = max(self.wakeups("sleeps", "10")["events"] for _ in range(3))
        many = self.wakeups("sleeps", "210")["events"]
        # Besides: the thread's end wakes its joiner, and the kernel may delay a thread.
        self.assertGreaterEqual(few, 11)
        self.assertGreaterEqual(many, 211)
        self.assertLess(many, 300)

    def test_times(self) -> None:
        """Not the millisecond of the sleep."""
        buckets = self.wakeups("sleeps", "100")["buckets"]
        times = [end for end, count in buckets for _ in range(count)]
        self.assertGreater(times[0], 100)
        self.assertLess(times[10], 1_000_000)

    def test_in_the_region(self) -> None:
        """The waiting thread was started before it."""
        # A thread that a busy machine delays is polled for meanwhile, but not each time.
        inside = min(self.wakeups("region", "2", "100", roi=True)["events"] for _ in range(3))
        everything = self.wakeups("region", "2", "100")["events"]
        self.assertGreaterEqual(inside, 2)
        self.assertLess(inside, everything / 4)


class Instances(Measuring):
    def setUp(self) -> None:
        why = self.measure("true")["latencies"]["wakeup"]["why_not"]
        if why:
            self.skipTest(why)

    def started(self) -> subprocess.Popen[bytes]:
        """One that measures a program which waits."""
        process = subprocess.Popen(
            [FAST_LATENCY, "--", "sh", "-c", "echo; exec sleep 60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        assert process.stdout
        process.stdout.read(1)
        self.assertTrue(instance(process).exists())
        return process

    def test_nothing_is_left(self) -> None:
        process = self.started()
        process.terminate()
        self.assertEqual(process.wait(30), 128 + signal.SIGTERM)
        self.assertFalse(instance(process).exists())

    def test_what_a_killed_one_left_goes_with_the_next(self) -> None:
        process = self.started()
        process.kill()
        process.wait(30)
        self.assertTrue(instance(process).exists())
        self.measure("true")
        self.assertFalse(instance(process).exists())


class Ends(unittest.TestCase):
    def test_table(self) -> None:
        done = fast_latency("--", SUBJECT, "handoffs", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^handoff +3( +\d+\.\d\d){5}$")
        self.assertRegex(done.stderr, r"(?m)^wakeup +(\d+|not available: \S)")

    def test_statuses(self) -> None:
        for script, status in (("exit 3", 3), ("kill -9 $$", 128 + signal.SIGKILL)):
            with self.subTest(script=script):
                self.assertEqual(fast_latency("--", "sh", "-c", script).returncode, status)
        self.assertEqual(fast_latency("--", "/no/such/program").returncode, 127)
        self.assertEqual(fast_latency("--", "/etc/passwd").returncode, 126)

    def assert_fails(self, what: str, *words: str | Path, program: Path = FAST_LATENCY) -> None:
        done = fast_latency(*words, program=program)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(what, done.stderr)
        self.assertEqual(done.stdout, "", "the program has run all the same")

    def test_usage(self) -> None:
        self.assert_fails("which program?")
        self.assert_fails("which file? It stands before the --", "--json", "--", "echo", "x")
        self.assertFalse(Path("--").exists())
        self.assert_fails("cannot write /no/such/x", "-j", "/no/such/x", "--", "echo", "x")

    def test_a_document_is_no_standard_error(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "latencies.json"
            words = ("-j", path, "--", "/no/such/program")
            done = fast_latency(*words, preexec_fn=lambda: os.close(2))
            self.assertEqual((done.returncode, path.read_text()), (127, ""))

    def test_a_program_without_regions(self) -> None:
        self.assert_fails("gave no marker of a region", "--roi", "--", "true")

    def test_without_its_library(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            alone = Path(directory) / "fast-latency"
            shutil.copy(FAST_LATENCY, alone)
            missing = f"{directory}/libfast-handoff.so: No such"
            self.assert_fails(missing, "--", "echo", "x", program=alone)

    @unittest.skipUnless(os.geteuid() == 0, "only root may become another user")
    def test_who_may_not_trace_has_handoffs(self) -> None:
        # Where these programs are he may not look, as in root's home; nor for what leaks are known.
        with tempfile.TemporaryDirectory() as directory:
            Path(directory).chmod(0o755)
            program = Path(shutil.copy(FAST_LATENCY, directory))
            shutil.copy(FAST_LATENCY.parent / "libfast-handoff.so", directory)
            subject = shutil.copy(SUBJECT, directory)
            environment = {**os.environ, "LSAN_OPTIONS": "detect_leaks=0"}
            words = ("--", subject, "handoffs", "2")
            done = fast_latency(*words, program=program, user=OTHER_USER, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^handoff +2 ")
        self.assertRegex(done.stderr, r"(?m)^wakeup +not available: tracefs cannot be used: .*root")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
