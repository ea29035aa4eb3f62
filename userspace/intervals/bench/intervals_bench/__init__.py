# SPDX-License-Identifier: GPL-2.0
"""Drivers of the runtime's benchmarks: beside its peers, as OpenMP libraries, in the simulated
machine. Installed beside the laboratory (the package fastlab), it adds commands to `fast bench`."""
