# SPDX-License-Identifier: GPL-2.0
"""plan.json: what it keeps comes back, and what cannot be is refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples
from test_results import file_size_limit

from fastlab.base.model import Case, FastError
from fastlab.plan import plan_file
from fastlab.plan.paired_plan import make_plan
from fastlab.plan.rows import Builds

EXPERIMENT = samples.experiment(oracle=("baseline", "fast"))
BUILDS = Builds({"fast": {"series": "6.12", "variant": "fast", "id": "6.12-fast"}}, "tools")


def test_simulations_come_back(tmp_path: Path) -> None:
    cases = tuple(Case(one.machine, one.workload, (("think", 5),)) for one in EXPERIMENT.cases)
    for of in (EXPERIMENT, replace(EXPERIMENT, matrix=cases)):
        plan_file.keep_simulations(tmp_path, of, BUILDS)
        assert plan_file.load(tmp_path) == plan_file.simulations(of, BUILDS)


def test_a_plan_comes_back(tmp_path: Path) -> None:
    plan = make_plan(EXPERIMENT, "soft")
    plan_file.keep(tmp_path, plan, EXPERIMENT, "tools", begun=False)
    assert plan_file.load(tmp_path) == plan


def test_a_plan_of_before_cpus_were_kept_is_read_and_not_gone_on_with(tmp_path: Path) -> None:
    plan = make_plan(EXPERIMENT, "soft")
    plan_file.keep(tmp_path, plan, EXPERIMENT, "tools", begun=False)
    path = tmp_path / plan_file.NAME
    before = json.loads(path.read_text())
    del before["cpu_list"]
    path.write_text(json.dumps(before))
    assert plan_file.load(tmp_path) == plan
    now = replace(plan, cpu_list="0-3")
    with pytest.raises(FastError, match=r'cpu_list: not kept then, "0-3" now\n.*--output'):
        plan_file.keep(tmp_path, now, EXPERIMENT, "tools", begun=True)


def test_a_full_disk_leaves_the_plan_that_was(tmp_path: Path) -> None:
    plan_file.keep_simulations(tmp_path, EXPERIMENT, BUILDS)
    before = (tmp_path / plan_file.NAME).read_bytes()
    with file_size_limit(100):
        with pytest.raises(FastError, match=r"plan\.json: cannot be written"):
            plan_file.keep_simulations(tmp_path, EXPERIMENT, Builds({}, "other"))
        plan = make_plan(EXPERIMENT, "soft")
        with pytest.raises(FastError, match=r"plan\.json: cannot be written"):
            plan_file.keep(tmp_path, plan, EXPERIMENT, "tools", begun=False)
    assert (tmp_path / plan_file.NAME).read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [plan_file.NAME]


Document = dict[str, Any]


def of_experiment(**changes: Any) -> Callable[[Document], Document]:
    return lambda kept: {**kept, "experiment": {**kept["experiment"], **changes}}


BAD: dict[str, Callable[[Document], Any]] = {
    "schema version 99, this program knows 3": lambda kept: {**kept, "schema": 99},
    "Expected `int`, got `str` - at `$.schema`": lambda kept: {**kept, "schema": "3"},
    "Object missing required field `backend`": lambda kept: {"schema": 3},
    "Expected `object`, got `array`": lambda kept: [1],
    "Expected `object`, got `array` - at `$.kernels`": lambda kept: {**kept, "kernels": ["x"]},
    "required field `series` - at `$.kernels[...]`": lambda kept: {
        **kept,
        "kernels": {"fast": {}},
    },
    "Expected `array`, got `null` - at `$.machines`": lambda kept: {**kept, "machines": None},
    "Expected `object`, got `str` - at `$.experiment.workloads[0]`": of_experiment(workloads=["x"]),
    "Expected `array`, got `int` - at `$.experiment.seeds`": of_experiment(seeds=5),
    "required field `kernel` - at `$.experiment.variants[0]`": of_experiment(
        variants=[{"name": "x"}]
    ),
    "Expected `array` of length 2 - at `$.experiment.matrix[0].axes[0]`": of_experiment(
        matrix=[{"machine": {}, "workload": {"benchmark": "x", "threads": 1}, "axes": [[]]}]
    ),
    "no variant is 'x'; there are baseline, fast": of_experiment(baseline="x"),
    "no variant is 'y'; there are baseline, fast": of_experiment(oracle=["y"]),
    "experiment has further fields: further": of_experiment(further=1),
}


@pytest.mark.parametrize("said", BAD)
def test_a_plan_that_cannot_be_is_refused(tmp_path: Path, said: str) -> None:
    plan_file.keep_simulations(tmp_path, EXPERIMENT, BUILDS)
    path = tmp_path / plan_file.NAME
    path.write_text(json.dumps(BAD[said](json.loads(path.read_text()))))
    with pytest.raises(FastError, match=rf"plan\.json: not a plan of .*: .*{re.escape(said)}"):
        plan_file.load(tmp_path)


def test_a_real_machines_plan_that_cannot_be_is_refused(tmp_path: Path) -> None:
    plan = make_plan(EXPERIMENT, "soft")
    plan_file.keep(tmp_path, plan, EXPERIMENT, "tools", begun=False)
    path = tmp_path / plan_file.NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), "variants": 5}))
    with pytest.raises(FastError, match=r"Expected `array`, got `int` - at `\$\.variants`"):
        plan_file.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"primary": "zzz"}, "no metric is 'zzz'; there are elapsed_ns, task_clock"),
        ({"groups": []}, "no group of events has elapsed_ns"),
        ({"primary": "cycles"}, "no group of events has cycles: software"),
    ],
)
def test_a_primary_metric_that_no_run_has_is_refused(
    tmp_path: Path, change: Document, said: str
) -> None:
    plan = make_plan(EXPERIMENT, "soft")
    plan_file.keep(tmp_path, plan, EXPERIMENT, "tools", begun=False)
    path = tmp_path / plan_file.NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FastError, match=rf"plan\.json: not a plan of this version: {said}"):
        plan_file.load(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, "[1]", "{"], ids=["brackets", "list", "half"])
def test_what_is_no_plan_at_all(tmp_path: Path, text: str) -> None:
    (tmp_path / plan_file.NAME).write_text(text)
    with pytest.raises(FastError, match="not a plan of this version"):
        plan_file.load(tmp_path)
    with pytest.raises(FastError, match="cannot be read, but runs were made"):
        plan_file.keep(tmp_path, make_plan(EXPERIMENT, "soft"), EXPERIMENT, "tools", begun=True)
