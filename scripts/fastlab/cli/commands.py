# SPDX-License-Identifier: GPL-2.0
"""The commands of `fast`: where they are, and their lines in its help.

A command's module is loaded when the command is used, so that help and wrong words have their
answer at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Container

from fastlab.cli.common import Commands

# The modules, and the lines of their commands, in the order of the help.
MODULES = {
    "look": {"look": "find out which lock your program's threads wait for, in its own time"},
    "run": {"run": "make the runs of an experiment, compare them and write the report"},
    "trial": {"try": "find out whether FAST helps your program"},
    "ab": {"ab": "compare a change of the kernel with the kernel without it, by your program"},
    "trace": {"trace": "record a run as a trace of threads, CPUs and hand-offs"},
    "results": {
        "compare": "print the comparison of an experiment's results",
        "report": "write the report of an experiment's results (needs no kernel)",
    },
    "kernel": {"kernel": "build and list kernels"},
    "cache": {"cache": "list, verify or remove the results of earlier work"},
    "shell": {"shell": "boot a kernel with this file system: a shell in it, or one command"},
    "bench": {"bench": "measure the laboratory itself, and what plug-ins measure"},
    "calibrate": {
        "calibrate": "measure this machine's caches and hand-offs, for a preset of the simulation"
    },
    "trust": {"trust": "compare the simulation's predictions with a real machine"},
    "splash": {"splash": "drive an original SPLASH-2 or Splash-3 tree"},
    "probes": {
        "stat": "count hardware and kernel events of a program",
        "latency": "measure how long hand-offs of locks and wake-ups take",
    },
    "doctor": {"doctor": "check what the laboratory needs on this machine"},
}

HELP = {name: line for lines in MODULES.values() for name, line in lines.items()}


def add_commands(commands: Commands, wanted: Container[str] = HELP) -> None:
    """Add every command. Modules without a wanted one are not loaded: their commands have a name
    and a line of help only."""
    for module, lines in MODULES.items():
        if any(name in wanted for name in lines):
            importlib.import_module(f"fastlab.cli.{module}").add(commands)
        else:
            for name, line in lines.items():
                commands.add_parser(name, help=line)
