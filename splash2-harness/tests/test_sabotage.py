#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every check fails, with exit status 1 and its reason, when the result is damaged."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAMS = {Path(p).name.removeprefix("sabotage_"): p for p in sys.argv[1:]}

# program -> its options, and damage -> what the check says
DAMAGES = {
    "barnes": (
        [],
        {
            "lost_body": r"4096, then 4095 of 4096 bodies were in a zone",
            "forces_too_strong": r"the forces are 0\.02\d* too strong or too weak, more than",
            "scattered_forces": r"the forces are wrong by .* of their size, more than",
            "force_no_number": r"the forces are wrong by -?nan of their size, more than",
            "potentials": r"the potentials are wrong by .* of their size, more than",
            "momentum": r"the momentum changed by 0\.01, more than",
            "energy": r"the energy changed by .* of its parts, more than",
            "energy_no_number": r"the energy changed by nan of its parts, more than",
        },
    ),
    "cholesky": (
        ["--grid=6"],
        {
            "lost_update": r"A x = b is solved with a relative residual of .*, not",
            "diagonal": r"A x = b is solved with a relative residual of .*, not",
            "no_number": r"A x = b is solved with a relative residual of -?nan, not",
            "order": r"A x = b is solved with a relative residual of .*, not",
        },
    ),
    "fft": (
        ["-m10"],
        {
            "swapped": r"the inverse transform is off the input by .* of its size, more than",
            "other_sign": r"frequency \d+ is wrong by .* of its size, more than",
            "imprecise": r"the inverse transform is off the input by ",
            "no_number": r"the inverse transform is off the input by -?nan ",
        },
    ),
    "fmm": (
        [],
        {
            "lost_particle": r"4096, then 4095 of 4096 particles were in a zone",
            "potentials": r"the potential of particle \d+ is wrong by 2e-06, more than 1e-06",
            "fields": r"the field at particle \d+ is wrong by .* of its parts, more than 1e-06",
            "field_no_number": r"the field at particle \d+ is wrong by -?nan of its parts",
            "momentum": r"the momentum changed by 1e-05, more than",
            "energy": r"the energy changed by 0\.01, more than",
            "energy_no_number": r"the energy changed by nan, more than",
        },
    ),
    "lu_contiguous": (
        ["-n100", "-b16"],
        {
            "upper": r"A x - L U x is -?1e-09 in row 1, more than",
            "lower": r"A x - L U x is .* in row 99, more than",
            "lost_update": r"A x - L U x is .* in row 16, more than",
            "no_number": r"A x - L U x is -?nan in row 2, more than",
            "infinite": r"A x - L U x is -?inf in row 2, more than",
        },
    ),
    "radix": (
        ["-n1000", "-r16", "-m5000"],
        {
            "swapped": r"key \d+ is smaller than the one before",
            "doubled": r"the sorted keys differ from the input keys",
        },
    ),
    "water_spatial": (
        [],
        {
            "one_sided": r"the momentum is .* of all momenta's sizes, not 0",
            "energy_lost": r"the energy changed by 5e-05 of the kinetic energy, not",
            "lost_pair": r"the potential energy is .*, but .* as the sum over all pairs",
            "no_number": r"the energy changed by -?nan of the kinetic energy, not",
            "momentum_no_number": r"the momentum is -?nan of all momenta's sizes",
            "lost_molecule": r"the cells' lists have 511 molecules, not 512",
            "wrong_cell": r"molecule \d+ is in the list of cell 1, not 0",
        },
    ),
}


def run(name: str, damage: str) -> tuple[int, dict[str, object]]:
    options, _ = DAMAGES[name]
    command = [PROGRAMS[name], damage, "--threads=4", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout)


class SelfChecks(unittest.TestCase):
    def test_all_programs_are_covered(self) -> None:
        self.assertEqual(set(PROGRAMS), set(DAMAGES))

    def test_undamaged(self) -> None:
        for name in DAMAGES:
            with self.subTest(name):
                status, result = run(name, "none")
                self.assertEqual((status, result["check"]), (0, "ok"))

    def test_damaged(self) -> None:
        for name, (_, damages) in DAMAGES.items():
            for damage, reason in damages.items():
                with self.subTest(name, damage=damage):
                    status, result = run(name, damage)
                    self.assertEqual((status, result["check"]), (1, "failed"))
                    self.assertRegex(str(result["check_detail"]), reason)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
