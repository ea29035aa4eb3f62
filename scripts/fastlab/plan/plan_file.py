# SPDX-License-Identifier: GPL-2.0
"""plan.json: what was fixed before an experiment's first run, so that no result changes it; of
simulations, which are exact whenever they are made, what they were made with last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from fastlab.base.model import SCHEMA_VERSION, Experiment, FastError, Workload
from fastlab.plan.blocks import Plan
from fastlab.plan.rows import Builds

NAME = "plan.json"


def keep(directory: Path, plan: Plan, experiment: Experiment, tools_id: str, begun: bool) -> None:
    """Write the plan before the first run; when some are made (`begun`), it has to be that plan.

    Raises FastError that names what changed.
    """
    path = directory / NAME
    now = _document(plan, experiment, tools_id)
    if not begun:
        path.write_text(json.dumps(now, indent=1) + "\n")
        return
    advice = "give --output another directory, to begin anew"
    try:
        before: Mapping[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise FastError(
            f"{path}: cannot be read, but there are runs that were made by it: {error}; {advice}"
        ) from error
    names = dict.fromkeys([*before, *now])
    changed = [name for name in names if before.get(name) != now.get(name)]
    if changed:
        told = [f"{name}: {_change(before.get(name), now.get(name))}" for name in changed]
        raise FastError(
            "\n  ".join([f"{path}: the first runs were planned otherwise:", *told])
            + f"\nTake the change back, or {advice}"
        )


def keep_builds(directory: Path, builds: Builds) -> None:
    """Write what an experiment's simulations are made with."""
    now = {"schema": SCHEMA_VERSION, "backend": "sim", **asdict(builds)}
    (directory / NAME).write_text(json.dumps(now, indent=1) + "\n")


def load(directory: Path) -> Plan | Builds | None:
    """What was kept; None if nothing was, as in older results of the simulation."""
    path = directory / NAME
    try:
        kept = json.loads(path.read_text())
        if kept["backend"] == "sim":
            return Builds(kept["kernels"], kept["tools"])
        workloads = [
            Workload(one["benchmark"], one["threads"], tuple(one["options"]))
            for one in kept["workloads"]
        ]
        given = {one.name: _tuple(kept[one.name]) for one in fields(Plan)}
        return Plan(**{**given, "workloads": tuple(workloads)})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FastError(
            f"{path}: not a plan of this version: {error!r}; use the release that made these "
            "results, or make them again in another directory"
        ) from error


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _document(plan: Plan, experiment: Experiment, tools_id: str) -> dict[str, Any]:
    """The plan; `kernels` has each variant's side, `tools` stands for all programs."""
    document = {
        "schema": SCHEMA_VERSION,
        **asdict(plan),
        "kernels": {variant.name: variant.kernel for variant in experiment.variants},
        "policies": {
            variant.name: {"policy": variant.policy, "knobs": dict(variant.knobs)}
            for variant in experiment.variants
        },
        "tools": tools_id,
    }
    # As it comes back from the file.
    parsed: dict[str, Any] = json.loads(json.dumps(document))
    return parsed


def _change(before: Any, now: Any) -> str:
    if isinstance(before, list) and isinstance(now, list):
        gone = [json.dumps(one) for one in before if one not in now]
        new = [json.dumps(one) for one in now if one not in before]
        if gone or new:
            return f"no more {', '.join(gone) or 'nothing'}; new {', '.join(new) or 'nothing'}"
    return f"{json.dumps(before)} then, {json.dumps(now)} now"
