# SPDX-License-Identifier: GPL-2.0
"""A configuration has what was asked for, or the symbol and its fragment are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastlab.base.model import FastError
from fastlab.kernel import kconfig


def fragment(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_read(tmp_path: Path) -> None:
    path = fragment(
        tmp_path / "a.config",
        '# a comment\n\nCONFIG_SMP=y\nCONFIG_HZ=1000\nCONFIG_NAME="a = b"\n'
        "# CONFIG_NUMA is not set\n",
    )
    assert kconfig.read(path) == {"SMP": "y", "HZ": "1000", "NAME": '"a = b"', "NUMA": "n"}


@pytest.mark.parametrize("line", ["SMP=y", "CONFIG_SMP = y", "CONFIG_SMP", "CONFIG_SMP="])
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    path = fragment(tmp_path / "a.config", f"CONFIG_NUMA=y\n{line}\n")
    with pytest.raises(FastError, match=f"a.config:2: '{line}' is neither"):
        kconfig.read(path)


def test_all_unmet_symbols_are_named(tmp_path: Path) -> None:
    a = fragment(
        tmp_path / "a.config", "CONFIG_SMP=y\nCONFIG_HZ=1000\n# CONFIG_DEVMEM is not set\n"
    )
    b = fragment(tmp_path / "b.config", "CONFIG_SCHED_FAST=y\n")
    with pytest.raises(FastError) as error:
        kconfig.verify({"SMP": "y", "HZ": "250", "DEVMEM": "y"}, [a, b])
    assert str(error.value).splitlines()[1:-1] == [
        "  CONFIG_HZ=1000 of a.config: the configuration has 250",
        "  CONFIG_DEVMEM=n of a.config: the configuration has y",
        "  CONFIG_SCHED_FAST=y of b.config: the configuration has n",
    ]


def test_the_last_fragment_wins(tmp_path: Path) -> None:
    a = fragment(tmp_path / "a.config", "CONFIG_PREEMPT=n\nCONFIG_HZ=100\n")
    b = fragment(tmp_path / "b.config", "CONFIG_PREEMPT=y\n")
    kconfig.verify({"PREEMPT": "y", "HZ": "100"}, [a, b])
    with pytest.raises(FastError, match=r"CONFIG_PREEMPT=n of a\.config"):
        kconfig.verify({"PREEMPT": "y", "HZ": "100"}, [b, a])


def test_an_absent_symbol_is_unset_or_an_empty_string(tmp_path: Path) -> None:
    path = fragment(tmp_path / "a.config", '# CONFIG_NUMA is not set\nCONFIG_KEYS=""\n')
    kconfig.verify({}, [path])
    with pytest.raises(FastError, match="CONFIG_KEYS"):
        kconfig.verify({"KEYS": '"certs.pem"'}, [path])


def test_difference() -> None:
    old = {"SMP": "y", "HZ": "250", "GONE": "y", "OFF": "n"}
    new = {"SMP": "y", "HZ": "1000", "FAST": "y"}
    assert kconfig.difference(old, new) == [
        "CONFIG_FAST: n -> y",
        "CONFIG_GONE: y -> n",
        "CONFIG_HZ: 250 -> 1000",
    ]
