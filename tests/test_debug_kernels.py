# SPDX-License-Identifier: GPL-2.0
"""The series under the kernel's own checkers, and beside what else a scheduler may have.

A splat on the console ends a run at once (fastlab.guest.alarms), so a run that ends well had none.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_programs import BENCHMARKS
from lab import Lab, compile_guest, kernel, kunit_passed, pristine, survived

from fastlab.base.model import Watchdogs
from fastlab.guest import alarms, hardware, vm

PATIENT = Watchdogs(boot=600, run=1200)
STRICT = {"depth": "4", "policy": "strict"}
# Without these the locks of some benchmarks are so seldom contended that none is handed over.
CONTENDED = (
    *("--threads=16", "--iterations=10000", "--warmup=0"),
    *("--think=0", "--cs-lines=256", "--json"),
)
# What the stress must have come through, and the busiest of the benchmarks, with the most
# hand-offs.
PATHS = (
    *("hint_set", "used", "same_cpu", "rejected_depth"),
    *("delayed", "balance_kept", "balance_pulled"),
)
# Under PREEMPT_RT that benchmark's threads find each other at once, and stay.
SETTLED = {"preempt-rt": ("delayed", "balance_pulled")}
# What each checker says when it begins; one that is built in may still be off.
BEGINS = {
    "debug-locking": ("Lock dependency validator:", "KernelAddressSanitizer initialized"),
    "kcsan": ("kcsan: enabled early",),
    "preempt-rt": ("SMP PREEMPT_RT",),
}
# Else KCSAN is built in, but off.
CHECKED = "kcsan.early_enable=1"
# A variant and its fragments.
KERNELS = {
    "debug-locking": ("fast", "debug-locking", "kunit"),
    "kcsan": ("kcsan",),
    "sched-options": ("fast", "sched-options", "kunit"),
    "preempt-rt": ("fast", "preempt-rt", "kunit"),
}


class Checked(Lab):
    """A machine whose kernel has a checker built in."""

    measures = False

    def __init__(self, path: Path, checker: str, *programs: Path) -> None:
        self.checker = checker
        further = {f"/bin/{program.name}": program for program in programs}
        super().__init__(path, kernel(*KERNELS[checker]), further)

    def run_at_once(self, name: str, argv: list[str], watchdogs: Watchdogs) -> vm.Outcome:
        """The job in a machine whose CPUs are threads of the host's, at the host's time."""
        simulation = replace(self.simulation, accelerator=at_once(self.path))
        job, directory = vm.Job({}, argv), self.path / name
        return vm.boot_job(simulation, job, directory, watchdogs, threading.Event())


def at_once(directory: Path) -> hardware.Accelerator:
    """CPUs that race in truth; QEMU then executes RDTSC as the host's, and does not say how fast
    that is."""
    measured = subprocess.run(
        [compile_guest("tsc_khz", directory)], capture_output=True, check=True
    )
    frequencies = f"tsc_early_khz={int(measured.stdout)} lapic_timer_khz=1000000"
    words = f"{hardware.COMMAND_LINE} {frequencies} {CHECKED}"
    return hardware.Accelerator("max", ("-accel", "tcg,thread=multi"), words)


def functions(source: Path) -> set[str]:
    """The names that begin in the first column, or stand after types that do."""
    pattern = r"^(?:[A-Za-z_][\w ]*[ *])?(\w+)\("
    return set(re.findall(pattern, source.read_text(), re.MULTILINE))


# Linux's own: a waiter looks without a mark whether its time is over.
KNOWN_RACES = ("futex_wait_queue / hrtimer_wakeup",)


def alarm(patched: Path) -> re.Pattern[str]:
    """Alarms; of data races where a function of the series or of the futexes takes part. The
    scheduler's other accesses race by intent, most without a mark; Linux leaves it out of KCSAN for
    that."""
    sources = [*patched.glob("kernel/sched/fast*.[ch]"), *patched.glob("kernel/futex/*.c")]
    fair = "kernel/sched/fair.c"
    added = functions(patched / fair) - functions(pristine() / fair)
    names = "|".join(added.union(*map(functions, sources)))
    known = "|".join(map(re.escape, KNOWN_RACES))
    let_pass = rf"KCSAN: data-race in (?:(?:{known})$|(?!.*\b(?:{names})\b))"
    return re.compile(rf"^(?!.*{let_pass}).*(?:{alarms.ALARM.pattern})")


# A process of pytest-xdist's has all the tests of a kernel, or each would build it.
@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in KERNELS],
)
def lab(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    patched: Path,
    functional: Path,
    policy_stress: Path,
) -> Iterator[Checked]:
    with pytest.MonkeyPatch.context() as patch:
        words = f"{hardware.EMULATED.command_line} {CHECKED}"
        patch.setattr(hardware, "EMULATED", replace(hardware.EMULATED, command_line=words))
        patch.setattr(alarms, "ALARM", alarm(patched))
        path = tmp_path_factory.mktemp("debug") / request.param
        yield Checked(path, request.param, functional / "futex_handoff", policy_stress)


def test_races_of_the_series_are_alarms(patched: Path) -> None:
    for name in (
        *("crowd_home", "futex_wake", "sched_fast_place", "sched_fast_wake"),
        *("__sched_fast_can_migrate", "__sched_fast_release", "sched_fast_cpu_lock"),
        *("sched_fast_can_migrate", "finish_delayed_dequeue.isra.0"),
    ):
        assert alarm(patched).search(f"BUG: KCSAN: data-race in idle_cpu / {name}")
        assert alarm(patched).search(f"BUG: KCSAN: data-race in {name} / update_rq_clock")
    assert not alarm(patched).search("BUG: KCSAN: data-race in futex_wait_queue / hrtimer_wakeup")
    assert alarm(patched).search("BUG: KCSAN: data-race in futex_wait_queue / hrtimer_wakeups")
    assert alarm(patched).search("BUG: KCSAN: data-race in futex_wait_queue / futex_wake")
    for name in ("update_rq_clock", "can_migrate_task", "detach_tasks", "select_task_rq_fair"):
        assert not alarm(patched).search(f"BUG: KCSAN: data-race in idle_cpu / {name}")
    assert not alarm(patched).search("all is well")
    assert alarm(patched).search("BUG: KASAN: slab-use-after-free in idle_cpu")


@pytest.mark.full
def test_the_checkers_are_at_work(lab: Checked) -> None:
    if lab.checker not in BEGINS:
        pytest.skip("these options say nothing when they begin")
    said = "\n".join(lab.booted())
    assert [words for words in BEGINS[lab.checker] if words not in said] == []


@pytest.mark.full
def test_kunit_passes_every_case(lab: Checked, patched: Path) -> None:
    kunit_passed(lab, patched)


@pytest.mark.full
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_benchmarks_run_without_a_splat(lab: Checked, benchmark: str) -> None:
    outcome = lab.run(benchmark, [f"/bin/{benchmark}", *CONTENDED], PATIENT, fast=STRICT)
    assert outcome.exit_status == 0, outcome.errors
    assert outcome.mechanism is not None and outcome.mechanism["used"] > 0
    if benchmark == "prod_cons":
        missed = {path for path in PATHS if outcome.mechanism[path] == 0}
        assert missed <= set(SETTLED.get(lab.checker, ()))


@pytest.mark.full
def test_the_series_own_selftest_runs_without_a_splat(lab: Checked) -> None:
    """It also switches the policy on and off while there are waiters."""
    outcome = lab.run("handoff", ["/bin/futex_handoff"], PATIENT)
    assert outcome.exit_status == 0
    assert outcome.mechanism is not None and outcome.mechanism["used"] > 0
    if lab.checker == "sched-options":
        said = (lab.path / "handoff" / "host").read_text()
        assert re.search(r"^FAST out ok \d+ handoff.throttled_on_the_hot_cpu$", said, re.MULTILINE)


@pytest.mark.full
def test_stress_in_turns_without_a_splat(lab: Checked) -> None:
    """The same each time. The guest's time goes an eighth as fast as the host's."""
    outcome = lab.run("stress", ["/bin/policy_stress", "120", "1"], Watchdogs(run=4 * 3600))
    survived(outcome)
    assert outcome.mechanism is not None
    assert [path for path in PATHS if outcome.mechanism[path] == 0] == []


@pytest.mark.full
def test_ten_minutes_of_stress_at_once_without_a_splat(lab: Checked) -> None:
    """In turns a CPU hardly ever meets another between two of its instructions."""
    stress = ["/bin/policy_stress", "600", "1"]
    survived(lab.run_at_once("at-once", stress, Watchdogs(boot=600, run=3600)))
