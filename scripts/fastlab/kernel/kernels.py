# SPDX-License-Identifier: GPL-2.0
"""Kernels: which there are, building them once, and packing them for bare metal.

One function per subcommand of `fast kernel`, each with a typed request. The cache holds
  sources/HASH      unpacked tarballs, never written to
  trees/NAME        one patched source, its objects and its log, for the next build to go on from
  builds/ID         finished kernels: vmlinux, System.map, .config, build.log, kernel.json
"""

from __future__ import annotations

import gzip
import hashlib
import json
import platform
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fastlab.base import checksums, tools
from fastlab.base.cache import (
    cache_dir,
    is_whole,
    locked,
    making_in,
    mark_used,
    publish,
    reusable,
)
from fastlab.base.model import FastError, Kernel, Recipe
from fastlab.base.progress import Reporter
from fastlab.base.project import PROJECT
from fastlab.kernel import kbuild, kconfig, patches, recipes, sources
from fastlab.kernel.catalogue import (
    SERIES,
    Catalogue,
    SeriesEntry,
    load_catalogue,
)
from fastlab.kernel.kbuild import Tree
from fastlab.kernel.recipes import Ingredients

# What went into a build, beside it.
DOCUMENT = "kernel.json"
# Part of every build's id: raise it when this program begins to build differently.
RECIPE = 1

BUILD_TOOLS = ("make", "gcc", "ld", "flex", "bison", "bc", "perl", "tar", "xz", "patch")
DEB_TOOLS = (*BUILD_TOOLS, "dpkg-buildpackage", "dh", "rsync", "kmod", "cpio")
# What only some configurations need; make would miss it when all else is built.
DEB_TOOLS_OF = {"KERNEL_ZSTD": "zstd", "MODULE_COMPRESS_ZSTD": "zstd", "KERNEL_LZ4": "lz4"}


@dataclass(frozen=True)
class Places:
    """Where this project's files and the cache are."""

    project: Path = PROJECT
    cache: Path = field(default_factory=cache_dir)


@dataclass(frozen=True)
class BuildRequest:
    """`fast kernel build`: no series means the primary one, no variants mean all of them.

    `fragments` are further files NAME.config of Kbuild/, merged into every variant. Variants may
    also be names of `recipes`, whose paths begin at `directory`.
    """

    series: str | None = None
    variants: tuple[str, ...] = ()
    source: Path | None = None
    fragments: tuple[str, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    directory: Path = Path()
    places: Places = field(default_factory=Places)


@dataclass(frozen=True)
class DebRequest:
    """`fast kernel deb`: `config` is a whole configuration, that of the running kernel if None."""

    output: Path
    series: str | None = None
    source: Path | None = None
    config: Path | None = None
    places: Places = field(default_factory=Places)


@dataclass(frozen=True)
class Build:
    """A finished kernel of the cache: kernel.json, and the directory that it stands in."""

    kernel: Kernel
    version: str
    fragments: tuple[str, ...]
    directory: Path


def build(request: BuildRequest, reporter: Reporter) -> tuple[Kernel, ...]:
    """The kernels asked for, in their order; each is built only if nothing equal is there yet.

    Says how the configurations of the variants differ.
    """
    places = request.places
    catalogue = load_catalogue(places.project)
    own = {recipe.name: recipe for recipe in request.recipes}
    names = [name for name in request.variants if name not in own]
    tools.require_all(BUILD_TOOLS)
    with making_in(places.cache):
        of_names: dict[str, Ingredients] = {}
        if names or not own:
            series = catalogue.pick_series(request.series)
            variants = catalogue.pick_variants(series, names)
            given = (request.source, places.cache, reporter)
            source = sources.locate(series.origin, series.name, *given)
            of_names = {
                variant.name: recipes.of_variant(
                    places.project, series, variant, request.fragments, source
                )
                for variant in variants
            }
        of_names |= {
            name: recipes.of_recipe(
                *(places.project, catalogue, recipe, request.directory, request.fragments),
                *(places.cache, reporter),
            )
            for name, recipe in own.items()
        }
        wanted = [of_names[name] for name in request.variants or of_names]
        # What is wrong with one is told before any is built.
        for made_of in wanted:
            if made_of.own:
                _check_patches(made_of, places.cache, reporter)
        kernels = tuple(_build(made_of, places, reporter) for made_of in wanted)
    if names or not own:
        _say_differences(catalogue, series, request.fragments, places.cache, reporter)
    # An equal kernel may have been built by another name.
    return tuple(
        replace(kernel, variant=made_of.variant)
        for kernel, made_of in zip(kernels, wanted, strict=True)
    )


def deb(request: DebRequest, reporter: Reporter) -> tuple[Path, ...]:
    """Debian packages of the patched kernel, put into `request.output`; returns their paths."""
    places = request.places
    series = load_catalogue(places.project).pick_series(request.series)
    tools.require_all(DEB_TOOLS, headers=tools.HEADERS)
    start = _whole_config(request.config, reporter)
    fragments = recipes.fragment_files(places.project, ("fast", "release", "deb"))
    tree = Tree(places.cache / "trees" / f"{series.name}-deb")
    with making_in(places.cache), locked(tree.lock, reporter):
        source = sources.locate(series.origin, series.name, request.source, places.cache, reporter)
        series_patches = recipes.patch_files(places.project, series.name, (SERIES,))
        _fill(tree, source, series.name, series_patches, places.cache, reporter)
        for old in tree.root.glob("*.deb"):
            old.unlink()
        again = kbuild.prepare(tree)
        config = kbuild.configure(tree, fragments, places.cache, start)
        tools.require_all(tool for name, tool in DEB_TOOLS_OF.items() if config.get(name) == "y")
        # The package's revision counts its builds, so the build's number is left to count too.
        environment = {**kbuild.REPRODUCIBLE}
        del environment["KBUILD_BUILD_VERSION"]
        with _counted(tree, f"packing Linux {series.name}", 0, again, reporter) as on_object:
            kbuild.make(
                tree,
                "bindeb-pkg",
                cache=places.cache,
                environment=environment,
                on_object=on_object,
            )
        # linux-libc-dev would not install beside the distribution's but replace it, and the series
        # changes nothing in it.
        built_here = sorted(set(tree.root.glob("*.deb")) - set(tree.root.glob("linux-libc-dev_*")))
        request.output.mkdir(parents=True, exist_ok=True)
        packages = tuple(Path(shutil.copy2(package, request.output)) for package in built_here)
    reporter.say("\n".join(f"built {package}" for package in packages))
    return packages


def list_kernels(places: Places, reporter: Reporter) -> None:
    """Say every series and variant, and the finished kernels of each with their directories."""
    catalogue = load_catalogue(places.project)
    builds = built(places.cache)
    for series in catalogue.series.values():
        for variant in catalogue.pick_variants(series, ()):
            named = (series.name, variant.name)
            reporter.say(" ".join(named))
            of_it = [b for b in builds if (b.kernel.series, b.kernel.variant) == named]
            for finished in of_it:
                extra = f" with {', '.join(finished.fragments)}" if finished.fragments else ""
                reporter.say(f"  Linux {finished.version}{extra}: {finished.directory}")
            if not of_it:
                reporter.say("  not built")


def built(cache: Path) -> list[Build]:
    """All finished kernels of the cache, the one that was made or used last at the end."""
    # The directory's time is that of its last use.
    documents = sorted(
        cache.glob(f"builds/*/{DOCUMENT}"), key=lambda path: path.parent.stat().st_mtime_ns
    )
    # What cannot be read is damaged, and is made again when it is wanted.
    return [finished for finished in map(_try_build, documents) if finished]


def _try_build(document: Path) -> Build | None:
    try:
        return _read_build(document.parent)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _reused(final: Path, reporter: Reporter) -> Kernel:
    mark_used(final)
    reporter.say(f"{final.name} is built already")
    return _read_build(final).kernel


def _build(made_of: Ingredients, places: Places, reporter: Reporter) -> Kernel:
    series, source, fragments = made_of.series, made_of.source, made_of.fragments
    series_patches = made_of.patches
    inputs = {
        "recipe": RECIPE,
        "source": source.digest,
        "patches": patches.digest(series_patches),
        "config": hashlib.sha256(b"\0".join(p.read_bytes() for p in fragments)).hexdigest(),
        "compiler": kbuild.compiler_identity(),
    }
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    final = places.cache / "builds" / f"{made_of.name}-{digest[:12]}"
    if made_of.own:
        # An equal kernel has any name.
        equal = places.cache.glob(f"builds/*-{digest[:12]}")
        final = next((path for path in equal if is_whole(path, DOCUMENT)), final)
    tree = Tree(places.cache / "trees" / made_of.name)
    # All kernels of this name share one tree, in which another process may be building.
    if checksums.is_sealed(final) and is_whole(final, DOCUMENT):
        return _reused(final, reporter)
    with locked(tree.lock, reporter):
        # Another process may have built it during the wait.
        if reusable(final, DOCUMENT, reporter):
            return _reused(final, reporter)
        if not shutil.which("ccache"):
            reporter.say(
                "remark: ccache is not there; it makes further builds faster "
                "(apt-get install ccache)"
            )
        pristine = _fill(tree, source, series.name, series_patches, places.cache, reporter)
        again = kbuild.prepare(tree)
        kbuild.configure(tree, fragments, places.cache)
        task = f"building {final.name}"
        with _counted(tree, task, series.objects, again, reporter) as on_object:
            kbuild.make(tree, "vmlinux", cache=places.cache, on_object=on_object)
        document = {
            "schema": 1,
            "series": series.name,
            "variant": made_of.variant,
            "version": sources.version(pristine),
            "fragments": made_of.extra,
            "inputs": inputs,
        }
        _publish(tree, final, document)
    reporter.say(f"built {final}")
    return _read_build(final).kernel


def _check_patches(made_of: Ingredients, cache: Path, reporter: Reporter) -> None:
    """Raise FastError if a patch does not apply."""
    pristine = sources.unpack(made_of.source, made_of.series.name, cache, reporter)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            patches.apply(made_of.patches, pristine, Path(scratch))
        except FastError as error:
            raise FastError(f"kernel {made_of.variant}: {error}") from error


def _fill(
    tree: Tree,
    source: sources.Source,
    series: str,
    series_patches: Sequence[Path],
    cache: Path,
    reporter: Reporter,
) -> Path:
    """Bring the tree's source up to date; returns the unpatched source it was made from."""
    pristine = sources.unpack(source, series, cache, reporter)
    tree.root.mkdir(parents=True, exist_ok=True)
    scratch = _empty(tree.root / "patched")
    touched = patches.apply(series_patches, pristine, scratch)
    # The files of a directory that the user works in change under our feet.
    share = not source.path.is_dir()
    sources.sync(pristine, scratch, touched, tree.source, share=share)
    if not share:
        sources.check_copied(source, touched, tree.source)
    return pristine


@contextmanager
def _counted(
    tree: Tree, task: str, estimate: int, again: bool, reporter: Reporter
) -> Iterator[Callable[[str], None]]:
    """Report the objects of one make, against the number that the last whole build counted."""
    memory = tree.root / "objects-count"
    try:
        total = int(memory.read_text())
    except (OSError, ValueError):
        # There is none yet, or the disk was full when it was written.
        total = estimate
    done = 0

    def on_object(name: str) -> None:
        nonlocal done
        done += 1
        if 0 < total < done:
            reporter.start(task, done)
        reporter.advance(task, done, name)

    reporter.start(task, total)
    try:
        yield on_object
    finally:
        reporter.finish(task)
    if not again:
        memory.write_text(str(done))


def _publish(tree: Tree, final: Path, document: Mapping[str, Any]) -> None:
    final.parent.mkdir(parents=True, exist_ok=True)
    staging = _empty(tree.root / "finished")
    for file in (*(tree.objects / name for name in ("vmlinux", "System.map", ".config")), tree.log):
        shutil.copy(file, staging)
    (staging / DOCUMENT).write_text(json.dumps(document, indent=2) + "\n")
    publish(staging, final)


def _empty(directory: Path) -> Path:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    return directory


def _say_differences(
    catalogue: Catalogue,
    series: SeriesEntry,
    fragments: tuple[str, ...],
    cache: Path,
    reporter: Reporter,
) -> None:
    """How each variant's kernel, the last used, is configured otherwise than the first one's."""
    last_used = {
        program.kernel.variant: program
        for program in built(cache)
        if program.kernel.series == series.name and program.fragments == fragments
    }
    reference, *others = (last_used[name] for name in catalogue.variants if name in last_used)
    before = kconfig.read(reference.directory / ".config")
    for other in others:
        lines = kconfig.difference(before, kconfig.read(other.directory / ".config"))
        title = f"configuration, {reference.kernel.variant} -> {other.kernel.variant}:"
        reporter.say("\n  ".join((title, *(lines or ["no difference"]))))


def _read_build(directory: Path) -> Build:
    document = json.loads((directory / DOCUMENT).read_text())
    kernel = Kernel(
        document["series"],
        document["variant"],
        directory.name,
        str(directory / "vmlinux"),
        str(directory / "System.map"),
    )
    return Build(kernel, document["version"], tuple(document["fragments"]), directory)


def _whole_config(given: Path | None, reporter: Reporter) -> bytes:
    """The content of a configuration file, gzipped or not; of the running kernel if none."""
    running = (Path(f"/boot/config-{platform.release()}"), Path("/proc/config.gz"))
    candidates = (given,) if given else running
    path = next((path for path in candidates if path.is_file()), None)
    if path is None:
        missing = " nor ".join(map(str, candidates))
        raise FastError(f"there is no configuration {missing}: give one with --config FILE")
    reporter.say(f"starting from the configuration {path}")
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (OSError, EOFError, zlib.error) as error:
        raise FastError(
            f"{path}: cannot be read: {error}; give another one with --config FILE"
        ) from error
