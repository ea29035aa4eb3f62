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

# water_*: mass of a molecule in u, density in g/cm^3, 1 g/cm^3 in u per cubic angstrom, and the
# margin of a cell beyond the cutoff in angstrom.
WATER_MASS = 15.99945 + 1.007825 + 1.007825
DENSITY = 0.9980
GRAM_PER_CM3 = 0.602214076
SKIN = 0.1

# The range of each option, or the words that it takes.
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

# Defaults of options on which other options depend.
_LU_DEFAULTS = {"n": 512, "b": 16}
_WATER_DEFAULTS = {"molecules": 512, "cutoff": 6.0}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "fft": {"m": 16},
    "lu_contiguous": _LU_DEFAULTS,
    "lu_noncontiguous": _LU_DEFAULTS,
    "radix": {"n": 2**18, "r": 1024},
    "water_nsquared": _WATER_DEFAULTS,
    "water_spatial": _WATER_DEFAULTS,
}


def check(table: TomlTable, name: str) -> None:
    """Raise FastError for an option that the program does not have, or a value out of range."""
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
    """An option whose value the program refuses although it is in range, and what it allows."""
    every = {**DEFAULTS.get(name, {}), **options}
    if name == "fft" and every["m"] % 2:
        return "m", "an even number: the points are a square"
    if "r" in every and every["r"] & (every["r"] - 1):
        return "r", "a power of two"
    if "b" in every and every["b"] > every["n"]:
        key = "b" if "b" in options else "n"
        return key, f"b, which is {every['b']}, at most n, which is {every['n']}"
    if "grid" in options and "dense" in options:
        return "dense", "a matrix is either this or a grid"
    if "dense" in options and options.get("order") == "dissection":
        return "order", "natural, mindegree: dissection is of a grid"
    if "molecules" in every:
        if round(math.cbrt(every["molecules"])) ** 3 != every["molecules"]:
            return "molecules", "a cube, such as 512 or 729"
        half = _box(every["molecules"]) / 2
        if every["cutoff"] > half:
            key = "cutoff" if "cutoff" in options else "molecules"
            return key, f"a cutoff, which is {every['cutoff']:g}, up to half the box, {half:.4f}"
    return "", ""


def too_many(name: str, options: Mapping[str, Any], threads: int) -> str:
    """Why the program refuses this number of threads, or ""."""
    every = {**DEFAULTS.get(name, {}), **options}
    match name:
        case "fft":
            limit = 2 ** (every["m"] // 2)
        case "radix":
            limit = every["n"]
        case "water_nsquared":
            limit = every["molecules"]
        case "water_spatial":
            limit = max(1, int(_box(every["molecules"]) / (every["cutoff"] + SKIN))) ** 3
        case "lu_contiguous" | "lu_noncontiguous":
            columns = next(n for n in range(math.isqrt(threads), 0, -1) if threads % n == 0)
            rows, blocks = threads // columns, -(-every["n"] // every["b"])
            if rows <= blocks:
                return ""
            return f"{name} has {blocks} rows of blocks for a grid of {rows} x {columns} threads"
        case _:
            return ""
    return f"{name} has work for {limit} with these options" if threads > limit else ""


def _box(molecules: int) -> float:
    """The edge, in angstrom, of the box that the water fills."""
    return math.cbrt(molecules * WATER_MASS / (DENSITY * GRAM_PER_CM3))


def size_words(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The options as words of the command line."""
    return tuple(f"--{key.replace('_', '-')}={value}" for key, value in options.items())
