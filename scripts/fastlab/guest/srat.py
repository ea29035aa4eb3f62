# SPDX-License-Identifier: GPL-2.0
"""The ACPI table that tells a guest of NUMA nodes (ACPI 6.5, section 5.2.16, "SRAT").

QEMU makes one for its larger machines only.
"""

from __future__ import annotations

import struct

_ENABLED = 1
_PROCESSOR = 0
_MEMORY = 1
# Where the memory of QEMU's microvm begins that has no room below its devices.
_LOW_MEMORY = 3 << 30


def srat(cpus: int, memory_mb: int, nodes: int) -> bytes:
    """The table: `nodes` nodes, each with an equal share of CPUs and memory in their order.

    CPUs have their number as APIC id, as QEMU gives it to sockets of 1, 2, 4, ... CPUs. The memory
    must be less than 3 GiB. ValueError where the shares are not equal or there is more memory.
    """
    size = memory_mb << 20
    if cpus % nodes or size % nodes or size > _LOW_MEMORY:
        raise ValueError(f"{cpus} CPUs and {memory_mb} MiB are no {nodes} equal nodes below 3 GiB")
    share = size // nodes
    # Revision of the structures, and a reserved field.
    table = struct.pack("<IQ", 1, 0)
    for cpu in range(cpus):
        node = cpu * nodes // cpus
        table += struct.pack("<BBBBIII", _PROCESSOR, 16, node, cpu, _ENABLED, 0, 0)
    for node in range(nodes):
        table += struct.pack(
            "<BBIHQQIIQ", _MEMORY, 40, node, 0, node * share, share, 0, _ENABLED, 0
        )
    return _with_header(table)


def _with_header(body: bytes) -> bytes:
    """Section 5.2.6: all bytes of a table together are 0, modulo 256."""
    length = 36 + len(body)
    table = bytearray(
        struct.pack("<4sIBB6s8sI4sI", b"SRAT", length, 3, 0, b"FAST", b"NODES", 1, b"FAST", 1)
        + body
    )
    table[9] = -sum(table) % 256
    return bytes(table)
