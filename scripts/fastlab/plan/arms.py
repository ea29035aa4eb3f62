# SPDX-License-Identifier: GPL-2.0
"""The arms of an experiment file and the kernels that they run: what is compared with what."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fastlab.base.model import Recipe, Variant
from fastlab.base.toml_table import TomlTable

# Those of Kbuild/kernels.toml that an arm may name without a [[kernel]].
KERNELS = ("baseline", "fast", "wakecpu", "sched_ext")
POLICIES = ("off", "strict", "soft", "adaptive")
# FAST's knobs besides the policy, and their ranges.
KNOBS = {"depth": (0, 2**32 - 1), "opt_in": (0, 1)}

# A name is part of the name of a directory.
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
NAMES = "up to 64 small letters, digits, '-', '_' and '.', of which a letter or digit is the first"
FEATURE = re.compile(r"[A-Z]+(_[A-Z]+)*")
FEATURES = 'names such as "NEXT_BUDDY" or "NO_DELAY_DEQUEUE"'
# Lines of the guest's job end at a newline, and the text that it is made of at a NUL.
TEXT = re.compile(r"[^\0\n]+")
_LINE = "one line of text, not empty"
# Of a file below /proc/sys or debugfs.
_FILE = re.compile(r"(?!.*\.\.)[\w.:-]+(/[\w.:-]+)*")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")


def kernels(top: TomlTable) -> tuple[tuple[Recipe, ...], Mapping[str, str]]:
    """The file's own kernels, and the command line of each, by name."""
    tables = top.tables("kernel", least=0)
    recipes = tuple(_recipe(table, top) for table in tables)
    top.no_duplicates("kernel", [recipe.name for recipe in recipes])
    lines = (table.text("cmdline", TEXT, _LINE, "") for table in tables)
    return recipes, dict(zip((recipe.name for recipe in recipes), lines, strict=True))


def _recipe(table: TomlTable, top: TomlTable) -> Recipe:
    table.only("name", "source", "patches", "config", "cmdline")
    name = table.text("name", NAME, NAMES)
    if name in KERNELS:
        table.fail("name", name, f"another one: the laboratory has kernels {', '.join(KERNELS)}")
    return Recipe(
        name,
        table.text(
            "source",
            TEXT,
            'a kernel series such as "6.12", a directory, a tarball, or DIRECTORY@REVISION',
            str(top.data.get("series", "")),
        ),
        table.texts("patches", TEXT, "files, directories, or names of the laboratory's patches"),
        table.texts("config", TEXT, 'files, names of the laboratory\'s, or lines "CONFIG_X=y"'),
    )


def variant(table: TomlTable, cpus: int, lines: Mapping[str, str]) -> Variant:
    """An arm, on a machine of `cpus`; `lines` are the command lines of the file's own kernels."""
    table.only(
        *("name", "kernel", "policy", "knobs", "features", "sysctl", "debugfs", "cmdline"),
        *("cpus", "environment", "scheduler"),
    )
    name = table.text("name", NAME, NAMES)
    kernel = table.choice("kernel", (*KERNELS, *lines))
    asked = (lines.get(kernel, ""), table.text("cmdline", TEXT, _LINE, ""))
    arm = Variant(
        name=name,
        kernel=kernel,
        policy=table.choice("policy", POLICIES, "off"),
        knobs=_knobs(table.table("knobs")),
        features=_features(table),
        cpus=table.integer("cpus", 1, cpus) if "cpus" in table.data else None,
        sysctl=_values(table, "sysctl", _FILE, "names such as kernel.sched_rr_timeslice_ms"),
        debugfs=_values(table, "debugfs", _FILE, 'paths such as "sched/base_slice_ns"'),
        cmdline=" ".join(filter(None, asked)),
        environment=_values(table, "environment", _VARIABLE, "names of variables"),
        scheduler=command(table, "scheduler") if "scheduler" in table.data else (),
    )
    if kernel in KERNELS and kernel != "fast" and arm.needs_fast:
        table.fail(
            "kernel",
            kernel,
            'only the kernel with FAST has a policy: use kernel = "fast", '
            "or leave policy and knobs out",
        )
    return arm


def command(table: TomlTable, key: str) -> tuple[str, ...]:
    """A command line, which is split as a shell does it."""
    text = table.text(key, TEXT, "a command line")
    try:
        words = shlex.split(text)
    except ValueError as error:
        table.fail(key, text, f"a command line as a shell takes it ({error})")
    if not words:
        table.fail(key, text, "a command line, not empty")
    return tuple(words)


def _knobs(table: TomlTable) -> dict[str, int]:
    table.only(*KNOBS)
    return {name: table.integer(name, *KNOBS[name]) for name in table.data}


def _features(table: TomlTable) -> tuple[str, ...]:
    """Checks only the spelling: kernel.needs looks for the feature in the kernel."""
    names = table.texts("features", FEATURE, FEATURES)
    if twice := features_twice(names):
        table.fail("features", names, f"{twice} only once")
    return names


def features_twice(names: Sequence[str]) -> str:
    """A feature that stands there more than once, or ""."""
    plain = Counter(name.removeprefix("NO_") for name in names)
    return next((name for name, count in plain.items() if count > 1), "")


def _values(table: TomlTable, key: str, pattern: re.Pattern[str], allowed: str) -> dict[str, str]:
    """The values of a table, as text."""
    given = table.table(key)
    values = {}
    for name, value in _flat(given.data):
        if not pattern.fullmatch(name):
            given.fail(name, value, f"{key} to have {allowed}")
        text = str(int(value)) if isinstance(value, bool) else str(value)
        if not isinstance(value, str | int) or not TEXT.fullmatch(text):
            given.fail(name, value, f"a number, or {_LINE}")
        values[name] = text
    return values


def _flat(data: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """TOML takes an unquoted a.b for a table in a table."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
