# SPDX-License-Identifier: GPL-2.0
"""`fast calibrate`: a preset of this machine."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from fastlab.backend.host import without_fast
from fastlab.base import files
from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import OK, Commands, check_writable, project, show
from fastlab.cli.options import number, path
from fastlab.guest import meson
from fastlab.plan import presets
from fastlab.plan.circumstances import Circumstances
from fastlab.statistics import environment
from fastlab.trust import calibrate


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "calibrate",
        help=HELP["calibrate"],
        description="Measure the latencies of this machine's caches, memory and hand-offs between "
        "threads with fast-calibrate, and make a preset for the simulation. The machine should be "
        "otherwise idle.",
    )
    parser.set_defaults(command=run)
    what = "write the preset to this file (default: only print the measurements)"
    path(parser, "--out", what, "NAME.toml")
    what = "number of repetitions (default: %(default)s)"
    number(parser, "--repeat", what, calibrate.REPEAT)


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    out: Path | None = arguments.out
    name = calibrate.preset_name(out) if out else ""
    check_writable(out)
    build = meson.build_programs(project(), reporter)
    reporter.say(f"measuring {arguments.repeat} times")
    with without_fast(Path("/")):
        surroundings, before = environment.capture(), environment.activity()
        measured = calibrate.measure(build, arguments.repeat)
    circumstances = Circumstances(surroundings, before, environment.activity())
    show([calibrate.table(measured)])
    for quantity in measured.noisy():
        print(f"{quantity} is too noisy: measure again when this machine is idle")
    for doubt in environment.doubts([circumstances]):
        print(f"- {doubt}")
    if out:
        text = calibrate.preset_text(measured, name, date.today().isoformat())
        files.write_files(out.parent, [(out.name, text)])
        # The measurements may be out of the model's range.
        presets.load(out)
        print(f"wrote {out}")
    return OK
