# SPDX-License-Identifier: GPL-2.0
"""plan.json: what was fixed before an experiment's first run, so that no result changes it. For
simulations, which are exact whenever they are made, it has the inputs of the last ones."""

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
from fastlab.base.model import SCHEMA_VERSION, Experiment, FastError, Machine, record
from fastlab.base.text import shown
from fastlab.plan.experiment import load_experiment
from fastlab.plan.paired_plan import GUESTS, Plan, events_of
from fastlab.plan.row_making import guest_record, machine_record
from fastlab.plan.rows import Builds, KernelId

NAME = "plan.json"


@dataclass(frozen=True)
class Simulations:
    """The inputs of an experiment's simulations: its cases, variants and seeds, the record of each
    machine (rows.machine_record()), and the builds, if known."""

    experiment: Experiment
    machines: Mapping[Machine, Mapping[str, Any]]
    builds: Builds | None = None


_T = TypeVar("_T")


@dataclass(frozen=True)
class _Kept:
    """The fields of every plan, of a real machine or of simulations."""

    schema: int
    backend: str


@dataclass(frozen=True)
class _KeptSimulations(_Kept):
    kernels: Mapping[str, KernelId]
    tools: str
    machines: tuple[Mapping[str, Any], ...] = ()
    experiment: Experiment | None = None


def simulations(experiment: Experiment, builds: Builds | None = None) -> Simulations:
    """The experiment with its machines as their presets are now."""
    return Simulations(
        experiment, {machine: machine_record(machine) for machine in _every(experiment)}, builds
    )


def _every(experiment: Experiment) -> dict[Machine, None]:
    """The experiment's own machine and those of its cases, each once."""
    return dict.fromkeys((experiment.machine, *experiment.machines))


def check_own(directory: Path, name: str, backend: str) -> None:
    """Raise FastError if the directory has runs of another experiment or another backend, whose
    files and report would be replaced."""
    rows = directory / "runs.jsonl"
    if not rows.is_file() or not rows.stat().st_size:
        return
    experiment, plan = directory / "experiment.toml", directory / NAME
    of = toml_table.read(experiment, "another").get("name") if experiment.is_file() else name
    try:
        by = json.loads(plan.read_bytes())["backend"]
    except FileNotFoundError:
        # The oldest results of the simulation have no plan.
        by = "sim"
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        # The user of the file reports what is wrong with it.
        by = backend
    if (of, by) == (name, backend):
        return
    raise FastError(
        f"{directory} has the runs of the experiment {shown(of)}, made by backend {shown(by)}: the "
        f"report and the plan of {name}, backend {backend}, would replace them. Nothing was "
        "changed; give --output another directory"
    )


def keep(directory: Path, plan: Plan, experiment: Experiment, tools_id: str, begun: bool) -> None:
    """Write the plan before the first run. If runs exist (`begun`), the plan must be the same.

    Raises FastError with the changes.
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
            f"{path}: cannot be read, but runs were made by it: {error}; {advice}"
        ) from error
    names = dict.fromkeys([*before, *now])
    changed = [name for name in names if before.get(name) != now.get(name)]
    if changed:
        told = [f"{name}: {_change(before.get(name), now.get(name))}" for name in changed]
        raise FastError(
            "\n  ".join([f"{path}: the first runs had another plan:", *told])
            + f"\nUndo the change, or {advice}"
        )


def keep_simulations(directory: Path, experiment: Experiment, builds: Builds) -> None:
    """Write the inputs of an experiment's simulations."""
    of = simulations(experiment, builds)
    now = {
        "schema": SCHEMA_VERSION,
        "backend": "sim",
        **asdict(builds),
        # A preset's file is recorded by its name, not by its directory.
        "experiment": record(_each_machine(experiment, _named)),
        "machines": [dict(record) for record in of.machines.values()],
    }
    write_json(directory / NAME, now)


def load(directory: Path) -> Plan | Simulations | None:
    """The kept plan; None for the oldest results of the simulation, which have none. Older plans of
    simulations have only the builds: the experiment is taken from its file."""
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
    """The fields of a document that may have more of them. Raises ValueError."""
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
    """The plan as a document. `kernels` has each variant's kernel, `tools` stands for all programs,
    and `machine` is the guest."""
    document = {
        "schema": SCHEMA_VERSION,
        **record(plan),
        "kernels": {variant.name: variant.kernel for variant in experiment.variants},
        "policies": {
            variant.name: {"policy": variant.policy, "knobs": dict(variant.knobs)}
            for variant in experiment.variants
        },
        "tools": tools_id,
    }
    if plan.backend == GUESTS:
        document["machine"] = guest_record(experiment.machine)
    # The same types as read from the file.
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
