# SPDX-License-Identifier: GPL-2.0
"""The busiest milliseconds of recordings side by side: which thread runs on which CPU, and which
hands over to which.

Equal recordings give equal bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fastlab.report.drawing import GRID, INK, Form, mark, ramp, render
from fastlab.trace import lanes
from fastlab.trace.recording import Recording

# A longer stretch would not show the single threads of a lock.
SHOWN_NS = 1_000_000
_HEIGHT = 0.7
# Of what is no thread of the program, such as the kernel's.
_OTHERS = "#b8bec6"


def timeline(recordings: Sequence[Recording], form: Form, shown_ns: int = SHOWN_NS) -> bytes:
    """The picture as a file: of each recording the `shown_ns` with the most hand-offs."""
    cpus = 1 + max(event.cpu for shown_run in recordings for event in shown_run.events)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(recordings), sharey=True, squeeze=False)
        for axes, recording in zip(panels.flat, recordings, strict=True):
            _panel(axes, recording, shown_ns)
            axes.set_yticks(range(cpus), [f"CPU {cpu}" for cpu in range(cpus)])
            axes.set_ylim(cpus - 0.4, -0.6)

    return render("timeline", (5.5 * len(recordings), 0.8 + 0.55 * cpus), draw, form)


def busiest(recording: Recording, shown_ns: int = SHOWN_NS) -> int:
    """When the first of the stretches of `shown_ns` begins that have the most hand-offs, as a time
    of the recording. Without any: when the recording begins."""
    released = sorted(handoff.released for handoff in recording.handoffs)
    within = [bisect_left(released, ns + shown_ns) - i for i, ns in enumerate(released)]
    if not within:
        return recording.begin
    begin = released[within.index(max(within))]
    # No time is shown that lies after the recording, if that is long enough.
    return max(recording.begin, min(begin, recording.end - shown_ns))


def _panel(axes: Axes, recording: Recording, shown_ns: int) -> None:
    begin = busiest(recording, shown_ns)
    end = begin + shown_ns
    handoffs = [own for own in recording.handoffs if begin <= own.released < end]
    since = recording.begin
    colours = _colours(recording)
    for stretch in lanes.stretches(recording.events):
        if stretch.begin < end and stretch.end > begin:
            shown = max(stretch.begin, begin)
            corner = (_ms(shown - since), stretch.cpu - _HEIGHT / 2)
            width = _ms(min(stretch.end, end) - shown)
            colour = colours.get(stretch.tid, _OTHERS)
            bar = axes.add_patch(Rectangle(corner, width, _HEIGHT, color=colour, linewidth=0))
            mark(
                bar,
                f"thread {stretch.tid} on CPU {stretch.cpu} for {stretch.end - stretch.begin:,} ns",
            )
    for handoff in handoffs:
        if handoff.acquired is not None and handoff.to_cpu is not None and handoff.acquired < end:
            arrow = axes.annotate(
                "",
                (_ms(handoff.acquired - since), handoff.to_cpu),
                (_ms(handoff.released - since), handoff.from_cpu),
                arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 0.5, "shrinkB": 0},
            )
            assert arrow.arrow_patch
            mark(
                arrow.arrow_patch,
                f"{handoff.latency:,} ns from thread {handoff.releasing} on CPU "
                f"{handoff.from_cpu} to thread {handoff.acquiring} on CPU {handoff.to_cpu}",
            )
    crossed = sum(own.to_cpu not in (None, own.from_cpu) for own in handoffs)
    axes.set_title(
        f"{recording.title}: {len(handoffs)} hand-offs, {crossed} to another CPU", loc="left"
    )
    axes.set_xlim(_ms(begin - since), _ms(end - since))
    axes.set_xlabel("ms since the recording began")
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.grid(axis="x", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def _colours(recording: Recording) -> dict[int, str]:
    """Of the threads that hand over or are handed to."""
    both = ((handoff.releasing, handoff.acquiring) for handoff in recording.handoffs)
    tids = sorted({tid for pair in both for tid in pair if tid is not None})
    return dict(zip(tids, ramp(len(tids)), strict=True))


def _ms(ns: int) -> float:
    return ns / 1e6
