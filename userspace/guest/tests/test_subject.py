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


def run(path, *argv, directory="/", whole="whole", delay=0, given="/dev/null"):
    words = urllib.parse.quote("\0".join([whole, str(delay), directory, given, path, *argv]))
    return subprocess.run(
        [SUBJECT, words], capture_output=True, text=True, input="not for the program", timeout=60
    )


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
            f"whole%00{delay}%00/%00/dev/null%00/bin/true%00true" for delay in ("", "1x", "-1", "9" * 30)
        ]
        for words in ([], ["whole"], ["a%000%00b%00c%00d"], ["whole%0"], ["a", "b"], *zip(delayed)):
            with self.subTest(words):
                answer = subprocess.run([SUBJECT, *words], capture_output=True, text=True)
                self.assertEqual(answer.returncode, 126)
                self.assertIn("WHOLE DELAY DIRECTORY INPUT PATH ARGV", answer.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
