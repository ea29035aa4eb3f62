# SPDX-License-Identifier: GPL-2.0
"""Programs as workloads of an experiment: their guests, their rows, and what is compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import samples
import test_trial
from test_trial import Lab, outcome

from fastlab.backend import sim
from fastlab.cli import main
from fastlab.guest import meson, vm
from fastlab.plan import row_check
from fastlab.plan.run_log import read_rows
from fastlab.trial.subject import RUNNER

lab = test_trial.lab

EXPERIMENT = """
name = "programs"
baseline = "stock"
seeds = [0, 3]

[[kernel]]
name = "stock"
source = "6.12"

[[variant]]
name = "stock"
kernel = "stock"

[[variant]]
name = "slow"
kernel = "stock"
features = ["NO_WAKE_AFFINE"]
environment = { LANG = "C" }

[[workload]]
name = "own"
command = "./program 'two words'"
files = ["data"]

[[workload]]
name = "other"
command = "./other"
"""


@pytest.fixture(autouse=True)
def place(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lab.directory)
    lab.seconds = 600
    (lab.directory / "mine.toml").write_text(EXPERIMENT)
    (lab.directory / "data").write_text("some")
    shutil.copy("program", "other")
    build = lab.directory / "project/build/user"
    monkeypatch.setattr(meson, "build_programs", lambda project, reporter: build)

    def toolbox(qemu: Any, build: Path, further: object, more: object) -> sim.Toolbox:
        assert not further
        plugin = build / "userspace/cachesim/libcachesim-4.so"
        return sim.Toolbox("tools", qemu.path, plugin, b"benchmarks", libraries={plugin.name: b""})

    monkeypatch.setattr(sim, "find_sim_toolbox", toolbox)

    def run_job(*given: Any, **more: Any) -> vm.Outcome:
        # The lab looks for the program's name.
        if {one.name for one in more["programs"]} & {"other"}:
            more["programs"] = [lab.directory / "program", *more["programs"][1:]]
            more["programs"] = [one for one in more["programs"] if one.name != "other"]
        return lab.run_job(*given, **more)

    monkeypatch.setattr(vm, "run_job", run_job)


def slower(job: vm.Job, quantum: int) -> vm.Outcome:
    cycles = 2_000_000 if job.features else 1_000_000
    return outcome(document=samples.document(elapsed_cycles=cycles), mechanism=None)


def rows(lab: Lab) -> list[Any]:
    return list(read_rows(lab.directory / "results/programs/runs.jsonl")[0])


def test_programs_are_run_and_compared(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.answer = slower
    assert main.main(["run", "mine.toml"]) == 0
    made = rows(lab)
    assert {(row["benchmark"], row["threads"], row["seed"], row["variant"]) for row in made} == {
        (name, 0, seed, arm)
        for name in ("own", "other")
        for seed in (0, 3)
        for arm in ("stock", "slow")
    }
    assert {tuple(row["argv"]) for row in made} == {("./program", "two words"), ("./other",)}
    assert {row["status"] for row in made} == {"ok"}
    assert [row_check.impossible(row) for row in made] == [""] * 8
    settings = {row["variant"]: row.get("settings") for row in made}
    assert settings == {"stock": None, "slow": {"environment": {"LANG": "C"}}}
    said = capsys.readouterr().out
    assert "slow made none of 2 cases faster than stock, 2 slower" in " ".join(said.split())
    # A number of threads is nowhere: a program has none.
    document = json.loads((lab.directory / "results/programs/summary.json").read_text())
    assert "own-0" not in json.dumps(document)


def test_a_seed_is_the_time_at_which_a_program_begins(lab: Lab) -> None:
    assert main.main(["run", "mine.toml"]) in (0, 3)
    words = {tuple(unquote(job.argv[-1]).split("\0")[:2]) for job, *_ in lab.jobs}
    assert {job.argv[0] for job, *_ in lab.jobs} == {RUNNER}
    assert words == {("whole", "0"), ("whole", "3750000")}
    assert {futexes for *_, futexes in lab.jobs} == {"next"}
    assert {job.environment.get("LANG") for job, *_ in lab.jobs} == {None, "C"}


def test_each_program_has_an_image_of_its_own(lab: Lab) -> None:
    main.main(["run", "mine.toml"])
    assert lab.boots == 2
    own = [image for image in lab.images if b"/data\0" in image]
    assert len(own) == 1


def test_a_program_that_fails_is_a_failed_run(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.answer = lambda job, quantum: outcome(exit_status=3, errors=("no such option",))
    assert main.main(["run", "mine.toml"]) == 3
    assert {row["status"] for row in rows(lab)} == {"failed"}
    assert "ended with status 3: no such option" in capsys.readouterr().err


BAD = {
    "a program": ("./program", "./no-such", "[[workload]] own: ", "no-such: no such program"),
    "a file": ('"data"', '"no-data"', "[[workload]] own: ", "no-data: no such file for the guest"),
    "a scheduler": (
        "environment",
        'scheduler = "./scx"\nenvironment',
        "arm slow: scheduler: ",
        "scx: no such program",
    ),
}


@pytest.mark.parametrize(("old", "new", "where", "what"), BAD.values(), ids=BAD.keys())
def test_what_is_not_there_is_refused_before_a_run(
    lab: Lab, old: str, new: str, where: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (lab.directory / "mine.toml").write_text(EXPERIMENT.replace(old, new, 1))
    assert main.main(["run", "mine.toml"]) == 1
    said = capsys.readouterr().err
    assert where in said and what in said
    assert not lab.jobs


def test_a_real_machine_has_no_programs(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["run", "mine.toml", "--backend", "soft"]) == 2
    assert "[[workload]] own is for the simulation" in capsys.readouterr().err


def test_the_trace_of_a_program_is_refused(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["trace", "mine.toml"]) == 1
    assert "programs has no [[benchmark]] to record" in capsys.readouterr().err


def test_programs_have_a_report_for_ci(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.answer = slower
    main.main(["run", "mine.toml"])
    capsys.readouterr()
    words = ["compare", "results/programs", "--fail-below=-5", "--format=junit"]
    assert main.main(words) == 4
    text = capsys.readouterr().out
    assert text.count("<failure") == 2 and "required: at least -5 %" in text
