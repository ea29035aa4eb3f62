# SPDX-License-Identifier: GPL-2.0
"""An experiment's own kernels, the settings of its arms, and programs as workloads."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from experiment_files import GOOD, write

from fastlab.base.model import SCHEMA_VERSION, FastError, Recipe, Run, Workload, record
from fastlab.plan import presets
from fastlab.plan.experiment import load_experiment
from fastlab.plan.invocation import run_key, workload_argv

KERNELS = """
name = "mine"
baseline = "stock"
seeds = [0, 1]

[[kernel]]
name = "stock"
source = "7.3"
cmdline = "preempt=full"

[[kernel]]
name = "patched"
source = "linux@v7.3"
patches = ["slice.patch", "wakecpu"]
config = ["CONFIG_HZ_300=y", "my.config"]

[[variant]]
name = "stock"
kernel = "stock"
features = ["NO_WAKE_AFFINE"]
cmdline = "nohz=off"

[[variant]]
name = "patched"
kernel = "patched"
policy = "strict"
scheduler = "./scx_simple -f 'a b'"

[variant.sysctl]
kernel.sched_autogroup_enabled = false
"vm/swappiness" = 10

[variant.debugfs]
"sched/base_slice_ns" = 1500000

[variant.environment]
LANG = "C"

[[workload]]
name = "own"
command = "./own --threads 4 'two words'"
files = ["data"]
"""


def test_kernels_arms_and_programs_are_data(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, KERNELS))
    assert experiment.kernels == (
        Recipe("stock", "7.3"),
        Recipe(
            *("patched", "linux@v7.3", ("slice.patch", "wakecpu")),
            config=("CONFIG_HZ_300=y", "my.config"),
        ),
    )
    stock, patched = experiment.variants
    assert stock.cmdline == "preempt=full nohz=off"
    assert patched.sysctl == {"kernel.sched_autogroup_enabled": "0", "vm/swappiness": "10"}
    assert patched.debugfs == {"sched/base_slice_ns": "1500000"}
    assert patched.environment == {"LANG": "C"}
    assert patched.scheduler == ("./scx_simple", "-f", "a b")
    # A patched kernel may have FAST: what it lacks is told when it is built.
    assert patched.settings == {"policy": "strict"}
    assert stock.settings == {}
    (own,) = experiment.workloads
    words = ("./own", "--threads", "4", "two words")
    assert own == Workload("own", 0, command=words, files=("data",))
    assert workload_argv(own, 7) == [*words]
    # It is no benchmark, which the build would have.
    assert experiment.benchmarks == ()


def test_programs_stand_beside_benchmarks(tmp_path: Path) -> None:
    more = '[[workload]]\nname = "own"\ncommand = "true"\n'
    experiment = load_experiment(write(tmp_path, GOOD + more))
    named = [(workload.benchmark, workload.threads) for workload in experiment.workloads]
    assert named[:2] == [("own", 0), ("single_ctr", 4)]


def test_a_machine_can_vary_for_a_program(tmp_path: Path) -> None:
    text = f"{KERNELS}\n[matrix]\ncpus = [2, 4]\n"
    cases = load_experiment(write(tmp_path, text)).cases
    assert [(case.machine.cpus, case.workload.benchmark) for case in cases] == [
        (2, "own"),
        (4, "own"),
    ]


def test_what_an_arm_does_not_set_is_in_no_record(tmp_path: Path) -> None:
    plain = load_experiment(write(tmp_path, GOOD))
    document = record(plain)
    assert "kernels" not in document
    assert document["variants"][0].keys() == {
        *("name", "kernel", "policy", "knobs", "features", "cpus")
    }
    assert document["workloads"][0].keys() == {"benchmark", "threads", "options"}
    assert plain.variants[0].further == {}
    experiment = load_experiment(write(tmp_path, KERNELS))
    assert experiment.variants[1].further == {
        "sysctl": {"kernel.sched_autogroup_enabled": "0", "vm/swappiness": "10"},
        "debugfs": {"sched/base_slice_ns": "1500000"},
        "environment": {"LANG": "C"},
        "scheduler": ["./scx_simple", "-f", "a b"],
    }


def test_every_setting_makes_another_run(tmp_path: Path) -> None:
    keys = set()
    for value in ("1500000", "3000000"):
        experiment = load_experiment(write(tmp_path, KERNELS.replace("1500000", value)))
        for arm in experiment.variants:
            keys.add(run_key(Run(arm, experiment.cases[0], 0), "kernel", "tools"))
    assert len(keys) == 3


def test_the_key_of_a_plain_arm_is_as_it_was(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    run = Run(experiment.variants[1], experiment.cases[0], 1)
    arm, machine = run.variant, run.machine
    identity = {
        "schema": SCHEMA_VERSION,
        "kernel": "kernel",
        "tools": "tools",
        "machine": {**vars(machine), "preset": presets.load(machine.preset).id},
        "variant": {
            **{"name": arm.name, "kernel": arm.kernel, "policy": arm.policy},
            **{"knobs": dict(arm.knobs), "features": arm.features, "cpus": arm.cpus},
        },
        "argv": workload_argv(run.workload, run.seed),
        "seed": 1,
    }
    text = json.dumps(identity, sort_keys=True).encode()
    assert run_key(run, "kernel", "tools") == hashlib.sha256(text).hexdigest()


BAD = {
    "a kernel that is there already": (
        '[[kernel]]\nname = "stock"',
        '[[kernel]]\nname = "fast"',
        ["[[kernel]] 1", "fast", "another one"],
    ),
    "a kernel twice": ('name = "patched"\nsource', 'name = "stock"\nsource', ["kernel", "once"]),
    "an unknown kernel": ('kernel = "stock"', 'kernel = "stok"', ["did you mean stock?"]),
    "a laboratory's kernel without a series": (
        'kernel = "stock"',
        'kernel = "baseline"',
        ["series", "missing"],
    ),
    "a patch that is no name": ('"wakecpu"', "1", ["patches", "1"]),
    "a key of a kernel": ('cmdline = "preempt', 'comandline = "preempt', ["cmdline"]),
    "a line that is two": ('"nohz=off"', '"a\\nb"', ["cmdline", "one line"]),
    "a file outside of debugfs": ("sched/base_slice_ns", "../x", ["debugfs", "../x"]),
    "a value of a wrong type": ("1500000", "1.5", ["sched/base_slice_ns", "1.5", "a number"]),
    "an empty value": ("1500000", '""', ["sched/base_slice_ns", "not empty"]),
    "a variable": ('LANG = "C"', '"LA NG" = "C"', ["environment", "LA NG"]),
    "a scheduler without an end": ("'a b'", "'a b", ["scheduler", "No closing quotation"]),
    "an empty scheduler": ("./scx_simple -f 'a b'", " ", ["scheduler", "not empty"]),
    "an empty command": ("./own --threads 4 'two words'", " ", ["command", "not empty"]),
    "a seed that is no beginning": ("[0, 1]", "[0, 1001]", ["seeds", "1001", "0 to 1000"]),
    "options beside a program": (
        "[[workload]]",
        "[matrix]\nthink = [1, 2]\n[[workload]]",
        ["workload", "[matrix]"],
    ),
}


@pytest.mark.parametrize(("old", "new", "words"), BAD.values(), ids=BAD.keys())
def test_bad_files_are_refused(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    assert old in KERNELS
    with pytest.raises(FastError) as error:
        load_experiment(write(tmp_path, KERNELS.replace(old, new, 1)))
    for word in ("tiny.toml", *words):
        assert word in str(error.value)
