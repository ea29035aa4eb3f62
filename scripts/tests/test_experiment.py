# SPDX-License-Identifier: GPL-2.0
"""Experiment files: what they mean, and what makes runs the same."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from experiment_files import GOOD, SPLASH, write
from fake_programs import BENCHMARKS

from fastlab.base.model import (
    Experiment,
    FastError,
    Machine,
    Workload,
)
from fastlab.plan import presets
from fastlab.plan.arms import KERNELS
from fastlab.plan.experiment import (
    keep_experiment,
    load_experiment,
    plan,
)
from fastlab.plan.invocation import benchmark_result, run_key, workload_argv
from fastlab.plan.splash_sizes import DEFAULTS, DENSITY, GRAM_PER_CM3, OPTIONS, SKIN, WATER_MASS

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.mark.parametrize(
    ("name", "threads", "seeds", "variants", "runs"),
    [
        ("demo", {4, 16}, 5, 4, 7 * 2 * 5 * 4),
        ("think", {4, 16}, 5, 4, 7 * 2 * 5 * 4),
        ("long", {4, 16}, 2, 4, 7 * 2 * 2 * 4),
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


def test_long_is_the_demo_at_twenty_times_the_length() -> None:
    demo, long = (load_experiment(EXPERIMENTS / f"{name}.toml") for name in ("demo", "long"))
    assert long.variants == demo.variants and long.machine == demo.machine
    for short, twenty in zip(demo.workloads, long.workloads, strict=True):
        (iterations, *same), (more, *other) = short.options, twenty.options
        assert (short.benchmark, short.threads, same) == (twenty.benchmark, twenty.threads, other)
        assert 20 * int(iterations.partition("=")[2]) == int(more.partition("=")[2])


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
    for name in ("demo", "think", "long", "arms"):
        oracle = load_experiment(EXPERIMENTS / f"{name}.toml").oracle
        assert oracle == ("baseline", "onecpu", "strict")


def test_primary_metric(tmp_path: Path) -> None:
    assert load_experiment(write(tmp_path, GOOD)).primary == "elapsed_ns"
    named = GOOD.replace("threads = [4, 16]", 'threads = [4, 16]\nprimary = "handoff_p99"')
    assert load_experiment(write(tmp_path, named)).primary == "handoff_p99"


def test_a_simulated_machine_has_so_much_memory(tmp_path: Path) -> None:
    def experiment(memory_mb: int) -> Experiment:
        more = f"cpus = 4\nmemory_mb = {memory_mb}"
        return load_experiment(write(tmp_path, GOOD.replace("cpus = 4", more, 1)))

    presets.check_memory(experiment(3072))
    # Guests of KVM may have it.
    larger = experiment(3073)
    with pytest.raises(FastError, match=r"has 3073 MB.* set memory_mb = 3072 or less under"):
        presets.check_memory(larger)


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
    # Which may be run itself.
    before = {one: one.read_bytes() for one in (tmp_path / "results").iterdir()}
    assert sorted(one.name for one in before) == ["experiment.toml", "mine.toml"]
    keep_experiment(tmp_path / "results/experiment.toml", kept, tmp_path / "results")
    assert {one: one.read_bytes() for one in (tmp_path / "results").iterdir()} == before
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


def test_a_splash_2_program_takes_its_size(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, SPLASH))
    words = ("--molecules=512", "--energy-every=2", "--cutoff=6.5", "--profile")
    assert experiment.workloads[2] == Workload("water_nsquared", 4, words)
    assert experiment.workloads[-1] == Workload("barnes", 128, ("--profile",))
    assert set(experiment.benchmarks) == {"barnes", "fft", "water_nsquared"}


@pytest.mark.parametrize(
    ("name", "preset"),
    [("splash2", "rx4640-quarter"), ("splash2-short", "rx4640-quarter"), ("splash2-paper", None)],
)
def test_splash_2_is_the_papers_nine(name: str, preset: str | None) -> None:
    experiment = load_experiment(EXPERIMENTS / f"{name}.toml")
    assert experiment.benchmarks == tuple(OPTIONS)
    # The third is for a real machine.
    assert experiment.machine.preset == (preset or Machine.preset)


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
            if isinstance(option[0], str):
                continue
            # The last two of it are the least and the most.
            stated = [word.strip() for word in entry[1].split(",")[-2:]]
            for word, bound in zip(stated, option, strict=True):
                value = limits.get(word, word)
                shift = re.fullmatch(r"\(?UINT64_C\(1\) << (\d+)\)?", value)
                assert float(2 ** int(shift[1]) if shift else value) == bound, f"{program}: {name}"


def test_the_splash_2_programs_have_these_defaults() -> None:
    harness = EXPERIMENTS.parent / "splash2-harness"
    lu, radix = DEFAULTS["lu_contiguous"], DEFAULTS["radix"]
    assert radix["n"] == 1 << 18
    for file, words in {
        "fft.c": f"uint64_t m = {DEFAULTS['fft']['m']};",
        "radix.c": f"uint64_t n = 1 << 18, radix = {radix['r']},",
        "lu/lu.c": f"uint64_t n = {lu['n']}, b = {lu['b']};",
        "water/water_spatial.c": f"#define SKIN {SKIN}",
    }.items():
        assert words in (harness / file).read_text()
    run = (harness / "water/run.c").read_text()
    for name, value in DEFAULTS["water_spatial"].items():
        assert f".{name} = {value:g}," in run
    lattice = (harness / "water/lattice.c").read_text()
    for number in (f"DENSITY {DENSITY:.4f}", f"GRAM_PER_CM3 {GRAM_PER_CM3}"):
        assert f"#define {number}" in lattice
    masses = re.search(r"mass\[ATOMS\] = \{ (.+) \}", lattice)
    assert masses and sum(map(float, masses[1].split(","))) == WATER_MASS


def test_names_are_those_of_the_parts_that_own_them() -> None:
    root = EXPERIMENTS.parent
    kernels = tomllib.loads((root / "Kbuild/kernels.toml").read_text())
    # The checked one is never measured.
    assert (*KERNELS, "kcsan") == tuple(kernels["variants"])
    for name in BENCHMARKS:
        assert f'"{name}"' in (root / "microbench/common/list.c").read_text()


def test_an_experiment_tells_each_of_its_benchmarks_once() -> None:
    demo = load_experiment(EXPERIMENTS / "demo.toml")
    assert sorted(demo.benchmarks) == sorted(BENCHMARKS)
    intervals = load_experiment(EXPERIMENTS / "intervals.toml")
    assert {name.partition("_")[0] for name in intervals.benchmarks} == {"intervals"}


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
