# SPDX-License-Identifier: GPL-2.0
"""The backend kvm: blocks in guests that are booted for each run, with a stand-in for the guest."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples
from fake_machine import FakeMachine
from heard import Heard
from real_runs import CALIBRATION_RUNS

from fastlab.backend import kvm_guests
from fastlab.backend.contract import run_experiment
from fastlab.base.model import Experiment, FastError, Kernel, Machine, Run, Watchdogs
from fastlab.guest import hardware, kvm, vm
from fastlab.guest.running_vm import GuestError
from fastlab.plan import presets
from fastlab.plan.circumstances import list_cpus
from fastlab.plan.paired_plan import Dataset, make_dataset, make_plan
from fastlab.statistics.calibration import calibrate
from fastlab.statistics.paired import analyse

pytestmark = pytest.mark.usefixtures("few_blocks")

CPUS = len(os.sched_getaffinity(0))
EXPERIMENT = replace(
    samples.experiment(seeds=(7,)), primary="elapsed_ns", machine=Machine(cpus=CPUS)
)
KERNELS = {
    name: Kernel("6.12", name, f"6.12-{name}-0123", f"/{name}/vmlinux", "")
    for name in ("baseline", "fast")
}


class Guests:
    """Where guests are booted, and what they did."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.host = FakeMachine(path)
        self.host.boot(1, fast=False)
        self.jobs: list[tuple[str, vm.Job]] = []
        self.accelerators: set[hardware.Accelerator | None] = set()
        self.failing: dict[int, str] = {}
        # What fast-stat says if it cannot count.
        self.complaint = ""
        self.reporter = Heard()
        # Of these runs fast-stat's last line has no end.
        self.torn: set[int] = set()
        # Why no guest boots.
        self.why = ""
        self.kernels: Mapping[str, Kernel] = KERNELS
        self.source = path / "source.toml"
        self.source.write_text("# the experiment\n")
        programs = path / "build/userspace/guest"
        programs.mkdir(parents=True)
        shutil.copy("/bin/true", programs / "init")
        self.toolbox = replace(
            self.host.toolbox,
            fast_stat=Path("/bin/true"),
            fast_latency=Path("/bin/true"),
            handoff=Path("/bin/true"),
            programs={"single_ctr": Path("/bin/true")},
        )
        monkeypatch.setattr(vm, "boot_job", self._boot)

    def _boot(
        self,
        simulation: vm.Simulation,
        job: vm.Job,
        directory: Path,
        watchdogs: Watchdogs,
        cancelled: object,
    ) -> vm.Outcome:
        self.accelerators.add(simulation.accelerator)
        assert simulation.image.is_file() and simulation.image.is_absolute()
        self.jobs.append((simulation.kernel.variant, job))
        number = len(self.jobs)
        if number in self.failing:
            raise GuestError(self.failing[number])
        fast = simulation.kernel.variant == "fast"
        # As much noise as is needed for blocks to differ.
        elapsed = 1_000_000 + 1_000 * (number * 7919 % 11) - 200_000 * fast
        run = Run(samples.FAST, EXPERIMENT.cases[0], 7)
        output = samples.output(run, elapsed_ns=elapsed, throughput=2e12 / elapsed)
        if "--groups" in job.argv:
            status = 125 if self.complaint else 0
            lines = ("cycles,instructions", "l3_references,l3_misses")
            return vm.Outcome(None, None, None, status, (self.complaint,), 1.0, lines)
        measured = json.dumps(self._document(job))
        return vm.Outcome(
            document=None,
            output=output,
            mechanism={"hint_set": 7, "used": 7, "same_cpu": 7} if fast else None,
            exit_status=0,
            errors=(),
            workload=1.0,
            output_lines=(
                "a line",
                json.dumps(output),
                measured[: -9 if number in self.torn else None],
            ),
        )

    def _document(self, job: vm.Job) -> dict[str, Any]:
        return self.latencies() if job.argv[0] == kvm_guests.FAST_LATENCY else self.counts()

    @staticmethod
    def latencies() -> dict[str, Any]:
        """fast-latency's document."""
        handoff = {"unit": "ns", "events": 3, "buckets": [[900, 2], [4000, 1]]}
        wakeup = {"unit": "ns", "events": None, "buckets": None}
        handoff |= {"why_not": None, "unseen": None}
        wakeup |= {"why_not": "no tracefs", "unseen": None}
        return {"schema": 1, "regions": 1, "latencies": {"handoff": handoff, "wakeup": wakeup}}

    @staticmethod
    def counts() -> dict[str, Any]:
        """fast-stat's document."""
        counters = {
            "context_switches": {"unit": "switches", "value": 40},
            "cycles": {"unit": "cycles", "value": None},
        }
        return {"schema": 2, "others": "no cgroup", "regions": 1, "counters": counters}

    def run(self, experiment: Experiment = EXPERIMENT) -> Dataset:
        results = self.path / "results"
        machines = kvm_guests.Guests(
            experiment,
            self.path / "build",
            self.toolbox,
            self.kernels,
            results,
            lambda: self.why,
            self.reporter,
            self.host.root,
        )
        rows = run_experiment(machines, experiment, self.source, results, self.reporter)
        return make_dataset(machines.plan, rows)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guests:
    return Guests(tmp_path, monkeypatch)


def test_two_kernels_take_turns_and_every_run_is_a_boot(lab: Guests) -> None:
    dataset = lab.run()
    blocks = calibrate(dataset).blocks
    assert blocks
    assert len(lab.jobs) == len(dataset.rows) == CALIBRATION_RUNS + 4 * blocks
    orders: dict[tuple[str, int], str] = defaultdict(str)
    for row, (kernel, _) in zip(dataset.rows, lab.jobs, strict=True):
        if row["events"] != "none":
            orders[row["pair"], row["block"]] += row["side"]
        assert row["kernel"]["id"] == f"6.12-{kernel}-0123"
        assert kernel == ("fast" if (row["pair"], row["side"]) == ("fast", "B") else "baseline")
    assert set(orders.values()) == {"ABBA", "BAAB"}
    assert len({row["boot"] for row in dataset.rows}) == len(dataset.rows)
    (finding,) = analyse(dataset).of_metric("elapsed_ns")
    assert finding.verdict == "better"
    assert lab.accelerators == {kvm.ACCELERATOR}


def test_what_a_row_says(lab: Guests) -> None:
    row = next(row for row in lab.run().rows if row["variant"] == "fast")
    assert (row["backend"], row["status"], row["policy"]) == ("kvm", "ok", "strict")
    assert row["knobs"] == {}
    assert row["mechanism"] == {"hint_set": 7, "used": 7, "same_cpu": 7}
    # The kernel's own count, not the benchmark's; what has no value is not there.
    assert row["context_switches"] == 40
    assert set(row["counters"]) == {"context_switches"}
    assert (row["events"], row["others"]) == ("software", "no cgroup")
    assert row["machine"]["virtual"] is True
    assert row["circumstances"]["environment"]["kernel"] == "6.12-fast-0123"


def test_the_job_sets_the_policy_and_counts_with_fast_stat(lab: Guests) -> None:
    lab.run()
    jobs = {kernel: job for kernel, job in lab.jobs}
    assert jobs["baseline"].fast == {}
    assert jobs["fast"].fast == {"policy": "strict"}
    words = list(jobs["fast"].argv)
    assert words[: words.index("--")] == [
        *("/bin/fast-stat", "--events", "software", "--roi", "--json", "/proc/self/fd/1")
    ]
    assert words[words.index("--") + 1 :][:3] == ["/bin/single_ctr", "--threads", "4"]


def test_a_variant_is_confined_by_its_job(lab: Guests) -> None:
    one, other = EXPERIMENT.variants[:2]
    variants = (one, replace(other, cpus=1))
    lab.run(replace(EXPERIMENT, variants=variants, latencies=True))
    confined = {job.cpus for _, job in lab.jobs if job.fast}
    assert (confined, {job.cpus for _, job in lab.jobs if not job.fast}) == ({1}, {None})


def test_latencies_are_a_second_boot(lab: Guests) -> None:
    rows = lab.run(replace(EXPERIMENT, latencies=True)).rows
    uncounted = [row for row in rows if row["events"] == "none"]
    assert len(lab.jobs) == 2 * len(rows) - len(uncounted)
    timed = [(kernel, job) for kernel, job in lab.jobs if job.argv[0] == kvm_guests.FAST_LATENCY]
    counted = [row for row in rows if row["events"] != "none"]
    for row, (kernel, job) in zip(counted, timed, strict=True):
        assert row["kernel"]["variant"] == kernel
        assert job.fast == ({"policy": "strict"} if kernel == "fast" else {})
        assert list(job.argv[: job.argv.index("--")]) == [
            *("/bin/fast-latency", "--roi", "--json", "/proc/self/fd/1")
        ]
        assert row["latency"] == {"handoff": [[900, 2], [4000, 1]]}
        assert row["latency_missing"] == {"wakeup": "no tracefs"}
        assert set(row["counters"]) == {"context_switches"}


def test_a_latency_run_that_fails(lab: Guests) -> None:
    # The third run counts nothing, and no latency run follows it.
    lab.failing = {5: "watchdog: run took longer than 1 s"}
    rows = lab.run(replace(EXPERIMENT, latencies=True)).rows
    failed = [row["reason"] for row in rows if row["status"] != "ok"]
    assert failed == ["latency run: watchdog: run took longer than 1 s"]


def test_the_hosts_counters_are_asked_for_where_it_has_them(lab: Guests) -> None:
    (lab.host.root / kvm_guests.PMU).mkdir(parents=True)
    rows = lab.run().rows
    # A guest says what it can count at once; then each place of a block is a boot for each group.
    assert list(lab.jobs[0][1].argv) == ["/bin/fast-stat", "--groups", "--events", "hardware"]
    groups = ["cycles,instructions", "l3_references,l3_misses", "software"]
    assert [row["events"] for row in rows[:5]] == [*groups, "none", groups[0]]
    for row, (_, job) in zip(rows, lab.jobs[1:], strict=True):
        assert job.argv[job.argv.index("--events") + 1] == row["events"]


def test_a_guest_without_the_hosts_counters_counts_what_the_kernel_does(lab: Guests) -> None:
    (lab.host.root / kvm_guests.PMU).mkdir(parents=True)
    lab.complaint = "fast-stat: no PMU: this machine has no hardware counters"
    assert {row["events"] for row in lab.run().rows} == {"software", "none"}
    assert any("the guest has no PMU, though this mac" in line for line in lab.reporter.said)
    with pytest.raises(FastError, match="primary = cycles cannot be counted on this CPU"):
        lab.run(replace(EXPERIMENT, primary="cycles"))


def test_a_guest_that_cannot_count_is_an_error(lab: Guests) -> None:
    (lab.host.root / kvm_guests.PMU).mkdir(parents=True)
    lab.complaint = "fast-stat: not allowed to count"
    with pytest.raises(FastError, match="fast-stat cannot count in the guest: fast-stat: not all"):
        lab.run()
    assert len(lab.jobs) == 1


def test_a_primary_metric_that_the_guest_cannot_count_is_refused(lab: Guests) -> None:
    (lab.host.root / kvm_guests.PMU).mkdir(parents=True)
    with pytest.raises(FastError, match="primary = bus_requests cannot be counted on this CPU"):
        lab.run(replace(EXPERIMENT, primary="bus_requests"))


def test_a_guest_that_qemu_executes_itself_has_no_counters(
    lab: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lab.host.root / kvm_guests.PMU).mkdir(parents=True)
    monkeypatch.setattr(kvm, "ACCELERATOR", hardware.deterministic(Machine()))
    lab.run()
    assert "software" in lab.jobs[0][1].argv
    with pytest.raises(FastError, match="primary = cycles needs hardware counters"):
        lab.run(replace(EXPERIMENT, primary="cycles"))


def test_a_guest_that_fails_is_a_row_and_is_made_again(lab: Guests) -> None:
    lab.failing = {3: "watchdog: run took longer than 1 s"}
    failed = [row for row in lab.run().rows if row["status"] == "failed"]
    assert [row["reason"] for row in failed] == ["watchdog: run took longer than 1 s"]
    made = len(lab.jobs)
    assert all(row["status"] == "ok" for row in lab.run().rows)
    first_after = lab.jobs[made][1]
    assert first_after == lab.jobs[2][1]


def test_a_document_without_an_end_is_a_failed_run(lab: Guests) -> None:
    lab.torn = {3}
    rows = lab.run().rows
    assert [row["status"] for row in rows[:4]] == ["ok", "ok", "failed", "ok"]
    assert rows[2]["reason"] == "fast-stat wrote no counts"


def test_what_is_finished_is_not_made_again(lab: Guests) -> None:
    lab.run()
    made = len(lab.jobs)
    lab.run()
    assert len(lab.jobs) == made


def test_another_kernel_in_the_middle_of_an_experiment_is_refused(lab: Guests) -> None:
    lab.run()
    lab.kernels = {**KERNELS, "fast": replace(KERNELS["fast"], id="6.12-fast-4567")}
    with pytest.raises(FastError, match="another plan"):
        lab.run()


def test_other_cpus_of_the_host_in_the_middle_of_an_experiment_are_refused(
    lab: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row, *_) = lab.run().rows
    had = os.sched_getaffinity(0)
    assert row["circumstances"]["environment"]["cpu_list"] == list_cpus(had)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: had | {1000})
    with pytest.raises(FastError, match=r"had another plan:\n +cpu_list: "):
        lab.run()


SMALLER = pytest.param({"cpus": 1}, marks=pytest.mark.skipif(CPUS == 1, reason="there is one CPU"))


@pytest.mark.parametrize("change", [SMALLER, {"memory_mb": 1024}, {"preset": "epyc-milan"}])
def test_another_guest_in_the_middle_of_an_experiment_is_refused(
    lab: Guests, change: dict[str, Any]
) -> None:
    lab.run()
    made = len(lab.jobs)
    other = replace(EXPERIMENT, machine=replace(EXPERIMENT.machine, **change))
    with pytest.raises(FastError, match=r"had another plan:\n +machine: \{.*\} then, \{.*\} now"):
        lab.run(other)
    assert len(lab.jobs) == made


def test_the_guest_is_told(lab: Guests) -> None:
    machine = Machine(cpus=1, memory_mb=300, preset="epyc-milan")
    dataset = lab.run(replace(EXPERIMENT, machine=machine))
    guest = {
        "cpus": 1,
        "memory_mb": 300,
        "preset": "epyc-milan",
        "preset_id": presets.load("epyc-milan").id,
    }
    assert all(guest.items() <= row["machine"].items() for row in dataset.rows)
    assert "quantum" not in dataset.rows[0]["machine"]
    setting = analyse(dataset).setting
    assert (setting["cpus"], setting["memory_mb"], setting["preset"]) == ("1", "300", "epyc-milan")


def test_hardware_counters_that_are_not_there_are_no_primary_metric(lab: Guests) -> None:
    with pytest.raises(FastError, match=r"primary = cycles needs hardware counters.*elapsed_ns"):
        lab.run(replace(EXPERIMENT, primary="cycles"))
    assert lab.jobs == []


def test_a_guest_larger_than_the_host_is_refused(lab: Guests) -> None:
    with pytest.raises(FastError, match=f"has {CPUS + 1} CPUs, and there are {CPUS} here"):
        lab.run(replace(EXPERIMENT, machine=Machine(cpus=CPUS + 1)))
    assert lab.jobs == []


def test_two_kernels_need_no_boots_of_the_machine() -> None:
    assert not make_plan(EXPERIMENT, "kvm").boots
    assert make_plan(EXPERIMENT, "soft").boots


def test_where_no_guest_boots_the_backend_is_not_available(lab: Guests) -> None:
    lab.why = "/dev/kvm: Permission denied"
    with pytest.raises(FastError, match=r"kvm is not available here: /dev/kvm: Permission denied;"):
        lab.run()
    assert lab.jobs == []
    assert not (lab.path / "results").exists()
