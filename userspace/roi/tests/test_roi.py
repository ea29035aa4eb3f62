#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The ROI markers: their bytes, and what they say to perf stat."""

import os
import platform
import subprocess
import sys
import threading
import unittest
from pathlib import Path

PROBE = Path(sys.argv.pop(1))
BAD_FDS = ["", "3", "3,", "3,4,5", "a,b", "-1,4", "3,4 "]


class Marker(unittest.TestCase):
    @unittest.skipUnless(platform.machine() == "x86_64", "the marker is an x86-64 no-op")
    def test_bytes(self) -> None:
        program = PROBE.read_bytes()
        for mark in (1, 2, 3):
            code = bytes([0x0F, 0x1F, 0x84, 0x00, mark, 0x00, 0x41, 0x46])
            self.assertEqual(program.count(code), 1, f"marker {mark}")

    def test_harmless_without_listener(self) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "FAST_PERF_CTL"}
        run = subprocess.run([PROBE], env=environment, capture_output=True, text=True, check=True)
        self.assertEqual((run.stdout, run.stderr), ("", "in the region\n"))


class Perf(unittest.TestCase):
    """The probe talks to a stand-in for perf over two pipes."""

    def run_probe(self, answer: bytes) -> tuple[subprocess.CompletedProcess[str], list[bytes]]:
        ctl_read, ctl_write = os.pipe()
        ack_read, ack_write = os.pipe()
        commands: list[bytes] = []

        def perf() -> None:
            with os.fdopen(ctl_read, "rb") as ctl, os.fdopen(ack_write, "wb", buffering=0) as ack:
                for command in ctl:
                    commands.append(command)
                    ack.write(answer)
                    if not answer:
                        break

        peer = threading.Thread(target=perf)
        peer.start()
        run = subprocess.run(
            [PROBE],
            env={**os.environ, "FAST_PERF_CTL": f"{ctl_write},{ack_read}"},
            pass_fds=(ctl_write, ack_read),
            capture_output=True,
            text=True,
            timeout=30,
        )
        os.close(ctl_write)
        peer.join()
        os.close(ack_read)
        return run, commands

    def test_enable_and_disable(self) -> None:
        # perf sends its acknowledgement with the terminating NUL.
        run, commands = self.run_probe(b"ack\n\0")
        self.assertEqual((run.returncode, run.stderr), (0, "in the region\n"))
        self.assertEqual(commands, [b"enable\n", b"disable\n"])

    def test_wrong_answer(self) -> None:
        run, commands = self.run_probe(b"nak\n")
        self.assertEqual(run.returncode, 2)
        self.assertIn("something else than ack", run.stderr)
        self.assertEqual(commands, [b"enable\n"])

    def test_malformed_descriptors(self) -> None:
        for fds in BAD_FDS:
            with self.subTest(fds=fds):
                run = subprocess.run(
                    [PROBE], env={"FAST_PERF_CTL": fds}, capture_output=True, text=True
                )
                self.assertEqual(run.returncode, 2)
                self.assertIn(f"FAST_PERF_CTL={fds}: not two descriptors", run.stderr)

    def test_descriptor_not_open(self) -> None:
        run = subprocess.run(
            [PROBE], env={"FAST_PERF_CTL": "98,99"}, capture_output=True, text=True
        )
        self.assertEqual(run.returncode, 2)
        self.assertIn("cannot write the command to perf", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
