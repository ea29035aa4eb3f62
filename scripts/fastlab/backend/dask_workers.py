# SPDX-License-Identifier: GPL-2.0
"""The backend `sim` with its runs on the workers of a dask.distributed cluster.

Machines are booted here. Kernels, the image and saved machines go to each worker once, by their
content; the scheduler hands them to later workers, too. A run's row and its machine's logs come
back. dask gives the runs of a dead worker to another one. A run whose result is not wanted any
more goes on to its end, and its result is dropped.
"""

from __future__ import annotations

import hashlib
import logging
import socket
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin, get_worker

from fastlab.backend.contract import Request
from fastlab.backend.sim import IMAGE, Simulator, Toolbox
from fastlab.base import tools
from fastlab.base.model import Experiment, FastError, Kernel, Machine
from fastlab.base.progress import PlainReporter
from fastlab.base.project import PROJECT, version
from fastlab.guest import vm
from fastlab.plan.rows import Row

# Host seconds that the scheduler may take to answer.
PATIENCE = 10.0
# How often a file is sent while workers die.
ATTEMPTS = 3
# What QEMU's path is in an order: each worker has its own.
NO_PATH = Path()


@cache
def program() -> str:
    """What makes runs here: the project's version and sources, and QEMU."""
    package = PROJECT / "scripts/fastlab"
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    qemu = tools.version(tools.require_qemu().path).decode().partition("\n")[0]
    return f"fastlab {version()} ({digest.hexdigest()[:8]}) with {qemu}"


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler. FastError: none answers, or it or a worker has another program."""
    # A worker that dies is no news, and what else goes wrong is an error of ours.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise FastError(
            f"no dask scheduler answers at {address}: {error}; start one there with "
            "`dask scheduler`, or correct the address"
        ) from error
    with client:
        _check_alike(client)
        yield client


def _check_alike(client: Client) -> None:
    """Do the scheduler, which unpacks orders, and its workers have this program?"""
    try:
        found = {"the scheduler": client.run_on_scheduler(program)}
    except Exception as error:
        found = {"the scheduler": error}
    found |= client.run(program, on_error="return")
    for name, theirs in found.items():
        _check_program(name if name == "the scheduler" else f"worker {name}", theirs, program())


def _check_program(where: str, theirs: str | Exception, ours: str) -> None:
    """`ours` is the program of the process that writes."""
    if theirs != ours:
        has = f"has {theirs}" if isinstance(theirs, str) else f"cannot say what it has ({theirs})"
        raise FastError(
            f"{where} {has}, and `fast run` is {ours}: give its host the same checkout and QEMU, "
            "and start it again with PYTHONPATH=CHECKOUT/scripts"
        )


class Shipment(WorkerPlugin):
    """A file, by its content, for each worker. Of an equal one the scheduler takes no second."""

    idempotent = True

    def __init__(self, digest: str, content: bytes) -> None:
        self.name = f"fast-{digest}"
        self.digest = digest
        self.content = zlib.compress(content, 1)

    def setup(self, worker: Any) -> None:
        directory = _store(worker)
        directory.mkdir(exist_ok=True)
        staging = directory / f"{self.digest}.new"
        staging.write_bytes(zlib.decompress(self.content))
        staging.rename(directory / self.digest)
        # The worker keeps the plugin.
        self.content = b""


def _store(worker: Any) -> Path:
    return Path(worker.local_directory, "fast")


@dataclass(frozen=True)
class Order:
    """A run for a worker: the experiment has this run alone. Paths of the machine's preset, the
    kernel and the toolbox are names of `files`, which have their contents' digests. `results` is
    the directory of the process that writes, `program` what makes runs there."""

    experiment: Experiment
    key: str
    kernel: Kernel
    toolbox: Toolbox
    files: Mapping[str, str]
    results: Path
    program: str


@dataclass(frozen=True)
class Made:
    """A worker's answer: the row, the host seconds beside the workload, and the machine's files."""

    row: Row
    beside: float
    logs: Mapping[str, bytes]


class _OneRun(Simulator):
    """The simulator of an order, on a worker."""

    def made(self, order: Order, directory: Path) -> Made:
        (request,) = self.requests
        if request.key != order.key:
            preset = request.run.machine.preset_name
            raise FastError(f"its preset {preset} is another one: give its host the same checkout")
        (kernel,) = self._kernels.values()
        run = request.run
        simulation = vm.Simulation(
            self._toolbox.qemu,
            kernel,
            directory / IMAGE,
            run.machine,
            cmdline=run.variant.cmdline,
        )
        row, beside = self._run(request, simulation, directory / vm.SNAPSHOT)
        # The logs go where a run at home has them.
        row["reason"] = row["reason"].replace(str(directory), str(order.results))
        logs = self._machine_directory(request)
        files = [path for path in logs.glob("*") if path.is_file() and not path.is_symlink()]
        return Made(row, beside, {path.name: path.read_bytes() for path in files})


def make_run(order: Order) -> Made:
    """Make a run here, on a worker."""
    worker = get_worker()
    where = f"worker {worker.address} on {socket.gethostname()}"
    _check_program(where, program(), order.program)
    store = _store(worker)
    with TemporaryDirectory(dir=store) as temporary:
        here = Path(temporary)
        for name, digest in order.files.items():
            (here / name).symlink_to(store / digest)
        try:
            return _simulator(order, here).made(order, here)
        except FastError as error:
            raise FastError(f"{where}: {error}") from error


def _simulator(order: Order, here: Path) -> _OneRun:
    of = order.experiment
    (case,) = of.matrix
    machine = case.machine
    if machine.preset in order.files:
        machine = replace(machine, preset=str(here / machine.preset))
    kernel, toolbox = order.kernel, order.toolbox
    return _OneRun(
        replace(of, machine=machine, matrix=(replace(case, machine=machine),)),
        {
            of.variants[0].kernel: replace(
                kernel,
                vmlinux=str(here / kernel.vmlinux),
                system_map=str(here / kernel.system_map),
            )
        },
        replace(
            toolbox,
            qemu=tools.require_qemu().path,
            programs={path: here / name for path, name in toolbox.programs.items()},
        ),
        here,
        PlainReporter(sys.stderr),
        1,
    )


class DaskWorkers(Simulator):
    """The simulator whose runs are made by the workers of `client`."""

    def __init__(self, client: Client, *given: Any) -> None:
        super().__init__(*given)
        self._client = client
        self._executor: Executor = client.get_executor(pure=False)
        self._digests: dict[Path, str] = {}

    def measure(self, requests: Sequence[Request], deadline: float) -> Iterator[Row]:
        if not self._client.nthreads():
            self._reporter.say(
                "the scheduler has no worker yet; the runs wait until one is started"
            )
        return super().measure(requests, deadline)

    def _start(
        self, pool: Executor, request: Request, simulation: vm.Simulation, snapshot: Path
    ) -> Future[tuple[Row, float]]:
        theirs = self._executor.submit(make_run, self._order(request, simulation, snapshot))
        ours: Future[tuple[Row, float]] = Future()

        def arrived(theirs: Future[Made]) -> None:
            try:
                ours.set_result(self._accepted(request, simulation, theirs))
            except BaseException as error:
                ours.set_exception(error)

        theirs.add_done_callback(arrived)
        return ours

    def _order(self, request: Request, simulation: vm.Simulation, snapshot: Path) -> Order:
        run, kernel, toolbox = request.run, simulation.kernel, self._toolbox
        paths = {
            "vmlinux": Path(kernel.vmlinux),
            "System.map": Path(kernel.system_map),
            IMAGE: simulation.image,
            vm.SNAPSHOT: snapshot,
            vm.MEMORY: snapshot.with_name(vm.MEMORY),
            **{name: self._directory / name for name in toolbox.libraries},
            **{path.name: path for path in self._programs(run)},
        }
        case = replace(run.case, machine=_named(run.machine))
        if run.machine.preset.endswith(".toml"):
            paths[case.machine.preset] = Path(run.machine.preset)
        return Order(
            replace(
                self._experiment,
                machine=case.machine,
                variants=(run.variant,),
                baseline=run.variant.name,
                oracle=(),
                workloads=(run.workload,),
                seeds=(run.seed,),
                matrix=(case,),
            ),
            request.key,
            replace(kernel, vmlinux="vmlinux", system_map="System.map"),
            Toolbox(
                toolbox.id,
                NO_PATH,
                Path(toolbox.plugin.name),
                b"",
                {
                    path: Path(file.name)
                    for path, file in toolbox.programs.items()
                    if file.name in paths
                },
            ),
            {name: self._sent(path) for name, path in paths.items()},
            self._directory,
            program(),
        )

    def _sent(self, path: Path) -> str:
        """The digest of a file that all workers have."""
        if path not in self._digests:
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            shipment = Shipment(digest, content)
            for left in reversed(range(ATTEMPTS)):
                try:
                    self._client.register_plugin(shipment)
                    break
                except OSError as error:
                    if not left:
                        raise FastError(f"{path} cannot be sent to workers: {error}") from error
                    # A worker died, and not all may have it.
                    shipment.idempotent = False
            self._digests[path] = digest
        return self._digests[path]

    def _accepted(
        self, request: Request, simulation: vm.Simulation, theirs: Future[Made]
    ) -> tuple[Row, float]:
        try:
            made = theirs.result()
        except KilledWorker as error:
            count, last = error.allowed_failures + 1, error.last_worker.address
            why = f"{count} workers died while they made it, the last one at {last}"
            return self._row(request, simulation.kernel, None, why, 0.0), 0.0
        except CancelledError as error:
            raise FastError(
                "the dask scheduler is gone; the rows written are safe. Start it and its workers, "
                "and run the same command again to go on"
            ) from error
        directory = self._machine_directory(request)
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in made.logs.items():
            (directory / name).write_bytes(content)
        return made.row, made.beside


def _named(machine: Machine) -> Machine:
    """The machine with its preset by the name of its file."""
    return replace(machine, preset=Path(machine.preset).name)
