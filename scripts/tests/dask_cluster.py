# SPDX-License-Identifier: GPL-2.0
"""A dask scheduler and its workers, processes of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from waiting import eventually

SCRIPTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Worker:
    """`place` has what it stores."""

    process: subprocess.Popen[bytes]
    place: Path


class Cluster:
    """`preload` is a module that each process loads. Its processes end with it."""

    def __init__(self, directory: Path, preload: Path | None) -> None:
        self.directory = directory
        self.workers: list[Worker] = []
        self._begun = 0
        self._preload = ["--preload", str(preload)] if preload else []
        file = directory / "scheduler.json"
        words = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self._scheduler = self._begin(*words, "--scheduler-file", str(file))
        # It is written in parts.
        assert eventually(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        self.address = str(json.loads(file.read_text())["address"])

    def _begin(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join([str(SCRIPTS), str(Path(__file__).parent)])
        self._begun += 1
        with (self.directory / f"process-{self._begun}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words, *self._preload],
                env={**os.environ, "PYTHONPATH": paths, **environment},
                cwd=self.directory,
                stdout=log,
                stderr=log,
            )

    def add(self, workers: int, **environment: str) -> None:
        """Start as many workers, with one thread each."""
        for _ in range(workers):
            words = ["worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
            place = self.directory / f"worker-{self._begun}"
            words += ["--local-directory", str(place)]
            self.workers.append(Worker(self._begin(*words, **environment), place))

    def stored(self) -> list[Path]:
        """The files that workers have got."""
        files = self.directory.glob("worker-*/*/*/fast/*")
        return [path for path in files if path.is_file() and not path.suffix]

    def end_workers(self) -> None:
        for worker in self.workers:
            worker.process.kill()
            worker.process.wait()
        self.workers.clear()

    def end(self) -> None:
        self.end_workers()
        self._scheduler.kill()
        self._scheduler.wait()


@contextmanager
def cluster(directory: Path, preload: Path | None = None) -> Iterator[Cluster]:
    directory.mkdir()
    made = Cluster(directory, preload)
    try:
        yield made
    finally:
        made.end()
