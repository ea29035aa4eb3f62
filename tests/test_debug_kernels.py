# SPDX-License-Identifier: GPL-2.0
"""The series under the kernel's own checkers: lockdep, KASAN, KCSAN and KUnit.

A splat on the console ends a run at once (fastlab.alarms), so a run that ends well had none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lab import Lab, kernel

from fastlab import vm
from fastlab.model import BENCHMARKS, Watchdogs

PATIENT = Watchdogs(boot=600, run=1200)
STRICT = {"kernel.sched_fast": 1, "kernel.sched_fast_depth": 4}
SUITE = "ok 1 sched_fast"


@pytest.fixture(scope="module", params=["debug-locking", "debug-kcsan"])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with pytest.MonkeyPatch.context() as patch:
        # Checkers print what they have to say as warnings.
        patch.setattr(vm, "COMMAND_LINE", f"{vm.COMMAND_LINE} loglevel=7")
        yield Lab(
            tmp_path_factory.mktemp("debug") / request.param,
            kernel("fast", request.param, "kunit"),
        )


@pytest.mark.full
def test_kunit_passes(lab: Lab) -> None:
    console = (lab.path / "saved/serial.log").read_text(errors="replace")
    assert SUITE in console
    assert f"not {SUITE}" not in console


@pytest.mark.full
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_benchmarks_run_without_a_splat(lab: Lab, benchmark: str) -> None:
    argv = [f"/bin/{benchmark}", "--threads=8", "--iterations=400", "--warmup=0", "--json"]
    outcome = lab.run(benchmark, argv, PATIENT, sysctls=STRICT)
    assert outcome.exit_status == 0, outcome.errors
    assert outcome.mechanism is not None and outcome.mechanism["hint_set"] > 0
