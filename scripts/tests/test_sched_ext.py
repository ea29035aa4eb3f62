# SPDX-License-Identifier: GPL-2.0
"""The kernel's own sched_ext scheduler: built once from the kernel's source, and what is missing is
named."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_kernel import bin_without
from heard import Heard
from kernel_lab import Lab

from fastlab.base.model import FastError, Kernel
from fastlab.kernel import sched_ext

# What its makefile does, in miniature: it writes to O alone.
MAKEFILE = """
scx_simple:
	@mkdir -p $(O)/build/bin
	@$(CLANG) --version > $(O)/build/bin/scx_simple
	@cat $(VMLINUX_BTF) scx_simple.c >> $(O)/build/bin/scx_simple
"""


def clang(directory: Path, name: str, version: str) -> Path:
    """A compiler in PATH that tells its version."""
    path = directory / name
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\necho 'Debian clang version {version}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH; it has no clang."""
    directory = bin_without(tmp_path / "bin")
    for link in directory.glob("clang*"):
        link.unlink()
    monkeypatch.setenv("PATH", str(directory))
    return directory


@pytest.fixture
def kernel(lab: Lab) -> Kernel:
    tools = lab.source / "tools/sched_ext"
    tools.mkdir(parents=True)
    (tools / "Makefile").write_text(MAKEFILE)
    (tools / "scx_simple.c").write_text("int main;\n")
    with (lab.source / "Kconfig").open("a") as kconfig:
        kconfig.write("config SCHED_CLASS_EXT\n")
    with (lab.fragments / "base.config").open("a") as fragment:
        fragment.write("CONFIG_SCHED_CLASS_EXT=y\n")
    lab.repack()
    return lab.build("baseline")[0]


def test_the_scheduler_is_built_once_for_a_kernel_and_a_clang(
    path: Path, kernel: Kernel, lab: Lab
) -> None:
    clang(path, "clang-19", "19.1.7")
    heard = Heard()
    first = sched_ext.own_scheduler("scx_simple", kernel, lab.places, heard)
    assert f"building scx_simple of Linux 6.12 with {path}/clang-19" in heard.said
    content = first.read_bytes()
    assert content.startswith(b"Debian clang version 19.1.7\n") and content.endswith(b"int main;\n")
    assert b"CONFIG_SMP=y" in content  # the kernel's types are those of this kernel
    heard = Heard()
    assert sched_ext.own_scheduler("scx_simple", kernel, lab.places, heard) == first
    assert heard.said == []
    clang(path, "clang-19", "19.1.8")
    assert sched_ext.own_scheduler("scx_simple", kernel, lab.places, heard) != first
    # The unpacked source has nothing that a build left.
    (source,) = (one for one in (lab.places.cache / "sources").iterdir() if one.is_dir())
    assert sorted(one.name for one in (source / "tools/sched_ext").iterdir()) == [
        "Makefile",
        "scx_simple.c",
    ]


def test_a_damaged_scheduler_is_built_again(path: Path, kernel: Kernel, lab: Lab) -> None:
    clang(path, "clang", "19.1.7")
    program = sched_ext.own_scheduler("scx_simple", kernel, lab.places, Heard())
    content = program.read_bytes()
    program.write_bytes(b"")
    again = sched_ext.own_scheduler("scx_simple", kernel, lab.places, Heard())
    assert again.read_bytes() == content


def test_a_scheduler_that_does_not_compile(
    path: Path, kernel: Kernel, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `make test` sets it, too.
    monkeypatch.delenv("MAKELEVEL", raising=False)
    broken = clang(path, "clang-19", "19.1.7")
    broken.write_text(
        '#!/bin/sh\n[ -n "$MAKELEVEL" ] || { echo clang version 19; exit; }\n'
        'echo "x.c:1:2: error: no" >&2; exit 1\n'
    )
    with pytest.raises(FastError, match=r"status 2:\nx\.c:1:2: error: no\nall "):
        sched_ext.own_scheduler("scx_simple", kernel, lab.places, Heard())


def test_the_newest_clang_is_found(path: Path) -> None:
    clang(path, "clang", "14.0.6")
    clang(path, "clang-17", "17.0.1")
    newest = clang(path, "clang-19", "19.1.7")
    assert sched_ext.find_clang() == newest
    # The user's own choice.
    chosen = clang(path, "clang", "17.0.0")
    assert sched_ext.find_clang() == chosen


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, "needs clang 17 or newer: install"),
        ("14.0.6", "newer, and .*/clang is version 14: install .*clang-19"),
        ("unknown", "newer, and .*/clang tells no version: install"),
    ],
)
def test_what_is_wrong_with_clang_is_said(path: Path, version: str | None, said: str) -> None:
    if version:
        clang(path, "clang", version)
    with pytest.raises(FastError, match=said):
        sched_ext.find_clang()


def test_a_kernel_without_sched_ext(path: Path, lab: Lab) -> None:
    clang(path, "clang", "19.1.7")
    (kernel,) = lab.build("baseline")
    with pytest.raises(FastError, match=f"kernel {kernel.id} has no sched_ext, .*fragment scx"):
        sched_ext.own_scheduler("scx_simple", kernel, lab.places, Heard())
