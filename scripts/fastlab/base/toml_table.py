# SPDX-License-Identifier: GPL-2.0
"""TOML files, and tables whose look-ups report an error with file, table, key, value and allowed
values."""

from __future__ import annotations

import json
import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from fastlab.base.lookup import closest
from fastlab.base.model import FastError
from fastlab.base.text import cut

INFINITY = float("inf")
SHOWN = 200
SECONDS = "seconds, more than 0"
# The type of a Literal's words.
_S = TypeVar("_S", bound=str)


def read(path: Path, instead: str) -> dict[str, Any]:
    """The file's content, without the byte order mark of some editors. Raises FastError with the
    place of the error, or with what to name `instead`."""
    mark = 0
    try:
        data = path.read_bytes()
        mark = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
        return tomllib.loads(data[mark:].decode())
    except OSError as error:
        raise FastError(f"{path}: {error.strerror}; name {instead}") from error
    except UnicodeDecodeError as error:
        at = mark + error.start
        raise FastError(f"{path}: byte {at} is not UTF-8 text, as TOML must be") from error
    except tomllib.TOMLDecodeError as error:
        raise FastError(f"{path}: not valid TOML: {error}") from error
    except (ValueError, RecursionError) as error:
        # Beyond Python's limits. How to raise them does not help the reader.
        raise FastError(f"{path}: cannot be read: {str(error).partition(';')[0]}") from error


def written(value: object) -> str:
    """The value as the file's author wrote it, or nearly so."""
    try:
        return cut(json.dumps(value, default=str), SHOWN)
    except (ValueError, RecursionError):
        return "a value that is too long to show"


class TomlTable:
    """A table with typed look-ups. `path` is its file, `place` its name in the file, "" for the
    whole file. Every method raises FastError for a value that it does not allow."""

    def __init__(self, path: Path, place: str, data: Mapping[str, object]) -> None:
        self.path = path
        self.place = place
        self.data = data
        self._where = f"{path}: {place}: " if place else f"{path}: "

    def fail(self, key: str, value: object, allowed: str) -> NoReturn:
        given = "is missing" if value is None else f"= {written(value)} is not allowed"
        raise FastError(f"{self._where}{key} {given}; allowed: {allowed}")

    def only(self, *keys: str) -> None:
        for key in self.data:
            if key not in keys:
                raise FastError(
                    f"{self._where}unknown key {key}{closest(key, keys)}; "
                    f"allowed: {', '.join(keys)}"
                )

    def no_duplicates(self, key: str, values: Iterable[object]) -> None:
        seen = set()
        for value in values:
            if value in seen:
                self.fail(key, value, "each only once")
            seen.add(value)

    def text(
        self, key: str, pattern: re.Pattern[str], allowed: str, default: str | None = None
    ) -> str:
        if default is not None and key not in self.data:
            return default
        value = self.data.get(key)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            self.fail(key, value, allowed)
        return value

    def texts(self, key: str, pattern: re.Pattern[str], allowed: str) -> tuple[str, ...]:
        """A list of texts, which may be missing."""
        values = self.data.get(key, [])
        if not isinstance(values, list):
            self.fail(key, values, f"a list of {allowed}")
        for value in values:
            if not isinstance(value, str) or not pattern.fullmatch(value):
                self.fail(key, value, allowed)
        return tuple(values)

    def choice(self, key: str, allowed: Sequence[_S], default: _S | None = None) -> _S:
        value = self.data.get(key, default)
        for word in allowed:
            if word == value:
                break
        else:
            hint = closest(value, allowed) if isinstance(value, str) else ""
            self.fail(key, value, ", ".join(allowed) + hint)
        return word

    def boolean(self, key: str, default: bool) -> bool:
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, value, "true, false")
        return value

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        return self._integer(key, self.data.get(key, default), low, high)

    def _integer(self, key: str, value: object, low: int, high: int) -> int:
        # bool is an int to Python, not to TOML.
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.fail(key, value, f"a whole number from {low} to {high}")
        return value

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        values = self.data.get(key)
        if not isinstance(values, list) or len(values) != count:
            self.fail(key, values, f"a list of {count} numbers")
        return tuple(self._number(key, value, -INFINITY, INFINITY, "numbers") for value in values)

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        allowed = f"a number from {low:g} to {high:g}"
        return self._number(key, self.data.get(key, default), low, high, allowed)

    def _number(self, key: str, value: object, low: float, high: float, allowed: str) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.fail(key, value, allowed)
        # This form also rejects nan.
        if not low <= value <= high:
            self.fail(key, value, allowed)
        return value

    def integers(self, key: str, low: int, high: int) -> tuple[int, ...]:
        values = self.data.get(key)
        if not isinstance(values, list) or not values:
            self.fail(key, values, f"a list of whole numbers from {low} to {high}, at least one")
        numbers = tuple(self._integer(key, value, low, high) for value in values)
        self.no_duplicates(key, numbers)
        return numbers

    def seconds(self, key: str, default: float) -> float:
        value = self.data.get(key, default)
        seconds = self._number(key, value, 0, 1e9, SECONDS)
        if not seconds:
            self.fail(key, value, SECONDS)
        return float(seconds)

    def table(self, key: str) -> TomlTable:
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self.fail(key, value, "a table")
        return TomlTable(self.path, f"{self.place} {key}".strip(), value)

    def tables(self, key: str, least: int = 1) -> list[TomlTable]:
        values = self.data.get(key, [] if not least else None)
        if not isinstance(values, list) or len(values) < least:
            self.fail(key, values, f"one or more [[{key}]] tables")
        tables = []
        for number, value in enumerate(values, 1):
            if not isinstance(value, dict):
                self.fail(key, value, f"[[{key}]] tables")
            place = f"{self.place} [[{key}]] {number}".strip()
            tables.append(TomlTable(self.path, place, value))
        return tables
