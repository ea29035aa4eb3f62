# SPDX-License-Identifier: GPL-2.0
"""Kernels as Debian packages."""

from __future__ import annotations

import gzip

import pytest
from fake_kernel import bin_without
from heard import Heard
from kernel_lab import Lab

from fastlab.base.model import FastError
from fastlab.kernel import kernels
from fastlab.kernel.kernels import DebRequest


def test_deb_packs_the_given_configuration(lab: Lab) -> None:
    config = lab.root / "config.gz"
    config.write_bytes(gzip.compress(b"CONFIG_SMP=y\nCONFIG_DEBUG=y\n"))
    output = lab.root / "out"
    request = DebRequest(output, config=config, places=lab.places)
    (package,) = kernels.deb(request, heard := Heard())
    assert package == output / "linux-image-6.12.117-fast.deb"
    source = lab.places.cache / "trees/6.12-deb/source"
    assert (source / "kernel/fast.c").is_file()
    assert (source / "kernel/fork.c").read_text() == "int fork = 1;\n"
    assert package.read_text().splitlines() == [
        "CONFIG_DEBUG=y",
        'CONFIG_LOCALVERSION="-fast"',
        "CONFIG_SCHED_FAST=y",
        "CONFIG_SMP=y",
    ]
    assert heard.said[0] == f"starting from the configuration {config}"
    assert heard.said[-1] == f"built {package}"
    assert len(heard.objects) == 4
    # linux-libc-dev, which the kernel's build also makes, stays behind.
    assert list(output.iterdir()) == [package]


def test_an_interrupted_deb_leaves_no_make_behind(lab: Lab) -> None:
    for n in range(20):
        (lab.source / f"kernel/slow{n:02}.c").write_text(f"int slow{n};\n")
    lab.repack()
    config = lab.root / "config"
    config.write_text("CONFIG_SMP=y\n")
    request = DebRequest(lab.root / "out", config=config, places=lab.places)
    with pytest.raises(KeyboardInterrupt):
        kernels.deb(request, Heard(stop_at="slow10"))
    tree = lab.places.cache / "trees/6.12-deb"
    assert not (tree / "objects/slow19.o").exists()
    assert not (tree / "running").exists()
    kernels.deb(request, heard := Heard())
    assert "kernel/slow19.o" in heard.objects
    assert "kernel/fork.o" not in heard.objects


def test_deb_without_a_configuration_says_how_to_give_one(lab: Lab) -> None:
    request = DebRequest(lab.root, config=lab.root / "none", places=lab.places)
    with pytest.raises(FastError, match=r"no configuration .*/none: give one with --config"):
        kernels.deb(request, Heard())


@pytest.mark.parametrize(
    "content",
    [gzip.compress(bytes(100))[:-9], gzip.compress(bytes(100))[:10] + b"\xff" * 20, b"\x1f\x8bx"],
    ids=["cut short", "altered", "another format"],
)
def test_deb_names_a_configuration_that_is_damaged(lab: Lab, content: bytes) -> None:
    config = lab.root / "config.gz"
    config.write_bytes(content)
    request = DebRequest(lab.root, config=config, places=lab.places)
    with pytest.raises(FastError, match=f"^{config}: cannot be read: .*; give another one with"):
        kernels.deb(request, Heard())


def test_deb_names_the_packages_it_needs(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bin_without(lab.root / "bin", "dh", "rsync")))
    with pytest.raises(FastError, match=r"apt-get install debhelper rsync"):
        kernels.deb(DebRequest(lab.root, places=lab.places), Heard())


def test_deb_names_the_packages_that_the_configuration_needs(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = lab.root / "config"
    config.write_text("CONFIG_KERNEL_ZSTD=y\n")
    monkeypatch.setenv("PATH", str(bin_without(lab.root / "bin", "zstd")))
    heard = Heard()
    with pytest.raises(FastError, match="apt-get install zstd"):
        kernels.deb(DebRequest(lab.root / "out", config=config, places=lab.places), heard)
    assert heard.objects == []
