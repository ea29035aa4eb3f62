# SPDX-License-Identifier: GPL-2.0
"""The machines of the cache model: the files that its plugin reads, too.

The keys are explained in userspace/cachesim/cachesim.h and Documentation/cache-model.rst. The
plugin checks the ranges that do not concern this package.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastlab.base import toml_table
from fastlab.base.lookup import closest
from fastlab.base.model import Experiment, FastError

DIRECTORY = Path(__file__).resolve().parents[3] / "userspace/cachesim/presets"
# This preset has every key, and every key is required.
COMPLETE = "rx4640"

# As userspace/cachesim/cachesim.h has it.
MAX_CPUS = 64
# The plugin needs the memory in one piece; QEMU puts the rest above 4 GB.
MAX_MEMORY_MB = 3072
_NAME = re.compile(r"[a-z0-9_.-]{1,31}")
LEAST_PAUSE = 10
# Ranges as userspace/cachesim/machine_file.c has them.
_RANGES = {
    "mhz": (1, 100_000),
    "cpi": (1, 600),
    "clusters": (0, MAX_CPUS),
    "cluster_cpus": (0, MAX_CPUS),
    "pause": (LEAST_PAUSE, 10_000),
    "wakeup": (0, 1_000_000),
    "interrupt": (0, 1_000_000),
}


@dataclass(frozen=True)
class Preset:
    """A machine. `cpi` is in hundredths of a cycle; `pause`, `wakeup` and `interrupt` are in
    cycles.

    Its CPUs form `clusters` of equal size or, where that is 0, clusters of `cluster_cpus`. The CPUs
    of a cluster have a common L3 if it is `shared`. `id` is a digest of the file's content.
    """

    name: str
    path: Path
    id: str
    mhz: int
    cpi: int
    clusters: int
    cluster_cpus: int
    shared: bool
    pause: int
    wakeup: int
    interrupt: int

    def shares_l3(self, cpus: int) -> bool:
        """Do CPUs share an L3 if the machine has `cpus` CPUs? Raises FastError as l3s() does."""
        return self.l3s(cpus) < cpus

    def l3s(self, cpus: int) -> int:
        """The number of L3s of `cpus` CPUs, each shared by equally many.

        Raises FastError if the shares are unequal, which neither QEMU nor Linux can represent.
        """
        if not self.shared:
            return cpus
        l3s = min(self.clusters, cpus) or -(-cpus // self.cluster_cpus)
        if cpus % l3s or (l3s > 1 and self.cluster_cpus and cpus % self.cluster_cpus):
            allowed = (
                f"1 to {self.cluster_cpus}, or a multiple of {self.cluster_cpus}"
                if self.cluster_cpus
                else f"a multiple of {self.clusters}"
            )
            raise FastError(
                f"cpus = {cpus} is not allowed: machine {self.name} shares its L3s evenly; "
                f"allowed: {allowed}"
            )
        return l3s


def check_memory(experiment: Experiment) -> None:
    """Raise FastError if the machine has more memory than a simulated one can have."""
    asked = experiment.machine.memory_mb
    if asked > MAX_MEMORY_MB:
        raise FastError(
            f"the experiment's machine has {asked} MB of memory, and a simulated one has at most "
            f"{MAX_MEMORY_MB}; in the experiment file, set memory_mb = {MAX_MEMORY_MB} or less "
            "under [machine]"
        )


def names() -> tuple[str, ...]:
    """The built-in presets."""
    return tuple(sorted(path.stem for path in DIRECTORY.glob("*.toml")))


def load(preset: str | Path) -> Preset:
    """The preset with this built-in name, or in this file, whose name ends in .toml.

    Raises FastError with the file and the error.
    """
    if str(preset).endswith(".toml"):
        path = Path(preset)
        data = _read(path)
        if data["name"] in names() and path.parent.resolve() != DIRECTORY:
            raise FastError(f'{path}: name = "{data["name"]}" is a built-in preset\'s: use another')
    else:
        path = DIRECTORY / f"{preset}.toml"
        if str(preset) not in names():
            raise FastError(
                f"no preset {preset}{closest(str(preset), names())}; allowed: "
                f"{', '.join(names())}, or a file whose name ends in .toml"
            )
        data = _read(path)
    text = json.dumps(data, sort_keys=True)
    return Preset(
        name=data["name"],
        path=path,
        id=hashlib.sha256(text.encode()).hexdigest()[:16],
        shared=data["l3.shared"],
        **{key: data[key] for key in _RANGES},
    )


def _read(path: Path) -> dict[str, Any]:
    """The checked keys, dotted, and values of the file."""
    data = _flat(path)
    complete = _flat(DIRECTORY / f"{COMPLETE}.toml")
    for key, value in data.items():
        if key not in complete:
            raise FastError(
                f"{path}: unknown key {key}{closest(key, complete)}; correct or remove it: "
                f"{COMPLETE}.toml has every key"
            )
        if type(value) is not type(complete[key]):
            kind = {int: "a whole number", bool: "true or false", str: "a string"}
            allowed = kind[type(complete[key])]
            raise FastError(f"{path}: {key} = {toml_table.written(value)}; allowed: {allowed}")
    for key in complete:
        if key not in data:
            raise FastError(f"{path}: {key} is missing; {COMPLETE}.toml has every key")
    for key, (low, high) in _RANGES.items():
        if not low <= data[key] <= high:
            given = toml_table.written(data[key])
            raise FastError(f"{path}: {key} = {given}; allowed: {low} to {high}")
    if bool(data["clusters"]) == bool(data["cluster_cpus"]):
        raise FastError(f"{path}: one of clusters and cluster_cpus must be 0, and only one")
    name = data["name"]
    if not _NAME.fullmatch(name) or path.name != f"{name}.toml":
        raise FastError(
            f'{path}: name = "{name}"; allowed: the file\'s name without .toml, at most 31 of '
            "small letters, digits, '-', '_' and '.'"
        )
    return data


def _flat(path: Path) -> dict[str, Any]:
    data = toml_table.read(path, f"a machine's file, or one of {', '.join(names())}")
    return dict(_leaves("", data))


def _leaves(prefix: str, table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(f"{prefix}{key}.", value)
        else:
            yield f"{prefix}{key}", value
