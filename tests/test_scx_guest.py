# SPDX-License-Identifier: GPL-2.0
"""scx_fast in a guest with Debian's own kernel of trixie-backports, which is unpacked, not built:
it loads, places, and each of its ends is back to the kernel's own scheduler."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lab import PROJECT

from fastlab.base.cache import cache_dir
from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.base.tools import require_qemu
from fastlab.guest import initramfs, meson
from fastlab.kernel import debian_package
from fastlab.kernel.catalogue import load_catalogue

SECONDS = 900
STEPS = 21
FILES = {
    "/init": "userspace/scx/tests/scx-guest",
    "/bin/placement": "userspace/scx/tests/scx-placement",
    "/bin/scx_fast": "userspace/scx/scx_fast",
    "/bin/single_ctr": "microbench/single_ctr",
}


def stock_kernel(directory: Path) -> Path:
    """The kernel of the package, fetched once; a test without it is skipped."""
    origin = load_catalogue(PROJECT).pick_series("7.3").origin
    (version,) = re.findall(r"linux-([0-9.]+)\.tar", origin.url)
    name = f"{version}+deb13-cloud-amd64"
    kept = cache_dir() / "downloads" / f"vmlinuz-{name}"
    if not kept.is_file():
        file = Path(f"/usr/lib/modules/{name}/vmlinuz")
        reporter = PlainReporter(io.StringIO())
        words = (f"linux-binary-{name}", origin.debian_suite, file, directory, reporter)
        try:
            fetched = debian_package.fetch(*words)
        except FastError as error:
            pytest.skip(f"no stock kernel: {error}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(fetched, kept.with_suffix(".new"))
        kept.with_suffix(".new").replace(kept)
    return kept


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the guest said."""
    build = meson.build_programs(PROJECT, PlainReporter(io.StringIO()))
    if not (build / FILES["/bin/scx_fast"]).is_file():
        pytest.skip("scx_fast is not built: it needs clang 17 and libbpf 1.4, or newer")
    directory = tmp_path_factory.mktemp("stock")
    kernel = stock_kernel(directory)
    image = directory / "guest.cpio"
    image.write_bytes(initramfs.build_image({to: build / one for to, one in FILES.items()}))
    words: list[str | Path] = [
        *(require_qemu().path, "-M", "pc", "-cpu", "max", "-m", "1024", "-smp", "2"),
        *("-accel", "tcg,thread=multi", "-nographic", "-no-reboot"),
        *("-kernel", kernel, "-initrd", image),
        *("-append", "console=ttyS0 quiet panic=-1 sysrq_always_enabled"),
    ]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    return done.stdout.decode(errors="replace")


def test_each_step(console: str) -> None:
    steps = re.findall(r"^(not ok|ok) (\d+) - (.*?)\r?$", console, re.MULTILINE)
    assert [one for one in steps if one[0] != "ok"] == [], console
    assert [int(number) for _, number, _ in steps] == list(range(1, STEPS + 1)), console
    assert "end of the guest" in console


def test_the_kernel_has_no_complaint(console: str) -> None:
    found = re.findall(r"^.*(?:WARNING:|BUG:|Oops|stall).*$", console, re.MULTILINE)
    assert found == [], console
