# SPDX-License-Identifier: GPL-2.0
"""What an A/B experiment makes, in which order, and what a run's row says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import fmean
from typing import Any

import paired
import pytest
import samples

from fastlab.base.metrics import PERCENTILES, REAL
from fastlab.base.model import FastError, Variant, Workload
from fastlab.plan.paired_plan import (
    NOTHING,
    Plan,
    Slot,
    events_of,
    make_dataset,
    make_plan,
    runs_of_a_block,
    slots,
    why_missing,
    with_groups,
)
from fastlab.plan.rows import percentile, value

HISTOGRAM = [(4000, 90), (1000, 900), (64000, 9), (128000, 1)]
SLOT = Slot(Workload("single_ctr", 4), "strict", 0, 0, "B", "software")


def test_blocks_are_abba_or_baab_at_random() -> None:
    orders: dict[int, str] = {}
    for slot in slots(paired.PLAN, ["strict"], 200):
        assert slot.position == len(orders.get(slot.block, ""))
        orders[slot.block] = orders.get(slot.block, "") + slot.side
    count = Counter(orders.values())
    assert set(count) == {"ABBA", "BAAB"}
    assert 75 < count["ABBA"] < 125


def test_the_order_depends_on_the_seed_and_on_nothing_else() -> None:
    def order(plan: object = paired.PLAN, pairs: tuple[str, ...] = ("strict",)) -> list[Slot]:
        return [one for one in slots(plan, pairs, 50) if one.pair == "strict"]  # type: ignore[arg-type]

    assert order() == order(pairs=("soft", "strict"))
    assert order() != order(replace(paired.PLAN, seed=2))


def test_an_interrupted_experiment_has_as_much_of_everything() -> None:
    loads = (Workload("single_ctr", 4), Workload("prod_cons", 4))
    made = list(slots(replace(paired.PLAN, workloads=loads), ["strict"], 3))
    assert [slot.block for slot in made] == [0] * 8 + [1] * 8 + [2] * 8


@pytest.mark.parametrize(
    "control",
    [
        Variant("c", "fast", features=("A",)),
        Variant("c", "wakecpu"),
    ],
)
def test_controls_are_the_simulations(control: Variant) -> None:
    of = samples.experiment(variants=(samples.BASELINE, control))
    with pytest.raises(FastError, match="variant c is a control of the simulation"):
        make_plan(of, "kvm")


def test_only_a_kernel_of_ours_hides_that_a_program_is_confined() -> None:
    of = samples.experiment(variants=(samples.BASELINE, Variant("c", "baseline", cpus=1)))
    assert make_plan(of, "kvm").variants == ("c",)
    for backend in ("perf", "soft"):
        with pytest.raises(FastError, match="variant c has cpus = 1: the running kernel cannot"):
            make_plan(of, backend)


def block_of(pair: str, order: str, plan: Plan) -> list[str]:
    """The runs of a block with this order of the sides: side and events."""
    for block in range(40):
        runs = [slot for slot in slots(plan, [pair], 40) if slot.block == block]
        assert [slot.position for slot in runs] == list(range(len(runs)))
        if "".join(slot.side for slot in runs if slot.events == plan.groups[0]) == order:
            return [f"{slot.side} {slot.events}" for slot in runs]
    raise AssertionError(f"no block is {order}")


def test_each_place_of_a_block_is_a_run_for_each_group() -> None:
    plan = replace(paired.PLAN, groups=("cycles", "software"))
    side = {"A": ["A cycles", "A software"], "B": ["B cycles", "B software"]}
    assert block_of("strict", "ABBA", plan) == [*side["A"], *side["B"], *side["B"], *side["A"]]
    assert runs_of_a_block(plan, "strict") == 8


def test_two_runs_of_a_calibration_block_count_nothing() -> None:
    assert block_of("off", "ABBA", paired.PLAN) == [
        *("A software", "A none", "B software"),
        *("B software", "A none", "A software"),
    ]
    assert runs_of_a_block(paired.PLAN, "off") == 6
    # Of two kernels each side is a boot, and has one of them.
    assert block_of("off", "AABB", replace(paired.PLAN, boots=True)) == [
        *("A software", "A none", "A software"),
        *("B software", "B none", "B software"),
    ]
    # A level that drifts steadily is the same for them and for each group.
    runs = block_of("off", "BAAB", replace(paired.PLAN, groups=("cycles", "l2_misses", "software")))
    middles = {
        events: fmean(i for i, run in enumerate(runs) if run.endswith(events))
        for events in ("cycles", "l2_misses", "software", "none")
    }
    assert middles["none"] == middles["l2_misses"] == (len(runs) - 1) / 2
    assert max(middles.values()) - min(middles.values()) <= 2


def test_what_a_metric_is_taken_from() -> None:
    groups = ("cycles,l2_references,l2_misses", "l3_misses", "software")
    plan = replace(paired.PLAN, groups=groups)
    for metric, events in (
        ("cycles", groups[0]),
        ("l2_miss_ratio", groups[0]),
        ("l3_misses", groups[1]),
        ("l3_miss_ratio", None),
        ("bus_requests", None),
        ("task_clock", "software"),
        ("context_switches", "software"),
        ("elapsed_ns", groups[0]),
        ("fairness_min_max", groups[0]),
        ("handoff_p99", groups[0]),
    ):
        assert events_of(plan, metric) == events, metric
    assert events_of(paired.PLAN, "cycles") is None
    assert events_of(paired.PLAN, "elapsed_ns") == "software"


def test_a_primary_metric_that_the_cpu_does_not_count() -> None:
    plan = replace(paired.PLAN, primary="bus_requests")
    with pytest.raises(FastError, match="bus_requests cannot be counted on this CPU, which counts"):
        with_groups(plan, ("cycles", "software"))
    assert with_groups(plan, ("bus_requests", "software")).groups == ("bus_requests", "software")


def test_plan_of_an_experiment() -> None:
    of = replace(samples.experiment(seeds=(9, 8)), primary="elapsed_ns")
    plan = make_plan(of, "perf")
    assert (plan.baseline, plan.variants, plan.seed) == ("baseline", ("fast",), 9)
    assert plan.primary == "elapsed_ns"
    assert make_plan(replace(of, primary="cycles"), "perf").primary == "cycles"
    assert not plan.latencies
    timed = make_plan(replace(of, primary="handoff_p99", latencies=True), "soft")
    assert (timed.primary, timed.latencies) == ("handoff_p99", True)


@pytest.mark.parametrize(
    ("primary", "backend"),
    [("nonsense", "perf"), ("cycles", "soft"), ("l2_miss_ratio", "soft"), ("handoff_p99", "perf")],
)
def test_a_primary_metric_that_the_backend_does_not_measure(primary: str, backend: str) -> None:
    of = replace(samples.experiment(), primary=primary)
    with pytest.raises(
        FastError, match=f"primary = {primary} is not measured by backend {backend}"
    ) as error:
        make_plan(of, backend)
    offered = str(error.value).partition("choose one of ")[2].split(", ")
    assert "elapsed_ns" in offered
    assert ("cycles" in offered) == (backend == "perf")


def test_a_boot_is_part_of_a_block_of_two_kernels() -> None:
    of = replace(samples.experiment(("single_ctr", "affinity")), primary="elapsed_ns")
    plan = make_plan(of, "soft")
    assert plan.boots
    orders: dict[tuple[int, str], str] = {}
    for slot in slots(plan, ["baseline", "fast"], 200):
        where = slot.block, f"{slot.workload} {slot.pair}"
        if slot.events != NOTHING:
            orders[where] = orders.get(where, "") + slot.side
    count = Counter(orders.values())
    assert set(count) == {"AABB", "BBAA"}
    assert 300 < count["AABB"] < 500
    # All comparisons agree: one boot serves them all.
    for block in range(200):
        assert len({order for (number, _), order in orders.items() if number == block}) == 1


def test_one_kernel_needs_one_boot() -> None:
    off = Variant("off", "fast")
    of = replace(samples.experiment(variants=(off, samples.FAST)), baseline="off")
    assert not make_plan(replace(of, primary="elapsed_ns"), "soft").boots


def test_rows_of_another_backend_are_refused() -> None:
    good = paired.row(SLOT, 1e6)
    assert make_dataset(paired.PLAN, [good]).rows == (good,)
    of = samples.experiment()
    with pytest.raises(
        FastError, match=r"does not belong to backend soft \(backend sim; it lacks bl"
    ):
        make_dataset(paired.PLAN, [samples.row(of, samples.run_of(of, "fast"))])
    with pytest.raises(FastError, match="backend perf; it lacks nothing"):
        make_dataset(paired.PLAN, [paired.row(SLOT, 1e6, backend="perf")])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"benchmark": "affinity"}, "no workload is affinity, 4 threads"),
        ({"threads": 8}, "no workload is single_ctr, 8 threads"),
        ({"pair": "soft"}, "pair is 'soft', and there are off, strict"),
        ({"events": "cycles"}, "events is 'cycles', and there are software, none"),
        ({"position": 4}, "position is 4, and a block has 4 runs"),
        ({"block": 1}, "its block and position belong to run single_ctr-4-strict-1-0"),
        ({"key": "x"}, "its block and position belong to run single_ctr-4-strict-0-0"),
    ],
)
def test_a_row_of_no_slot_is_refused(change: dict[str, Any], said: str) -> None:
    good = paired.row(SLOT, 1e6)
    bad = good | change
    with pytest.raises(FastError, match=rf"runs\.jsonl:2: run .* not in plan.json: {said}; del"):
        make_dataset(paired.PLAN, [good, bad, good])


def test_a_run_made_again_replaces_the_first() -> None:
    rows = [paired.row(SLOT, 1e6, status="failed"), paired.row(SLOT, 2e6)]
    (kept,) = make_dataset(paired.PLAN, rows).rows
    assert kept["elapsed_ns"] == 2e6


def test_percentiles() -> None:
    found = {name: percentile(HISTOGRAM, PERCENTILES[name]) for name in PERCENTILES}
    assert found == {"p50": 1000, "p90": 1000, "p99": 4000, "p99.9": 64000, "max": 128000}
    assert percentile([(1000, 1), (9000, 0)], 1000) == 1000
    assert percentile([], 500) is None


def test_values_of_a_run() -> None:
    row = paired.row(
        SLOT,
        1e6,
        thread_throughput=[80.0, 100.0],
        fairness=0.99,
        latency={"handoff": HISTOGRAM, "wakeup": []},
        counters={"cycles": {"unit": "cycles", "user": 3, "kernel": 4, "total": 7}},
    )
    known = {"elapsed_ns": 1e6, "cycles": 7, "fairness": 0.99, "fairness_min_max": 0.8}
    known |= {"handoff_p50": 1000, "handoff_p90": 1000, "handoff_p99": 4000}
    known |= {"handoff_p99.9": 64000, "handoff_max": 128000}
    for metric in REAL:
        assert value(row, metric.name) == known.get(metric.name), metric.name


def test_why_a_value_is_missing() -> None:
    none = paired.row(SLOT, 1e6, latency={"handoff": []}, latency_missing={"wakeup": "denied"})
    some = paired.row(SLOT, 1e6, latency={"handoff": HISTOGRAM}, latency_missing={"wakeup": "gone"})
    assert why_missing([none, some, none], "handoff_p50") == "there was no handoff"
    assert why_missing([none, some, none], "wakeup_p99.9") == "denied; gone"
    assert why_missing([some], "handoff_p50") == ""
    lost = [paired.row(SLOT, 1e6, latency_missing={"wakeup": f"{one} lost"}) for one in range(9)]
    assert why_missing(lost, "wakeup_max") == "0 lost; 1 lost; and 7 reasons more"
    assert why_missing([none], "cycles") == ""


def test_no_thread_moved_is_no_fairness() -> None:
    assert value(paired.row(SLOT, 1e6, thread_throughput=[0.0, 0.0]), "fairness_min_max") is None
