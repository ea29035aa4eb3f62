# SPDX-License-Identifier: GPL-2.0
"""Where Meson's build directory has the runtime's programs, and which targets build them."""

from __future__ import annotations

# The runtime is a subproject of the laboratory's build.
HOUSE = "subprojects/intervals"
OPENMP_LIBRARY = f"{HOUSE}/openmp/libgomp.so.1"

# Targets of ninja: all benchmarks, and what `fast bench openmp` runs besides.
BENCHMARKS = ("intervals@@bench-runtime",)
OPENMP_BENCHMARKS = (*BENCHMARKS, "intervals@@bench-openmp")

# The benchmarks of the simulated machine, by the runtime in them.
SIMULATED = {
    runtime: f"theses_{runtime}"
    for runtime in ("serial", "intervals", "pthreads", "locks", "numa_locks")
}
