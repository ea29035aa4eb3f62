# SPDX-License-Identifier: GPL-2.0
"""Kbuild/kernels.toml: the kernel series there are, and the variants of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import toml_table
from fastlab.base.lookup import pick
from fastlab.base.model import FastError
from fastlab.kernel.sources import Origin

# Stands for the patches of kernel-patches/ among the names of a variant's patches.
SERIES = "series"


@dataclass(frozen=True)
class SeriesEntry:
    """A kernel series of kernels.toml; `objects` is about how many objects a build compiles.

    `fragments` are merged after those of a variant: what is otherwise in this series.
    """

    name: str
    primary: bool
    origin: Origin
    objects: int
    fragments: tuple[str, ...]


@dataclass(frozen=True)
class VariantEntry:
    """A variant of kernels.toml. `patches` are names of patch_folder()'s."""

    name: str
    patches: tuple[str, ...]
    fragments: tuple[str, ...]

    @property
    def patched(self) -> bool:
        """Is FAST in it?"""
        return SERIES in self.patches


@dataclass(frozen=True)
class Catalogue:
    """kernels.toml of a project."""

    project: Path
    series: Mapping[str, SeriesEntry]
    variants: Mapping[str, VariantEntry]

    def pick_series(self, name: str | None) -> SeriesEntry:
        """The named series, or the primary one."""
        if name is None:
            return next(entry for entry in self.series.values() if entry.primary)
        return pick(self.series, name, "kernel series")

    def pick_variants(self, series: SeriesEntry, names: Sequence[str]) -> list[VariantEntry]:
        """The named variants, or all that the series has.

        A series has a variant if it has the variant's patches.
        """
        there = [one for one in self.variants.values() if not self._lacking(series, one)]
        if not names:
            return there
        picked = [pick(self.variants, name, "variant") for name in names]
        for variant in picked:
            for folder in self._lacking(series, variant):
                has = ", ".join(one.name for one in there) or "none"
                raise FastError(
                    f"series {series.name} has no variant {variant.name!r}: there is no "
                    f"{folder / 'series'}, which would list its patches; its variants: {has}"
                )
        return picked

    def _lacking(self, series: SeriesEntry, variant: VariantEntry) -> list[Path]:
        folders = (patch_folder(self.project, series.name, name) for name in variant.patches)
        return [folder for folder in folders if not (folder / "series").is_file()]


def load_catalogue(project: Path) -> Catalogue:
    """Read Kbuild/kernels.toml; a FastError names a key that is missing or of a wrong type."""
    path = project / "Kbuild/kernels.toml"
    if not path.is_file():
        raise FastError(f"{path} is missing: `fast` runs from a checkout of the project")
    table = toml_table.read(path, "that of a checkout")
    try:
        series = {
            name: SeriesEntry(
                name,
                bool(entry.get("primary", False)),
                Origin(
                    debian_package=str(entry["debian_package"]),
                    debian_tarball=Path(entry["debian_tarball"]),
                    debian_suite=str(entry["debian_suite"]),
                    url=str(entry["url"]),
                    sha256=str(entry["sha256"]),
                ),
                int(entry["objects"]),
                _names(entry, "fragments"),
            )
            for name, entry in table["series"].items()
        }
        variants = {
            name: VariantEntry(name, _names(entry, "patches"), _names(entry, "fragments"))
            for name, entry in table["variants"].items()
        }
    except KeyError as error:
        raise FastError(f"{path}: the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise FastError(f"{path}: {error}") from error
    if sum(entry.primary for entry in series.values()) != 1:
        raise FastError(f"{path}: exactly one series must be primary")
    return Catalogue(project, series, variants)


def patch_folder(project: Path, series: str, name: str) -> Path:
    """Where the patches of this name are that are made for this kernel series."""
    if name == SERIES:
        return project / "kernel-patches" / series
    return project / "Kbuild/patches" / series / name


def _names(entry: Mapping[str, object], key: str) -> tuple[str, ...]:
    names = entry[key]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{key} must be a list of names")
    return tuple(names)
