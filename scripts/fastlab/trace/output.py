# SPDX-License-Identifier: GPL-2.0
"""What recordings become: files for other programs, a picture, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from fastlab.base.files import write_files
from fastlab.report.tables import Cell, Table
from fastlab.trace.perfetto_file import perfetto_trace
from fastlab.trace.recording import Loss, Recording
from fastlab.trace.timeline import timeline

TIMELINE = "timeline.svg"


def write_recordings(recordings: Sequence[Recording], directory: Path) -> list[Path]:
    """Each as TITLE.pftrace, beside its TITLE.dat, and the picture of all. Returns the paths."""
    files: list[tuple[str, str | bytes]] = [
        (f"{recording.title}.pftrace", perfetto_trace(recording)) for recording in recordings
    ]
    return write_files(directory, [*files, (TIMELINE, timeline(recordings, "svg"))])


def summary(recordings: Sequence[Recording]) -> Table:
    """What there is to see."""
    columns = ("", "hand-offs", "in vain", "to another CPU", "median, us", "migrations", "ms")
    note = (
        "in vain: another thread took the lock before the woken one; median: from the release to "
        "the end of the wait. Recording slows a run down: quote no times from it"
    )
    return Table("Recorded", columns, [_row(recording) for recording in recordings], note)


def doubts(recordings: Sequence[Recording]) -> list[str]:
    """What recordings lack: events that found no room in the buffers; or else, where FAST's own
    counters differ from them."""
    return [
        _lost(recording, recording.lost)
        if recording.lost
        else f"{recording.title}: FAST decided about {recording.looked_at} woken threads by the "
        f"trace, and about {recording.counted} by its counters"
        for recording in recordings
        if recording.lost or recording.counted != recording.looked_at
    ]


def _lost(recording: Recording, lost: Loss) -> str:
    cpus = ", ".join(str(cpu) for cpu in lost.cpus)
    of = f"CPU {cpus}" if len(lost.cpus) == 1 else f"CPUs {cpus}"
    title, ms = recording.title, (recording.end - recording.begin) / 1e6
    return (
        f"{title}: {lost.events:,} events are lost, from {ms:.2f} ms after its begin on: the "
        f"buffers of {of} were full ({lost.buffer_kb:,} KiB each). The table, {TIMELINE} and "
        f"{title}.pftrace end there; {title}.dat has all that was kept. Larger buffers: --buffer-kb"
    )


def _row(recording: Recording) -> list[Cell]:
    handoffs = recording.handoffs
    latencies = [handoff.latency for handoff in handoffs if handoff.latency is not None]
    cells = (
        recording.title,
        f"{len(handoffs)}",
        f"{sum(handoff.taken is False for handoff in handoffs)}",
        f"{sum(handoff.to_cpu not in (None, handoff.from_cpu) for handoff in handoffs)}",
        f"{median(latencies) / 1e3:.1f}" if latencies else "-",
        f"{len(recording.named('sched_migrate_task'))}",
        f"{(recording.end - recording.begin) / 1e6:.2f}",
    )
    return [Cell(text) for text in cells]
