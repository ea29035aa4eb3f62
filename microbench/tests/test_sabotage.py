#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every self-check fails, with exit status 1 and its reason, when the data is damaged."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAMS = {Path(p).name.removeprefix("sabotage_"): p for p in sys.argv[1:]}

# benchmark -> damage -> what the self-check says
DAMAGES = {
    "single_ctr": {"lost_update": r"line 3 of the counter is 439, not 440"},
    "mlt_ctr_mlt_lock": {
        "lost_update": r"line 3 of counter 3 is 109, not 110",
        "wrong_counter": r"line 0 of counter 0 is 109, not 110",
    },
    "affinity": {
        "lost_update": r"line 3 of counter 1 is 439, not 440",
        "wrong_counter": r"line 0 of counter 0 is 439, not 440",
    },
    "doubly_list": {
        "lost_update": r"element \d: line 3 has \d+ visits, line 0 has \d+",
        "lost_visit": r"dequeued 439 times, not 440",
        "lost_element": r"the list holds 7 elements, not 8",
        "ring": r"the list holds at least 9 elements, not 8|back link",
        "back_link": r"element 1: its back link misses the element before",
        "stale_tail": r"the tail is not the last element",
    },
    "multiple_fifo": {
        "order": r"FIFO 0: 2 items left it out of order",
        "torn": r"FIFO 0: the lines of 1 items did not belong together",
        "left_over": r"FIFO 0: 111 items went in and 110 came out, not 110",
        "consumed_twice": r"FIFO 1: the items consumed are not those produced",
    },
}


def run(benchmark: str, damage: str) -> tuple[int, dict[str, object]]:
    command = [PROGRAMS[benchmark], damage, "--threads=4", "--iterations=400", "--warmup=40"]
    done = subprocess.run(
        [*command, "--cs-lines=4", "--json"], capture_output=True, text=True, timeout=60
    )
    return done.returncode, json.loads(done.stdout)


class SelfChecks(unittest.TestCase):
    def test_all_programs_are_covered(self) -> None:
        self.assertEqual(set(PROGRAMS), set(DAMAGES))

    def test_undamaged(self) -> None:
        for benchmark in DAMAGES:
            with self.subTest(benchmark):
                status, result = run(benchmark, "none")
                self.assertEqual((status, result["check"]), (0, "ok"))

    def test_damaged(self) -> None:
        for benchmark, damages in DAMAGES.items():
            for damage, reason in damages.items():
                with self.subTest(benchmark=benchmark, damage=damage):
                    status, result = run(benchmark, damage)
                    self.assertEqual((status, result["check"]), (1, "failed"))
                    self.assertRegex(str(result["check_detail"]), reason)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
