# SPDX-License-Identifier: GPL-2.0
"""Commands of `fast bench` that other packages bring.

A plug-in is an entry point of the group GROUP: a function that adds commands to the parser's.
"""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path

from fastlab.cli.common import Commands, project

GROUP = "fastlab.bench"
# A folder of this checkout with a package that need not be installed, by its metadata.
BESIDE = "userspace/*/*/*.dist-info"


def find_plugins(root: Path) -> EntryPoints:
    """The plug-ins of Python's environment, and of the packages in the checkout `root`."""
    for metadata in sorted(root.glob(BESIDE)):
        if str(metadata.parent) not in sys.path:
            sys.path.append(str(metadata.parent))
    return entry_points(group=GROUP)


def add_plugins(what: Commands) -> None:
    """Let each plug-in add its commands. One that cannot be loaded is named on stderr."""
    for plugin in find_plugins(project()):
        try:
            add = plugin.load()
        except (ImportError, AttributeError) as error:
            print(
                f"fast: the plug-in {plugin.name} ({plugin.value}) cannot be loaded, so its "
                f"commands are missing: {error}; install it again, or remove it",
                file=sys.stderr,
            )
        else:
            add(what)
