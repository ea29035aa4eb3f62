# SPDX-License-Identifier: GPL-2.0
"""The map in Documentation/architecture.rst is true: each package a floor, imports only downwards,
no file larger than one reads at once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "scripts/fastlab"
MOST_LINES = 400
MOST_LINES_OF_A_COMMAND = 150


def floors() -> list[str]:
    """The packages of the map's table, from the bottom to the top."""
    text = (PROJECT / "Documentation/architecture.rst").read_text()
    section = text[text.index("The package fastlab\n=") : text.index("\nContracts\n=")]
    _, table, _ = re.split(r"^=+  =+$", section, flags=re.MULTILINE)
    return re.findall(r"^``(\w+)``", table, re.MULTILINE)


def modules() -> Iterator[Path]:
    return (path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def imports(path: Path) -> Iterator[str]:
    """The modules of fastlab that a file imports, those inside its functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fastlab."):
            package, _, rest = (node.module or "").removeprefix("fastlab.").partition(".")
            if rest:
                yield f"{package}.{rest}"
            else:
                yield from (f"{package}.{alias.name}" for alias in node.names)


def test_every_package_is_in_the_map_once() -> None:
    packages = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()]
    assert sorted(floors()) == sorted(packages)
    assert len(floors()) == 16


def test_imports_go_downwards() -> None:
    order = floors()
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in modules()
        for other in imports(path)
        if order.index(other.partition(".")[0]) > order.index(path.parent.name)
    ]
    assert wrong == []


def test_no_module_imports_itself_by_way_of_another() -> None:
    graph = {f"{path.parent.name}.{path.stem}": {*imports(path)} for path in modules()}
    for name in graph:
        seen: set[str] = set()
        left = list(graph[name])
        while left:
            other = left.pop()
            assert other != name, f"{name} is in a circle"
            if other in graph and other not in seen:
                seen.add(other)
                left += graph[other]


def types(path: Path) -> Iterator[str]:
    """The names of a module's public classes, and of types that it gives a name."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (one.id for one in targets if isinstance(one, ast.Name))


def test_a_type_has_a_name_of_its_own() -> None:
    named = Counter(
        name for path in modules() for name in types(path) if re.match(r"[A-Z]\w*[a-z]", name)
    )
    assert [name for name, count in named.items() if count > 1] == []


def test_a_private_class_has_a_name_of_its_own() -> None:
    named = Counter(
        node.name
        for path in modules()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in named.items() if count > 1] == []


def test_a_module_has_a_name_of_its_own() -> None:
    """But for a command's, which is called as what it shows."""
    named = Counter(path.stem for path in modules() if path.parent.name != "cli")
    assert [name for name, count in named.items() if count > 1 and name != "__init__"] == []


def test_a_function_is_not_called_as_another_module_beside_it() -> None:
    """But for a command's run(), which all of them have."""
    beside = {path.parent: {other.stem for other in path.parent.glob("*.py")} for path in modules()}
    wrong = [
        f"{path.parent.name}.{path.stem}.{node.name}()"
        for path in modules()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and node.name in beside[path.parent] - {path.stem}
        and (path.parent.name, node.name) != ("cli", "run")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "path", sorted(modules()), ids=lambda path: f"{path.parent.name}.{path.stem}"
)
def test_a_file_is_read_at_once(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    most = MOST_LINES_OF_A_COMMAND if path.parent.name == "cli" else MOST_LINES
    assert lines <= most
