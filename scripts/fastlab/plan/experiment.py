# SPDX-License-Identifier: GPL-2.0
"""Experiment files: from TOML to an Experiment, and from an Experiment to its runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

from fastlab.base import manifest, toml_table
from fastlab.base.files import write_files
from fastlab.base.lookup import closest
from fastlab.base.metrics import VOCABULARY, Metric
from fastlab.base.model import (
    Case,
    Experiment,
    FastError,
    Machine,
    Run,
    Watchdogs,
    Workload,
)
from fastlab.base.toml_table import TomlTable
from fastlab.plan import arms, presets, splash_sizes
from fastlab.plan.arms import NAME, NAMES
from fastlab.plan.matrix import Value, fraction, never_meet

KEYS = (
    "name",
    "series",
    "baseline",
    "primary",
    "oracle",
    "latencies",
    "attribute",
    "threads",
    "seeds",
    "machine",
    "matrix",
    "kernel",
    "variant",
    "defaults",
    "benchmark",
    "workload",
    "watchdogs",
)
# Options of a benchmark besides threads, iterations and seed, and their ranges as the benchmark
# states them. `cs_lines` here is `--cs-lines` there.
OPTIONS = {
    "cs_lines": (1, 1024),
    "think": (0, 1_000_000),
    "locks": (1, 1024),
    "line": (32, 1024),
}
# Benchmarks that pair their threads.
PAIRED = ("prod_cons", "affinity", "multiple_fifo")

# Cycles; the same range as in userspace/cachesim/clock.h.
QUANTUM = (100, 100_000)
# Axes of a matrix that change the machine.
MACHINE_AXES = ("cpus", "preset", "quantum")

MAX_FRACTION = 1000
MAX_THREADS = 1024
MAX_COUNT = 1_000_000_000
MAX_SEED = 2**32 - 1
# Seeds of an experiment with programs of the user.
MAX_BEGINNING = 1000

_PRESET = re.compile(r"[A-Za-z0-9_.-]+")
_SERIES = re.compile(r"[0-9]+\.[0-9]+")


def load_experiment(path: Path) -> Experiment:
    """Read an experiment file. Raises FastError with file, key, value and allowed values."""
    top = TomlTable(
        path, "", toml_table.read(path, "an experiment file such as experiments/demo.toml")
    )
    top.only(*KEYS)
    machine = _machine(top.table("machine"))
    cases = _matrix(top, machine) if "matrix" in top.data else ()
    fewest = min((case.machine.cpus for case in cases), default=machine.cpus)
    recipes, lines = arms.kernels(top)
    variants = tuple(arms.variant(table, fewest, lines) for table in top.tables("variant"))
    # Only the laboratory's kernels need it.
    series = "" if all(variant.kernel in lines for variant in variants) else None
    names = [variant.name for variant in variants]
    top.no_duplicates("variant", names)
    metrics = [metric.name for metric in VOCABULARY if metric.where != "nowhere"]
    return Experiment(
        name=top.text("name", NAME, NAMES),
        series=top.text("series", _SERIES, 'a kernel series such as "6.12"', series),
        machine=machine,
        variants=variants,
        baseline=top.choice("baseline", names),
        workloads=tuple(dict.fromkeys(case.workload for case in cases)) or _workloads(top),
        seeds=top.integers("seeds", 0, MAX_SEED),
        watchdogs=_watchdogs(top.table("watchdogs")),
        primary=top.choice("primary", metrics, Experiment.primary),
        latencies=top.boolean("latencies", Experiment.latencies),
        attribute=top.boolean("attribute", Experiment.attribute),
        oracle=_oracle(top, names),
        matrix=cases,
        kernels=recipes,
    )


def check_primary(experiment: Experiment, backend: str, measured: Iterable[Metric]) -> None:
    """Raise FastError if the primary metric is not among those that the backend measures."""
    names = [metric.name for metric in measured]
    if experiment.primary not in names:
        raise FastError(
            f"primary = {experiment.primary} is not measured by backend {backend}; in the "
            f"experiment file, choose one of {', '.join(names)}"
        )


def keep_experiment(source: Path, experiment: Experiment, directory: Path) -> None:
    """Copy the experiment file, and preset files of its machines, to the results. `source` may
    itself be that copy."""
    own = (Path(machine.preset) for machine in (experiment.machine, *experiment.machines))
    kept = {preset.name: preset for preset in own if preset.suffix == ".toml"} | {
        "experiment.toml": source
    }
    write_files(directory, [(name, path.read_bytes()) for name, path in kept.items()])


def plan(experiment: Experiment) -> list[Run]:
    """Every run of the experiment, in the order to make them.

    Seeds vary slowest and variants fastest: results of an interrupted experiment can be compared.
    """
    return [
        Run(variant, case, seed)
        for seed in experiment.seeds
        for case in experiment.cases
        for variant in experiment.variants
    ]


def _oracle(top: TomlTable, variants: Sequence[str]) -> tuple[str, ...]:
    names = top.texts("oracle", NAME, "names of variants")
    for name in names:
        if name not in variants:
            top.fail("oracle", name, ", ".join(variants) + closest(name, variants))
    top.no_duplicates("oracle", names)
    return names


def _matrix(top: TomlTable, machine: Machine) -> tuple[Case, ...]:
    """The cases of a [matrix]: its axes, crossed with the benchmarks and numbers of threads."""
    table = top.table("matrix")
    table.only("fraction", *MACHINE_AXES, *OPTIONS)
    own = _axes(top, table)
    options = [name for name in own if name in OPTIONS]
    # By benchmark, threads, and the values of the options.
    workloads: dict[tuple[Value, ...], Workload] = {
        (workload.benchmark, workload.threads, *values): workload
        for values in product(*(own[name] for name in options))
        for workload in _workloads(top, dict(zip(options, values, strict=True)))
    }
    machines: dict[tuple[Value, ...], Machine] = {
        (cpus, preset, quantum): replace(
            machine, cpus=cpus, preset=_known_preset(table, cpus, preset), quantum=quantum
        )
        for cpus in own.get("cpus", (machine.cpus,))
        for preset in own.get("preset", (machine.preset,))
        for quantum in own.get("quantum", (machine.quantum,))
        if isinstance(cpus, int) and isinstance(quantum, int)
    }
    axes: dict[str, Sequence[Value]] = {
        "benchmark": tuple(dict.fromkeys(workload.benchmark for workload in workloads.values())),
        "threads": tuple(dict.fromkeys(workload.threads for workload in workloads.values())),
        **own,
    }
    every = table.integer("fraction", 1, MAX_FRACTION, 1)
    chosen = fraction(axes, every)
    if apart := never_meet(axes, chosen):
        (combination, value), (other, another) = apart
        table.fail(
            "fraction",
            every,
            f"a smaller one: no run would have {combination} = {value} with {other} = {another}",
        )
    return tuple(
        Case(
            machines[tuple(combination.get(name, getattr(machine, name)) for name in MACHINE_AXES)],
            workloads[tuple(combination[name] for name in ("benchmark", "threads", *options))],
            tuple((name, combination[name]) for name in own),
        )
        for combination in chosen
    )


def _axes(top: TomlTable, table: TomlTable) -> dict[str, tuple[Value, ...]]:
    """The axes that the matrix names. No other table may set them."""
    ranges = {"cpus": (1, presets.MAX_CPUS), "quantum": QUANTUM, **OPTIONS}
    axes: dict[str, tuple[Value, ...]] = {}
    for name in table.data:
        if name == "preset":
            axes[name] = table.texts(name, _PRESET, "names of presets")
        elif name in ranges:
            axes[name] = table.integers(name, *ranges[name])
    if not axes:
        raise FastError(
            f"{table.path}: matrix: names no axis; allowed: {', '.join((*MACHINE_AXES, *OPTIONS))}"
        )
    setters = [top.table("machine"), top.table("defaults").table("options")]
    setters += [benchmark.table("options") for benchmark in top.tables("benchmark", least=0)]
    for name, values in axes.items():
        if not values:
            table.fail(name, [], "at least one")
        table.no_duplicates(name, values)
        if name == "line":
            for line in values:
                _check_line(table, line)
        for setter in setters:
            if name in setter.data:
                setter.fail(name, setter.data[name], "to leave it out: it is an axis of [matrix]")
    return axes


def _machine(table: TomlTable) -> Machine:
    table.only("cpus", "memory_mb", "preset", "quantum")
    default = Machine()
    cpus = table.integer("cpus", 1, presets.MAX_CPUS, default.cpus)
    return Machine(
        cpus=cpus,
        memory_mb=table.integer("memory_mb", 64, 65536, default.memory_mb),
        preset=_known_preset(table, cpus, table.data.get("preset", default.preset)),
        quantum=table.integer("quantum", *QUANTUM, default.quantum),
    )


def _known_preset(table: TomlTable, cpus: int, given: object) -> str:
    """A built-in preset's name, or the path of a file beside the experiment's file."""
    allowed = "a built-in preset, or a file whose name ends in .toml in the experiment's directory"
    if not isinstance(given, str):
        table.fail("preset", given, allowed)
    if given.endswith(".toml"):
        # The copy in the results directory must find the file, too.
        if Path(given).name != given or not given.isprintable():
            table.fail("preset", given, allowed)
        given = str(table.path.absolute().parent / given)
    try:
        presets.load(given).l3s(cpus)
    except FastError as error:
        raise FastError(f"{table.path}: {table.place}: {error}") from error
    return given


def _watchdogs(table: TomlTable) -> Watchdogs:
    defaults = asdict(Watchdogs())
    table.only(*defaults)
    return Watchdogs(**{name: table.seconds(name, default) for name, default in defaults.items()})


def _workloads(top: TomlTable, more: Mapping[str, Value] | None = None) -> tuple[Workload, ...]:
    """Each program of the user, and each benchmark at each number of threads; `more` are options
    of a matrix."""
    programs = _programs(top)
    if programs and "matrix" in top.data and (more or "benchmark" in top.data):
        allowed = "none beside [[benchmark]], or options, in a [matrix]"
        top.fail("workload", programs[0].benchmark, allowed)
    if programs and "benchmark" not in top.data:
        return programs
    threads = top.integers("threads", 1, MAX_THREADS)
    defaults = _options(top.table("defaults"), {}, ("iterations", "warmup", "options"))
    workloads = [*programs]
    names = [program.benchmark for program in programs]
    for table in top.tables("benchmark"):
        name = manifest.benchmark(table, "name")
        names.append(name)
        if name in splash_sizes.OPTIONS:
            if more:
                table.fail("name", name, f"those that have {', '.join(more)}, as [matrix] says")
            splash_words = _splash_words(top, table, name, threads)
            workloads += [Workload(name, count, splash_words) for count in threads]
            continue
        options = _options(table, defaults, ("name", "iterations", "warmup", "options"))
        if "iterations" not in options:
            table.fail("iterations", None, "a whole number, here or in [defaults]")
        for count in threads:
            _check_shares(top, table, name, count, options)
            every = {**options, **(more or {})}
            words = tuple(f"--{key.replace('_', '-')}={value}" for key, value in every.items())
            workloads.append(Workload(name, count, words))
    top.no_duplicates("benchmark", names)
    return tuple(workloads)


def _programs(top: TomlTable) -> tuple[Workload, ...]:
    """The user's own programs. A seed is a time at which one begins, so there are not many."""
    programs = []
    for table in top.tables("workload", least=0):
        table.only("name", "command", "files")
        name = table.text("name", NAME, NAMES)
        files = table.texts("files", arms.TEXT, "paths")
        programs.append(Workload(name, 0, (), arms.command(table, "command"), files))
    if programs:
        top.no_duplicates("workload", [program.benchmark for program in programs])
        top.integers("seeds", 0, MAX_BEGINNING)
    return tuple(programs)


def _splash_words(
    top: TomlTable, table: TomlTable, name: str, threads: Sequence[int]
) -> tuple[str, ...]:
    """The size is the only option of a SPLASH-2 program."""
    table.only("name", "options")
    further = table.table("options")
    splash_sizes.check(further, name)
    key, allowed = splash_sizes.complaint(name, further.data)
    if key:
        further.fail(key, further.data[key], allowed)
    for count in threads:
        if why := splash_sizes.too_many(name, further.data, count):
            top.fail("threads", count, why)
    # An experiment always measures the waits of threads.
    return (*splash_sizes.size_words(further.data), "--profile")


def _check_shares(
    top: TomlTable, table: TomlTable, name: str, threads: int, options: Mapping[str, int]
) -> None:
    """Can the threads share the work evenly? The benchmark checks it too, but in the guest."""
    if name in PAIRED:
        if threads % 2:
            top.fail("threads", threads, f"{name} pairs its threads: an even number")
        for key in ("iterations", "warmup"):
            if options.get(key, 0) % 2:
                table.fail(key, options[key], f"{name} pairs its threads: an even number")
    if options["iterations"] < threads:
        table.fail(
            "iterations", options["iterations"], f"at least one for each of {threads} threads"
        )


def _options(table: TomlTable, inherited: Mapping[str, int], keys: Sequence[str]) -> dict[str, int]:
    """The benchmark's `--name=value` options: the table's own, and the inherited ones that it does
    not set."""
    table.only(*keys)
    options = dict(inherited)
    for key in ("iterations", "warmup"):
        if key in table.data:
            options[key] = table.integer(key, 0 if key == "warmup" else 1, MAX_COUNT)
    further = table.table("options")
    further.only(*OPTIONS)
    options |= {key: further.integer(key, *OPTIONS[key]) for key in further.data}
    if "line" in further.data:
        _check_line(further, options["line"])
    return options


def _check_line(table: TomlTable, line: Value) -> None:
    if isinstance(line, int) and line & (line - 1):
        table.fail("line", line, "a power of two")
