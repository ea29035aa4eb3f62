# SPDX-License-Identifier: GPL-2.0
"""The sizes of our SPLASH-2 programs: their options, as the programs state them (--help).

A program would refuse a bad one too, but in the guest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_COUNT = 2**32 - 1
UNLIMITED = 1024


@dataclass(frozen=True)
class Whole:
    low: int
    high: int

    def holds(self, value: object) -> bool:
        # bool is an int to Python, not to TOML.
        return type(value) is int and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Real:
    low: float
    high: float

    def holds(self, value: object) -> bool:
        return type(value) in (int, float) and self.low <= value <= self.high  # type: ignore[operator]

    def __str__(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Word:
    words: tuple[str, ...]

    def holds(self, value: object) -> bool:
        return value in self.words

    def __str__(self) -> str:
        return ", ".join(self.words)


Options = Mapping[str, Whole | Real | Word]

_STEPS = Whole(1, 1_000_000)
_DISTRIBUTION = Word(("plummer", "uniform"))
_LU: Options = {"n": Whole(1, 65536), "b": Whole(1, 1024)}
_WATER: Options = {
    "molecules": Whole(8, 8_000_000),
    "steps": _STEPS,
    "energy_every": _STEPS,
    "dt": Real(1e-2, 0.25),
    "cutoff": Real(2, 1000),
}

# `energy_every` here is `--energy-every` there.
OPTIONS: Mapping[str, Options] = {
    "barnes": {
        "bodies": Whole(2, MAX_COUNT),
        "steps": _STEPS,
        "theta": Real(0, 1),
        "softening": Real(1e-3, 1),
        "dtime": Real(0, 0.1),
        "distribution": _DISTRIBUTION,
    },
    "cholesky": {
        "grid": Whole(1, 1024),
        "dense": Whole(1, 65536),
        "block": Whole(1, 128),
        "order": Word(("natural", "mindegree", "dissection")),
    },
    "fft": {"m": Whole(2, 30)},
    "fmm": {
        "particles": Whole(2, MAX_COUNT),
        "steps": _STEPS,
        "clusters": Whole(1, 2),
        "precision": Real(1e-12, 0.1),
        "dtime": Real(0, 0.1),
        "distribution": _DISTRIBUTION,
    },
    "lu_contiguous": _LU,
    "lu_noncontiguous": _LU,
    "radix": {"n": Whole(1, 2**32), "r": Whole(2, 65536), "m": Whole(1, 2**32)},
    "water_nsquared": _WATER,
    "water_spatial": _WATER,
}


def complaint(name: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """An option, each by itself within its range, that the program refuses, and what it allows."""
    if options.get("m", 0) % 2 and name == "fft":
        return "m", "an even number: the points are a square"
    radix = options.get("r", 2)
    if radix & (radix - 1):
        return "r", "a power of two"
    if options.get("b", 1) > options.get("n", 65536):
        return "b", "at most n"
    if "grid" in options and "dense" in options:
        return "dense", "a matrix is either this or a grid"
    molecules = options.get("molecules", 8)
    if round(math.cbrt(molecules)) ** 3 != molecules:
        return "molecules", "a cube, such as 512 or 729"
    return "", ""


def most_threads(name: str, options: Mapping[str, Any]) -> int:
    """How many threads find work, as far as that is known before the program runs."""
    limits: dict[str, int] = {
        "fft": 2 ** (options.get("m", 20) // 2),
        "radix": options.get("n", UNLIMITED),
        "water_nsquared": options.get("molecules", UNLIMITED),
    }
    return min(limits.get(name, UNLIMITED), UNLIMITED)


def size_words(options: Mapping[str, Any]) -> tuple[str, ...]:
    """As the command line has them."""
    return tuple(f"--{key.replace('_', '-')}={value}" for key, value in options.items())
