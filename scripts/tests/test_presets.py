# SPDX-License-Identifier: GPL-2.0
"""The machines of the cache model: what Python takes from their files, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastlab.base.model import FastError
from fastlab.plan import presets

GOOD = (presets.DIRECTORY / "rx4640.toml").read_text().replace('"rx4640"', '"mine"')


def mine(tmp_path: Path, old: str = "", new: str = "") -> Path:
    assert old in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new, 1))
    return path


def test_the_built_in_ones() -> None:
    assert presets.names() == (
        "epyc-milan",
        "epyc-milan-vm",
        "nehalem-2s-64th",
        "rx4640",
        "rx4640-quarter",
        "xeon-2s",
    )
    for name in presets.names():
        preset = presets.load(name)
        assert preset.name == name
        assert preset.path.is_file()
        assert presets.load(preset.path) == preset
    rx4640 = presets.load("rx4640")
    assert (rx4640.mhz, rx4640.cpi, rx4640.shared) == (1300, 100, False)
    assert presets.load("epyc-milan").cluster_cpus == 8
    assert len({presets.load(name).id for name in presets.names()}) == len(presets.names())


def test_the_least_pause_is_the_plugins() -> None:
    header = (presets.DIRECTORY.parent / "cachesim.h").read_text()
    assert f"#define CACHESIM_LEAST_PAUSE {presets.LEAST_PAUSE}u" in header


def test_a_file(tmp_path: Path) -> None:
    preset = presets.load(mine(tmp_path, "wakeup = 2600", "wakeup = 7"))
    assert (preset.name, preset.wakeup) == ("mine", 7)
    assert preset.path == tmp_path / "mine.toml"


@pytest.mark.parametrize(
    ("name", "l3s"),
    [
        ("rx4640", {1: 1, 7: 7, 64: 64}),
        ("xeon-2s", {1: 1, 2: 2, 8: 2}),
        ("epyc-milan", {1: 1, 7: 1, 8: 1, 16: 2, 64: 8}),
    ],
)
def test_how_many_l3s(name: str, l3s: dict[int, int]) -> None:
    preset = presets.load(name)
    assert {cpus: preset.l3s(cpus) for cpus in l3s} == l3s
    assert {cpus for cpus in l3s if preset.shares_l3(cpus)} == {
        cpus for cpus, caches in l3s.items() if caches < cpus
    }


@pytest.mark.parametrize(
    ("name", "cpus", "allowed"),
    [
        ("xeon-2s", 7, "a multiple of 2"),
        ("epyc-milan", 9, "1 to 8, or a multiple of 8"),
        ("epyc-milan", 12, "1 to 8, or a multiple of 8"),
    ],
)
def test_cpus_that_share_no_l3_evenly(name: str, cpus: int, allowed: str) -> None:
    with pytest.raises(FastError, match=rf"cpus = {cpus} .*{name}.*allowed: {allowed}$"):
        presets.load(name).l3s(cpus)


# What is changed in a good file, and what the error must say.
BAD = {
    "syntax": ("mhz = 1300", "mhz =", ["not valid TOML", "line"]),
    "unknown key": (
        "mhz = 1300",
        "mzh = 1300",
        ["key mzh (did you mean mhz?); correct", "rx4640.toml"],
    ),
    "missing key": ("l2.ways = 8\n", "", ["l2.ways is missing", "rx4640.toml"]),
    "no number": ("mhz = 1300", "mhz = 1.3", ["mhz = 1.3; allowed: a whole number"]),
    "a truth is no number": ("mhz = 1300", "mhz = true", ["mhz = true; allowed: a whole"]),
    "no truth": ("shared = false", "shared = 0", ["l3.shared = 0; allowed: true or false"]),
    "no string": ('write = "through"', "write = 1", ["l1d.write = 1; allowed: a string"]),
    "range": ("mhz = 1300", "mhz = 0", ["mhz = 0; allowed: 1 to 100000"]),
    "a number of many digits": (
        "mhz = 1300",
        f"mhz = 0x{'f' * 5000}",
        ["mhz = a value that is too long to show; allowed: 1 to 100000"],
    ),
    "both layouts": ("cluster_cpus = 0", "cluster_cpus = 2", ["clusters and cluster_cpus"]),
    "no layout": ("clusters = 1", "clusters = 0", ["clusters and cluster_cpus"]),
    "another name": ('name = "mine"', 'name = "yours"', ['name = "yours"', "the file's name"]),
    "a built-in name": ('name = "mine"', 'name = "rx4640"', ['name = "rx4640"']),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path: Path, case: str) -> None:
    old, new, words = BAD[case]
    path = mine(tmp_path, old, new)
    with pytest.raises(FastError) as caught:
        presets.load(path)
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_a_built_in_name_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "rx4640.toml"
    path.write_text((presets.DIRECTORY / "rx4640.toml").read_text())
    with pytest.raises(FastError, match=r"rx4640\.toml: name = \"rx4640\" is a built-in preset's"):
        presets.load(path)


def test_no_such_preset(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"no preset epyc-mulan \(did you mean epyc-milan\?"):
        presets.load("epyc-mulan")
    with pytest.raises(FastError, match=r"none\.toml: No such file or directory; name a machine"):
        presets.load(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"a\xff")
    with pytest.raises(FastError, match="byte 1 is not UTF-8"):
        presets.load(tmp_path / "binary.toml")
