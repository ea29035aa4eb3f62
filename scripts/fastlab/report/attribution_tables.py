# SPDX-License-Identifier: GPL-2.0
"""Where a variant's stall cycles come from: tables of functions and of false sharing."""

from __future__ import annotations

from collections.abc import Sequence

from fastlab.base.demangle import short
from fastlab.base.metrics import EVENTS
from fastlab.report.tables import Cell, Table, value
from fastlab.statistics.attributed import Attributed

# Stall cycles are a column of their own, and most L1 events are hits.
_COLUMNS = ("instructions", "l2_misses", "l3_misses", "bus_requests", "cache_to_cache")


def attribution_tables(attributed: Sequence[Attributed]) -> list[Table]:
    """For each workload the costliest functions of its variants, and the falsely shared lines."""
    workloads = dict.fromkeys(variant.workload for variant in attributed)
    return [
        table
        for workload in workloads
        for of in [[variant for variant in attributed if variant.workload == workload]]
        for table in (_functions(workload, of), _false_sharing(workload, of))
    ]


def _functions(workload: str, variants: Sequence[Attributed]) -> Table:
    rows = []
    for variant in variants:
        stalls = variant.totals["stall_cycles"]
        for function in variant.functions:
            stall = function.costs["stall_cycles"]
            where = f" ({function.source})" if function.source else ""
            rows.append(
                [
                    Cell(variant.variant_name),
                    Cell(f"{function.function}{where}", short=f"{short(function.function)}{where}"),
                    Cell(function.binary),
                    Cell(value(stall / variant.runs), strong=True),
                    Cell(f"{stall * 100 / stalls:.1f} %" if stalls else "-"),
                    *(Cell(value(function.costs[name] / variant.runs)) for name in _COLUMNS),
                ]
            )
    columns = ["variant", "function", "of", "stall cycles", "share"]
    columns += [EVENTS[name] for name in _COLUMNS]
    note = (
        "The functions in which CPUs wait longest for memory, means of a run, with the source line "
        "that waits longest. share: of all stall cycles of the variant."
    )
    return Table(f"Stall cycles by function: {workload}", columns, rows, note, 3)


def _false_sharing(workload: str, variants: Sequence[Attributed]) -> Table:
    rows = [
        [
            Cell(variant.variant_name),
            Cell(line.name, strong=True, short=short(line.name)),
            Cell("; ".join(line.touched)),
            Cell(", ".join(line.by), short=", ".join(map(short, line.by))),
            Cell(value(line.moves / variant.runs)),
            Cell(value(line.in_vain / variant.runs)),
            Cell(value(line.stall_cycles / variant.runs)),
        ]
        for variant in variants
        for line in variant.false_sharing
    ]
    columns = ["variant", "line", "bytes", "fetched by", "moves", "in vain", "stall cycles"]
    note = (
        "Cache lines that CPUs take from each other although they use different bytes, means of a "
        "run. in vain: moves after which the CPU used no byte that another CPU had written."
    )
    without = [variant.variant_name for variant in variants if not variant.false_sharing]
    if without:
        note += f" No relevant line: {', '.join(without)}."
    return Table(f"False sharing: {workload}", columns, rows, note, 4)
