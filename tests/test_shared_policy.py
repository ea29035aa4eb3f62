# SPDX-License-Identifier: GPL-2.0
"""The policy that kernel and BPF share is one text."""

from __future__ import annotations

import subprocess
from pathlib import Path

from unidiff.patch import PatchSet

from fastlab.base.project import PROJECT
from fastlab.kernel import patches

SHARED = PROJECT / "userspace/scx/fast_policy.h"
IN_KERNEL = "kernel/sched/fast_policy.h"


def test_the_patched_kernel_has_the_policy_of_the_bpf_program(tmp_path: Path) -> None:
    for patch in patches.read_series(PROJECT / "kernel-patches/7.3"):
        parts = [part for part in PatchSet(patch.read_text()) if part.path == IN_KERNEL]
        for part in parts:
            subprocess.run(
                ["patch", "-p1", "--fuzz=0", "--quiet"],
                input=str(part),
                text=True,
                cwd=tmp_path,
                check=True,
            )
    assert (tmp_path / IN_KERNEL).read_text() == SHARED.read_text()
