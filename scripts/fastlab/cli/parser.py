# SPDX-License-Identifier: GPL-2.0
"""The parser of the command line, and how its help looks."""

from __future__ import annotations

import argparse
from typing import Any


class _Help(argparse.HelpFormatter):
    """Python ignores the indentation of command names, and puts the words of the longest name on a
    line of their own, which help2man takes for another paragraph."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        for subaction in self._iter_indented_subactions(action):
            length = self._current_indent + len(self._format_action_invocation(subaction))
            self._action_max_length = max(self._action_max_length, length)


class CommandParser(argparse.ArgumentParser):
    """Parsers of subcommands have the same class."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=_Help, **given)
