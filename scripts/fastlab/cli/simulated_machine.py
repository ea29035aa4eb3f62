# SPDX-License-Identifier: GPL-2.0
"""Options that describe a simulated machine without an experiment file."""

from __future__ import annotations

import argparse
from pathlib import Path

from fastlab.base.model import Machine, UsageError
from fastlab.cli.options import names, number
from fastlab.plan import presets

# A server of our days; the machine of experiments is the paper's.
PRESET = "epyc-milan"


def add_options(parser: argparse.ArgumentParser) -> None:
    default = Machine()
    number(parser, "--cpus", f"CPUs of the simulated machine (default: {default.cpus})")
    number(parser, "--memory-mb", f"its memory (default: {default.memory_mb})")
    what = (
        f"its caches: {', '.join(presets.names())}, or a file that `fast calibrate` has written "
        f"(default: {PRESET})"
    )
    one_or_more = parser.add_mutually_exclusive_group()
    one_or_more.add_argument("--preset", metavar="PRESET", help=what)
    what = "run it on each of these machines, and say first if the answers have opposite signs"
    one_or_more.add_argument("--presets", type=names, metavar="PRESET,...", help=what)


def asked_for(arguments: argparse.Namespace) -> list[Machine]:
    """The machines that the options describe. Raises UsageError, or a preset's FastError."""
    option = "--presets" if arguments.presets else "--preset"
    given = arguments.presets or [arguments.preset or PRESET]
    wanted = dict.fromkeys(_preset(option, name) for name in given)
    return [_machine(arguments, preset) for preset in wanted]


def _machine(arguments: argparse.Namespace, preset: str) -> Machine:
    default = Machine()
    machine = Machine(
        arguments.cpus or default.cpus, arguments.memory_mb or default.memory_mb, preset
    )
    if machine.cpus > presets.MAX_CPUS:
        raise UsageError(
            f"--cpus {machine.cpus}: the simulated machine has at most {presets.MAX_CPUS}"
        )
    if machine.memory_mb > presets.MAX_MEMORY_MB:
        raise UsageError(
            f"--memory-mb {machine.memory_mb}: the simulated machine has at most "
            f"{presets.MAX_MEMORY_MB}"
        )
    presets.load(machine.preset).l3s(machine.cpus)
    return machine


def _preset(option: str, given: str) -> str:
    """A built-in preset's name, or the absolute path of a file."""
    if given.endswith(".toml"):
        return str(Path(given).absolute())
    if given not in presets.names():
        raise UsageError(
            f"{option} {given or repr(given)}: there is no such preset; allowed: "
            f"{', '.join(presets.names())}, or a file whose name ends in .toml"
        )
    return given
