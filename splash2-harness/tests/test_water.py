#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Water, n-squared and spatial: the same molecules, found in two ways, do the same."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

BUILT = {Path(p).name: p for p in sys.argv[1:]}
NSQUARED, SPATIAL = BUILT["water_nsquared"], BUILT["water_spatial"]

# Rounding, which forces that are added in another order differ by, and which grows from
# step to step as the molecules bounce off each other: less than a tenth of this was seen.
TOLERANCE = 1e-10


def run(program: str, options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *options.split()], capture_output=True, text=True, timeout=120)


def result(program: str, options: str) -> float:
    done = run(program, options + " --json")
    assert done.returncode == 0, done
    value: float = json.loads(done.stdout)["result"]
    return value


class SameSet(unittest.TestCase):
    def test_nsquared_against_spatial(self) -> None:
        for size in (
            "",
            "--molecules=8 --cutoff=3 --steps=20",  # one cell
            "--molecules=27 --cutoff=4 --steps=20",  # two cells to an edge
            "--molecules=64 --cutoff=4 --steps=20",  # three
            "--molecules=343 --cutoff=3.5 --steps=40 --dt=0.25",  # six; molecules move
            "--molecules=1000 --cutoff=7 --seed=5",
        ):
            with self.subTest(size):
                expected = result(NSQUARED, size + " --threads=3")
                for threads in (1, 4):
                    if threads > 1 and "=8 " in size:
                        continue
                    value = result(SPATIAL, f"{size} --threads={threads}")
                    self.assertAlmostEqual(value, expected, delta=TOLERANCE * abs(expected))

    def test_energy_is_conserved(self) -> None:
        """Over enough steps for an error of the predictor-corrector to grow."""
        for program in (NSQUARED, SPATIAL):
            for dt in (0.15, 0.25):
                result(program, f"--molecules=64 --cutoff=5 --steps=400 --dt={dt}")

    def test_seed(self) -> None:
        for program in (NSQUARED, SPATIAL):
            self.assertNotEqual(result(program, ""), result(program, "--seed=2"))

    def test_energy_every(self) -> None:
        """How often the energy is computed changes nothing but the work."""
        for program in (NSQUARED, SPATIAL):
            values = [
                result(
                    program, f"--threads=2 --molecules=64 --cutoff=4 --steps=10 --energy-every={n}"
                )
                for n in (1, 7, 100)
            ]
            for value in values[1:]:
                self.assertAlmostEqual(value, values[0], delta=TOLERANCE * abs(values[0]))


class Refused(unittest.TestCase):
    def test_refused(self) -> None:
        both = (
            ("--molecules=500", "--molecules 500: the lattice is a cube, such as 512 or 729"),
            ("--molecules=7", "--molecules 7: must be a whole number from 8 to"),
            ("--molecules=27", "--cutoff 6: more than half the box, whose edge is 9.3"),
            ("--cutoff=13", "--cutoff 13: more than half the box"),
            ("--dt=0", "--dt 0: must be a number from 0.01 to 0.25"),
            ("--dt=nan", "--dt nan: must be a number from 0.01 to 0.25"),
            ("--steps=0", "--steps 0: must be a whole number from 1"),
        )
        cases = [(p, *case) for p in (NSQUARED, SPATIAL) for case in both]
        cases += [
            (SPATIAL, "--threads=65", "65 threads for 64 cells"),
            (NSQUARED, "--molecules=8 --cutoff=3 --threads=9", "9 threads for 8 molecules"),
        ]
        for program, options, message in cases:
            with self.subTest(options):
                done = run(program, options)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
