# SPDX-License-Identifier: GPL-2.0
"""The `fast` command: reads its arguments, calls the stages, prints what they return.

Exit status: 0 all is well, 1 an error, 2 bad usage, 3 some run is in no comparison,
4 an improvement is below what --fail-below asks for, or predictions are beyond their bounds,
130 interrupted; of `fast shell -- COMMAND` that of the command. Results go to stdout, everything
else to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from rich.console import Console
from rich.table import Table

from fastlab import (
    ab,
    bench,
    calibrate,
    catalogue,
    compare,
    counting,
    dataset,
    findings,
    guests,
    kernels,
    presets,
    programs,
    real,
    real_machine,
    renderings,
    report,
    results,
    run,
    runtimes,
    shell,
    splash,
    splash_bench,
    splash_programs,
    stealing,
    trial,
    trial_real,
    trust,
    trust_file,
    trust_native,
    verdict,
    verdict_real,
)
from fastlab.experiment import (
    MAX_CPUS,
    further_programs,
    load_experiment,
    plan,
    workload_argv,
)
from fastlab.findings import Findings
from fastlab.model import Experiment, FastError, Machine, Watchdogs
from fastlab.progress import PlainReporter, make_reporter
from fastlab.reporter import Reporter
from fastlab.stats import Summary, summarise

OK = 0
ERROR = 1
INCOMPLETE = 3
BELOW = 4
INTERRUPTED = 130

# Where there is no terminal to say it: wide enough for every table.
LOG_WIDTH = 240

Command = Callable[[argparse.Namespace, Reporter], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status. Bad usage raises SystemExit(2)."""
    words = sys.argv[1:] if argv is None else list(argv)
    arguments = _parse(words)
    # A terminated `fast` tidies up as an interrupted one does: no child outlives it.
    signal.signal(signal.SIGTERM, _interrupt)
    command: Command = arguments.command
    try:
        with make_reporter(sys.stderr) as reporter:
            status = command(arguments, reporter)
        sys.stdout.flush()
        return status
    except FastError as error:
        return _complain(str(error), ERROR)
    except BrokenPipeError:
        # Whoever read stdout, such as `head`, has left; the exit would write to it once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR
    except KeyboardInterrupt:
        again = shlex.join(["fast", *words])
        return _complain(f"interrupted; what is finished is kept. To go on: {again}", INTERRUPTED)


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments; what stands behind `--` is `argv`, the words of another program."""
    end = words.index("--") if "--" in words else len(words)
    parser = _parser()
    arguments = parser.parse_args(words[:end])
    if words[end + 1 :] and "argv" not in arguments:
        parser.error(f"{words[0]} runs no other program: {shlex.join(words[end:])}")
    arguments.argv = tuple(words[end + 1 :])
    return arguments


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _complain(text: str, status: int) -> int:
    print(f"fast: {text}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fast",
        description="Build, boot, run and compare Linux kernels with futex-aware scheduling.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_run(commands)
    _add_try(commands)
    _add_results(commands)
    _add_kernel(commands)
    _add_shell(commands)
    _add_bench(commands)
    _add_calibrate(commands)
    _add_trust(commands)
    _add_splash(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run",
        help="make the runs of an experiment, compare them and write the report",
        description="Build what an experiment needs, make the runs that are not there yet, "
        "compare them and write the report.",
    )
    parser.set_defaults(command=_run)
    parser.add_argument("experiment", type=Path, metavar="EXPERIMENT.toml")
    parser.add_argument(
        "--backend",
        choices=("sim", *counting.BACKENDS, dataset.GUESTS),
        default="sim",
        help="where to count: in the simulation (the default), on the running kernel with hardware "
        "counters (perf) or without (soft), or in guests that KVM executes (kvm)",
    )
    parser.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="simulations at a time (default: one for each CPU of this machine)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only list the runs")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="results directory (default: results/NAME, of a real machine results/NAME-BACKEND)",
    )


def _add_try(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "try",
        help="say whether FAST helps a program of your own",
        usage="fast try [options] -- PROGRAM [ARGUMENT ...]",
        description="Run a program in the deterministic mode, without FAST and with it, and say "
        "whether FAST helps it, by how much, and which locks its hand-offs come from. Or run it on "
        "the running kernel, if that has FAST.",
    )
    parser.set_defaults(command=_try, argv=())
    default = Machine()
    parser.add_argument(
        "--backend",
        choices=("sim", *counting.BACKENDS),
        default="sim",
        help="where to run it: in the simulation (the default), or on the running kernel with "
        "hardware counters (perf) or without (soft)",
    )
    parser.add_argument(
        "--with",
        dest="more",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="a file, or a directory with all in it, that the program needs besides its libraries "
        "and the files its arguments name; may be repeated",
    )
    parser.add_argument(
        "--cpus",
        type=_count,
        metavar="N",
        help=f"CPUs of the simulated machine (default: {default.cpus})",
    )
    parser.add_argument(
        "--memory-mb",
        type=_count,
        metavar="N",
        help=f"its memory (default: {default.memory_mb})",
    )
    parser.add_argument(
        "--preset",
        choices=presets.names(),
        help=f"its caches (default: {default.preset})",
    )
    parser.add_argument(
        "--timeout",
        type=_count,
        metavar="SECONDS",
        default=int(Watchdogs.run),
        help="a run that takes longer is an error (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all data to FILE too")


def _add_results(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for name, command, what in (
        ("compare", _compare, "print the comparison of an experiment's results"),
        ("report", _report, "write the report of an experiment's results (needs no kernel)"),
    ):
        parser = commands.add_parser(name, help=what, description=f"{what.capitalize()}.")
        parser.set_defaults(command=command)
        parser.add_argument("results", type=Path, metavar="RESULTS_DIR")
        if command == _compare:
            parser.add_argument(
                "--format",
                choices=renderings.FORMATS,
                help="print it in this form (default: tables for a terminal)",
            )
            parser.add_argument(
                "--fail-below",
                type=float,
                metavar="PERCENT",
                help="fail if the primary metric's improvement is below this anywhere; an "
                "insignificant one counts as 0, so that -5 allows losses of 5 %%",
            )


def _add_kernel(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("kernel", help="build and list kernels")
    kernel = parser.add_subparsers(metavar="COMMAND", required=True)

    build = kernel.add_parser("build", help="build the kernels that experiments boot")
    build.set_defaults(command=_kernel_build)
    build.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="V",
        help="only this variant; may be repeated (default: all of Kbuild/kernels.toml)",
    )
    build.add_argument(
        "--fragment",
        action="append",
        default=[],
        metavar="F",
        help="merge Kbuild/F.config too; may be repeated",
    )

    deb = kernel.add_parser("deb", help="pack the patched kernel for bare metal")
    deb.set_defaults(command=_kernel_deb)
    deb.add_argument(
        "--config", type=Path, metavar="FILE", help="configuration (default: the running kernel's)"
    )
    deb.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        default=Path(),
        help="where the packages go (default: here)",
    )

    for one in (build, deb):
        one.add_argument(
            "series", nargs="?", metavar="SERIES", help="such as 6.12 (default: the primary one)"
        )
        one.add_argument(
            "--source", type=Path, metavar="DIR|TARBALL", help="build from your own source"
        )

    listing = kernel.add_parser("list", help="say what is built, and where")
    listing.set_defaults(command=_kernel_list)


def _add_shell(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "shell",
        usage="%(prog)s [-h] [--variant V] [SERIES] [-- COMMAND...]",
        help="boot a kernel with this file system: a shell in it, or one command",
        description="Boot a kernel with this machine's file system, and run a shell or a command "
        "in it. What that writes is gone with it.",
    )
    parser.set_defaults(command=_shell, argv=())
    parser.add_argument(
        "series", nargs="?", metavar="SERIES", help="such as 6.12 (default: the primary one)"
    )
    parser.add_argument(
        "--variant", metavar="V", default="fast", help="of Kbuild/kernels.toml (default: fast)"
    )


def _add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("bench", help="measure the laboratory itself, and the runtime")
    what = parser.add_subparsers(metavar="COMMAND", required=True)
    sim = what.add_parser("sim", help="measure what the cache model costs a simulation")
    sim.set_defaults(command=_bench_sim)

    steals = what.add_parser(
        "stealing",
        help="count how the runtime's workers steal, on a simulated machine of two packages",
    )
    steals.set_defaults(command=_bench_stealing)
    steals.add_argument("--json", type=Path, metavar="FILE", help="write the counts to FILE too")

    runtime = what.add_parser(
        "runtime",
        help="measure the intervals runtime beside its peers",
        description="Measure the intervals runtime beside those of its peers that are installed, "
        "in turn, and compare them.",
    )
    runtime.set_defaults(command=_bench_runtime)
    for option, names in (("--only", runtimes.BENCHMARKS), ("--runtimes", runtimes.RUNTIMES)):
        runtime.add_argument(
            option,
            type=_names,
            metavar="NAME,...",
            default=tuple(names),
            help=f"only these of {', '.join(names)}",
        )
    runtime.add_argument(
        "--workers",
        type=_counts,
        metavar="N,...",
        default=(),
        help="numbers of workers (default: 1, 2, 4, ... up to the CPUs of this machine)",
    )
    for peer in ("lace", "libfork"):
        runtime.add_argument(
            f"--{peer}", type=Path, metavar="PATH", help=f"a checkout of {peer}, to be a peer"
        )

    original = what.add_parser(
        "splash",
        help="measure the SPLASH-2 programs beside those of an original tree",
        description="Measure the SPLASH-2 programs beside those of an original tree with the same "
        "work, in turn, and compare them.",
    )
    original.set_defaults(command=_bench_splash)
    _add_tree(original)
    original.add_argument(
        "--only",
        type=_names,
        metavar="NAME,...",
        default=(),
        help=f"only these of {', '.join(splash_programs.NAMES)}",
    )
    _add_threads(original, splash_bench.THREADS)

    for one, rounds in ((runtime, runtimes.ROUNDS), (original, splash_bench.ROUNDS)):
        one.add_argument(
            "--rounds",
            type=_count,
            metavar="N",
            default=rounds,
            help="how often each program is run (default: %(default)s)",
        )
        one.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE too")


def _add_calibrate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "calibrate",
        help="measure this machine's caches and hand-offs: a preset of it for the simulation",
        description="Measure what this machine's caches, memory and hand-offs between threads "
        "take, and make a preset of it for the simulation. The machine should do nothing else.",
    )
    parser.set_defaults(command=_calibrate)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="NAME.toml",
        help="write the preset to this file (default: only print what was measured)",
    )
    parser.add_argument(
        "--repeat",
        type=_count,
        metavar="N",
        default=calibrate.REPEAT,
        help="how often everything is measured (default: %(default)s)",
    )


def _add_trust(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "trust",
        help="compare what the simulation predicts with what a real machine does",
        description="Run the seven benchmarks in the simulation, free and confined to one CPU, and "
        "compare what it predicts with what this machine does, or with hardware counters of "
        "another.",
    )
    parser.set_defaults(command=_trust)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--preset",
        type=Path,
        metavar="NAME.toml",
        help="this machine's preset, which `fast calibrate` writes: measure here",
    )
    what.add_argument(
        "--measured",
        type=Path,
        metavar="FILE.toml",
        help="what was measured elsewhere, such as experiments/measured/zen3.toml",
    )
    parser.add_argument(
        "--rounds",
        type=_count,
        metavar="N",
        default=trust_native.ROUNDS,
        help="with --preset: how often each benchmark is run, four times each "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="results directory (default: results/trust-NAME)",
    )


def _add_tree(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tree",
        type=Path,
        required=True,
        metavar="DIR",
        help="the unpacked SPLASH-2 or Splash-3; it is only read",
    )


def _add_threads(parser: argparse.ArgumentParser, default: Sequence[int]) -> None:
    parser.add_argument(
        "--threads",
        type=_counts,
        metavar="N,...",
        default=default,
        help=f"numbers of threads (default: {','.join(map(str, default))})",
    )


def _add_splash(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("splash", help="drive an original SPLASH-2 or Splash-3 tree")
    what = parser.add_subparsers(metavar="COMMAND", required=True)
    build = what.add_parser("build", help="build its programs, outside of it")
    build.set_defaults(command=_splash_build)
    runs = what.add_parser(
        "run",
        help="build its programs, run them and judge their results",
        description="Build the programs of the tree outside of it, run them at each number of "
        "threads and judge their results.",
    )
    runs.set_defaults(command=_splash_run)
    for one in (build, runs):
        _add_tree(one)
        one.add_argument(
            "--output", type=Path, metavar="DIR", help="where to build (default: in build/splash)"
        )
        one.add_argument(
            "programs",
            nargs="*",
            metavar="PROGRAM",
            help=f"only these of {', '.join(splash_programs.NAMES)}",
        )
    _add_threads(runs, splash.THREADS)
    runs.add_argument(
        "--size",
        choices=splash_programs.SIZES,
        default="small",
        help="small: seconds; base: SPLASH-2's own; paper: its Table 2 (default: %(default)s)",
    )
    runs.add_argument(
        "--timeout",
        type=_count,
        metavar="SECONDS",
        default=int(splash.TIMEOUT),
        help="a program that takes longer counts as hung (default: %(default)s)",
    )
    runs.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE too")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _counts(text: str) -> tuple[int, ...]:
    return tuple(sorted({_count(one) for one in text.split(",")}))


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split(",")))


# argparse names the type in its error
_count.__name__ = "whole number of at least 1"
_counts.__name__ = "list of whole numbers of at least 1"


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    experiment = load_experiment(arguments.experiment)
    if arguments.backend != "sim":
        return _run_real(arguments, experiment, reporter)
    if arguments.dry_run:
        return _list_runs(experiment)
    directory: Path = arguments.output or Path("results", experiment.name)
    rows = _simulate(experiment, arguments.experiment, directory, reporter, arguments.jobs)
    summary = summarise(experiment, rows)
    _print_tables(summary)
    command = shlex.join(["fast", "run", str(arguments.experiment)])
    _write_report(summary, directory, command)
    print(f"digest of the results: {results.counters_digest(rows)}")
    return _verdict(findings.from_summary(summary))


def _simulate(
    experiment: Experiment,
    source: Path,
    directory: Path,
    reporter: Reporter,
    jobs: int | None = None,
) -> list[results.Row]:
    """Build what an experiment needs, and make its runs."""
    names = _kernels_of(experiment)
    request = kernels.BuildRequest(experiment.series, names)
    # Before the kernels: what is missing is said in seconds.
    build = programs.build_programs(request.places.project, reporter)
    toolbox = run.find_toolbox(build, further_programs(experiment))
    built = dict(zip(names, kernels.build(request, reporter), strict=True))
    return run.run_experiment(experiment, source, built, toolbox, directory, reporter, jobs)


def _try(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if not arguments.argv:
        raise FastError("no program is named: fast try [options] -- PROGRAM [ARGUMENT ...]")
    _check_writable(arguments.json)
    if arguments.backend != "sim":
        return _try_real(arguments, reporter)
    default = Machine()
    machine = Machine(
        arguments.cpus or default.cpus,
        arguments.memory_mb or default.memory_mb,
        arguments.preset or default.preset,
    )
    if machine.cpus > MAX_CPUS:
        raise FastError(f"--cpus {machine.cpus}: the simulated machine has at most {MAX_CPUS}")
    if machine.memory_mb > trial.MAX_MEMORY_MB:
        raise FastError(
            f"--memory-mb {machine.memory_mb}: the simulated machine has at most "
            f"{trial.MAX_MEMORY_MB}"
        )
    request = trial.Request(
        argv=arguments.argv,
        more=tuple(arguments.more),
        machine=machine,
        seconds=arguments.timeout,
        directory=Path.cwd(),
    )
    found = trial.run(request, reporter)
    verdicts = verdict.judge(found)
    _show_trial(map(compare.rich_table, verdict.tables(found)), verdicts)
    _keep(arguments.json, verdict.document(found, verdicts))
    return OK


def _try_real(arguments: argparse.Namespace, reporter: Reporter) -> int:
    for option, given in (
        ("--with", arguments.more),
        ("--cpus", arguments.cpus),
        ("--memory-mb", arguments.memory_mb),
        ("--preset", arguments.preset),
    ):
        if given:
            raise FastError(
                f"{option} is about the simulated machine; backend {arguments.backend} runs the "
                "program on this one, with all that it has. Leave one of the two options out"
            )
    request = trial_real.Request(arguments.argv, arguments.backend, arguments.timeout, Path.cwd())
    found = trial_real.run(request, reporter)
    verdicts = verdict_real.judge(found)
    _show_trial(map(compare.rich_table, verdict_real.tables(found)), verdicts)
    for doubt in verdict_real.doubts(found):
        print(f"- {doubt}")
    _keep(arguments.json, verdict_real.document(found, verdicts))
    return OK


def _show_trial(tables: Iterable[Table], verdicts: Iterable[verdict.Verdict]) -> None:
    _print(tables)
    for one in verdicts:
        print(one.sentence)


def _keep(path: Path | None, document: dict[str, Any]) -> None:
    """Write what --json asks for."""
    if path:
        runtimes.write_json(path, document)
        print(f"wrote {path}")


def _kernels_of(experiment: Experiment) -> tuple[str, ...]:
    """The kernels that its variants run, each once."""
    return tuple(dict.fromkeys(variant.kernel for variant in experiment.variants))


def _list_runs(experiment: Experiment) -> int:
    runs = plan(experiment)
    for one in runs:
        print(f"{one.variant.name}: {shlex.join(workload_argv(one.workload, one.seed))}")
    print(f"{len(runs)} runs, kernels {experiment.series}: {', '.join(_kernels_of(experiment))}")
    return OK


def _run_real(arguments: argparse.Namespace, experiment: Experiment, reporter: Reporter) -> int:
    backend: str = arguments.backend
    if arguments.jobs:
        raise FastError(f"--jobs is for simulations; backend {backend} makes one run at a time")
    plan = dataset.make_plan(experiment, backend)
    if arguments.dry_run:
        return _list_slots(experiment, plan)
    directory: Path = arguments.output or Path("results", f"{experiment.name}-{backend}")
    request = kernels.BuildRequest(experiment.series, _kernels_of(experiment))
    build = programs.build_programs(request.places.project, reporter)
    toolbox = real_machine.find_toolbox(build, experiment)
    if backend == dataset.GUESTS:
        built = kernels.build(request, reporter)
        guests.check_available(built[0], request.places.project, reporter)
        made = guests.run_experiment(
            experiment,
            arguments.experiment,
            build,
            toolbox,
            dict(zip(request.variants, built, strict=True)),
            directory,
            reporter,
        )
        outcome = real.Outcome(made, next_boot="")
    else:
        outcome = real.run_experiment(
            experiment, backend, arguments.experiment, toolbox, directory, reporter
        )
    found = ab.analyse(outcome.dataset)
    _print(renderings.terminal_tables(found))
    _write_renderings(found, directory)
    status = _verdict(found)
    if outcome.next_boot:
        words = ["fast", "run", str(arguments.experiment), "--backend", backend]
        words += ["--output", str(directory)] if arguments.output else []
        _complain(f"{outcome.next_boot}. Then go on: {shlex.join(words)}", status)
    return status


_GROUPS_UNKNOWN = (
    "; where there are hardware counters, each counted run is made once more for each group of "
    "events that the CPU can count at once (fast-stat --groups)"
)


def _list_slots(experiment: Experiment, plan: dataset.Plan) -> int:
    fewest = min(ab.MIN_BLOCKS, plan.max_blocks)
    own = ", each run in a guest of its own" if plan.backend == dataset.GUESTS else ", in one boot"
    calibration = dataset.slots(plan, [plan.baseline], plan.calibration_blocks)
    for slot in (*calibration, *dataset.slots(plan, plan.variants, fewest)):
        where = f"{slot.pair}, block {slot.block}, run {slot.position + 1} ({slot.side})"
        argv = shlex.join(workload_argv(slot.workload, plan.seed))
        uncounted = ", uncounted" if slot.events == dataset.NOTHING else ""
        print(f"{where}: {dataset.variant_of(plan, slot)}{uncounted}: {argv}")
    print(
        f"the calibration's {plan.calibration_blocks} blocks of each workload, and the first "
        f"{fewest} of each comparison; the calibration decides how many more, up to "
        f"{plan.max_blocks}; kernels: {', '.join(_kernels_of(experiment))}"
        f"{', each side of a block in a boot of its own' if plan.boots else own}"
        f"{'; a second run of each measures latencies' if plan.latencies else ''}"
        f"{_GROUPS_UNKNOWN if plan.backend in dataset.COUNTING else ''}"
    )
    return OK


def _compare(arguments: argparse.Namespace, reporter: Reporter) -> int:
    experiment, rows = _load_results(arguments.results, reporter)
    if _is_simulated(rows):
        summary = summarise(experiment, rows)
        found = findings.from_summary(summary)
        tables = compare.terminal_tables(summary)
    else:
        found = _analyse(experiment, rows)
        tables = renderings.terminal_tables(found)
    if arguments.format:
        sys.stdout.write(renderings.FORMATS[arguments.format](found, arguments.fail_below))
    else:
        _print(tables)
    return _gate(found, arguments.fail_below) or _verdict(found)


def _is_simulated(rows: Sequence[results.Row]) -> bool:
    return not rows or rows[-1]["backend"] == "sim"


def _analyse(experiment: Experiment, rows: Sequence[results.Row]) -> Findings:
    plan = dataset.make_plan(experiment, rows[-1]["backend"], dataset.groups_of(rows))
    return ab.analyse(dataset.make_dataset(plan, rows))


def _gate(found: Findings, fail_below: float | None) -> int:
    """Name the comparisons that are below what is asked for, or give no answer."""
    if fail_below is None:
        return OK
    cases = renderings.judge(found, fail_below)
    bad = [case for case in cases if case.outcome != "passed"]
    lines = [f"{one.finding.variant_name}: {one.finding.workload}: {one.message}" for one in bad]
    below = any(case.outcome == "failed" for case in bad)
    text = "\n  ".join([f"not at least {fail_below:+g} %:", *lines])
    return _complain(text, BELOW if below else INCOMPLETE) if bad else OK


def _report(arguments: argparse.Namespace, reporter: Reporter) -> int:
    experiment, rows = _load_results(arguments.results, reporter)
    if not _is_simulated(rows):
        found = _analyse(experiment, rows)
        _write_renderings(found, arguments.results)
        return _verdict(found)
    summary = summarise(experiment, rows)
    command = shlex.join(["fast", "run", str(arguments.results / "experiment.toml")])
    _write_report(summary, arguments.results, command)
    return _verdict(findings.from_summary(summary))


def _load_results(directory: Path, reporter: Reporter) -> tuple[Experiment, list[results.Row]]:
    file = directory / "experiment.toml"
    if not file.is_file():
        raise FastError(
            f"{directory}: not a results directory (it has no {file.name}); "
            "name one that `fast run` made, such as results/demo"
        )
    experiment = load_experiment(file)
    rows, warning = results.read_rows(directory / "runs.jsonl")
    if warning:
        reporter.say(warning)
    return experiment, rows


def _print_tables(summary: Summary) -> None:
    _print(compare.terminal_tables(summary))


def _print(tables: Iterable[Table]) -> None:
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, LOG_WIDTH)
    for table in tables:
        console.print(table)
        console.print()


def _write_report(summary: Summary, directory: Path, command: str) -> None:
    for path in report.write_report(summary, directory, command):
        print(f"wrote {path}")


def _write_renderings(found: Findings, directory: Path) -> None:
    for path in compare.write_files(directory, renderings.files(found)):
        print(f"wrote {path}")


def _verdict(found: Findings) -> int:
    """Name the runs that say nothing; a comparison without them is not the one asked for."""
    if not found.left_out:
        return OK
    return _complain("\n  ".join(["runs that are in no comparison:", *found.left_out]), INCOMPLETE)


def _kernel_build(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = kernels.BuildRequest(
        arguments.series,
        tuple(arguments.variant),
        arguments.source,
        tuple(arguments.fragment),
    )
    kernels.build(request, reporter)
    return OK


def _kernel_deb(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = kernels.DebRequest(
        arguments.output, arguments.series, arguments.source, arguments.config
    )
    kernels.deb(request, reporter)
    return OK


def _kernel_list(arguments: argparse.Namespace, reporter: Reporter) -> int:
    kernels.list_kernels(kernels.ListRequest(), PlainReporter(sys.stdout))
    return OK


def _shell(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = shell.Request(arguments.series, arguments.variant, arguments.argv)
    return shell.run(request, reporter)


def _bench_sim(arguments: argparse.Namespace, reporter: Reporter) -> int:
    print(bench.measure(reporter).text())
    return OK


def _bench_stealing(arguments: argparse.Namespace, reporter: Reporter) -> int:
    _check_writable(arguments.json)
    request = stealing.EVERYTHING
    counts = stealing.measure(reporter, request)
    _print(compare.rich_table(table) for table in stealing.tables(counts))
    _keep(arguments.json, stealing.document(counts, request))
    return OK


def _check_writable(path: Path | None) -> None:
    """Before minutes of measurements: can they be kept?"""
    if path and not path.absolute().parent.is_dir():
        raise FastError(f"{path}: its directory does not exist; make it first")


def _bench_runtime(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = runtimes.Request(
        arguments.only, arguments.runtimes, arguments.workers, arguments.rounds
    )
    _check_writable(arguments.json)
    options = [
        f"-D{peer}={path.resolve() if path else ''}"
        for peer, path in (("lace", arguments.lace), ("libfork", arguments.libfork))
    ]
    project = kernels.BuildRequest().places.project
    build = programs.build_benchmarks(project, options, reporter)
    session = runtimes.Session(request, runtimes.find_programs(build))

    def show() -> None:
        rows = session.rows()
        _print([compare.rich_table(runtimes.table(rows))])
        _keep(arguments.json, runtimes.document(rows, _own_command(), request))

    _measure(session, show, reporter)
    wrong = runtimes.failures(session.rows())
    return _complain("\n  ".join(["these failed:", *wrong]), ERROR) if wrong else OK


def _bench_splash(arguments: argparse.Namespace, reporter: Reporter) -> int:
    _check_writable(arguments.json)
    request = splash.Request(
        root=arguments.tree,
        project=kernels.BuildRequest().places.project,
        programs=arguments.only,
        threads=arguments.threads,
        timeout=splash_bench.TIMEOUT,
    )
    with splash.prepared(request, reporter) as (tree, built):
        build = programs.build_programs(request.project, reporter)
        session = splash_bench.Session(request, arguments.rounds, tree, built, build)

        def show() -> None:
            rows = session.rows()
            _print([compare.rich_table(splash_bench.table(rows))])
            document = splash_bench.document(rows, _own_command(), request, arguments.rounds)
            _keep(arguments.json, document)

        _measure(session, show, reporter)
    wrong = splash_bench.failures(session.rows())
    where = f"these have no ratio (what was said is in {splash.output_directory(request)}):"
    return _complain("\n  ".join([where, *wrong]), ERROR) if wrong else OK


def _measure(
    session: runtimes.Session | splash_bench.Session, show: Callable[[], None], reporter: Reporter
) -> None:
    """All rounds, and show what they gave; of an interrupted measurement what there is."""
    try:
        session.run(reporter)
    except KeyboardInterrupt:
        # An older file with results is better than a new one without.
        if any(row.runs for row in session.rows()):
            show()
        raise
    show()


def _own_command() -> str:
    return shlex.join(["fast", *sys.argv[1:]])


def _calibrate(arguments: argparse.Namespace, reporter: Reporter) -> int:
    out: Path | None = arguments.out
    name = calibrate.preset_name(out) if out else ""
    _check_writable(out)
    build = programs.build_programs(kernels.BuildRequest().places.project, reporter)
    reporter.say(f"measuring {arguments.repeat} times")
    found = calibrate.measure(build, arguments.repeat)
    _print([compare.rich_table(calibrate.table(found))])
    for quantity in found.noisy():
        print(f"{quantity} is too noisy: measure again when this machine has nothing else to do")
    if out:
        text = calibrate.preset_text(found, name, date.today().isoformat())
        compare.write_files(out.parent, [(out.name, text)])
        print(f"wrote {out}")
    return OK


def _trust(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if arguments.preset:
        return _trust_here(arguments, reporter)
    record = trust_file.load(arguments.measured)
    experiment = load_experiment(record.experiment)
    directory: Path = arguments.output or Path("results", f"trust-{experiment.name}")
    rows = _simulate(experiment, record.experiment, directory / trust.SIMULATION, reporter)
    compared = trust.compare(record.side, trust.predicted(rows), trust.COUNTER_BOUNDS)
    return _show_trust(record.machine, compared, trust.COUNTER_BOUNDS, directory)


def _trust_here(arguments: argparse.Namespace, reporter: Reporter) -> int:
    preset: Path = arguments.preset
    cpus = trust_native.usable_cpus()
    project = kernels.BuildRequest().places.project
    series = catalogue.load_catalogue(project).pick_series(None).name
    directory: Path = arguments.output or Path("results", f"trust-{preset.stem}")
    source = trust_native.write_experiment(directory, preset, series, cpus)
    build = programs.build_programs(project, reporter)
    session = trust_native.Session(build, cpus, arguments.rounds)
    experiment = load_experiment(source)
    rows = _simulate(experiment, source, directory / trust.SIMULATION, reporter)
    prediction = trust.predicted(rows)

    def show() -> int:
        compared = trust.compare(session.measured(), prediction, trust.CLOCK_BOUNDS)
        machine = f"this machine, {len(cpus)} CPUs"
        return _show_trust(machine, compared, trust.CLOCK_BOUNDS, directory)

    try:
        session.run(reporter)
    except KeyboardInterrupt:
        if session.measured():
            show()
        raise
    return show()


def _show_trust(
    machine: str,
    compared: Sequence[trust.Compared],
    bounds: Sequence[trust.Bound],
    directory: Path,
) -> int:
    table = trust.table(f"Predicted and measured: {machine}", compared, bounds)
    _print([compare.rich_table(table)])
    print("\n".join(trust.sentences(compared)))
    files = [
        ("trust.json", json.dumps(trust.document(compared), indent=1) + "\n"),
        ("trust.md", compare.markdown_table(table)),
        ("trust.rst", compare.rst_table(table)),
    ]
    for path in compare.write_files(directory, files):
        print(f"wrote {path}")
    if len(trust.agreeing(compared)) >= trust.LEAST:
        return OK
    return INCOMPLETE if len(trust.possible(compared)) >= trust.LEAST else BELOW


def _splash_build(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = _splash_request(arguments)
    built = splash.build(request, reporter)
    for one in built:
        if one.path:
            print(f"{one.program.name}: {one.path}")
    wrong = [one.failure for one in built if one.failure]
    return _complain("\n".join(wrong), ERROR) if wrong else OK


def _splash_run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    _check_writable(arguments.json)
    request = _splash_request(
        arguments, threads=arguments.threads, size=arguments.size, timeout=arguments.timeout
    )
    rows = splash.run(request, reporter)
    _print([compare.rich_table(splash.table(rows))])
    _keep(arguments.json, splash.document(rows, request))
    wrong = splash.failures(rows)
    where = f"these are not right (what they said is in {splash.output_directory(request)}):"
    return _complain("\n  ".join([where, *wrong]), ERROR) if wrong else OK


def _splash_request(arguments: argparse.Namespace, **more: Any) -> splash.Request:
    return splash.Request(
        root=arguments.tree,
        project=kernels.BuildRequest().places.project,
        programs=tuple(arguments.programs),
        output=arguments.output,
        **more,
    )


if __name__ == "__main__":
    sys.exit(main())
