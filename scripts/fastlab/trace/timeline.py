# SPDX-License-Identifier: GPL-2.0
"""The first milliseconds of recordings side by side: who runs where, and who hands over to whom.

Equal recordings give equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fastlab.report.drawing import GRID, INK, Form, mark, ramp, render
from fastlab.trace import lanes
from fastlab.trace.recording import Recording

# Whoever looks is to tell the threads of a lock apart.
SHOWN_NS = 1_000_000
_HEIGHT = 0.7
# Of what is no thread of the program, such as the kernel's.
_OTHERS = "#b8bec6"


def timeline(recordings: Sequence[Recording], form: Form, shown_ns: int = SHOWN_NS) -> bytes:
    """The picture as a file. Each recording is shown from its begin on."""
    cpus = 1 + max(event.cpu for one in recordings for event in one.events)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(recordings), sharey=True, squeeze=False)
        for axes, recording in zip(panels.flat, recordings, strict=True):
            _panel(axes, recording, shown_ns)
            axes.set_yticks(range(cpus), [f"CPU {cpu}" for cpu in range(cpus)])
            axes.set_ylim(cpus - 0.4, -0.6)

    return render("timeline", (5.5 * len(recordings), 0.8 + 0.55 * cpus), draw, form)


def _panel(axes: Axes, recording: Recording, shown_ns: int) -> None:
    begin, end = recording.begin, recording.begin + shown_ns
    handoffs = [one for one in recording.handoffs if one.released < end]
    colours = _colours(recording)
    for one in lanes.stretches(recording.events):
        if one.begin < end:
            where = (_ms(one.begin - begin), _ms(min(one.end, end) - one.begin))
            across = (one.cpu - _HEIGHT / 2, _HEIGHT)
            colour = colours.get(one.tid, _OTHERS)
            bar = axes.broken_barh([where], across, color=colour, linewidth=0)
            mark(bar, f"thread {one.tid} on CPU {one.cpu} for {one.end - one.begin:,} ns")
    for handoff in handoffs:
        if handoff.acquired is not None and handoff.to_cpu is not None and handoff.acquired < end:
            arrow = axes.annotate(
                "",
                (_ms(handoff.acquired - begin), handoff.to_cpu),
                (_ms(handoff.released - begin), handoff.from_cpu),
                arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 0.5, "shrinkB": 0},
            )
            assert arrow.arrow_patch
            mark(
                arrow.arrow_patch,
                f"{handoff.latency:,} ns from thread {handoff.releasing} on CPU "
                f"{handoff.from_cpu} to thread {handoff.acquiring} on CPU {handoff.to_cpu}",
            )
    crossed = sum(one.to_cpu not in (None, one.from_cpu) for one in handoffs)
    axes.set_title(
        f"{recording.title}: {len(handoffs)} hand-offs, {crossed} to another CPU", loc="left"
    )
    axes.set_xlim(0, _ms(shown_ns))
    axes.set_xlabel("ms")
    axes.grid(axis="x", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def _colours(recording: Recording) -> dict[int, str]:
    """Of the threads that hand over or are handed to."""
    both = ((one.releasing, one.acquiring) for one in recording.handoffs)
    tids = sorted({tid for pair in both for tid in pair if tid is not None})
    return dict(zip(tids, ramp(len(tids)), strict=True))


def _ms(ns: int) -> float:
    return ns / 1e6
