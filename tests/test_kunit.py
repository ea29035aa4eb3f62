# SPDX-License-Identifier: GPL-2.0
"""The series' KUnit tests: what each policy decides, for each of its reasons.

test_debug_kernels.py runs them in kernels that check themselves, too.
"""

from __future__ import annotations

from pathlib import Path

from lab import SHARED_FRAGMENTS, SHARED_VARIANT, Lab, kernel, kunit_passed


class Booted(Lab):
    """The tests run while it boots."""

    measures = False


def test_every_case_passes(tmp_path: Path, patched: Path) -> None:
    kunit_passed(
        Booted(tmp_path / "lab", kernel(SHARED_VARIANT, *SHARED_FRAGMENTS, "numa")), patched
    )
