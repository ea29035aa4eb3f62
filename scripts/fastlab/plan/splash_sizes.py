# SPDX-License-Identifier: GPL-2.0
"""The sizes of our SPLASH-2 programs: their options, as the programs state them (--help).

A program would refuse a bad one too, but in the guest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastlab.base.toml_table import TomlTable

MAX_COUNT = 2**32 - 1
UNLIMITED = 1024

# Of each option the least and the most, whole numbers or any, or the words that it takes.
Options = Mapping[str, tuple[int, int] | tuple[float, float] | tuple[str, ...]]

_STEPS = (1, 1_000_000)
_DISTRIBUTION = ("plummer", "uniform")
_LU: Options = {"n": (1, 65536), "b": (1, 1024)}
_WATER: Options = {
    "molecules": (8, 8_000_000),
    "steps": _STEPS,
    "energy_every": _STEPS,
    "dt": (1e-2, 0.25),
    "cutoff": (2.0, 1000.0),
}

# `energy_every` here is `--energy-every` there.
OPTIONS: Mapping[str, Options] = {
    "barnes": {
        "bodies": (2, MAX_COUNT),
        "steps": _STEPS,
        "theta": (0.0, 1.0),
        "softening": (1e-3, 1.0),
        "dtime": (0.0, 0.1),
        "distribution": _DISTRIBUTION,
    },
    "cholesky": {
        "grid": (1, 1024),
        "dense": (1, 65536),
        "block": (1, 128),
        "order": ("natural", "mindegree", "dissection"),
    },
    "fft": {"m": (2, 30)},
    "fmm": {
        "particles": (2, MAX_COUNT),
        "steps": _STEPS,
        "clusters": (1, 2),
        "precision": (1e-12, 0.1),
        "dtime": (0.0, 0.1),
        "distribution": _DISTRIBUTION,
    },
    "lu_contiguous": _LU,
    "lu_noncontiguous": _LU,
    "radix": {"n": (1, 2**32), "r": (2, 65536), "m": (1, 2**32)},
    "water_nsquared": _WATER,
    "water_spatial": _WATER,
}


def check(table: TomlTable, name: str) -> None:
    """Raises FastError for options that the program has not, or that are not within its ranges."""
    known = OPTIONS[name]
    table.only(*known)
    for key in table.data:
        match known[key]:
            case (int(low), int(high)):
                table.integer(key, low, high)
            case (float(low), float(high)):
                table.number(key, low, high)
            case words:
                table.choice(key, [str(word) for word in words])


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
