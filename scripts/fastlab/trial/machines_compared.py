# SPDX-License-Identifier: GPL-2.0
"""Do the answers of several machines have the same sign?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastlab.trial.verdict import TrialVerdict


def opposite_signs(verdicts: Mapping[str, Sequence[TrialVerdict]]) -> list[str]:
    """A sentence for each arm that helps on one machine and hurts on another; the answers are by
    the machines' presets."""
    by_policy: dict[str, dict[str, list[str]]] = {}
    for preset, answers in verdicts.items():
        for answer in answers:
            by_policy.setdefault(answer.policy, {}).setdefault(answer.kind, []).append(preset)
    return [
        f"The sign depends on the machine: {policy} helps this program on "
        f"{' and '.join(kinds['helps'])}, and hurts it on {' and '.join(kinds['hurts'])}."
        for policy, kinds in by_policy.items()
        if {"helps", "hurts"} <= kinds.keys()
    ]
