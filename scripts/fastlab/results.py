# SPDX-License-Identifier: GPL-2.0
"""The raw results: one row per run, appended to runs.jsonl: no crash loses a finished one."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, cast

from fastlab import presets
from fastlab.model import LATENCIES, SCHEMA_VERSION, FastError, Kernel, Machine, Run

Status = Literal["ok", "invalid", "failed"]

# The plugin's counters, and what one of each is.
UNITS: Mapping[str, str] = {
    "cycles": "modelled cycles",
    "instructions": "instructions",
    "l1i_references": "references",
    "l1i_misses": "misses",
    "l1d_references": "references",
    "l1d_misses": "misses",
    "l2_references": "references",
    "l2_misses": "misses",
    "l3_references": "references",
    "l3_misses": "misses",
    "bus_requests": "requests",
    "cache_to_cache": "transfers",
    "invalidations": "lines",
    "writebacks": "lines",
}

# What says that FAST decided where a task runs: moved it, or kept it, at the lock-hot CPU.
FIRED = ("used", "same_cpu")


class _EveryCounter(TypedDict):
    unit: str
    total: int


class Counter(_EveryCounter, total=False):
    """One counter over the region of interest. The simulation tells user and kernel apart, and has
    the idle loop in none of the three."""

    user: int
    kernel: int


class KernelId(TypedDict):
    series: str
    variant: str
    id: str


class Waits(TypedDict):
    """What a SPLASH-2 program's threads did at locks, barriers and flags, of all threads together;
    `contended` of the locks were not free. Nanoseconds are the guest's."""

    locks: int
    barriers: int
    flags: int
    contended: int
    lock_ns: int
    barrier_ns: int
    flag_ns: int


class _EveryRow(TypedDict):
    """One run. `None` says "not available"; times are seconds unless the name says otherwise."""

    schema: int
    key: str
    kernel: KernelId
    tools: str
    variant: str
    policy: str
    sysctls: dict[str, int]
    features: list[str]
    cpus: int | None
    benchmark: str
    threads: int
    argv: list[str]
    seed: int
    machine: dict[str, Any]
    backend: str
    counters: dict[str, Counter]
    check: str | None
    check_detail: str
    mechanism: dict[str, int] | None
    elapsed_ns: int | None
    throughput: float | None
    thread_throughput: list[float] | None
    context_switches: int | None
    migrations: int | None
    fairness: float | None
    exit_status: int | None
    duration: float
    status: Status
    reason: str


class Row(_EveryRow, total=False):
    """And what only some workloads, or only the simulation, tell. `latencies` has of each of
    LATENCIES their number, `count`, and mean and percentiles in ns, None of none:
    Documentation/latency.rst."""

    profile: Waits
    latencies: dict[str, dict[str, int | None]]


@dataclass(frozen=True)
class Measured:
    """What a backend measured in a run. `machine` says where, `complaint` why it cannot be trusted,
    "" if it can."""

    backend: str
    machine: dict[str, Any]
    counters: dict[str, Counter]
    elapsed_ns: int | None
    throughput: float | None
    complaint: str = ""
    latencies: Mapping[str, dict[str, int | None]] = field(default_factory=dict)


def simulated(
    machine: Machine, document: Mapping[str, Any] | None, output: Mapping[str, Any] | None
) -> Measured:
    """By the plugin's JSON document; `output` is the benchmark's. None: there was none."""
    document = document or {}
    elapsed = elapsed_ns(document)
    iterations = (output or {}).get("iterations")
    return Measured(
        "sim",
        machine_record(machine),
        _counters(document),
        elapsed,
        iterations * 1e9 / elapsed if iterations and elapsed else None,
        _complaint(machine, document),
        document.get("latencies", {}),
    )


def build_row(
    *,
    run: Run,
    argv: Sequence[str],
    measured: Measured,
    kernel: Kernel,
    key: str,
    tools_id: str,
    output: Mapping[str, Any] | None,
    mechanism: Mapping[str, int] | None,
    exit_status: int | None,
    duration: float,
    failure: str = "",
) -> Row:
    """Make a run's row and judge it.

    `argv` is the benchmark's, `output` its JSON object, `mechanism` what the kernel counted during
    the run, `exit_status` the benchmark's; each None if there was none. `duration` is host seconds.
    `failure` says what the executor saw go wrong (a hang, a panic).
    """
    output = output or {}
    status, reason = judge(run, output, mechanism, exit_status, failure, measured.complaint)
    row = Row(
        schema=SCHEMA_VERSION,
        key=key,
        kernel=KernelId(series=kernel.series, variant=kernel.variant, id=kernel.id),
        tools=tools_id,
        variant=run.variant.name,
        policy=run.variant.policy,
        sysctls=dict(run.variant.sysctls),
        features=list(run.variant.features),
        cpus=run.variant.cpus,
        benchmark=run.workload.benchmark,
        threads=run.workload.threads,
        argv=list(argv),
        seed=run.seed,
        machine=measured.machine,
        backend=measured.backend,
        counters=measured.counters,
        check=output.get("check"),
        check_detail=output.get("check_detail", ""),
        mechanism=dict(mechanism) if mechanism is not None else None,
        elapsed_ns=measured.elapsed_ns,
        throughput=measured.throughput,
        thread_throughput=output.get("thread_throughput"),
        context_switches=output.get("context_switches"),
        migrations=output.get("migrations"),
        fairness=output.get("fairness"),
        exit_status=exit_status,
        duration=duration,
        status=status,
        reason=reason,
    )
    if profile := output.get("profile"):
        row["profile"] = cast(Waits, {name: profile[name] for name in Waits.__annotations__})
    if measured.latencies:
        row["latencies"] = dict(measured.latencies)
    return row


def judge(
    run: Run,
    output: Mapping[str, Any],
    mechanism: Mapping[str, int] | None,
    exit_status: int | None,
    failure: str,
    complaint: str,
) -> tuple[Status, str]:
    """How a run ended, and why it is not ok. The arguments are build_row()'s; `complaint` is the
    backend's.

    "failed": there is nothing to trust. "invalid": it ran, but not what its variant says: FAST
    never fired in a FAST run, or fired in a run with FAST off. Neither enters a comparison.
    """
    reason = failure or _failure(run, output, exit_status) or complaint
    if reason:
        return "failed", reason
    reason = _invalidity(run, mechanism)
    return ("invalid" if reason else "ok"), reason


def elapsed_ns(document: Mapping[str, Any]) -> int | None:
    """The region's length by the modelled machine's own clock, to which no clock of the guest's
    adds its rounding. None: the document does not say."""
    cycles, mhz = document.get("elapsed_cycles"), document.get("mhz")
    return round(cycles * 1000 / mhz) if cycles and mhz else None


def machine_record(machine: Machine) -> dict[str, Any]:
    """The machine as a row holds it."""
    return {
        "cpus": machine.cpus,
        "memory_mb": machine.memory_mb,
        "preset": machine.preset_name,
        "preset_id": presets.load(machine.preset).id,
        "quantum": machine.quantum,
    }


def _failure(run: Run, output: Mapping[str, Any], exit_status: int | None) -> str:
    """Why the run cannot be trusted, by the benchmark itself, or ""."""
    if output.get("check") == "failed":
        return f"self-check failed: {output.get('check_detail') or 'no detail'}"
    if exit_status is None:
        return "the guest ended without the benchmark's exit status"
    if exit_status != 0:
        return f"the benchmark ended with status {exit_status}"
    if not output:
        return "the benchmark printed no result"
    asked = {
        "benchmark": run.workload.benchmark,
        "threads": run.workload.threads,
        "seed": run.seed,
    }
    for name, value in asked.items():
        if output.get(name) != value:
            return f"the benchmark reports {name} {output.get(name)}, asked was {value}"
    if output.get("check") != "ok":
        return f"the benchmark reports check {output.get('check')}, neither ok nor failed"
    return ""


def _complaint(machine: Machine, document: Mapping[str, Any]) -> str:
    """Why the cache model's document cannot be trusted, or ""."""
    if not document:
        return "the cache model wrote no document: did the region of interest begin and end?"
    for name, value in {"preset": machine.preset_name, "cpus": machine.cpus}.items():
        if document.get(name) != value:
            return f"the cache model reports {name} {document.get(name)}, asked was {value}"
    for name in ("elapsed_cycles", "mhz"):
        if not document.get(name):
            return f"the cache model's document lacks {name}"
    for mode in ("user", "kernel"):
        missing = UNITS.keys() - document.get("total", {}).get(mode, {}).keys()
        if missing:
            return f"the cache model's document lacks {', '.join(sorted(missing))} ({mode})"
    if not document.get("latencies", {}).keys() >= set(LATENCIES):
        return "the cache model's document lacks latencies: it is not of this version"
    return ""


def _invalidity(run: Run, mechanism: Mapping[str, int] | None) -> str:
    """Why the run says nothing about its variant, or ""."""
    fired = sum((mechanism or {}).get(name, 0) for name in FIRED)
    if run.variant.policy == "off":
        return f"FAST fired {fired} times with policy off" if fired else ""
    if mechanism is None:
        return f"policy {run.variant.policy}, but the kernel has no mechanism counters"
    if not fired and mechanism.get("hint_set") == 0:
        return "FAST never fired: nothing to act on, no wake-up was of one thread (hint_set = 0)"
    if not fired:
        return f"FAST never fired: {' + '.join(FIRED)} = 0 with policy {run.variant.policy}"
    return ""


def _counters(document: Mapping[str, Any]) -> dict[str, Counter]:
    total = document.get("total", {})
    user, kernel = total.get("user", {}), total.get("kernel", {})
    return {
        name: Counter(
            unit=unit, user=user[name], kernel=kernel[name], total=user[name] + kernel[name]
        )
        for name, unit in UNITS.items()
        if name in user and name in kernel
    }


def latest(rows: Iterable[Row]) -> list[Row]:
    """One row per key: a repeated run (a failed one made again) replaces the earlier row."""
    return list({row["key"]: row for row in rows}.values())


def finished_keys(rows: Iterable[Row]) -> set[str]:
    """Runs not to be made again. A failed run is tried again: the next one may not hang."""
    return {row["key"] for row in latest(rows) if row["status"] != "failed"}


def counters_digest(rows: Iterable[Row]) -> str:
    """SHA-256 of all that the same inputs must give again: everything but the host's duration."""
    digest = hashlib.sha256()
    for row in sorted(latest(rows), key=lambda row: row["key"]):
        fixed = {name: value for name, value in row.items() if name != "duration"}
        digest.update(json.dumps(fixed, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def read_rows(path: Path) -> tuple[list[Row], str]:
    """The rows of a runs.jsonl, oldest first, and a warning ("" if none) about a dropped last line.

    A last line that is cut short was being written when its writer was killed. Any other line
    that is no row is an error. May be called while another process appends.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FastError(f"{path}: cannot be read: {error.strerror}; `fast run` makes it") from error
    rows, _, warning = _parse(path, data)
    return rows, warning


def _parse(path: Path, data: bytes) -> tuple[list[Row], int, str]:
    """The rows in `data`, how many of its bytes are whole rows, and a warning or ""."""
    rows: list[Row] = []
    good = 0
    lines = data.split(b"\n")
    # What follows the last newline: empty, unless the last row was cut short.
    lines[-1:] = [lines[-1]] if lines[-1] else []
    for number, line in enumerate(lines, 1):
        end = good + len(line) + 1
        last = number == len(lines)
        try:
            row = json.loads(line)
        except ValueError as error:
            if not last:
                raise FastError(
                    f"{path}:{number}: not a row: {error}; "
                    "delete the line (its run is then made again) or restore the file"
                ) from error
            end = len(data) + 1
        if end > len(data):
            return (
                rows,
                good,
                f"{path}:{number}: the last row was cut short and is dropped; "
                "its run will be made again",
            )
        rows.append(_checked(path, number, row))
        good = end
    return rows, good, ""


def _checked(path: Path, number: int, row: Any) -> Row:
    if not isinstance(row, dict) or "schema" not in row:
        raise FastError(f"{path}:{number}: not a row: no schema version")
    if row["schema"] != SCHEMA_VERSION:
        raise FastError(
            f"{path}:{number}: schema version {row['schema']}, this program knows "
            f"{SCHEMA_VERSION}: use the release that wrote it, or another results directory"
        )
    missing = Row.__required_keys__ - row.keys()
    if missing:
        raise FastError(f"{path}:{number}: not a row: lacks {', '.join(sorted(missing))}")
    return cast(Row, row)


class RunLog:
    """runs.jsonl open for appending, by one process at a time (a context manager).

    `rows` are those already there, `warning` tells of a torn last line, which is cut off.
    Not thread-safe.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FastError(f"{path}: cannot be opened: {error.strerror}") from error
        try:
            self._lock()
            data = path.read_bytes()
            self.rows, good, self.warning = _parse(path, data)
            if good < len(data):
                os.ftruncate(self._fd, good)
        except BaseException:
            os.close(self._fd)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FastError(
                f"{self.path}: another `fast run` is writing to it; wait for it or stop it first"
            ) from error

    def append(self, row: Row) -> None:
        """Add a row and wait until the disk has it. On any error the file is as it was before."""
        line = json.dumps(row, sort_keys=True, allow_nan=False).encode() + b"\n"
        before = os.fstat(self._fd).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._fd, line[written:])
            os.fsync(self._fd)
        except BaseException as error:
            os.ftruncate(self._fd, before)
            if isinstance(error, OSError):
                raise FastError(
                    f"{self.path}: cannot be written: {error.strerror}; the {len(self.rows)} rows "
                    "before are safe. Make room and run the same command again to go on"
                ) from error
            raise
        self.rows.append(row)

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
