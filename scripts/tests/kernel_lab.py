# SPDX-License-Identifier: GPL-2.0
"""A project, a cache, and builds in them, for tests of kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fake_kernel import make_project, make_source, pack
from heard import Heard

from fastlab.base.model import FastError, Kernel
from fastlab.kernel import kernels
from fastlab.kernel.kernels import BuildRequest, Places


class Lab:
    """A project, a source tarball and a cache, all of the test's own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = make_source(root / "linux-source-6.12")
        self.tarball = pack(self.source, root / "linux-source-6.12.tar.xz")
        self.places = Places(make_project(root / "project", self.tarball), root / "cache")
        self.patches = self.places.project / "kernel-patches/6.12"
        self.fragments = self.places.project / "Kbuild"

    def build(
        self, *variants: str, heard: Heard | None = None, **options: object
    ) -> tuple[Kernel, ...]:
        request = BuildRequest(variants=variants, places=self.places)
        return kernels.build(replace(request, **options), heard or Heard())  # type: ignore[arg-type]

    def compiled(self, *variants: str, **options: object) -> list[str]:
        """Build, and tell the objects that were compiled."""
        heard = Heard()
        self.build(*variants, heard=heard, **options)
        return sorted(heard.objects)

    def error(self, *variants: str, **options: object) -> str:
        with pytest.raises(FastError) as error:
            self.build(*variants, **options)
        return str(error.value)

    def repack(self) -> None:
        pack(self.source, self.tarball)

    def builds(self) -> list[str]:
        return sorted(path.name for path in self.places.cache.glob("builds/*"))


ALL = ["kernel/fork.o", "kernel/futex.o", "kernel/sched.o"]
