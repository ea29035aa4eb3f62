# SPDX-License-Identifier: GPL-2.0
"""`fast ab`: what does one change of the kernel do to this program?"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fastlab.base.fast_command import fast_command
from fastlab.base.model import Recipe, UsageError, Variant
from fastlab.base.progress import Reporter
from fastlab.cli import tried
from fastlab.cli.commands import HELP
from fastlab.cli.common import BELOW, OK, Commands, complain_of, project
from fastlab.cli.options import command_line, percent
from fastlab.kernel.catalogue import load_catalogue
from fastlab.plan.arms import FEATURE, FEATURES, features_twice
from fastlab.trial.runs import Question, Trial

USAGE = f"{fast_command('ab')} [options] -- PROGRAM [ARGUMENT ...]"
A, B = "A", "B"
# The laboratory's configuration of a kernel with sched_ext.
EXT = "scx"


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "ab",
        help=HELP["ab"],
        usage=USAGE,
        description="Run a program in the simulation: A without and B with a change of the kernel. "
        "The output says what the change does to the program's time, misses and wake-ups.",
    )
    parser.set_defaults(command=run, argv=())

    def several(option: str, metavar: str, says: str) -> None:
        parser.add_argument(option, action="append", default=[], metavar=metavar, help=says)

    several(
        "--kernel",
        "SOURCE",
        "the kernel of both: a series, a directory, a tarball, or DIRECTORY@REVISION of a git "
        "repository (default: the primary series); given twice, A's and B's",
    )
    several("--patch", "PATCH", "B has this patch, or this quilt series; may be repeated")
    several("--config", "CONFIG", "B has this line CONFIG_X=y, or fragment; may be repeated")
    several("--feature", "FEATURE", "B has this scheduler feature, as NO_WA_IDLE; may be repeated")
    parser.add_argument(
        "--scheduler",
        type=command_line,
        default=(),
        metavar="COMMAND",
        help="B has the sched_ext scheduler that this program loads; one that ends in -- is given "
        "the program to run",
    )
    tried.add_options(parser)
    parser.add_argument(
        "--fail-below",
        type=percent,
        metavar="PERCENT",
        help="fail if B's improvement of the time is below this; one within run-to-run variation "
        "counts as 0, so that -5 allows a loss of 5 %%",
    )


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    trials, status = tried.run_arms(arguments, _question(arguments), USAGE, reporter)
    # Without an answer no limit is met, and none is missed.
    return status or _gate(trials, arguments.fail_below)


def _gate(trials: Sequence[Trial], fail_below: float | None) -> int:
    from fastlab.trial import verdict

    if fail_below is None:
        return OK
    gains = {one.request.machine.preset_name: verdict.gain(one, B) for one in trials}
    lines = [f"on {name}: {gain:+.1f} %" for name, gain in gains.items() if gain < fail_below]
    return complain_of(f"B's improvement is not at least {fail_below:+g} %:", lines, BELOW)


def _question(arguments: argparse.Namespace) -> Question:
    sources = arguments.kernel or [load_catalogue(project()).pick_series(None).name]
    if len(sources) > 2:
        raise UsageError(f"--kernel is given {len(sources)} times: once for both, or A's and B's")
    for feature in arguments.feature:
        if not re.fullmatch(FEATURE, feature):
            raise UsageError(f"--feature {feature}: allowed: {FEATURES}")
    if twice := features_twice(arguments.feature):
        raise UsageError(f"--feature {twice} is given more than once")
    scheduler = arguments.scheduler
    # Both have it, so that the scheduler is the only difference.
    base = (EXT,) if scheduler else ()
    kernel_a = Recipe("a", sources[0], (), base)
    kernel_b = Recipe("b", sources[-1], tuple(arguments.patch), (*base, *arguments.config))
    one = replace(kernel_b, name=kernel_a.name) == kernel_a
    if one and not arguments.feature and not scheduler:
        raise UsageError(
            f"A and B are the same: give --patch, --config, --feature, --scheduler or a second "
            f"--kernel, as in {fast_command('ab', '--feature', 'NO_WA_IDLE', '--', 'PROGRAM')}"
        )
    arms = (
        Variant(A, "a"),
        Variant(B, "a" if one else "b", features=tuple(arguments.feature), scheduler=scheduler),
    )
    changed = [
        *(Path(patch).name for patch in arguments.patch),
        *arguments.config,
        *arguments.feature,
    ]
    changed += [shlex.join(scheduler)] if scheduler else []
    words = f"A: Linux {sources[0]}. B: {', '.join([f'Linux {sources[-1]}', *changed])}."
    recipes = (kernel_a,) if one else (kernel_a, kernel_b)
    return Question(arms, A, kernels=recipes, words=words)
