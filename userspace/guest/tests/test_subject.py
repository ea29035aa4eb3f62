#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The subject's runner: whatever the program is told, does and says, it comes through."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

SUBJECT, ENDS_IN_THREAD = map(os.path.abspath, sys.argv[1:3])


def run(path, *argv, directory="/", whole="whole", delay=0, given="/dev/null", server=()):
    words = urllib.parse.quote("\0".join([whole, str(delay), directory, given, path, *argv]))
    more = [urllib.parse.quote("\0".join(server))] if server else []
    return subprocess.run(
        [SUBJECT, words, *more],
        capture_output=True,
        text=True,
        input="not for the program",
        timeout=60,
    )


def python(script):
    """A server's path and argv."""
    return (sys.executable, sys.executable, "-c", "import os, socket, sys, time\n" + script)


LISTENS = """
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[-1])
s.listen()
"""


def shell(script, *words, **more):
    return run("/bin/sh", "sh", "-c", script, *words, **more)


class Subject(unittest.TestCase):
    def test_words_and_directory(self):
        script = 'pwd >&2; for word; do echo "<$word>" >&2; done'
        answer = shell(script, "sh", "two words", "", "%20\\", "ü\n", directory="/usr")
        self.assertEqual(answer.stderr, "/usr\n<two words>\n<>\n<%20\\>\n<ü\n>\n")
        self.assertEqual(answer.returncode, 0)

    def test_streams(self):
        answer = shell("cat; echo said; cat >&2; echo error >&2")
        self.assertEqual(answer.stderr, "error\n")
        self.assertNotIn("said", answer.stdout)

    def test_output_is_passed_on_where_nothing_is_counted(self):
        answer = shell("echo said; echo error >&2; printf more; exit 3", whole="shown")
        self.assertEqual((answer.returncode, answer.stderr), (3, "error\n"))
        self.assertTrue(answer.stdout.startswith('said\nmore{"context_switches":'))

    def test_input(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("given")
            file.flush()
            self.assertEqual(shell("cat >&2", given=file.name).stderr, "given")
            self.assertEqual(shell("cat /dev/stdin /dev/fd/0 >&2", given=file.name).returncode, 0)
        answer = shell("true", given="/nonexistent/input")
        self.assertEqual(answer.returncode, 126)
        self.assertIn("/nonexistent/input: No such file", answer.stderr)

    def test_document(self):
        document = json.loads(shell("sleep 0; sleep 0").stdout)
        self.assertEqual(list(document), ["context_switches", "migrations", "maps"])
        for name in ("context_switches", "migrations"):
            self.assertTrue(document[name] is None or document[name] >= 0)
        self.assertTrue(any(line.endswith("[heap]") for line in document["maps"]))

    def test_a_file_whose_name_is_no_utf8(self):
        with tempfile.TemporaryDirectory() as directory:
            path = directory + os.fsdecode(b"/caf\xe9 \xc3\xa9")
            shutil.copy("/bin/true", path)
            words = os.fsencode("\0".join(["whole", "0", "/", "/dev/null", path, "true"]))
            answer = subprocess.run([SUBJECT, urllib.parse.quote(words)], capture_output=True)
        maps = json.loads(answer.stdout.decode())["maps"]
        self.assertTrue(any(line.endswith(path) for line in maps), maps)

    def test_addresses_repeat(self):
        first, second = (json.loads(shell("true").stdout)["maps"] for _ in range(2))
        # The kernel's own pages move nevertheless.
        self.assertEqual(
            [line for line in first if "[v" not in line],
            [line for line in second if "[v" not in line],
        )

    def test_it_begins_when_told(self):
        began = time.monotonic()
        answer = shell("true", delay=300_000_000)
        self.assertGreaterEqual(time.monotonic() - began, 0.3)
        self.assertEqual(answer.returncode, 0)

    def test_status(self):
        for script, status in (("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)):
            with self.subTest(script):
                self.assertEqual(shell(script).returncode, status)

    def test_signals_reach_it(self):
        answer = shell('trap "echo caught >&2; exit 4" USR1; kill -USR1 $$; exit 1')
        self.assertEqual((answer.stderr, answer.returncode), ("caught\n", 4))

    def test_it_may_run_another_program(self):
        answer = shell("exec /bin/sh -c 'exit 6'")
        self.assertEqual(answer.returncode, 6)
        self.assertTrue(json.loads(answer.stdout)["maps"])

    def test_the_first_thread_may_end_first(self):
        answer = run(ENDS_IN_THREAD, "name")
        self.assertEqual(answer.returncode, 5)
        self.assertTrue(json.loads(answer.stdout)["maps"])

    def test_a_server_runs_beside_it(self):
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/socket"
            serve = python(LISTENS + "s.accept()[0].sendall(b'served')\ntime.sleep(60)")
            client = (
                "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                "sys.stderr.write(s.recv(9).decode())"
            )
            began = time.monotonic()
            answer = run(sys.executable, sys.executable, "-c", client, path, server=(*serve, path))
            self.assertEqual((answer.returncode, answer.stderr), (0, "served"))
            # By SIGTERM.
            self.assertLess(time.monotonic() - began, 30)
            self.assertTrue(json.loads(answer.stdout)["server_maps"])

    def test_a_server_listens_at_a_port_in_a_process_that_it_starts(self):
        script = (
            "if os.fork(): os.wait()\ns = socket.create_server(('127.0.0.1', 0))\ntime.sleep(60)"
        )
        answer = shell("exit 3", server=python(script))
        self.assertEqual((answer.returncode, answer.stderr), (3, ""))

    def test_a_server_that_ends_at_once_is_told(self):
        answer = shell("echo ran >&2", server=python("sys.exit('address already in use')"))
        self.assertEqual(answer.returncode, 126)
        self.assertIn("ended with status 1 before it listened", answer.stderr)
        self.assertIn("address already in use", answer.stderr)
        self.assertNotIn("ran", answer.stderr)
        answer = shell("true", server=("/nonexistent/server", "server"))
        self.assertIn("cannot run it: No such file or directory", answer.stderr)

    def test_a_server_that_never_listens_is_told(self):
        answer = shell(
            "echo ran >&2", server=python("print('loading', flush=True); time.sleep(60)")
        )
        self.assertEqual(answer.returncode, 126)
        self.assertIn("has not listened at a port or socket for 10 s", answer.stderr)
        self.assertIn("loading", answer.stderr)
        self.assertNotIn("ran", answer.stderr)

    def test_a_server_that_ends_before_the_program_is_told(self):
        with tempfile.TemporaryDirectory() as directory:
            fails = python(LISTENS + "s.accept()\nsys.exit('out of luck')")
            client = (
                "import socket, sys, time; s = socket.socket(socket.AF_UNIX); "
                "s.connect(sys.argv[1]); time.sleep(50)"
            )
            path = f"{directory}/socket"
            answer = run(sys.executable, sys.executable, "-c", client, path, server=(*fails, path))
            self.assertEqual(answer.returncode, 126)
            self.assertIn("ended with status 1 before the program did", answer.stderr)
            self.assertIn("out of luck", answer.stderr)
            # One that the program stops is no failure.
            stops = python(LISTENS + "s.accept()")
            client = client.replace("time.sleep(50)", "s.recv(1)")
            path = f"{directory}/other"
            answer = run(sys.executable, sys.executable, "-c", client, path, server=(*stops, path))
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_what_cannot_be_run_is_named(self):
        answer = run("/nonexistent/program", "name")
        self.assertEqual(answer.returncode, 127)
        self.assertEqual(
            answer.stderr, "cannot run /nonexistent/program: No such file or directory\n"
        )
        answer = shell("true", directory="/nonexistent")
        self.assertEqual(answer.returncode, 126)
        self.assertIn("/nonexistent: No such file", answer.stderr)

    def test_bad_words(self):
        delayed = [
            f"whole%00{delay}%00/%00/dev/null%00/bin/true%00true"
            for delay in ("", "1x", "-1", "9" * 30)
        ]
        good = "whole%000%00/%00/dev/null%00/bin/true%00true"
        for words in (
            [],
            ["whole"],
            [good, "/bin/true"],
            [good, "%"],
            [good, "a%00b", "c"],
            ["a%000%00b%00c%00d"],
            ["whole%0"],
            *zip(delayed),
        ):
            with self.subTest(words):
                answer = subprocess.run([SUBJECT, *words], capture_output=True, text=True)
                self.assertEqual(answer.returncode, 126)
                self.assertIn("WHOLE DELAY DIRECTORY INPUT PATH ARGV", answer.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
