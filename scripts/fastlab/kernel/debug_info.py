# SPDX-License-Identifier: GPL-2.0
"""Where a kernel's lines of source are: in a second build of it, with Kbuild/debug-info.config.

The kernels that are measured have no debug information. A compiler makes the same code with it, and
whether it did can be seen.
"""

from __future__ import annotations

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from fastlab.base.cache import cache_dir
from fastlab.base.model import Kernel
from fastlab.kernel.kernels import built

FRAGMENT = "debug-info"


def with_lines(kernel: Kernel) -> Path:
    """The file that knows the lines of the kernel's code; its own vmlinux if there is none."""
    own = Path(kernel.vmlinux)
    code = _code(own)
    for program in reversed(built(cache_dir())):
        same = (program.kernel.series, program.kernel.variant) == (kernel.series, kernel.variant)
        if code and same and program.fragments == (FRAGMENT,):
            path = Path(program.kernel.vmlinux)
            if _code(path) == code:
                return path
    return own


def _code(path: Path) -> tuple[int, bytes] | None:
    """Where it is, and its bytes; None: the file has none to be compared."""
    try:
        with path.open("rb") as file:
            section = ELFFile(file).get_section_by_name(".text")
            return (section["sh_addr"], section.data()) if section else None
    except (ELFError, OSError):
        return None
