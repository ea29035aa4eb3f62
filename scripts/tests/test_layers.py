# SPDX-License-Identifier: GPL-2.0
"""The map in Documentation/architecture.rst is true: every module is in it, imports go upwards."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "scripts/fastlab"


def layers() -> list[str]:
    """The modules of the map's table, from the bottom of the package to its top."""
    text = (PROJECT / "Documentation/architecture.rst").read_text()
    section = text[text.index("The package fastlab\n=") : text.index("\nContracts\n=")]
    rule = re.search(r"^(=+)  =+$", section, re.MULTILINE)
    assert rule
    _, table, _ = re.split(r"^=+  =+$", section, flags=re.MULTILINE)
    column = "\n".join(line[: len(rule[1])] for line in table.splitlines())
    return re.findall(r"``(\w+)``", column)


def imports(module: str) -> set[str]:
    """The modules of the package that a module imports."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, _, name = node.module.partition(".")
            if package == "fastlab":
                found |= {name} if name else {alias.name for alias in node.names}
    return found


def test_every_module_is_in_the_map_once() -> None:
    modules = [path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    assert sorted(layers()) == sorted(modules)


def test_imports_go_upwards_in_the_map() -> None:
    order = layers()
    wrong = [
        f"{module} imports {other}"
        for module in order
        for other in imports(module)
        if order.index(other) >= order.index(module)
    ]
    assert wrong == []
