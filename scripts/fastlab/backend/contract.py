# SPDX-License-Identifier: GPL-2.0
"""The interface of all backends, and the executor that makes an experiment's runs.

A backend knows which runs it can make now, and makes them. The executor resumes, writes the raw
results, and shows progress; its watchdog limits the whole experiment.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fastlab.base.cache import explained_full_disk
from fastlab.base.model import Experiment, FastError, Run
from fastlab.base.progress import Reporter
from fastlab.plan.experiment import keep_experiment
from fastlab.plan.paired_plan import Slot
from fastlab.plan.rows import Row
from fastlab.plan.run_log import RunLog


@dataclass(frozen=True)
class Request:
    """A run to make. `key` is its row's key; on a real machine the run has a `slot` in a block."""

    key: str
    run: Run
    slot: Slot | None = None


class Backend(Protocol):
    """Where runs are made."""

    def check(self) -> None:
        """Before anything is written: raise FastError that says what is missing and what to do."""

    def opened(self, rows: Sequence[Row]) -> AbstractContextManager[None]:
        """Prepare the machine for this experiment, which has these rows, and keep the plan. The
        machine is restored afterwards."""

    def pending(self, rows: Sequence[Row]) -> Sequence[Request]:
        """The remaining runs that can be made now, in order."""

    def measure(self, requests: Sequence[Request], deadline: float) -> Iterator[Row]:
        """Make the runs; yield a row as each ends. A failed run is a row with the reason. Raises
        TimeoutError if the deadline (time.monotonic()) passes during a run."""


def run_experiment(
    backend: Backend,
    experiment: Experiment,
    source: Path | None,
    directory: Path,
    reporter: Reporter,
) -> list[Row]:
    """Make every unfinished run that can be made now; returns all rows.

    `source` is the experiment's file, if any. The next call repeats a failed run. The call may be
    interrupted at any time: the written rows are safe, and a further call continues.
    """
    backend.check()
    with RunLog(directory / "runs.jsonl") as log, explained_full_disk(directory):
        if log.warning:
            reporter.say(log.warning)
        with backend.opened(log.rows):
            if source:
                keep_experiment(source, experiment, directory)
            _execute(backend, experiment, log, reporter)
        return log.rows


def _execute(backend: Backend, experiment: Experiment, log: RunLog, reporter: Reporter) -> None:
    deadline = time.monotonic() + experiment.watchdogs.total
    title = f"running {experiment.name}"
    tried: set[str] = set()
    done = 0
    reporter.start(title, 0)
    try:
        while now := [request for request in backend.pending(log.rows) if request.key not in tried]:
            _check_time(deadline)
            total = done + len(now)
            reporter.start(title, total)
            tried |= {request.key for request in now}
            for row in backend.measure(now, deadline):
                log.append(row)
                done += 1
                threads = f" {row['threads']} threads" if row["threads"] else ""
                note = f"{row['variant']} {row['benchmark']}{threads}"
                reporter.advance(title, done, note)
                if row["status"] != "ok":
                    reporter.say(f"{row['status']}: {note}: {row['reason']}")
                # The last run may end late.
                if done < total:
                    _check_time(deadline)
    except TimeoutError as error:
        raise FastError(
            f"watchdog: the experiment took longer than {experiment.watchdogs.total:g} s in all; "
            f"the {len(log.rows)} rows written are safe. Run the same command again to go on, or "
            "raise total under [watchdogs]"
        ) from error
    finally:
        reporter.finish(title)


def _check_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError
