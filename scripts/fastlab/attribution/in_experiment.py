# SPDX-License-Identifier: GPL-2.0
"""An experiment's runs, by function and line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fastlab.attribution.names import KernelNames, ProgramNames
from fastlab.attribution.profile import ProfiledVariant, profile
from fastlab.backend.contract import Request
from fastlab.backend.costs import read_costs
from fastlab.backend.sim import machine_directory
from fastlab.base.model import Kernel, Place
from fastlab.guest import initramfs, vm
from fastlab.guest.symbols import Symbols, static_maps
from fastlab.plan.invocation import workload_argv
from fastlab.plan.rows import Row, builds_of
from fastlab.statistics import attributed
from fastlab.statistics.attributed import Attributed


def profile_experiment(
    requests: Iterable[Request],
    rows: Iterable[Row],
    kernels: Mapping[str, Kernel],
    tools_id: str,
    build: Path,
    directory: Path,
) -> None:
    """Write WORKLOAD/VARIANT.callgrind below attribution/ for all good runs, and the summary.

    `kernels` are by the name that variants give; `build` has the programs.
    """
    good = {row["key"] for row in rows if row["status"] == "ok"}
    cases: dict[Place, list[Request]] = {}
    for request in requests:
        if request.key in good:
            cases.setdefault(Place(*request.run.case.place), []).append(request)
    names = {name: KernelNames(kernel) for name, kernel in kernels.items()}
    attributed_runs: list[Attributed] = []
    for place, runs in cases.items():
        path = initramfs.program_path(build, place.benchmark)
        # The addresses of shared libraries were not recorded.
        program = ProgramNames(Symbols(static_maps(path), path), "memory that is in no file")
        argv = workload_argv(runs[0].run.workload, runs[0].run.seed, path)
        variants = _variants(runs, names, directory)
        below = directory / attributed.DIRECTORY / place.workload
        attributed_runs += profile(place.workload, argv, program, variants, below)
    attributed.keep(directory, attributed_runs, builds_of(kernels, tools_id))


def _variants(
    requests: Sequence[Request], names: Mapping[str, KernelNames], directory: Path
) -> list[ProfiledVariant]:
    variants = {request.run.variant.name: request.run.variant for request in requests}
    return [
        ProfiledVariant(
            variant.name,
            names[variant.kernel],
            [
                read_costs(machine_directory(directory, request) / vm.ATTRIBUTION)
                for request in requests
                if request.run.variant.name == variant.name
            ],
        )
        for variant in variants.values()
    ]
