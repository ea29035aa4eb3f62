# SPDX-License-Identifier: GPL-2.0
"""plan.json: what was fixed before an experiment's first run, so that no result changes it; of
simulations, which are exact whenever they are made, what the last ones were made from."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from fastlab.base import toml_table
from fastlab.base.files import write_json
from fastlab.base.metrics import REAL
from fastlab.base.model import SCHEMA_VERSION, Experiment, FastError, Machine
from fastlab.base.text import shown
from fastlab.plan.experiment import load_experiment
from fastlab.plan.paired_plan import GUESTS, Plan, events_of
from fastlab.plan.row_making import guest_record, machine_record
from fastlab.plan.rows import Builds, KernelId

NAME = "plan.json"


@dataclass(frozen=True)
class Simulations:
    """What an experiment's simulations are made from: its cases, variants and seeds, what each of
    its machines is (rows.machine_record()), and, where it is known, with which builds."""

    experiment: Experiment
    machines: Mapping[Machine, Mapping[str, Any]]
    builds: Builds | None = None


_T = TypeVar("_T")


@dataclass(frozen=True)
class _Kept:
    """What every plan has, of a real machine or of simulations."""

    schema: int
    backend: str


@dataclass(frozen=True)
class _KeptSimulations(_Kept):
    kernels: Mapping[str, KernelId]
    tools: str
    machines: tuple[Mapping[str, Any], ...] = ()
    experiment: Experiment | None = None


def simulations(experiment: Experiment, builds: Builds | None = None) -> Simulations:
    """With its machines as their presets are now."""
    return Simulations(
        experiment, {machine: machine_record(machine) for machine in _every(experiment)}, builds
    )


def _every(experiment: Experiment) -> dict[Machine, None]:
    """Its own machine, and those of its cases, each once."""
    return dict.fromkeys((experiment.machine, *experiment.machines))


def check_own(directory: Path, name: str, backend: str) -> None:
    """Raise FastError if the directory has runs, and they are of an experiment of another name or
    of another backend: that one's files and report would be replaced."""
    rows = directory / "runs.jsonl"
    if not rows.is_file() or not rows.stat().st_size:
        return
    experiment, plan = directory / "experiment.toml", directory / NAME
    of = toml_table.read(experiment, "another").get("name") if experiment.is_file() else name
    try:
        by = json.loads(plan.read_bytes())["backend"]
    except FileNotFoundError:
        # The oldest results of the simulation have none.
        by = "sim"
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        # What is wrong with it is said where it is used.
        by = backend
    if (of, by) == (name, backend):
        return
    raise FastError(
        f"{directory} has the runs of the experiment {shown(of)}, made by backend {shown(by)}: its "
        f"report and its plan would be replaced by those of {name}, backend {backend}. Nothing was "
        "changed; give --output another directory"
    )


def keep(directory: Path, plan: Plan, experiment: Experiment, tools_id: str, begun: bool) -> None:
    """Write the plan before the first run; when some are made (`begun`), it has to be that plan.

    Raises FastError that names what changed.
    """
    path = directory / NAME
    now = _document(plan, experiment, tools_id)
    if not begun:
        write_json(path, now)
        return
    advice = "give --output another directory, to begin anew"
    try:
        text = path.read_bytes()
        _parsed(_Kept, text)
        before: Mapping[str, Any] = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
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


def keep_simulations(directory: Path, experiment: Experiment, builds: Builds) -> None:
    """Write what an experiment's simulations are made from."""
    of = simulations(experiment, builds)
    now = {
        "schema": SCHEMA_VERSION,
        "backend": "sim",
        **asdict(builds),
        # A preset's file is known by its name, wherever it lay.
        "experiment": asdict(_each_machine(experiment, _named)),
        "machines": [dict(record) for record in of.machines.values()],
    }
    write_json(directory / NAME, now)


def load(directory: Path) -> Plan | Simulations | None:
    """What was kept; None if nothing was, as in the oldest results of the simulation. Older ones
    say no more than their builds: the experiment is what its file says now."""
    path = directory / NAME
    try:
        text = path.read_bytes()
        kept = _parsed(_Kept, text)
        if kept.schema != SCHEMA_VERSION:
            known = f"this program knows {SCHEMA_VERSION}"
            raise ValueError(f"schema version {kept.schema}, {known}")
        if kept.backend != "sim":
            plan = _parsed(Plan, text)
            _check_primary(plan)
            return plan
        of = _parsed(_KeptSimulations, text)
        builds = Builds(of.kernels, of.tools)
        if not of.experiment:
            return simulations(load_experiment(directory / "experiment.toml"), builds)
        _check_names(of.experiment)
        further = json.loads(text)["experiment"].keys() - vars(of.experiment).keys()
        if further:
            raise ValueError(f"experiment has further fields: {', '.join(sorted(further))}")
        records = dict(zip(_every(of.experiment), of.machines, strict=True))
        return Simulations(of.experiment, records, builds)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise FastError(
            f"{path}: not a plan of this version: {error}; use the release that made these "
            "results, or make them again in another directory"
        ) from error


def _parsed(kind: type[_T], text: bytes) -> _T:
    """Of a document that may have more in it. Raises ValueError."""
    # `fast doctor` needs no package.
    import msgspec

    return msgspec.json.decode(text.removeprefix(BOM_UTF8), type=kind)


def _check_names(experiment: Experiment) -> None:
    names = [variant.name for variant in experiment.variants]
    for name in (experiment.baseline, *experiment.oracle):
        if name not in names:
            raise ValueError(f"no variant is {shown(name)}; there are {', '.join(names)}")


def _check_primary(plan: Plan) -> None:
    names = [metric.name for metric in REAL]
    if plan.primary not in names:
        raise ValueError(f"no metric is {shown(plan.primary)}; there are {', '.join(names)}")
    if not plan.groups or events_of(plan, plan.primary) is None:
        raise ValueError(f"no group of events has {plan.primary}: {', '.join(plan.groups)}")


def _each_machine(experiment: Experiment, changed: Callable[[Machine], Machine]) -> Experiment:
    cases = tuple(replace(case, machine=changed(case.machine)) for case in experiment.matrix)
    return replace(experiment, machine=changed(experiment.machine), matrix=cases)


def _named(machine: Machine) -> Machine:
    return replace(machine, preset=machine.preset_name)


def _document(plan: Plan, experiment: Experiment, tools_id: str) -> dict[str, Any]:
    """The plan; `kernels` has each variant's side, `tools` stands for all programs, and `machine`
    is the guest."""
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
    if plan.backend == GUESTS:
        document["machine"] = guest_record(experiment.machine)
    # As it comes back from the file.
    parsed: dict[str, Any] = json.loads(json.dumps(document))
    return parsed


def _change(before: Any, now: Any) -> str:
    if isinstance(before, list) and isinstance(now, list):
        gone = [json.dumps(item) for item in before if item not in now]
        new = [json.dumps(item) for item in now if item not in before]
        if gone or new:
            return f"no more {', '.join(gone) or 'nothing'}; new {', '.join(new) or 'nothing'}"
    then, now = (
        "not kept" if content is None else json.dumps(content) for content in (before, now)
    )
    return f"{then} then, {now} now"
