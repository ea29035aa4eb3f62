# SPDX-License-Identifier: GPL-2.0
"""All that a policy looks at changes while locks are handed over: nothing is lost, nothing hangs.

test_debug_kernels.py has the same for long, in kernels that check themselves.
"""

from __future__ import annotations

from pathlib import Path

from lab import Lab, kernel, survived

from fastlab.base.model import Watchdogs


class Stressed(Lab):
    """A machine whose time is the host's."""

    measures = False


def test_locks_are_handed_over_while_everything_changes(
    tmp_path: Path, policy_stress: Path
) -> None:
    lab = Stressed(tmp_path / "lab", kernel("fast"), {"/bin/policy_stress": policy_stress})
    outcome = lab.run("stress", ["/bin/policy_stress", "3", "1"], Watchdogs(run=900))
    survived(outcome)
