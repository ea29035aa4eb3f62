# SPDX-License-Identifier: GPL-2.0
"""runs.jsonl: how a run is judged, and that no crash, full disk or second writer loses a row."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import paired
import pytest
import samples

from fastlab.base.model import FastError, Variant, Workload
from fastlab.plan.paired_plan import Slot
from fastlab.plan.rows import counters_digest, finished_keys, latest, never_fired
from fastlab.plan.run_log import RunLog, read_rows

EXPERIMENT = samples.experiment()
FAST_RUN = samples.run_of(EXPERIMENT, "fast")
BASELINE_RUN = samples.run_of(EXPERIMENT, "baseline")
ADAPTIVE_RUN = replace(FAST_RUN, variant=Variant("adaptive", "fast", "adaptive"))


def three_rows() -> list[Any]:
    return [samples.row(EXPERIMENT, samples.run_of(EXPERIMENT, "fast", seed)) for seed in (1, 2, 3)]


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Writing beyond `size` bytes of a file fails part of the way, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_counters_keep_user_and_kernel_apart_and_leave_idle_out() -> None:
    row = samples.row(EXPERIMENT, FAST_RUN, {"cycles": 4000})
    assert row["counters"]["cycles"] == {
        "unit": "modelled cycles",
        "user": 3000,
        "kernel": 1000,
        "total": 4000,
    }
    assert row["status"] == "ok"
    assert row["backend"] == "sim"
    assert row["kernel"] == {"series": "6.12", "variant": "fast", "id": "kernel-fast"}


def test_time_is_the_modelled_machines() -> None:
    document = samples.document(elapsed_cycles=2_600_001) | {"mhz": 1300}
    # The benchmark's own clock says something else.
    row = samples.row(EXPERIMENT, FAST_RUN, changes={"elapsed_ns": 7}, document=document)
    assert row["elapsed_ns"] == 2_000_001
    assert row["throughput"] == pytest.approx(2000 * 1e9 / 2_000_001)


def test_without_a_document_there_is_no_time() -> None:
    row = samples.row(EXPERIMENT, FAST_RUN, document=None)
    assert row["elapsed_ns"] is None
    assert row["throughput"] is None


def test_what_threads_waited_for_is_kept() -> None:
    row = samples.row(EXPERIMENT, FAST_RUN, changes={"profile": samples.PROFILE})
    assert row["profile"] == samples.PROFILE
    assert "profile" not in samples.row(EXPERIMENT, FAST_RUN)


def test_latencies_are_kept() -> None:
    row = samples.row(EXPERIMENT, FAST_RUN)
    assert row["latencies"] == {"handoff": samples.latency(900), "wakeup": samples.latency(2600)}
    assert "latencies" not in samples.row(EXPERIMENT, FAST_RUN, document=None)


@pytest.mark.parametrize("latencies", [{}, {"handoff": samples.latency(1)}])
def test_a_document_without_latencies_is_not_trusted(latencies: dict[str, Any]) -> None:
    document = samples.document() | {"latencies": latencies}
    row = samples.row(EXPERIMENT, FAST_RUN, document=document)
    assert (row["status"], row["reason"]) == (
        "failed",
        "the cache model's document lacks latencies: it is not of this version",
    )


NEVER = samples.MECHANISM | {"used": 0, "same_cpu": 0}


@pytest.mark.parametrize(
    ("run", "mechanism", "status", "reason"),
    [
        (FAST_RUN, samples.MECHANISM, "ok", ""),
        # It may have had nothing to act on.
        (FAST_RUN, NEVER, "ok", ""),
        (FAST_RUN, None, "invalid", "no mechanism counters"),
        (ADAPTIVE_RUN, None, "invalid", "no mechanism counters"),
        (BASELINE_RUN, None, "ok", ""),
        (BASELINE_RUN, NEVER, "ok", ""),
        (BASELINE_RUN, samples.MECHANISM, "invalid", "fired 80 times with policy off"),
    ],
)
def test_a_run_must_be_what_its_variant_says(
    run: Any, mechanism: dict[str, int] | None, status: str, reason: str
) -> None:
    row = samples.row(EXPERIMENT, run, mechanism=mechanism)
    assert row["status"] == status
    assert reason in row["reason"]
    assert bool(row["reason"]) == (status != "ok")


@pytest.mark.parametrize(
    ("run", "mechanisms", "reason"),
    [
        (FAST_RUN, [samples.MECHANISM], ""),
        (FAST_RUN, [NEVER, NEVER | {"same_cpu": 1}], ""),
        (FAST_RUN, [NEVER, NEVER | {"preferred": 1}], ""),
        (FAST_RUN, [NEVER, NEVER | {"hint_set": 0}], "used + same_cpu = 0 with policy strict"),
        (FAST_RUN, [NEVER | {"hint_set": 0}] * 2, "no wake-up of exactly one thread"),
        (FAST_RUN, [None], ""),
        (FAST_RUN, [], ""),
        # It measures, and may leave all as it is.
        (ADAPTIVE_RUN, [NEVER | {"hint_set": 0}], ""),
        (BASELINE_RUN, [NEVER], ""),
    ],
)
def test_fast_must_have_fired_in_one_of_the_runs(
    run: Any, mechanisms: list[dict[str, int] | None], reason: str
) -> None:
    rows = [samples.row(EXPERIMENT, run, mechanism=mechanism) for mechanism in mechanisms]
    found = never_fired(rows)
    assert bool(found) == bool(reason)
    assert reason in found


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"changes": {"check": "failed", "check_detail": "3 of 4"}}, "self-check failed: 3 of 4"),
        ({"changes": {"check": "failed"}, "exit_status": 1}, "self-check failed: no detail"),
        ({"changes": {"check": None}}, "reports check None"),
        ({"changes": {"threads": 5}}, "reports threads 5, not 4"),
        ({"changes": {"benchmark": "affinity"}}, "reports benchmark affinity"),
        ({"output": None}, "printed no result"),
        ({"document": None}, "no document"),
        ({"document": {"preset": "rx4640", "cpus": 4}}, "lacks elapsed_cycles"),
        ({"document": samples.document(elapsed_cycles=0)}, "lacks elapsed_cycles"),
        ({"document": samples.document() | {"mhz": 0}}, "lacks mhz"),
        ({"document": samples.document() | {"total": {}}}, "lacks bus_requests"),
        ({"document": samples.document() | {"preset": "xeon-2s"}}, "preset xeon-2s"),
        ({"exit_status": 139}, "status 139"),
        ({"exit_status": None}, "without the benchmark's exit status"),
        ({"failure": "no answer for 600 s"}, "no answer for 600 s"),
    ],
)
def test_a_run_that_went_wrong_failed(arguments: dict[str, Any], reason: str) -> None:
    # Also when FAST did not fire: failed says more.
    row = samples.row(EXPERIMENT, FAST_RUN, mechanism=NEVER, **arguments)
    assert row["status"] == "failed"
    assert reason in row["reason"]


def test_failed_runs_are_made_again_and_the_later_row_counts() -> None:
    failed = samples.row(EXPERIMENT, FAST_RUN, failure="hang")
    good = samples.row(EXPERIMENT, FAST_RUN)
    invalid = samples.row(EXPERIMENT, samples.run_of(EXPERIMENT, "fast", 2), mechanism=NEVER)
    assert finished_keys([failed, invalid]) == {invalid["key"]}
    assert finished_keys([failed, invalid, good]) == {invalid["key"], good["key"]}
    assert latest([failed, invalid, good]) == [good, invalid]


def test_rows_come_back(tmp_path: Path) -> None:
    path = tmp_path / "results" / "runs.jsonl"
    rows = three_rows()
    with RunLog(path) as log:
        log.append(rows[0])
    with RunLog(path) as log:
        assert log.rows == rows[:1]
        log.append(rows[1])
        assert log.rows == rows[:2]
    assert read_rows(path) == (rows[:2], "")


@pytest.mark.parametrize("keep", [1, 100, -1])
def test_torn_last_line_is_dropped_and_the_file_mended(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "runs.jsonl"
    rows = three_rows()
    whole = [json.dumps(row) + "\n" for row in rows]
    # keep = -1: only the newline is missing.
    path.write_text(whole[0] + whole[1][:keep])
    read, warning = read_rows(path)
    assert read == rows[:1]
    assert f"{path}:2" in warning
    with RunLog(path) as log:
        assert log.warning == warning
        assert path.read_text() == whole[0]
        log.append(rows[2])
    assert read_rows(path) == ([rows[0], rows[2]], "")


def test_garbage_at_the_end_is_a_torn_line(tmp_path: Path) -> None:
    """Of whatever bytes, but not with an end: that is no row that was being written."""
    path = tmp_path / "runs.jsonl"
    whole = json.dumps(three_rows()[0]).encode() + b"\n"
    path.write_bytes(whole + b"\0\0\0\xff")
    rows, warning = read_rows(path)
    assert len(rows) == 1
    assert f"{path}:2" in warning
    path.write_bytes(whole + b'{"schema": 3, \n')
    with pytest.raises(FastError, match=r"runs\.jsonl:2: not a row: .*; delete the line"):
        read_rows(path)
    with pytest.raises(FastError, match=r"runs\.jsonl:2: not a row"):
        RunLog(path)
    assert path.read_bytes() == whole + b'{"schema": 3, \n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"schema": 3, ', "not a row"),
        ("null", "no schema version; delete the line (its run is then made again) or restore"),
        ('{"schema": 3}', "kernel, key"),
        ('{"schema": 3}', "; delete the line (its run is then made again) or restore the file"),
        ('{"schema": 2}', "schema version 2, this program knows 3"),
        pytest.param("[" * 100_000, "not a row", id="brackets without end"),
    ],
)
def test_a_corrupt_middle_line_is_an_error(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "runs.jsonl"
    row = json.dumps(three_rows()[0]) + "\n"
    path.write_text(row + line + "\n" + row)
    with pytest.raises(FastError) as caught:
        read_rows(path)
    assert f"{path}:2" in str(caught.value)
    assert message in str(caught.value)
    with pytest.raises(FastError):
        RunLog(path)
    assert path.read_text() == row + line + "\n" + row


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"elapsed_ns": -1}, "elapsed_ns is -1; allowed: 0 to"),
        ({"migrations": -3}, "migrations is -3"),
        ({"throughput": "fast"}, r"Expected `float \| null`, got `str` - at `\$.throughput`"),
        ({"threads": True}, r"Expected `int`, got `bool` - at `\$.threads`"),
        ({"fairness": 1.5}, "fairness is 1.5, and it lies between 0 and 1"),
        ({"thread_throughput": [1.0, -1.0]}, "thread_throughput of thread 2 is -1.0"),
        (
            {"thread_throughput": 7},
            r"Expected `array \| null`, got `int` - at `\$.thread_throughput`",
        ),
        ({"benchmark": "single_crt"}, "unknown benchmark 'single_crt'; there are single_ctr"),
        ({"status": "fine"}, r"Invalid enum value 'fine' - at `\$.status`"),
        ({"mechanism": {"used": -1}}, "mechanism used is -1"),
        ({"mechanism": [1]}, r"Expected `object \| null`, got `array` - at `\$.mechanism`"),
        ({"counters": {"cycels": {"unit": "", "total": 1}}}, "unknown metric 'cycels'"),
        ({"counters": {"cycles": {"unit": "", "total": -1}}}, "cycles is -1"),
        ({"counters": {"cycles": 12}}, r"Expected `object`, got `int` - at `\$.counters\[...\]`"),
        (
            {"counters": {"cycles": {"unit": ""}}},
            r".*field `total` - at `\$.counters\[...\]`",
        ),
        (
            {"counters": {"cycles": {"unit": "", "total": 5, "user": 1, "kernel": 3}}},
            "cycles is 5, and user and kernel together are 4",
        ),
        ({"latencies": {"nap": {}}}, "unknown latency 'nap'; there are handoff, wakeup"),
        ({"latencies": {"wakeup": {"p50_ns": -5}}}, "wakeup p50_ns is -5"),
        ({"counters": None}, r"Expected `object`, got `null` - at `\$.counters`"),
        ({"latencies": None}, r"Expected `object`, got `null` - at `\$.latencies`"),
        ({"locks": None}, r"Expected `array`, got `null` - at `\$.locks`"),
        (
            {"locks": [{"name": "x"}]},
            r".*field `taken_in` - at `\$.locks\[0\]`",
        ),
        (
            {"counters": {"cycles": {"unit": "", "total": None}}},
            r"Expected `int`.* at `.*total`",
        ),
        ({"argv": None}, r"Expected `array`, got `null` - at `\$.argv`"),
        ({"argv": [["a"]]}, r"Expected `str`, got `array` - at `\$.argv\[0\]`"),
        ({"key": ["a"]}, r"Expected `str`, got `array` - at `\$.key`"),
        ({"kernel": "x"}, r"Expected `object`, got `str` - at `\$.kernel`"),
        ({"kernel": None}, r"Expected `object`, got `null` - at `\$.kernel`"),
        ({"kernel": {}}, r"Object missing required field `series` - at `\$.kernel`"),
        ({"profile": {}}, r"Object missing required field `locks` - at `\$.profile`"),
        ({"profile": {**samples.PROFILE, "locks": -1}}, "profile locks is -1"),
        ({"elapsed_ns": float("inf")}, r"Expected `int \| null`, .* at `\$.elapsed_ns`"),
        ({"throughput": float("nan")}, "throughput is nan; allowed: 0 to"),
        (
            {"elapsed_ns": 10**400},
            r"elapsed_ns is 1000+\.\.\.; allowed: 0 to 2\^64 - 1",
        ),
        ({"elapsed_ns": 0}, "elapsed_ns is 0; allowed: more than 0"),
        ({"threads": None}, r"Expected `int`, got `null` - at `\$.threads`"),
        ({"threads": 99}, "threads is 99, and argv says /bin/single_ctr --threads 4 "),
        ({"seed": None}, r"Expected `int`, got `null` - at `\$.seed`"),
        ({"seed": 99}, "seed is 99, and argv says /bin/single_ctr --threads 4 "),
        ({"status": "failed", "reason": None}, r"Expected `str`, got `null` - at `\$.reason`"),
    ],
)
def test_an_impossible_row_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "runs.jsonl"
    row = three_rows()[0]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in (row, {**row, **change}, row)))
    with pytest.raises(FastError, match=rf"runs\.jsonl:2: impossible: {said}"):
        read_rows(path)


LACKING: dict[str, Any] = {"environment": {**paired.CIRCUMSTANCES["environment"]}}
del LACKING["environment"]["smt"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"block": "3"}, r"Expected `int`, got `str` - at `\$.block`"),
        ({"block": -1}, "block is -1; allowed: 0 to"),
        ({"position": "x"}, r"Expected `int`, got `str` - at `\$.position`"),
        ({"position": -1}, "position is -1"),
        ({"side": "C"}, r"Invalid enum value 'C' - at `\$.side`"),
        ({"pair": 1}, r"Expected `str`, got `int` - at `\$.pair`"),
        ({"circumstances": {}}, "circumstances: .*field `environment`"),
        ({"circumstances": paired.CIRCUMSTANCES | LACKING}, "circumstances: .*field `smt`"),
        (
            {"circumstances": {**paired.CIRCUMSTANCES, "before": {"ticks": "x"}}},
            r"circumstances: Expected `int`, got `str` - at `\$.before.ticks`",
        ),
        *(
            (
                {
                    "circumstances": {
                        **paired.CIRCUMSTANCES,
                        part: {**paired.CIRCUMSTANCES[part], "further": 1},
                    }
                },
                "circumstances: circumstances have further fields: further",
            )
            for part in ("environment", "before", "after")
        ),
        ({"circumstances": {**paired.CIRCUMSTANCES, "x": 1}}, ".* further fields: x"),
        (
            {
                "circumstances": {
                    **paired.CIRCUMSTANCES,
                    "environment": {**paired.CIRCUMSTANCES["environment"], "cpu_list": "0-x"},
                }
            },
            "circumstances: '0-x' is not a list of CPUs such as 0-3,8",
        ),
        ({"latency": {"nap": []}}, "unknown latency 'nap'; there are handoff, wakeup"),
        ({"latency": {"handoff": [[1000]]}}, r"a bucket of handoff is \[1000\]"),
        ({"latency": {"handoff": [[1000, -1]]}}, "a bucket of handoff is -1"),
        ({"latency": {"handoff": [[-1000, 1]]}}, "a bucket of handoff is -1000"),
        ({"latency": {"handoff": [7]}}, r"Expected `array`, got `int` - at `\$.latency"),
        ({"latency_missing": [1]}, r"Expected `object`, got `array` - at `\$.latency_missing`"),
        ({"latency_missing": {"nap": "x"}}, "unknown latency 'nap'"),
        ({"backend": "sim", "latencies": {"nap": {}}}, "unknown latency 'nap'"),
    ],
)
def test_an_impossible_row_of_a_real_machine_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = tmp_path / "runs.jsonl"
    slot = Slot(Workload("single_ctr", 4), "strict", 0, 0, "B", "software")
    row = paired.row(
        slot, 1_000_000, latency={"wakeup": [[1000, 3]]}, latency_missing={"handoff": ""}
    )
    path.write_text("".join(f"{json.dumps(one)}\n" for one in (row, {**row, **change}, row)))
    with pytest.raises(FastError, match=rf"runs\.jsonl:2: impossible: {said}"):
        read_rows(path)


def test_what_is_not_available_is_possible(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    unknown = dict.fromkeys(("elapsed_ns", "throughput", "fairness", "mechanism", "migrations"))
    path.write_text(json.dumps({**three_rows()[0], **unknown, "counters": {}}) + "\n")
    assert len(read_rows(path)[0]) == 1


def test_an_unknown_schema_in_the_last_line_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"schema": 1}\n')
    with pytest.raises(FastError, match="schema version 1"):
        read_rows(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"runs\.jsonl: cannot be read: No such file"):
        read_rows(tmp_path / "runs.jsonl")


def test_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.touch()
    assert read_rows(path) == ([], "")


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with RunLog(path), pytest.raises(FastError, match=r"runs\.jsonl: another `fast run`"):
        RunLog(path)
    RunLog(path).close()


def test_full_disk_loses_no_finished_row(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    rows = three_rows()
    with RunLog(path) as log:
        log.append(rows[0])
        whole = path.read_bytes()
        # Room for a part of the second row: the write stops in its middle.
        with (
            file_size_limit(len(whole) + 200),
            pytest.raises(FastError, match=r"runs\.jsonl: cannot be written: .*1 rows"),
        ):
            log.append(rows[1])
        assert path.read_bytes() == whole
        assert log.rows == rows[:1]
        log.append(rows[1])
    assert read_rows(path) == (rows[:2], "")


def test_unwritable_place(tmp_path: Path) -> None:
    (tmp_path / "results").touch()
    with pytest.raises(FastError, match=r"results/runs\.jsonl: cannot be opened"):
        RunLog(tmp_path / "results" / "runs.jsonl")


def test_digest_is_of_what_is_deterministic() -> None:
    rows = three_rows()
    digest = counters_digest(rows)
    slower: list[Any] = [{**row, "duration": 99.0} for row in reversed(rows)]
    assert counters_digest(slower) == digest
    by_another_qemu: list[Any] = [
        {**row, "key": f"another{i}", "tools": "another"} for i, row in enumerate(rows)
    ]
    assert counters_digest(by_another_qemu) == digest
    other = samples.row(EXPERIMENT, FAST_RUN, {"l2_misses": 1001})
    assert counters_digest([other, *rows[1:]]) != digest
    assert counters_digest(rows[:2]) != digest
