# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import struct
from pathlib import Path

import pytest

from fastlab.base.model import Kernel, Machine
from fastlab.guest import vm
from fastlab.guest.srat import srat


def entries(table: bytes) -> list[bytes]:
    """The structures after the table's header and its own 12 bytes, each by its length."""
    found = []
    rest = table[36 + 12 :]
    while rest:
        found.append(rest[: rest[1]])
        rest = rest[rest[1] :]
    return found


def test_every_cpu_and_all_memory_belong_to_a_node() -> None:
    structures = entries(srat(8, 512, 2))
    cpus = [struct.unpack_from("<BB", one, 2) for one in structures if one[0] == 0]
    assert cpus == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (1, 6), (1, 7)]
    memory = [struct.unpack_from("<IHQQ", one, 2) for one in structures if one[0] == 1]
    assert memory == [(0, 0, 0, 256 << 20), (1, 0, 256 << 20, 256 << 20)]
    # ACPI 6.5, tables 5.60 and 5.61: the flags, of which bit 0 is "enabled".
    assert [len(one) for one in structures] == [16] * 8 + [40] * 2
    assert all(one[4] == 1 for one in structures if one[0] == 0)
    assert all(one[28] == 1 for one in structures if one[0] == 1)


@pytest.mark.parametrize(("cpus", "memory_mb", "nodes"), [(5, 512, 2), (6, 512, 3), (4, 4096, 2)])
def test_unequal_nodes_and_memory_out_of_reach_are_refused(
    cpus: int, memory_mb: int, nodes: int
) -> None:
    with pytest.raises(ValueError, match="equal nodes below 3 GiB"):
        srat(cpus, memory_mb, nodes)


def test_the_header_tells_the_length_and_makes_the_sum_zero() -> None:
    table = srat(4, 64, 2)
    assert table[:4] == b"SRAT"
    assert struct.unpack_from("<I", table, 4) == (len(table),)
    assert sum(table) % 256 == 0


def test_only_a_machine_with_nodes_has_acpi() -> None:
    kernel = Kernel("6.12", "baseline", "id", "vmlinux", "map")
    plain = vm.Simulation(Path("qemu"), kernel, Path("image"), Machine())
    nodes = vm.Simulation(Path("qemu"), kernel, Path("image"), Machine(), nodes=2)
    assert not any("acpi=on" in word for word in vm.machine_arguments(plain))
    arguments = vm.machine_arguments(nodes)
    # QEMU keeps the last of two values.
    machines = [arguments[i + 1] for i, word in enumerate(arguments) if word == "-machine"]
    assert "acpi=off" in machines[0] and machines[1] == "acpi=on"
