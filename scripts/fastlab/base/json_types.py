# SPDX-License-Identifier: GPL-2.0
"""Is a value that came out of JSON what a type of ours says?

Types are those of fields of a TypedDict or a dataclass, with all that is in them. Numbers are of
one kind, as in JSON, and lie within 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

# "" of a value that is of the type; else what is wrong, to be read behind the value's name.
Misfit = Callable[[Any], str]

LARGEST = 2**64
SHOWN = 60


def cut(text: str, most: int) -> str:
    """What is wrong may be long."""
    return text if len(text) <= most else f"{text[:most]}..."


def shown(value: object) -> str:
    """In a message, not all of what is long."""
    return cut(repr(value), SHOWN)


@cache
def misfit(wanted: Any) -> Misfit:
    """Of values that are to be of this type."""
    origin, of = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return lambda value: ""
    if wanted in (int, float):
        return _number
    if is_typeddict(wanted):
        return _record(wanted, sorted(wanted.__required_keys__))
    if is_dataclass(wanted):
        left_out = {MISSING}
        own = fields(wanted)
        return _record(
            wanted, [one.name for one in own if {one.default, one.default_factory} == left_out]
        )
    if origin in (Union, UnionType):
        return _either([misfit(one) for one in of])
    if origin is Literal:
        return lambda value: "" if value in of else f" is {shown(value)}; there are {', '.join(of)}"
    if origin in (dict, Mapping):
        return _items(dict, misfit(of[1]), dict.items)
    if origin is tuple and of[-1] is not ...:
        return _tuple([misfit(one) for one in of])
    if origin in (list, tuple):
        return _items(list, misfit(of[0]), lambda value: enumerate(value, 1))
    return _plain(type(None) if wanted is None else wanted)


def _number(value: Any) -> str:
    if type(value) in (int, float) and -LARGEST < value < LARGEST:
        return ""
    return f" is {shown(value)}, and not a number of 64 bits"


def _plain(kind: type) -> Misfit:
    def check(value: Any) -> str:
        return "" if type(value) is kind else f" is {shown(value)}, and not a {kind.__name__}"

    return check


def _either(kinds: list[Misfit]) -> Misfit:
    def check(value: Any) -> str:
        found = [kind(value) for kind in kinds]
        return "" if "" in found else found[0]

    return check


def _items(
    kind: type, each: Misfit, items: Callable[[Any], Iterable[tuple[object, object]]]
) -> Misfit:
    whole = _plain(kind)

    def check(value: Any) -> str:
        if wrong := whole(value):
            return wrong
        for name, one in items(value):
            if wrong := each(one):
                return f" {name}{wrong}"
        return ""

    return check


def _tuple(kinds: list[Misfit]) -> Misfit:
    def check(value: Any) -> str:
        if type(value) is not list or len(value) != len(kinds):
            return f" is {shown(value)}, and not a list of {len(kinds)}"
        return next(filter(None, map(lambda kind, one: kind(one), kinds, value)), "")

    return check


def _record(wanted: Any, required: Collection[str]) -> Misfit:
    kinds = {name: misfit(one) for name, one in get_type_hints(wanted).items()}
    whole = _plain(dict)

    def check(value: Any) -> str:
        if wrong := whole(value):
            return wrong
        for name in required:
            if name not in value:
                return f" lacks {name}"
        for name, one in value.items():
            if name in kinds and (wrong := kinds[name](one)):
                return f" {name}{wrong}"
        return ""

    return check
