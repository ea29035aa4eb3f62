# SPDX-License-Identifier: GPL-2.0
"""Experiment files: what they mean, and that bad ones are refused by name."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import samples

from fastlab.base.model import (
    BENCHMARKS,
    INTERVALS_BENCHMARKS,
    SPLASH_PROGRAMS,
    FastError,
    Machine,
    Workload,
)
from fastlab.plan import presets
from fastlab.plan.experiment import (
    KERNELS,
    benchmark_result,
    further_programs,
    keep_experiment,
    load_experiment,
    plan,
    run_key,
    workload_argv,
)
from fastlab.plan.splash_sizes import OPTIONS, Word

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

GOOD = f"""
name = "tiny"
series = "6.12"
baseline = "baseline"
threads = [4, 16]
seeds = [1, 2]
[machine]
cpus = 4
{samples.VARIANTS}
[defaults]
iterations = 2000
warmup = 400
[[benchmark]]
name = "single_ctr"
iterations = 100
options = {{ cs_lines = 16 }}
[[benchmark]]
name = "prod_cons"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "threads", "seeds", "variants", "runs"),
    [
        ("demo", {4, 16}, 5, 4, 7 * 2 * 5 * 4),
        ("think", {4, 16}, 5, 4, 7 * 2 * 5 * 4),
        ("arms", {4, 16}, 5, 7, 7 * 2 * 5 * 7),
        ("paper", {4, 8, 16, 32, 64, 128}, 5, 2, 7 * 6 * 5 * 2),
        ("depth", {4, 16, 64}, 1, 5, 7 * 3 * 1 * 5),
    ],
)
def test_shipped(name: str, threads: set[int], seeds: int, variants: int, runs: int) -> None:
    experiment = load_experiment(EXPERIMENTS / f"{name}.toml")
    assert experiment.name == name
    assert {w.threads for w in experiment.workloads} == threads
    assert {w.benchmark for w in experiment.workloads} == set(BENCHMARKS)
    assert len(experiment.seeds) == seeds
    assert len(experiment.variants) == variants
    assert experiment.machine.cpus == 4
    assert len(plan(experiment)) == runs


def test_own_options_win_over_defaults(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    assert experiment.workloads[0] == Workload(
        "single_ctr", 4, ("--iterations=100", "--warmup=400", "--cs-lines=16")
    )
    assert experiment.workloads[-1] == Workload(
        "prod_cons", 16, ("--iterations=2000", "--warmup=400")
    )


def test_controls(tmp_path: Path) -> None:
    more = """
[[variant]]
name = "control"
kernel = "wakecpu"
cpus = 2
features = ["NO_DELAY_DEQUEUE", "NEXT_BUDDY"]
"""
    *_, free, control = load_experiment(write(tmp_path, GOOD + more)).variants
    assert (free.features, free.cpus) == ((), None)
    assert (control.kernel, control.policy, control.cpus) == ("wakecpu", "off", 2)
    assert control.features == ("NO_DELAY_DEQUEUE", "NEXT_BUDDY")


def test_the_oracles_arms(tmp_path: Path) -> None:
    assert load_experiment(write(tmp_path, GOOD)).oracle == ()
    for name in ("demo", "think", "arms"):
        oracle = load_experiment(EXPERIMENTS / f"{name}.toml").oracle
        assert oracle == ("baseline", "onecpu", "strict")


def test_primary_metric(tmp_path: Path) -> None:
    assert load_experiment(write(tmp_path, GOOD)).primary == "elapsed_ns"
    named = GOOD.replace("threads = [4, 16]", 'threads = [4, 16]\nprimary = "handoff_p99"')
    assert load_experiment(write(tmp_path, named)).primary == "handoff_p99"


def test_latencies_are_asked_for(tmp_path: Path) -> None:
    assert not load_experiment(write(tmp_path, GOOD)).latencies
    asked = GOOD.replace("threads = [4, 16]", "threads = [4, 16]\nlatencies = true")
    experiment = load_experiment(write(tmp_path, asked))
    assert experiment.latencies
    # The simulation makes the same runs.
    assert plan(experiment) == plan(load_experiment(write(tmp_path, GOOD)))


def test_attribution_is_asked_for(tmp_path: Path) -> None:
    without = load_experiment(write(tmp_path, GOOD))
    assert not without.attribute
    asked = GOOD.replace("threads = [4, 16]", "threads = [4, 16]\nattribute = true")
    experiment = load_experiment(write(tmp_path, asked))
    assert experiment.attribute
    assert plan(experiment) == plan(without)
    # A run that was made without it has left no file.
    (run, *_) = plan(experiment)
    assert run_key(run, "kernel", "tools", attribute=True) != run_key(run, "kernel", "tools")


def test_command_line(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    assert workload_argv(experiment.workloads[0], 7) == [
        "/bin/single_ctr",
        "--threads",
        "4",
        "--iterations=100",
        "--warmup=400",
        "--cs-lines=16",
        "--seed",
        "7",
        "--json",
    ]


def test_plan_keeps_variants_of_a_workload_together(tmp_path: Path) -> None:
    runs = plan(load_experiment(write(tmp_path, GOOD)))
    first_seed = [
        (run.variant.name, run.workload.benchmark, run.workload.threads)
        for run in runs
        if run.seed == 1
    ]
    assert [run.seed for run in runs] == [1] * 8 + [2] * 8
    assert first_seed[:4] == [
        ("baseline", "single_ctr", 4),
        ("fast", "single_ctr", 4),
        ("baseline", "single_ctr", 16),
        ("fast", "single_ctr", 16),
    ]


def test_key_changes_with_what_changes_the_result(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    run = plan(experiment)[1]
    key = run_key(run, "k", "t")
    others = [
        run_key(run, "k2", "t"),
        run_key(run, "k", "t2"),
        run_key(replace(run, seed=2), "k", "t"),
        run_key(replace(run, case=experiment.cases[1]), "k", "t"),
        run_key(replace(run, variant=experiment.variants[0]), "k", "t"),
        run_key(replace(run, variant=replace(run.variant, knobs={"depth": 2})), "k", "t"),
        run_key(replace(run, variant=replace(run.variant, features=("A",))), "k", "t"),
        run_key(replace(run, variant=replace(run.variant, cpus=1)), "k", "t"),
        run_key(replace(run, case=replace(run.case, machine=Machine(quantum=4000))), "k", "t"),
    ]
    assert len({key, *others}) == len(others) + 1


def test_a_machine_of_ones_own(tmp_path: Path) -> None:
    text = (presets.DIRECTORY / "rx4640.toml").read_text().replace('"rx4640"', '"mine"')
    (tmp_path / "mine.toml").write_text(text)
    path = write(tmp_path, GOOD.replace("cpus = 4", 'cpus = 4\npreset = "mine.toml"'))
    experiment = load_experiment(path)
    assert experiment.machine.preset_name == "mine"
    run = plan(experiment)[0]
    key = run_key(run, "k", "t")

    # The copy among the results is the same machine, wherever it lies.
    (tmp_path / "results").mkdir()
    keep_experiment(path, experiment, tmp_path / "results")
    kept = load_experiment(tmp_path / "results/experiment.toml")
    assert run_key(plan(kept)[0], "k", "t") == key
    # A comment changes nothing, a figure does.
    (tmp_path / "mine.toml").write_text(f"# Mine.\n{text}")
    assert run_key(run, "k", "t") == key
    (tmp_path / "mine.toml").write_text(text.replace("mhz = 1300", "mhz = 1301"))
    assert run_key(run, "k", "t") != key


def test_key_ignores_what_does_not(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    run = plan(experiment)[1]
    renamed = replace(
        experiment,
        name="other",
        seeds=(1, 9),
        watchdogs=replace(experiment.watchdogs, run=1.0),
    )
    assert run_key(plan(renamed)[1], "k", "t") == run_key(run, "k", "t")


# What is changed in GOOD, and what the error must say.
BAD = {
    "primary": (
        'series = "6.12"',
        'series = "6.12"\nprimary = "cycle"',
        ["primary", "cycle", "cycles", "did you mean"],
    ),
    "syntax": ("seeds = [1, 2]", "seeds = [1, 2", ["TOML", "line"]),
    "unknown key": ("seeds = [1, 2]", "seed = [1]", ["seed", "did you mean seeds?"]),
    "unknown key in a table": ("cpus = 4", "cpu = 4", ["machine", "did you mean cpus?"]),
    "missing list": ("seeds = [1, 2]", "", ["seeds", "missing"]),
    "benchmark": ('"single_ctr"', '"singel_ctr"', ["singel_ctr", *BENCHMARKS, "mean single_ctr"]),
    "kernel": ('kernel = "fast"', 'kernel = "fsat"', ["fsat", "baseline, fast, wakecpu"]),
    "policy": ('"strict"', '"harsh"', ["harsh", "off, strict"]),
    "preset": ("cpus = 4", 'preset = "rx464"', ["machine: ", "rx464", "did you mean rx4640?"]),
    "preset of a wrong type": ("cpus = 4", "preset = 4", ["preset", "4", "built-in"]),
    "preset elsewhere": ("cpus = 4", 'preset = "../a.toml"', ["../a.toml", "directory"]),
    "preset that is not there": ("cpus = 4", 'preset = "a.toml"', ["a.toml: No such file"]),
    "cpus that share no L3 evenly": (
        "cpus = 4",
        'cpus = 12\npreset = "epyc-milan"',
        ["machine: cpus = 12", "1 to 8, or a multiple of 8"],
    ),
    "no threads": ("[4, 16]", "[0]", ["threads", "0", "1 to 1024"]),
    "negative threads": ("[4, 16]", "[-4]", ["threads", "-4", "1 to 1024"]),
    "too many threads": ("[4, 16]", "[100000]", ["threads", "100000", "1 to 1024"]),
    "odd threads": ("[4, 16]", "[4, 5]", ["threads", "5", "prod_cons", "even"]),
    "threads twice": ("[4, 16]", "[4, 4]", ["threads", "4", "once"]),
    "seed twice": ("seeds = [1, 2]", "seeds = [2, 2]", ["seeds", "2", "once"]),
    "no seeds": ("seeds = [1, 2]", "seeds = []", ["seeds", "at least one"]),
    "seed of a wrong type": ("seeds = [1, 2]", 'seeds = ["a"]', ["seeds", '"a"', "whole number"]),
    "a truth is no number": ("seeds = [1, 2]", "seeds = [true]", ["seeds", "true", "whole"]),
    "variant twice": ('name = "fast"', 'name = "baseline"', ["variant", "baseline", "once"]),
    "baseline": (
        'baseline = "baseline"',
        'baseline = "base"',
        ["baseline", '"base"', "baseline, fast"],
    ),
    "no variants": ("[[variant]]", "[[benchmark]]", ["variant"]),
    "benchmark twice": ('"prod_cons"', '"single_ctr"', ["benchmark", "single_ctr", "once"]),
    "table for a value": ('series = "6.12"', "series = 6.12", ["series", "6.12"]),
    "value for a table": ("[machine]\ncpus = 4", "machine = 4", ["machine", "4", "a table"]),
    "name that is a path": ('name = "tiny"', 'name = "../x"', ["name", "../x", "letters"]),
    "unknown option": ("cs_lines", "cs_line", ["options", "cs_line", "did you mean cs_lines?"]),
    "iterations": ("iterations = 100", "iterations = 0", ["iterations", "0", "1 to"]),
    "odd iterations": ("iterations = 2000", "iterations = 2001", ["[[benchmark]] 2", "2001"]),
    "odd warm-up": ("warmup = 400", "warmup = 401", ["[[benchmark]] 2", "warmup", "even"]),
    "few iterations": ("iterations = 100", "iterations = 15", ["15", "each of 16 threads"]),
    "lines": ("cs_lines = 16", "cs_lines = 2000", ["options", "cs_lines", "1 to 1024"]),
    "line": ("cs_lines = 16", "line = 96", ["options", "line", "96", "power of two"]),
    "knob": ('"strict"', '"strict"\nknobs = { deep = 1 }', ["knobs", "deep", "depth, opt_in"]),
    "a knob's value": ('"strict"', '"strict"\nknobs = { opt_in = 2 }', ["opt_in", "2", "0 to 1"]),
    "policy on the unpatched kernel": (
        'kernel = "fast"',
        'kernel = "baseline"',
        ["kernel with FAST"],
    ),
    "policy on a control": ('kernel = "fast"', 'kernel = "wakecpu"', ["kernel with FAST"]),
    "cpus": ('policy = "strict"', 'policy = "strict"\ncpus = 5', ["cpus = 5", "from 1 to 4"]),
    "no cpus": ('policy = "strict"', 'policy = "strict"\ncpus = 0', ["cpus = 0", "from 1 to 4"]),
    "feature": (
        'policy = "strict"',
        'policy = "strict"\nfeatures = ["no_wakeup"]',
        ["features", "no_wakeup", "NEXT_BUDDY"],
    ),
    "a feature that is no list": (
        'policy = "strict"',
        'policy = "strict"\nfeatures = "NEXT_BUDDY"',
        ["features", "a list of"],
    ),
    "a feature both ways": (
        'policy = "strict"',
        'policy = "strict"\nfeatures = ["NEXT_BUDDY", "NO_NEXT_BUDDY"]',
        ["features", "NEXT_BUDDY only once"],
    ),
    "oracle": (
        "seeds = [1, 2]",
        'seeds = [1]\noracle = ["baseline", "fats"]',
        ["oracle", "fats", "baseline, fast (did you mean fast?)"],
    ),
    "oracle twice": (
        "seeds = [1, 2]",
        'seeds = [1]\noracle = ["fast", "fast"]',
        ["oracle", "fast", "once"],
    ),
    "oracle that is no list": (
        "seeds = [1, 2]",
        'seeds = [1]\noracle = "fast"',
        ["oracle", "a list of names"],
    ),
    "quantum": ("cpus = 4", "quantum = 99", ["quantum = 99", "100 to 100000"]),
    "latencies": (
        "seeds = [1, 2]",
        'seeds = [1]\nlatencies = "yes"',
        ['latencies = "yes"', "true, false"],
    ),
    "attribution": (
        "seeds = [1, 2]",
        'seeds = [1]\nattribute = "yes"',
        ['attribute = "yes"', "true, false"],
    ),
    "latencies by number": (
        "seeds = [1, 2]",
        "seeds = [1]\nlatencies = 1",
        ["latencies = 1", "true, false"],
    ),
    "watchdog": ("[machine]", "[watchdogs]\nrun = nan\n[machine]", ["watchdogs", "run", "more"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(tmp_path: Path, case: str) -> None:
    old, new, words = BAD[case]
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(FastError) as caught:
        load_experiment(path)
    for word in [str(path), *words]:
        assert word in str(caught.value)


SPLASH = f"""
name = "tiny"
series = "6.12"
baseline = "baseline"
threads = [4, 128]
seeds = [1]
{samples.VARIANTS}
[[benchmark]]
name = "fft"
options = {{ m = 16 }}
[[benchmark]]
name = "water_nsquared"
options = {{ molecules = 512, energy_every = 2, cutoff = 6.5 }}
[[benchmark]]
name = "barnes"
"""


def test_a_splash_2_program_takes_its_size(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, SPLASH))
    words = ("--molecules=512", "--energy-every=2", "--cutoff=6.5", "--profile")
    assert experiment.workloads[2] == Workload("water_nsquared", 4, words)
    assert experiment.workloads[-1] == Workload("barnes", 128, ("--profile",))
    assert further_programs(experiment) == ("barnes", "fft", "water_nsquared")


# As BAD, for SPLASH.
BAD_SPLASH = {
    "iterations": ('name = "fft"', 'name = "fft"\niterations = 5', ["1: unknown key iterations"]),
    "another's option": ("m = 16", "molecules = 8", ["options", "molecules", "allowed: m"]),
    "range": ("m = 16", "m = 32", ["options", "m = 32", "2 to 30"]),
    "odd": ("m = 16", "m = 15", ["m = 15", "an even number"]),
    "no number": ("m = 16", 'm = "16"', ["m", "whole number"]),
    "truth": ("m = 16", "m = true", ["m = true", "whole number"]),
    "threads": ("m = 16", "m = 8", ["threads = 128", "fft has work for 16"]),
    "no cube": ("molecules = 512", "molecules = 511", ["molecules", "511", "a cube"]),
    "molecules": ("molecules = 512", "molecules = 64", ["threads", "work for 64"]),
    "real": ("cutoff = 6.5", "cutoff = 1", ["cutoff = 1", "a number from 2"]),
    "nan": ("cutoff = 6.5", "cutoff = nan", ["cutoff", "a number from 2"]),
    "word": (
        'name = "barnes"',
        'name = "barnes"\noptions = { distribution = "gauss" }',
        ["distribution", "plummer, uniform"],
    ),
    "radix": (
        'name = "barnes"',
        'name = "radix"\noptions = { r = 100 }',
        ["r = 100", "power of two"],
    ),
    "block": (
        'name = "barnes"',
        'name = "lu_contiguous"\noptions = { n = 8, b = 16 }',
        ["b = 16", "at most n"],
    ),
    "two matrices": (
        'name = "barnes"',
        'name = "cholesky"\noptions = { grid = 8, dense = 16 }',
        ["dense = 16", "or a grid"],
    ),
}


@pytest.mark.parametrize("case", BAD_SPLASH)
def test_a_bad_size_of_a_splash_2_program(tmp_path: Path, case: str) -> None:
    old, new, words = BAD_SPLASH[case]
    assert old in SPLASH
    with pytest.raises(FastError) as caught:
        load_experiment(write(tmp_path, SPLASH.replace(old, new)))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "preset"),
    [("splash2", "rx4640-quarter"), ("splash2-short", "rx4640-quarter"), ("splash2-paper", None)],
)
def test_splash_2_is_the_papers_nine(name: str, preset: str | None) -> None:
    experiment = load_experiment(EXPERIMENTS / f"{name}.toml")
    assert {one.benchmark for one in experiment.workloads} == set(SPLASH_PROGRAMS)
    # The third is for a real machine.
    assert experiment.machine.preset == (preset or Machine.preset)
    assert further_programs(experiment) == SPLASH_PROGRAMS


def test_the_splash_2_programs_have_these_options() -> None:
    harness = EXPERIMENTS.parent / "splash2-harness"
    headers = "\n".join(path.read_text() for path in harness.glob("*/*.h"))
    for program, options in OPTIONS.items():
        folder = {"lu": "lu", "wa": "water"}.get(program[:2], program)
        sources = [*harness.glob(f"{program}.c"), *(harness / folder).glob("*.c")]
        text = "\n".join(path.read_text() for path in sources)
        limits = dict(re.findall(r"#define (MAX_\w+) (.+)", f"{headers}\n{text}"))
        limits["UINT32_MAX"] = str(2**32 - 1)
        for name, option in options.items():
            entry = re.search(rf'\{{ "{name.replace("_", "-")}",((?:[^}}]|\n)*)\}}', text)
            assert entry, f"{program}: {name}"
            if isinstance(option, Word):
                continue
            # The last two of it are the least and the most.
            stated = [word.strip() for word in entry[1].split(",")[-2:]]
            for word, bound in zip(stated, (option.low, option.high), strict=True):
                value = limits.get(word, word)
                shift = re.fullmatch(r"\(?UINT64_C\(1\) << (\d+)\)?", value)
                assert float(2 ** int(shift[1]) if shift else value) == bound, f"{program}: {name}"


def test_iterations_must_be_somewhere(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace("iterations = 2000\n", ""))
    with pytest.raises(FastError, match=r"\[\[benchmark\]\] 2: iterations is missing"):
        load_experiment(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"none\.toml: No such file or directory.*demo\.toml"):
        load_experiment(tmp_path / "none.toml")


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"a\xff")
    with pytest.raises(FastError, match="byte 1 is not UTF-8"):
        load_experiment(path)


def test_names_are_those_of_the_parts_that_own_them() -> None:
    root = EXPERIMENTS.parent
    kernels = tomllib.loads((root / "Kbuild/kernels.toml").read_text())
    # The checked one is never measured.
    assert (*KERNELS, "kcsan") == tuple(kernels["variants"])
    for name in BENCHMARKS:
        assert f'"{name}"' in (root / "microbench/common/list.c").read_text()


def test_the_runtimes_benchmarks_are_in_the_guest_of_who_runs_them() -> None:
    demo = load_experiment(EXPERIMENTS / "demo.toml")
    assert further_programs(demo) == ()
    intervals = load_experiment(EXPERIMENTS / "intervals.toml")
    assert further_programs(intervals) == INTERVALS_BENCHMARKS
    one = replace(intervals, workloads=(Workload("intervals_idle", 4), *demo.workloads))
    assert further_programs(one) == ("intervals_idle",)


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["hello", '{"check": "ok"}', "{}"], {"check": "ok"}),
        (["hello"], None),
        (['{"check": "o'], None),
        ([], None),
    ],
)
def test_the_result_in_a_benchmarks_output(lines: list[str], result: object) -> None:
    assert benchmark_result(lines) == result
