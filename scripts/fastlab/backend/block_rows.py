# SPDX-License-Identifier: GPL-2.0
"""The row of a run of a block on a real machine, and the programs that the runs use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fastlab.backend.contract import Request
from fastlab.backend.counting import (
    FAST_LATENCY,
    FAST_STAT,
    HANDOFF_LIBRARY,
    Observed,
    counters_of,
    latencies_of,
)
from fastlab.base.metrics import LATENCIES
from fastlab.base.model import (
    Case,
    Experiment,
    FastError,
    Kernel,
    Run,
)
from fastlab.guest import initramfs
from fastlab.plan.paired_plan import PairedRow, Plan, Slot, variant_of
from fastlab.plan.row_making import Measured, build_row, how_it_ended
from fastlab.plan.rows import Counter

# The kernel counts these on every machine; the benchmark's own figures may be missing.
SCHEDULING = ("context_switches", "migrations")
# Subdirectories of the results with the output of the last runs.
LAST_RUN = "last-run"
LAST_LATENCY_RUN = "last-run/latency"
# The reason if the plan has no latencies.
NOT_ASKED = "the experiment does not ask for it with latencies = true"


@dataclass(frozen=True)
class RealToolbox:
    """Everything that a run uses besides the kernel. `id` changes with any of it. `handoff` is the
    library that fast-latency loads into programs. `written` has the modification time of each file
    in ns."""

    id: str
    fast_stat: Path
    fast_latency: Path
    handoff: Path
    programs: Mapping[str, Path]
    written: Mapping[Path, int | None] = field(default_factory=dict)


def find_real_toolbox(build: Path, experiment: Experiment) -> RealToolbox:
    """The programs in Meson's build directory; a FastError names what is not there."""
    ours = (build / FAST_STAT, build / FAST_LATENCY, build / HANDOFF_LIBRARY)
    names = sorted(experiment.benchmarks)
    programs = {name: initramfs.program_path(build, name, dynamic=True) for name in names}
    used = (*ours, *programs.values())
    initramfs.check_built(build, used)
    written = {path: _written(path) for path in used}
    parts = [initramfs.stripped(path) for path in used]
    parts += [Path(path).read_bytes() for path in initramfs.libraries(used)]
    return RealToolbox(initramfs.digest_all(parts), *ours, programs, written)


def check_not_rebuilt(toolbox: RealToolbox) -> None:
    """After a run: raise FastError if the run may have used other files than the toolbox's id."""
    changed = [path for path, then in toolbox.written.items() if _written(path) != then]
    if changed:
        raise FastError(
            f"{', '.join(map(str, changed))}: built anew while the experiment was measured with "
            "it; the last run is thrown away, and the rows written before it are safe. Run the "
            "same command again to go on"
        )


def _written(path: Path) -> int | None:
    """None: the file does not exist, as during a build."""
    return path.stat().st_mtime_ns if path.exists() else None


@dataclass(frozen=True)
class Surroundings:
    """The boot, its kernel, the programs, and the guest (guest_record())."""

    kernel: Kernel
    boot: str
    tools_id: str
    guest: Mapping[str, Any] = field(default_factory=dict)


def paired_row(
    plan: Plan, slot: Slot, run: Run, argv: Sequence[str], where: Surroundings, observed: Observed
) -> PairedRow:
    """A slot's row."""
    counters = counters_of(observed.document)
    surroundings = observed.circumstances.environment
    measured = Measured(
        backend=plan.backend,
        machine={
            **{
                name: getattr(surroundings, name)
                for name in ("cpu", "cpus", "cpu_list", "virtual", "vendor")
            },
            # The workload sees the guest's CPUs.
            **where.guest,
        },
        counters=counters,
        elapsed_ns=(observed.output or {}).get("elapsed_ns"),
        throughput=(observed.output or {}).get("throughput"),
        complaint=_complaint(observed.document, "fast-stat wrote no counts"),
    )
    row = build_row(
        run=run,
        argv=argv,
        measured=measured,
        kernel=where.kernel,
        key=slot.key,
        tools_id=where.tools_id,
        ending=replace(
            observed, output=observed.output and {**observed.output, **_scheduling(counters)}
        ),
    )
    return PairedRow(
        **row,
        pair=slot.pair,
        side=slot.side,
        block=slot.block,
        position=slot.position,
        events=slot.events,
        others=(observed.document or {}).get("others"),
        boot=where.boot,
        circumstances=asdict(observed.circumstances),
        latency={},
        latency_missing={} if plan.latencies else dict.fromkeys(LATENCIES, NOT_ASKED),
    )


def wants_latencies(plan: Plan, row: PairedRow) -> bool:
    """Does a latency run follow? Only if the row's times are compared."""
    return plan.latencies and row["status"] == "ok" and row["events"] == plan.groups[0]


def with_latencies(row: PairedRow, run: Run, observed: Observed) -> PairedRow:
    """The row with the result of its latency run. A failed latency run makes the row fail. An
    invalid one only has no latencies: the counted run before it was valid."""
    complaint = _complaint(observed.document, "fast-latency wrote no latencies")
    status, reason = how_it_ended(run, observed, complaint)
    reason = f"latency run: {reason}"
    if status == "failed" or observed.document is None:
        return {**row, "status": status, "reason": reason}
    if status == "invalid":
        return {**row, "latency_missing": dict.fromkeys(LATENCIES, reason)}
    histograms, missing = latencies_of(observed.document)
    return {**row, "latency": histograms, "latency_missing": missing}


def requests(experiment: Experiment, plan: Plan, slots: Iterable[Slot]) -> list[Request]:
    """The runs of the slots."""
    variants = {variant.name: variant for variant in experiment.variants}
    return [
        Request(
            slot.key,
            Run(
                variants[variant_of(plan, slot)],
                Case(experiment.machine, slot.workload),
                plan.seed,
            ),
            slot,
        )
        for slot in slots
    ]


def _scheduling(counters: Mapping[str, Counter]) -> dict[str, int | None]:
    """The kernel's counts, which exist on every machine and cover all threads; the benchmark's
    figures depend on the kernel's configuration."""
    return {name: counters[name]["total"] if name in counters else None for name in SCHEDULING}


def _complaint(document: Mapping[str, Any] | None, nothing: str) -> str:
    """Why the document cannot be trusted, or ""; `nothing` is the message for a missing one."""
    if not document:
        return nothing
    # None: a program without markers is measured as a whole.
    if document["regions"] not in (None, 1):
        return f"{document['regions']} regions of interest in one run; there must be one"
    # fast-stat reports an impossible count: the whole document is doubtful.
    return next(iter(document.get("doubts", ())), "")
