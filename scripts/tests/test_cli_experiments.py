# SPDX-License-Identifier: GPL-2.0
"""The command line of experiments and kernels: what reaches the stages, what is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import samples
from command_line import Stages, write_results

from fastlab.base.model import FastError
from fastlab.cli import main
from fastlab.kernel import kernels
from fastlab.kernel.kernels import BuildRequest, DebRequest
from fastlab.plan import plan_file
from fastlab.shell import machine

# It has a class of Simulator, which tests replace.
from fastlab.trial import program_machines  # noqa: F401


def test_dry_run_lists_the_runs_and_does_nothing(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["run", str(experiment_file), "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("baseline: /bin/single_ctr --threads 4 --iterations=2000 --seed 1 --json")
    assert lines[-1] == "6 runs, kernels 6.12: baseline, fast"
    assert len(lines) == 7
    assert [path.name for path in experiment_file.parent.iterdir()] == ["small.toml"]


def test_more_memory_than_a_simulated_machine_has_is_refused_before_anything_is_built(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = experiment_file.read_text()
    experiment_file.write_text(text + "[machine]\nmemory_mb = 4096\n")
    for words in (["run"], ["run", "--dry-run"], ["trace"]):
        assert main.main([*words, "small.toml"]) == 1
        assert "4096 MB of memory, and a simulated one has at most 3072" in capsys.readouterr().err
    assert [path.name for path in experiment_file.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ([], machine.ShellRequest(None, "fast", ())),
        (["--"], machine.ShellRequest(None, "fast", ())),
        (["--", "uname", "-r"], machine.ShellRequest(None, "fast", ("uname", "-r"))),
        (
            ["6.12", "--variant", "baseline", "--", "sh", "--", "--variant"],
            machine.ShellRequest("6.12", "baseline", ("sh", "--", "--variant")),
        ),
    ],
)
def test_shell_hands_over_the_words_behind_two_dashes(
    words: list[str], asked: machine.ShellRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[machine.ShellRequest] = []

    def run(request: machine.ShellRequest, reporter: object) -> int:
        heard.append(request)
        return 7

    monkeypatch.setattr(machine, "run", run)
    assert main.main(["shell", *words]) == 7
    assert heard == [asked]


def test_run_goes_through_the_stages_and_ends_with_the_digest(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stages = Stages(monkeypatch)
    assert main.main(["run", "small.toml", "--jobs", "3"]) == 0
    results = Path("results/small")
    assert stages.asked == [
        ("6.12", ("baseline", "fast")),
        ({"baseline": "6.12-baseline", "fast": "6.12-fast"}, "toolbox of built", results, 3),
    ]
    out = capsys.readouterr().out
    assert re.search(r"^digest of the results: [0-9a-f]{64}$", out, re.MULTILINE)
    assert f"wrote {results}: summary.md" in out
    # One sentence, above the tables and below them; the other variant's stands above only.
    *_, wrote, said, last = out.splitlines()
    assert said.startswith("fast made 1 of 1 cases faster than baseline (up")
    digest, first, second, nothing = out.splitlines()[:4]
    assert digest.startswith("digest") and wrote.startswith("wrote")
    assert first == said and second.startswith("fast-deep made ") and not nothing
    assert last == f"report: {results}/report.html"
    # Again from the results alone, byte by byte.
    before = {path.name: path.read_bytes() for path in results.iterdir()}
    assert main.main(["report", str(results)]) == 0
    assert {path.name: path.read_bytes() for path in results.iterdir()} == before


def test_output_is_the_results_directory(
    experiment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Stages(monkeypatch)
    assert main.main(["run", "small.toml", "--output", "elsewhere"]) == 0
    assert Path("elsewhere/report.html").is_file()
    assert not Path("results").exists()


def contents(directory: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in directory.rglob("*") if one.is_file()}


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--backend", "soft"]])
def test_the_results_of_another_experiment_stay(
    more: list[str],
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stages = Stages(monkeypatch)
    assert main.main(["run", "small.toml"]) == 0
    before, asked = contents(Path("results")), len(stages.asked)
    Path("other.toml").write_text(experiment_file.read_text().replace("small", "other", 1))
    capsys.readouterr()
    assert main.main(["run", "other.toml", "--output", "results/small", *more]) == 1
    assert capsys.readouterr().err.startswith(
        "fast: results/small has the runs of the experiment 'small', made by backend 'sim'"
    )
    assert contents(Path("results")) == before and len(stages.asked) == asked


def test_an_experiment_that_is_changed_goes_on_in_its_results(
    experiment_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Stages(monkeypatch)
    write_results(experiment_file, Path("results/small"))
    changed = experiment_file.read_text().replace("seeds = [1, 2]", "seeds = [1, 2, 3]")
    experiment_file.write_text(changed)
    assert main.main(["run", "small.toml", "--dry-run"]) == 0
    assert "9 runs" in capsys.readouterr().out


def test_results_of_another_backend_stay(experiment_file: Path) -> None:
    kept = Path("results/small")
    write_results(experiment_file, kept)
    (kept / "plan.json").write_text('{"backend": "soft"}')
    with pytest.raises(FastError, match="made by backend 'soft'"):
        plan_file.check_own(kept, "small", "sim")
    plan_file.check_own(kept, "small", "soft")
    # Where no run has been made, nothing is lost.
    (kept / "runs.jsonl").write_text("")
    plan_file.check_own(kept, "other", "sim")
    plan_file.check_own(Path("nowhere"), "other", "sim")


def test_a_run_that_says_nothing_is_status_3_after_the_report(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Stages(monkeypatch, broken="fast-deep")
    assert main.main(["run", "small.toml"]) == 3
    captured = capsys.readouterr()
    assert "fast-deep: single_ctr, 4 threads, seed 2: invalid: FAST never fired" in captured.err
    assert "digest of the results" in captured.out
    assert captured.out.splitlines()[-1] == "report: results/small/report.html"
    summary = json.loads(Path("results/small/summary.json").read_text())
    assert [(one["status"], one["which"]) for one in summary["left_out"]] == [
        ("invalid", "seed 1"),
        ("invalid", "seed 2"),
    ]


def test_compare_prints_tables_only(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(experiment_file, Path("old"))
    before = sorted(Path("old").iterdir())
    assert main.main(["compare", "old"]) == 0
    captured = capsys.readouterr()
    assert "60.0" in captured.out
    assert "…" not in captured.out
    assert captured.err == ""
    assert sorted(Path("old").iterdir()) == before
    first, *_, said, last = captured.out.splitlines()
    assert first == said
    assert re.fullmatch(r"report: `.*fast report old` writes it", last)
    assert main.main(["report", "old"]) == 0
    capsys.readouterr()
    assert main.main(["compare", "old"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "report: old/report.html"


def test_the_answer_is_not_broken_within_words(
    experiment_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(experiment_file, Path("old"))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    assert main.main(["report", "old"]) == 0
    _, *said, last = capsys.readouterr().out.splitlines()
    assert last == "report: old/report.html"
    assert len(said) > 2 and max(map(len, said)) <= 40
    assert " ".join(said).startswith("fast made 1 of 1 cases faster than baseline")


def test_compare_tells_of_runs_not_made_yet(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(experiment_file, Path("old"))
    rows = Path("old/runs.jsonl")
    whole = rows.read_text().splitlines(keepends=True)
    rows.write_text("".join(whole[:5]) + whole[5][:40])
    assert main.main(["compare", "old"]) == 3
    err = capsys.readouterr().err
    assert "old/runs.jsonl:6: the last row was cut short" in err
    assert "fast-deep: single_ctr, 4 threads, seed 2: missing: not made yet" in err


def test_of_many_runs_not_made_yet_there_are_a_few_and_a_count(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = experiment_file.read_text().replace("seeds = [1, 2]", f"seeds = {list(range(1, 21))}")
    experiment_file.write_text(text)
    write_results(experiment_file, Path("old"), broken="fast-deep")
    rows = Path("old/runs.jsonl")
    made = rows.read_text().splitlines(keepends=True)
    rows.write_text("".join(one for one in made if '"fast"' not in one or '"fast-deep"' in one))
    assert main.main(["compare", "old"]) == 3
    lines = capsys.readouterr().err.splitlines()
    named = [line.strip() for line in lines if line.startswith("  fast: ")]
    assert len(named) == 4 and named[2].endswith("seed 3: missing: not made yet")
    assert named[3] == "fast: missing: 20 runs in all; the report lists them"
    # What failed has a reason of its own.
    assert len([line for line in lines if line.startswith("  fast-deep: ")]) == 20


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [("50", 0, ""), ("-5", 0, ""), ("60.5", 4, "not at least +60.5 %")],
)
def test_fail_below(
    asked: str,
    status: int,
    words: str,
    experiment_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_results(experiment_file, Path("old"))
    assert main.main(["compare", "old", "--fail-below", asked]) == status
    assert words in capsys.readouterr().err


def test_of_one_variant_nothing_is_compared(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = experiment_file.read_text()
    begin, end = (text.index(one) for one in (samples.VARIANTS, "[[benchmark]]"))
    alone = '[[variant]]\nname = "baseline"\nkernel = "baseline"\n'
    experiment_file.write_text(text[:begin] + alone + text[end:])
    write_results(experiment_file, Path("results"))
    assert main.main(["report", "results"]) == 0
    said = "Nothing is compared: baseline is the only variant."
    assert said in capsys.readouterr().out
    for form in ("summary.md", "summary.ktap"):
        assert said in Path("results", form).read_text()
    assert main.main(["compare", "results"]) == 0
    assert main.main(["compare", "results", "--fail-below=1"]) == 3
    error = capsys.readouterr().err
    assert f"--fail-below 1: {said} Add a [[variant]] to the experiment file" in error


def test_no_answer_is_no_pass(experiment_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(experiment_file, Path("old"))
    rows = Path("old/runs.jsonl")
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:5]))
    assert main.main(["compare", "old", "--fail-below", "-5"]) == 3
    assert "fast-deep: single_ctr-4: incomplete" in capsys.readouterr().err


def test_compare_in_another_form(experiment_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(experiment_file, Path("old"))
    assert main.main(["compare", "old", "--format", "ktap", "--fail-below", "70"]) == 4
    assert capsys.readouterr().out.startswith("KTAP version 1\n1..2\n")


def test_report_needs_only_the_results(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(experiment_file, Path("old"))
    experiment_file.unlink()
    assert main.main(["report", "old"]) == 0
    out = capsys.readouterr().out
    for name in ("report.html", "summary.md", "summary.csv", "summary.json"):
        assert name in out and (Path("old") / name).is_file()


@pytest.mark.parametrize("command", ["compare", "report"])
def test_what_is_no_results_directory_is_said(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main([command, str(tmp_path)]) == 1
    assert f"fast: {tmp_path}: not a results directory" in capsys.readouterr().err


def test_kernel_build_passes_on_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[BuildRequest] = []
    monkeypatch.setattr(kernels, "build", lambda request, reporter: asked.append(request))
    words = "kernel build 6.12 --variant fast --variant baseline --source s --fragment a"
    assert main.main(words.split()) == 0
    (request,) = asked
    assert request == BuildRequest(
        "6.12", ("fast", "baseline"), Path("s"), ("a",), places=request.places
    )


def test_kernel_deb_passes_on_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[DebRequest] = []
    monkeypatch.setattr(kernels, "deb", lambda request, reporter: asked.append(request))
    assert main.main(["kernel", "deb", "--config", "c", "--output", "o"]) == 0
    (request,) = asked
    assert request == DebRequest(Path("o"), config=Path("c"), places=request.places)


def test_kernel_list_is_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAST_CACHE", str(tmp_path))
    assert main.main(["kernel", "list"]) == 0
    captured = capsys.readouterr()
    assert "6.12 baseline\n  not built\n" in captured.out
    assert captured.err == ""
