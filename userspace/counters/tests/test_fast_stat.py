#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fast-stat on this machine: software events are counted for real, and what is missing is said."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

SUBJECT = Path(sys.argv.pop())
FAST_STAT = Path(sys.argv.pop())
OTHER_USER = 65534
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


def fast_stat(
    *words: str | Path,
    user: int | None = None,
    preexec_fn: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FAST_STAT, *words],
        capture_output=True,
        text=True,
        timeout=60,
        user=user,
        preexec_fn=preexec_fn,
    )


def has_pmu() -> bool:
    return "hardware events can be counted here" in fast_stat("--list").stdout


def may_count_the_kernel() -> bool:
    return os.geteuid() == 0 or int(PARANOID.read_text()) < 2


class Counting(unittest.TestCase):
    def setUp(self) -> None:
        if not may_count_the_kernel():
            self.skipTest(f"{PARANOID} is {PARANOID.read_text().strip()}")

    def count(self, events: str, *words: str | Path) -> dict[str, Any]:
        """The JSON document of a program that goes well."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "counts.json"
            done = fast_stat("--events", events, "--json", path, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            document: dict[str, Any] = json.loads(path.read_text())
            return document

    def value(self, event: str, *words: str | Path) -> int:
        counter = self.count(event, *words)["counters"][event]
        self.assertIsNone(counter["why_not"])
        return int(counter["value"])


class Software(Counting):
    def test_faults_of_all_threads(self) -> None:
        """The kernel adds what a thread counted when it vanishes."""
        few = self.value("page_faults", "--", SUBJECT, "threads", "4", "1000", "0")
        many = self.value("page_faults", "--", SUBJECT, "threads", "4", "3000", "0")
        self.assertGreaterEqual(few, 4000)
        self.assertAlmostEqual(many - few, 8000, delta=400)

    def test_faults_of_a_child(self) -> None:
        few = self.value("page_faults", "--", SUBJECT, "child", "1000")
        many = self.value("page_faults", "--", SUBJECT, "child", "9000")
        # ThreadSanitizer executes a program again whose addresses it does not like: 300 faults.
        self.assertAlmostEqual(many - few, 8000, delta=400)

    def test_switches_of_all_threads(self) -> None:
        few = self.value("context_switches", "--", SUBJECT, "threads", "4", "1", "0")
        many = self.value("context_switches", "--", SUBJECT, "threads", "4", "1", "500")
        # A sleeper switches once for each sleep, and more often on a busy CPU.
        self.assertGreaterEqual(many - few, 1900)

    def test_clock_and_migrations(self) -> None:
        document = self.count("software", "--", SUBJECT, "threads", "2", "2000", "0")
        clock = document["counters"]["task_clock"]
        self.assertEqual(clock["unit"], "ns")
        self.assertGreater(clock["value"], 0)
        # Of two threads, and fast-stat looks at its watch before and after.
        self.assertLess(clock["value"], 2 * document["elapsed_ns"])
        self.assertGreaterEqual(document["counters"]["migrations"]["value"], 0)

    def test_document(self) -> None:
        document = self.count("migrations,page_faults", "--", "true")
        self.assertEqual(document["schema"], 2)
        self.assertEqual(document["modes"], ["user", "kernel"])
        self.assertEqual((document["exit_status"], document["signal"]), (0, None))
        self.assertIsNone(document["regions"])
        self.assertEqual(list(document["counters"]), ["migrations", "page_faults"])

    def test_table(self) -> None:
        done = fast_stat("-e", "software", "--", "echo", "hello")
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"))
        for name in ("context_switches", "migrations", "task_clock", "page_faults"):
            self.assertRegex(done.stderr, rf"\d  {name}\b")
        self.assertNotIn("cycles", done.stderr)


class Cpus(Counting):
    def test_the_program_is_confined(self) -> None:
        for cpu in sorted(os.sched_getaffinity(0)):
            only = rf"^Cpus_allowed_list:\s{cpu}$"
            document = self.count(
                "none", "--cpus", str(cpu), "--", "grep", "-q", only, "/proc/self/status"
            )
            self.assertEqual((document["cpus"], document["counters"]), (str(cpu), {}))
            self.assertGreater(document["elapsed_ns"], 0)

    def test_without_cpus_they_are_all_it_may_use(self) -> None:
        cpu = max(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "counts.json"

            def confine() -> None:
                os.sched_setaffinity(0, {cpu})

            done = fast_stat("-e", "none", "-j", path, "--", "true", preexec_fn=confine)
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(path.read_text())
        self.assertEqual(document["cpus"], str(cpu))
        self.assertEqual(document["others"], "no --cpus keeps other programs off them")

    def test_they_are_its_own_or_it_says_why_not(self) -> None:
        cpu = str(min(os.sched_getaffinity(0)))
        own = ["sh", "-c", "cut -d: -f3 /proc/self/cgroup | tail -n 1 >&2"]
        done = fast_stat("-e", "none", "-c", cpu, "--", *own)
        self.assertEqual(done.returncode, 0, done.stderr)
        if "which the program has to itself" in done.stderr:
            group = done.stderr.splitlines()[0]
            self.assertRegex(group, r"^/fast-stat-\d+$")
            self.assertFalse(Path(f"/sys/fs/cgroup{group}").exists())
        else:
            self.assertRegex(
                done.stderr, rf"on CPUs {cpu}; other programs may run on these CPUs: .+\n"
            )

    def test_cpus_that_are_not_there(self) -> None:
        for cpus in ("1023", f"{min(os.sched_getaffinity(0))},1023"):
            done = fast_stat("-e", "none", "-c", cpus, "--", "echo", "x")
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn("fast-stat: --cpus: ", done.stderr)
            self.assertIn("online", done.stderr)

    def test_threads_are_no_cpus(self) -> None:
        done = fast_stat("-e", "software", "--threads", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nof the program's threads\n", done.stderr)


class Regions(Counting):
    def faults(self, *words: str) -> dict[str, Any]:
        return self.count("page_faults", "--roi", "--", SUBJECT, *words)

    def test_only_the_region_is_counted(self) -> None:
        document = self.faults("regions", "1", "1000", "9000")
        self.assertEqual(document["regions"], 1)
        self.assertAlmostEqual(document["counters"]["page_faults"]["value"], 1000, delta=100)

    def test_regions_add_up(self) -> None:
        document = self.faults("regions", "3", "1000", "9000")
        self.assertEqual(document["regions"], 3)
        self.assertAlmostEqual(document["counters"]["page_faults"]["value"], 3000, delta=300)

    def assert_no_result(self, what: str, *words: str) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "counts.json"
            done = fast_stat("--roi", "-e", "software", "-j", path, "--", *words)
            self.assertEqual(path.read_text(), "")
        self.assertEqual(done.returncode, 125)
        self.assertIn(what, done.stderr)

    def test_regions_that_are_none(self) -> None:
        self.assert_no_result("gave no marker of a region", "true")
        self.assert_no_result("ended inside a region", str(SUBJECT), "half")
        self.assert_no_result("began a region of interest inside another", str(SUBJECT), "nested")
        self.assert_no_result("that it had not begun", str(SUBJECT), "stray")

    def test_unknown_command(self) -> None:
        done = fast_stat("--roi", "-e", "software", "--", SUBJECT, "say", "snapshot\n")
        self.assertEqual(done.returncode, 125)
        self.assertIn('sent "snapshot" through FAST_PERF_CTL', done.stderr)

    def test_a_program_that_fails_keeps_its_status(self) -> None:
        done = fast_stat("--roi", "-e", "software", "--", SUBJECT, "unknown")
        self.assertEqual(done.returncode, 2)
        self.assertIn("gave no marker", done.stderr)


class Repeated(Counting):
    def test_means_of_several_runs(self) -> None:
        done = fast_stat("-r", "3", "-e", "software", "--", "echo", "hello")
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n" * 3))
        self.assertIn("means of 3 runs", done.stderr)
        self.assertRegex(done.stderr, r"\d  page_faults  ± \d+\.\d\d %\n")
        self.assertEqual(done.stderr.count("seconds elapsed"), 1)

    def test_an_object_of_each_run(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "counts.json"
            fast_stat(
                "-r",
                "2",
                "--roi",
                "-e",
                "page_faults",
                "-j",
                path,
                "--",
                SUBJECT,
                "regions",
                "1",
                "1000",
                "9000",
            )
            runs = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual([run["regions"] for run in runs], [1, 1])

    def test_the_first_failure_ends_it(self) -> None:
        done = fast_stat("-r", "9", "-e", "software", "--", "sh", "-c", "echo once; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "once\n"))
        self.assertIn("means of 1 run", done.stderr)

    def ended_in_the_second(self, number: signal.Signals, *words: str | Path) -> tuple[int, str]:
        """Status and messages where all but the first run end well when they are asked to."""
        program = (
            "import signal, sys\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit())\n"
            "print('waiting', flush=True)\n"
            "sys.stdin.readline()\n"
        )
        process = subprocess.Popen(
            [FAST_STAT, "-r", "9", "-e", "software", *words, "--", sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        assert process.stdin and process.stdout
        self.assertEqual(process.stdout.readline(), "waiting\n")
        process.stdin.write("\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "waiting\n")
        process.send_signal(number)
        # The program gets this one, too: that is to end it, and not the end of its input. The other
        # one a terminal would send it.
        if number == signal.SIGTERM:
            process.wait(timeout=30)
        output, messages = process.communicate()
        self.assertEqual(output, "")
        return process.returncode, messages

    def test_a_request_to_end_ends_all(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number):
                status, messages = self.ended_in_the_second(number)
                self.assertEqual(status, 128 + number)
                self.assertIn("means of 1 runs", messages)

    def test_the_run_that_was_cut_short_is_no_object(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "counts.json"
            status, messages = self.ended_in_the_second(signal.SIGTERM, "-j", path)
            self.assertEqual((status, messages), (128 + signal.SIGTERM, ""))
            self.assertEqual(len(path.read_text().splitlines()), 1)

    def test_nohup_is_no_request(self) -> None:
        """A hang-up that fast-stat and the program are to ignore."""

        def ignore() -> None:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        script = "kill -HUP $PPID; echo run"
        done = fast_stat("-r", "2", "-e", "software", "--", "sh", "-c", script, preexec_fn=ignore)
        self.assertEqual((done.returncode, done.stdout), (0, "run\n" * 2))

    def test_each_run_may_be_ended(self) -> None:
        """The second program has the signals that the first one had."""
        script = "trap 'echo caught' TERM; kill -TERM $$; grep SigIgn /proc/self/status"
        done = fast_stat("-r", "2", "-e", "software", "--", "sh", "-c", script)
        first, second = done.stdout.split("caught\n")[1:]
        self.assertEqual(first, second)


class Usage(unittest.TestCase):
    def test_bad_words(self) -> None:
        for words, what in (
            (["--json", "--", "true"], "an option before the -- has no value"),
            (["-r", "0", "--", "true"], "--repeat 0: not a whole number of 1 to 10000"),
            (["-r", "-1", "--", "true"], "--repeat -1: not a whole number"),
            (["-r", "many", "--", "true"], "--repeat many: not a whole number"),
            (["-e", "nope", "--", "true"], '"nope" is no name of an event'),
        ):
            with self.subTest(words=words), tempfile.TemporaryDirectory() as directory:
                done = subprocess.run(
                    [FAST_STAT.absolute(), *words], cwd=directory, capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 125)
                self.assertIn(what, done.stderr)
                self.assertEqual(list(Path(directory).iterdir()), [])


class Ends(Counting):
    def test_statuses(self) -> None:
        for script, status in (("exit 3", 3), ("exit 125", 125), ("kill -9 $$", 137)):
            with self.subTest(script=script):
                done = fast_stat("-e", "software", "--", "sh", "-c", script)
                self.assertEqual(done.returncode, status)
                self.assertIn("task_clock", done.stderr)

    def test_a_failure_where_nobody_wants_to_know_of_children(self) -> None:
        def ignore() -> None:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        done = fast_stat("-e", "software", "--", "sh", "-c", "exit 3", preexec_fn=ignore)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_signal_in_the_document(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "counts.json"
            fast_stat("-e", "task_clock", "-j", path, "--", "sh", "-c", "kill -9 $$")
            document = json.loads(path.read_text())
        self.assertEqual((document["exit_status"], document["signal"]), (None, 9))

    def test_programs_that_cannot_run(self) -> None:
        done = fast_stat("-e", "software", "--", "/no/such/program")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(
            done.stderr, "fast-stat: cannot run /no/such/program: No such file or directory\n"
        )
        done = fast_stat("-e", "software", "--", "/etc/passwd")
        self.assertEqual(done.returncode, 126)
        self.assertEqual(done.stderr, "fast-stat: cannot run /etc/passwd: Permission denied\n")

    def started(self) -> tuple[subprocess.Popen[str], int]:
        """fast-stat and the process id of a program that waits under it."""
        process = subprocess.Popen(
            [FAST_STAT, "-e", "software", "--", SUBJECT, "wait"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        assert process.stdout
        self.assertEqual(process.stdout.readline(), "waiting\n")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        return process, int(children[0])

    def test_a_request_to_end_reaches_the_program(self) -> None:
        process, _ = self.started()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 128 + signal.SIGTERM)
        assert process.stderr
        self.assertIn("task_clock", process.stderr.read())

    def test_an_interrupt_is_the_programs(self) -> None:
        process, program = self.started()
        process.send_signal(signal.SIGINT)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.3)
        os.kill(program, signal.SIGINT)
        self.assertEqual(process.wait(30), 128 + signal.SIGINT)

    def asked_late(self, *words: str) -> tuple[int, str]:
        """Status and document where it is asked to end when a program has ended.

        It cannot end itself before: the pipe that it writes to is full.
        """
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "pipe"
            os.mkfifo(path)
            pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
            self.addCleanup(os.close, pipe)
            size = fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
            os.write(pipe, bytes(size))
            process = subprocess.Popen(
                [FAST_STAT, *words, "-e", "software", "-j", path, "--", "sleep", "0.3"]
            )
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while not children.read_text():
                time.sleep(0.01)
            while children.read_text():
                time.sleep(0.01)
            time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            os.read(pipe, size)
            status = process.wait(30)
            return status, os.read(pipe, size).decode()

    def test_who_asks_after_the_programs_end_has_the_result(self) -> None:
        status, text = self.asked_late()
        self.assertEqual(status, 0)
        json.loads(text)

    def test_who_asks_after_the_first_programs_end_waits_for_no_other(self) -> None:
        status, text = self.asked_late("-r", "2")
        self.assertEqual(status, 128 + signal.SIGTERM)
        json.loads(text)

    def test_no_program_is_left_uncounted(self) -> None:
        process, program = self.started()
        process.kill()
        process.wait(30)
        deadline = time.monotonic() + 30
        while Path(f"/proc/{program}/exe").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        # A zombie has no /proc/PID/exe.
        self.assertFalse(Path(f"/proc/{program}/exe").exists())


class Errors(unittest.TestCase):
    def assert_fails(self, done: subprocess.CompletedProcess[str], what: str) -> None:
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(what, done.stderr)
        self.assertEqual(done.stdout, "", "the program has run all the same")

    def test_usage(self) -> None:
        self.assert_fails(fast_stat(), "which program?")
        self.assert_fails(fast_stat("-e", "ipc", "--", "echo", "x"), '"ipc" is no name of an event')

    def test_document_that_cannot_be_written(self) -> None:
        done = fast_stat("-j", "/no/such/directory/x.json", "--", "echo", "x")
        self.assert_fails(done, "cannot write /no/such/directory/x.json: No such file")

    def test_a_document_is_no_standard_error(self) -> None:
        """Where that is closed, and the document is the first file that is opened."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "counts.json"
            done = fast_stat(
                *("-e", "none", "-j", path, "--", "/no/such/program"),
                preexec_fn=lambda: os.close(2),
            )
            self.assertEqual((done.returncode, path.read_text()), (127, ""))

    def test_closed_streams_stay_closed_for_the_program(self) -> None:
        closed = "! test -e /proc/self/fd/0 && ! test -e /proc/self/fd/2"
        script = f'exec "$0" -e none -- sh -c "{closed}" <&- 2>&-'
        self.assertEqual(subprocess.run(["sh", "-c", script, FAST_STAT]).returncode, 0)

    def test_lists_of_cpus_that_are_none(self) -> None:
        self.assert_fails(fast_stat("-c", "3-", "--", "echo", "x"), "--cpus 3-: not a list of CPUs")

    def test_groups(self) -> None:
        """The groups have each hardware event once; without a PMU an error says so."""
        done = fast_stat("--groups", "--events", "all")
        if not has_pmu():
            self.assert_fails(done, "no PMU")
            return
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = done.stdout.replace("\n", ",").strip(",").split(",")
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("cycles", names)
        self.assertNotIn("task_clock", names)

    def test_software_events_need_no_groups(self) -> None:
        done = fast_stat("--groups", "--events", "software")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_list(self) -> None:
        done = fast_stat("--list")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^cpu: \w+$")
        self.assertIn("perf::PERF_COUNT_SW_TASK_CLOCK", done.stdout)

    def test_a_full_disk_is_said(self) -> None:
        for words in (["--list"], ["--groups", "-e", "hardware"]):
            if "--groups" in words and not has_pmu():
                continue
            with self.subTest(words=words), Path("/dev/full").open("w") as full:
                done = subprocess.run([FAST_STAT, *words], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 125)
                self.assertIn(b"cannot write the standard output: No space left", done.stderr)

    def test_hardware(self) -> None:
        """Counted where there is a PMU; else an error that says so, and nothing is run."""
        wanted = "cycles,instructions"
        done = fast_stat("--user", "--threads", "-e", wanted, "--", "echo", "x")
        if not has_pmu():
            self.assert_fails(done, "no PMU")
            self.assertIn("--events software", done.stderr)
            self.assert_fails(fast_stat("--user", "--threads", "--", "echo", "x"), "no PMU")
            return
        self.assertEqual((done.returncode, done.stdout), (0, "x\n"))
        self.assertRegex(done.stderr, r"[1-9]\d*  cycles")
        self.assertRegex(done.stderr, r"[1-9]\d*  instructions")

    @unittest.skipUnless(may_count_the_kernel(), "events are refused before they are too many")
    def test_too_many(self) -> None:
        """Under every limit on descriptors there is a result or an error that tells of it."""
        told = 0
        for limit in range(4, 24):

            def few(limit: int = limit) -> None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

            done = fast_stat("-e", "software", "--", "true", preexec_fn=few)
            if done.returncode:
                self.assertIn("oo many", done.stderr)
            told += "no file descriptor is left for" in done.stderr
        self.assertEqual(done.returncode, 0)
        self.assertGreaterEqual(told, 2)

    @unittest.skipUnless(may_count_the_kernel(), "events are refused before they are too many")
    def test_the_limit_on_descriptors_is_raised_but_the_programs_is_not(self) -> None:
        def few() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (9, 100))

        words = ("-r", "2", "-e", "software", "--", "sh", "-c", "ulimit -n")
        done = fast_stat(*words, preexec_fn=few)
        self.assertEqual((done.returncode, done.stdout), (0, "9\n" * 2), done.stderr)


@unittest.skipUnless(os.geteuid() == 0, "only root may become another user")
class Unprivileged(unittest.TestCase):
    def setUp(self) -> None:
        try:
            done = fast_stat("--help", user=OTHER_USER)
        except PermissionError as error:
            self.skipTest(f"another user may not run it: {error}")
        self.assertEqual(done.returncode, 0)
        self.level = int(PARANOID.read_text())
        if self.level < 2:
            self.skipTest(f"{PARANOID} is {self.level}: all may count")

    def test_the_kernel_may_not_be_counted(self) -> None:
        done = fast_stat("-e", "software", "--", "echo", "x", user=OTHER_USER)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(f"kernel.perf_event_paranoid is {self.level}", done.stderr)

    def test_user_space_may(self) -> None:
        if self.level > 2:
            self.skipTest(f"{PARANOID} is {self.level}: no user may count")
        done = fast_stat("--user", "-e", "software", "--", "echo", "x", user=OTHER_USER)
        self.assertEqual((done.returncode, done.stdout), (0, "x\n"), done.stderr)
        self.assertRegex(done.stderr, r"[1-9]\d*  page_faults")
        self.assertRegex(done.stderr, r"not available  context_switches: it happens in the kernel")
        self.assertRegex(done.stderr, r"not available  task_clock: it has the kernel's time in it")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
