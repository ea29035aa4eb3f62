# SPDX-License-Identifier: GPL-2.0
"""What a kernel is built from: a variant of Kbuild/kernels.toml, or a [[kernel]] of an experiment,
which is the unpatched variant with patches and configuration of its own."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import tools
from fastlab.base.files import write_files
from fastlab.base.lookup import closest, pick
from fastlab.base.model import FastError, Recipe
from fastlab.base.progress import Reporter
from fastlab.kernel import patches, sources
from fastlab.kernel.catalogue import Catalogue, SeriesEntry, VariantEntry, patch_folder
from fastlab.kernel.sources import Source

# The variant to which a [[kernel]] adds.
BASE = "baseline"
# A line of a configuration among the names of fragments.
_LINE = re.compile(r"CONFIG_\w+=.+|# CONFIG_\w+ is not set")
# In what is meant as one.
_SYMBOL = re.compile(r"[A-Z]{2}|=")


@dataclass(frozen=True)
class Ingredients:
    """What a kernel is built from. `name` is that of its builds and its tree, `variant` the one
    that arms give; `extra` are fragments beyond the variant's. `own`: an experiment's."""

    name: str
    series: SeriesEntry
    variant: str
    patches: Sequence[Path]
    fragments: Sequence[Path]
    source: Source
    extra: tuple[str, ...] = ()
    own: bool = False


def of_variant(
    project: Path,
    series: SeriesEntry,
    variant: VariantEntry,
    extra: tuple[str, ...],
    source: Source,
) -> Ingredients:
    return Ingredients(
        "+".join((f"{series.name}-{variant.name}", *extra)),
        series,
        variant.name,
        patch_files(project, series.name, variant.patches),
        fragment_files(project, (*variant.fragments, *series.fragments, *extra)),
        source,
        extra,
    )


def of_recipe(
    project: Path,
    catalogue: Catalogue,
    recipe: Recipe,
    directory: Path,
    extra: tuple[str, ...],
    cache: Path,
    reporter: Reporter,
) -> Ingredients:
    """`extra` are fragments of the laboratory before the recipe's, `directory` is where its paths
    begin. Raises FastError for what is not there."""
    try:
        series, source = _source(catalogue, recipe.source, directory, cache, reporter)
        base = pick(catalogue.variants, BASE, "variant")
        files = patch_files(project, series.name, base.patches)
        for given in recipe.patches:
            files += _patches(project, series.name, given, directory)
        fragments = fragment_files(project, (*base.fragments, *series.fragments, *extra))
        named = [given for given in recipe.config if not _LINE.fullmatch(given)]
        fragments += [_fragment(project, given, directory) for given in named]
        name = "+".join((f"{series.name}-own-{recipe.name}", *extra))
        if lines := [given for given in recipe.config if _LINE.fullmatch(given)]:
            fragments.append(_written(lines, cache / "trees" / name))
    except FastError as error:
        raise FastError(f"kernel {recipe.name}: {error}") from error
    return Ingredients(name, series, recipe.name, files, fragments, source, extra, own=True)


def patch_files(project: Path, series: str, names: Sequence[str]) -> list[Path]:
    """The laboratory's patches of these names, as one series."""
    folders = (patch_folder(project, series, name) for name in names)
    return [patch for folder in folders for patch in patches.read_series(folder)]


def fragment_files(project: Path, names: Sequence[str]) -> list[Path]:
    """The laboratory's configuration fragments of these names."""
    folder = project / "Kbuild"
    available = {path.stem: path for path in sorted(folder.glob("*.config"))}
    return [pick(available, name, "configuration fragment", f" in {folder}") for name in names]


def _source(
    catalogue: Catalogue, given: str, directory: Path, cache: Path, reporter: Reporter
) -> tuple[SeriesEntry, Source]:
    if given in catalogue.series:
        series = catalogue.series[given]
        return series, sources.locate(series.origin, series.name, None, cache, reporter)
    path = directory / Path(given).expanduser()
    tree, at, revision = str(path).rpartition("@")
    if not path.exists() and at and Path(tree).is_dir():
        return _revision(catalogue, Path(tree), revision, cache, reporter)
    if not path.exists():
        known = ", ".join(catalogue.series)
        raise FastError(
            f"source {given} is not there{closest(given, catalogue.series)}: name a series "
            f"({known}), a directory, a tarball, or DIRECTORY@REVISION of a git repository"
        )
    stated = sources.version(path) if path.is_dir() else sources.packed_version(path, cache)
    series = _series_of(catalogue, stated, given)
    return series, sources.locate(series.origin, series.name, path, cache, reporter)


def _series_of(catalogue: Catalogue, stated: str, given: str) -> SeriesEntry:
    match = re.match(r"\d+\.\d+", stated)
    if not match or match[0] not in catalogue.series:
        raise FastError(
            f"source {given} is Linux {stated}, and the simulation's own patches are for "
            f"{', '.join(catalogue.series)}: give a source of one of these series"
        )
    return catalogue.series[match[0]]


def _revision(
    catalogue: Catalogue, tree: Path, revision: str, cache: Path, reporter: Reporter
) -> tuple[SeriesEntry, Source]:
    """The tree of a git revision, unpacked where a tarball's would be. Its id in git tells its
    content."""
    given = f"{tree}@{revision}"
    digest = _git(tree, given, "rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}").strip()
    stated = sources.stated_in(_git(tree, given, "show", f"{digest}:Makefile"), Path(given))
    series = _series_of(catalogue, stated, given)
    tarball = cache / "downloads" / f"git-{digest}.tar"
    source = Source(tarball, digest)
    if not (cache / "sources" / digest[:16]).is_dir():
        tarball.parent.mkdir(parents=True, exist_ok=True)
        try:
            _git(tree, given, "archive", "--prefix=linux/", f"--output={tarball}", digest)
            sources.unpack(source, series.name, cache, reporter)
        finally:
            tarball.unlink(missing_ok=True)
    return series, source


def _git(tree: Path, given: str, *words: str) -> str:
    answer = subprocess.run(
        [tools.require("git"), "-C", tree, *words], capture_output=True, text=True, errors="replace"
    )
    if "not a git repository" in answer.stderr:
        raise FastError(
            f"source {given}: {tree} is no git repository; leave the revision out, to take the "
            "directory as it is"
        )
    if answer.returncode:
        why = answer.stderr.strip() or "there is no such revision"
        raise FastError(
            f"source {given}: {why}; `git -C {tree} log` has the revisions of this repository"
        )
    return answer.stdout


def _patches(project: Path, series: str, given: str, directory: Path) -> list[Path]:
    path = directory / Path(given).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        return patches.read_series(path)
    folder = patch_folder(project, series, given)
    if "/" not in given and folder.is_dir():
        return patches.read_series(folder)
    raise FastError(
        f"patch {given} is not there: name a file, or a directory with a quilt series, from "
        f"{directory.absolute()} on, or patches that the laboratory has for {series}"
    )


def _fragment(project: Path, given: str, directory: Path) -> Path:
    path = directory / Path(given).expanduser()
    if path.is_file():
        return path
    try:
        return fragment_files(project, (given,))[0]
    except FastError as error:
        hint = "; a line is CONFIG_NAME=value, or # CONFIG_NAME is not set"
        raise FastError(f"{error}{hint if _SYMBOL.search(given) else ''}") from error


def _written(lines: Sequence[str], tree: Path) -> Path:
    """A fragment of these lines, in the directory of the kernel's tree."""
    text = "".join(f"{line}\n" for line in lines)
    name = f"lines-{hashlib.sha256(text.encode()).hexdigest()[:12]}.config"
    (written,) = write_files(tree, [(name, text)])
    return written
