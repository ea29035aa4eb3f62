# SPDX-License-Identifier: GPL-2.0
"""What a run executes, the result that its benchmark prints, and the identity of a finished run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastlab.base.model import SCHEMA_VERSION, Run, Workload, record
from fastlab.plan import presets


def workload_argv(workload: Workload, seed: int, program: Path | None = None) -> list[str]:
    """The benchmark's command line, of `program` or of the program inside the guest; that of a
    workload with a command as it is."""
    if workload.command:
        return [*workload.command]
    return [
        str(program or f"/bin/{workload.benchmark}"),
        "--threads",
        str(workload.threads),
        *workload.options,
        "--seed",
        str(seed),
        "--json",
    ]


def benchmark_result(lines: Iterable[str]) -> Mapping[str, Any] | None:
    """The JSON object among the lines of a benchmark's output; None: no complete object."""
    for line in lines:
        if line.startswith("{"):
            try:
                value: Mapping[str, Any] = json.loads(line)
            except ValueError:
                return None
            return value
    return None


def run_key(run: Run, kernel_id: str, tools_id: str, attribute: bool = False) -> str:
    """The identity of a finished run: with an equal key, a new run would give the same result.

    `kernel_id` stands for the kernel, `tools_id` for everything else that takes part (QEMU, plugin,
    benchmarks, init). With `attribute` the run writes one more file. The experiment's name,
    watchdogs and other runs do not change the key.
    """
    identity = {
        "schema": SCHEMA_VERSION,
        "kernel": kernel_id,
        "tools": tools_id,
        "machine": {
            **asdict(run.machine),
            "preset": presets.load(run.machine.preset).id,
        },
        "variant": record(run.variant),
        "argv": workload_argv(run.workload, run.seed),
        "seed": run.seed,
        **({"attribute": True} if attribute else {}),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
