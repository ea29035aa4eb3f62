# SPDX-License-Identifier: GPL-2.0
"""Every rendering against a golden file, and what reads it: a schema, and the kernel's parser.

`python scripts/tests/test_renderings.py` writes the golden files anew.
"""

from __future__ import annotations

import csv
import io
import math
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path

import paired
import pytest
import samples
import xmlschema
from rich.console import Console
from samples import summarise
from test_report import BESIDE, Page

from fastlab.base.cache import cache_dir
from fastlab.base.model import FastError, Workload
from fastlab.plan.experiment import plan
from fastlab.plan.paired_plan import Dataset, PairedRow, Slot
from fastlab.report import tables
from fastlab.report.contents import FORMATS, html_text
from fastlab.report.document import csv_text
from fastlab.report.forms import NAMES, judged_cases, junit, ktap
from fastlab.report.markup import markdown_table, rich_table
from fastlab.statistics.findings import Finding, Findings, LeftOut
from fastlab.statistics.paired import analyse

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
ASKED = -5.0


@cache
def simulated() -> Findings:
    """Exact: a gain and a loss; prod_cons never fires, and affinity lacks a run."""
    of = samples.experiment(("single_ctr", "prod_cons", "affinity"), (4, 16), (1, 2))
    rows = []
    for run in plan(of):
        fast = run.variant.name == "fast"
        benchmark = run.workload.benchmark
        factor = (0.75 if run.workload.threads == 4 else 1.1) if fast else 1.0
        never = {"mechanism": dict.fromkeys(samples.MECHANISM, 0)}
        cycles = round(1_000_000 * (1 + 0.01 * run.seed) * factor)
        counters = {"elapsed_cycles": cycles, "cycles": cycles, "l2_misses": round(400 * factor)}
        if (benchmark, run.seed, fast) != ("affinity", 2, True):
            extra = never if fast and benchmark == "prod_cons" else {}
            rows.append(samples.row(of, run, counters, **extra))
    return summarise(of, rows)


@cache
def real() -> Findings:
    """On a real machine: a gain, nothing, a loss, and a FAST that never fired."""
    effects = {"single_ctr": 0.2, "multiple_ctr": 0.0, "doubly_list": -0.15, "prod_cons": 0.3}
    of = replace(paired.PLAN, workloads=tuple(Workload(name, 4) for name in effects), max_blocks=12)

    def one(slot: Slot, number: int) -> float:
        # Noise of about 2 % that is the same everywhere, whatever numpy's generators do.
        noise = 0.03 * math.sin(12.9898 * (number + 1) ** 1.5)
        faster = effects[slot.workload.benchmark] if slot.side == "B" else 0
        return 1e6 * (1 - faster * (slot.pair == "strict")) * math.exp(noise)

    dataset = paired.experiment(of, one)
    return analyse(replace(dataset, rows=tuple(map(_furnished, dataset.rows))))


@cache
def real_page() -> str:
    return html_text(real())


def _furnished(row: PairedRow) -> PairedRow:
    """With a few more metrics; and some rows are bad."""
    strict = row["side"] == "B" and row["pair"] == "strict"
    row = {**row, "context_switches": 900 + row["block"] * 7 % 5, "fairness": 0.98}
    row["thread_throughput"] = [90.0 + row["position"], 100.0, 100.0, 100.0]
    row["latency"] = {"handoff": [[1000, 900], [2000 if strict else 4000, 95], [64000, 5]]}
    row["latency_missing"] = {"wakeup": "tracefs cannot be used: Permission denied"}
    environment = {**paired.CIRCUMSTANCES["environment"], "virtual": True, "turbo": None}
    row["circumstances"] = {**paired.CIRCUMSTANCES, "environment": environment}
    if strict and row["benchmark"] == "prod_cons" and row["block"] == 3:
        row["status"], row["reason"] = "invalid", "FAST never fired: used + same_cpu = 0"
    return row


# A number that is not rounded.
_NUMBER = re.compile(r"-?\d+\.\d{10,}(?:e[-+]\d+)?")

SAMPLES: Mapping[str, Callable[[], Findings]] = {"simulated": simulated, "real": real}


# The page is drawn, and the simulation's Markdown has tables that need every finding: both have
# tests of their own.
WRITTEN = [
    (sample, form)
    for sample in SAMPLES
    for form in FORMATS
    if form != "html" and (sample, form) != ("simulated", "markdown")
]


def brief(sample: str, form: str = "") -> Findings:
    """One finding of each kind. In JSON, where each takes 20 lines, only one with numbers and one
    without: the fields are those of CSV."""
    found = SAMPLES[sample]()
    first = {one.verdict: one for one in reversed(found.findings)}
    if form == "json":
        first = {verdict: first[verdict] for verdict in ("better", "INVALID")}
    return replace(
        found,
        findings=tuple(one for one in found.findings if one is first.get(one.verdict)),
        left_out=found.left_out[:1],
        mechanism=found.mechanism[:1],
    )


def golden(sample: str, form: str) -> Path:
    return GOLDEN / f"{sample}{NAMES[form].removeprefix('summary')}"


@pytest.mark.parametrize(("sample", "form"), WRITTEN)
def test_golden(sample: str, form: str) -> None:
    text = FORMATS[form](brief(sample, form), ASKED)
    expected = golden(sample, form).read_text()
    assert _NUMBER.split(text) == _NUMBER.split(expected)
    # The last digits of what is not rounded are the C library's: it computes exp() in one way on
    # a CPU with fused multiply-add, in another on one without.
    numbers = [float(number) for number in _NUMBER.findall(text)]
    assert numbers == pytest.approx([float(n) for n in _NUMBER.findall(expected)], rel=1e-12, abs=0)


@pytest.mark.parametrize("form", ["markdown", "ktap"])
def test_what_a_program_said_is_one_line(form: str) -> None:
    """Else a kernel's message would be a test of its own, a table's end, or a terminal's colour."""
    said = "first\nok 9 second\r\n\x1b[31m| third\u2028fourth"
    found = brief("real")
    (left, *_) = found.left_out
    findings = tuple(
        one if one.verdict in ("better", "worse") else replace(one, reason=said)
        for one in found.findings
    )
    assert {"~", "INVALID"} <= {one.verdict for one in findings if one.reason == said}
    spoilt = replace(found, findings=findings, left_out=(replace(left, reason=said),))
    lines = FORMATS[form](spoilt, ASKED).splitlines()
    assert any("first ok 9 second ?[31m" in line for line in lines)
    assert not any(line.startswith(("ok 9", "fourth")) or "\x1b" in line for line in lines)
    assert lines == FORMATS[form](spoilt, ASKED).removesuffix("\n").split("\n")


def test_a_cell_is_one_line_that_no_terminal_obeys() -> None:
    found = brief("real")
    spoilt = replace(found, left_out=(replace(found.left_out[0], reason="a\x1b[2J\r\nb"),))
    table = tables.left_out(spoilt)
    out = io.StringIO()
    Console(file=out, width=200).print(rich_table(table))
    for text in (out.getvalue(), markdown_table(table)):
        assert "a?[2J b" in text
        assert "\x1b" not in text


def primary(findings: Findings) -> dict[str, Finding]:
    return {one.workload: one for one in findings.of_metric(findings.primary)}


def test_what_the_samples_show() -> None:
    assert {name: one.verdict for name, one in primary(real()).items()} == {
        "single_ctr-4": "better",
        "multiple_ctr-4": "~",
        "doubly_list-4": "worse",
        "prod_cons-4": "INVALID",
    }
    assert {name: one.verdict for name, one in primary(simulated()).items()} == {
        "single_ctr-4": "better",
        "single_ctr-16": "worse",
        "prod_cons-4": "INVALID",
        "prod_cons-16": "INVALID",
        "affinity-4": "incomplete",
        "affinity-16": "incomplete",
    }


def test_cases_by_threshold() -> None:
    def outcomes(fail_below: float | None) -> list[str]:
        return [case.outcome for case in judged_cases(real(), fail_below)]

    assert outcomes(None) == ["passed", "passed", "passed", "error"]
    assert outcomes(-5) == ["passed", "passed", "failed", "error"]
    assert outcomes(-50) == ["passed", "passed", "passed", "error"]
    # What is asked for is enough.
    assert judged_cases(simulated(), 25)[0].outcome == "passed"
    # No significant change is no gain, however large it looks.
    assert outcomes(1) == ["passed", "failed", "failed", "error"]


def test_a_primary_metric_that_is_not_measured() -> None:
    with pytest.raises(FastError, match="primary metric task_clock is not measured by backend sim"):
        judged_cases(replace(simulated(), primary="task_clock"), None)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("fail_below", [None, ASKED, 50.0])
def test_junit_is_valid(sample: str, fail_below: float | None) -> None:
    schema = xmlschema.XMLSchema(HERE / "junit.xsd")
    text = junit(SAMPLES[sample](), fail_below)
    schema.validate(text)
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        schema.validate(text.replace("<testcase ", "<testcase time='now' ", 1))


def test_junit_of_unprintable_words() -> None:
    found = simulated()
    text = junit(replace(found, left_out=(panic("panic: \x1b[1m <&> \x00"),)))
    xmlschema.XMLSchema(HERE / "junit.xsd").validate(text)
    assert "panic: ?[1m &lt;&amp;&gt; ?" in text


def panic(said: str) -> LeftOut:
    return LeftOut("single_ctr", 4, (), "fast", "seed 1", "failed", said)


def kunit() -> Path:
    """The kernel's parser, of any source tree that `fast kernel build` has unpacked."""
    trees = cache_dir() / "trees"
    found = sorted(trees.glob("*/source/tools/testing/kunit/kunit.py"))
    if not found:
        pytest.skip(f"no kernel source is in {trees}: `fast kernel build` unpacks one")
    return found[0]


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("fail_below", [None, ASKED])
def test_the_kernel_reads_ktap(sample: str, fail_below: float | None, tmp_path: Path) -> None:
    findings = SAMPLES[sample]()
    cases = judged_cases(findings, fail_below)
    path = tmp_path / "results"
    path.write_text(ktap(findings, fail_below))
    parsed = subprocess.run(
        [sys.executable, kunit(), "parse", "--json", path], capture_output=True, text=True
    )
    output = parsed.stdout + parsed.stderr
    passed = sum(case.outcome == "passed" for case in cases)
    assert f"Ran {len(cases)} tests: passed: {passed}, failed: {len(cases) - passed}" in output
    assert "[ERROR]" not in output
    for case in cases:
        word = "PASSED" if case.outcome == "passed" else "FAILED"
        assert f"[{word}] {case.finding.workload}" in output


def test_the_kernel_accepts_what_passes(tmp_path: Path) -> None:
    findings = real()
    good = tuple(one for one in findings.findings if one.benchmark != "prod_cons")
    path = tmp_path / "results"
    path.write_text(ktap(replace(findings, findings=good), -50))
    assert subprocess.run([kunit(), "parse", path], capture_output=True).returncode == 0


def test_nothing_is_dropped_silently() -> None:
    """Whatever the form, each bad run and each doubt is in it."""
    findings = real()
    assert findings.doubts and findings.left_out and findings.calibration
    # There they are in fields of their own.
    structured = {(form, one.sentence) for one in findings.left_out for form in ("json", "html")}
    for form, render in FORMATS.items():
        if form == "csv":
            continue
        text = unescape(render(findings, None))
        sentences = [one.sentence for one in findings.left_out]
        for line in (*findings.doubts, *findings.calibration, *sentences):
            assert line in text or (form, line) in structured, form
        for metric in findings.not_available:
            assert metric.name in text, form
            assert findings.why_not_available(metric.name) in text, form


def test_an_empty_dataset_is_still_rendered() -> None:
    nothing = analyse(Dataset(paired.PLAN, ()))
    for render in FORMATS.values():
        assert "calibration" in render(nothing, ASKED)


def test_the_page_loads_nothing() -> None:
    page = Page(real_page())
    assert page.loads == []
    assert {link.partition("#")[0] for link in page.links} - {""} == BESIDE


def test_the_page_shows_every_block() -> None:
    found, text = real(), real_page()
    assert "a dot is one block" in text
    assert len(primary(found)["single_ctr-4"].singles) == 12
    # Three of the four workloads have an answer.
    assert [text.count(f"\nblock {number}: ") for number in (0, 11, 12)] == [3, 3, 0]


def test_the_page_quotes_what_it_shows() -> None:
    page = html_text(replace(simulated(), left_out=(panic("panic: <script>"),)))
    assert "panic: &lt;script&gt;" in page and page.count("<script>") == 1


def test_csv_of_what_is_not_available() -> None:
    lines = list(csv.DictReader(csv_text(real()).splitlines()))
    assert len(lines) == len(real().findings)
    absent = next(line for line in lines if line["metric"] == "cycles")
    assert (absent["baseline"], absent["improvement_pct"], absent["verdict"]) == ("", "", "n/a")
    assert absent["baseline_runs"] == "0"
    first = next(line for line in lines if line["metric"] == "elapsed_ns")
    found = primary(real())["single_ctr-4"]
    assert float(first["improvement_pct"]) == found.improvement_pct
    assert float(first["baseline"]) == found.baseline.mean
    assert first["reason"] == found.reason


if __name__ == "__main__":
    for sample, form in WRITTEN:
        golden(sample, form).write_text(FORMATS[form](brief(sample, form), ASKED))
