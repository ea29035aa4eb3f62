#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Acts as virtme-run and its machine. $FAKE_VIRTME says how it ends; default: well.

A command runs here, with the words for the kernel's log going into the serial log instead. What
QEMU would be is a process of its own: it is started by the program of --qemu-bin.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

MODE = os.environ.get("FAKE_VIRTME", "")


def value(option: str) -> str:
    return sys.argv[sys.argv.index(option) + 1]


def serial_log() -> Path:
    (chardev,) = [word for word in sys.argv if word.startswith("file,id=fast,path=")]
    return Path(chardev.removeprefix("file,id=fast,path=").replace(",,", ","))


def log(text: str) -> None:
    with serial_log().open("a") as file:
        file.write(f"[    0.5] {text}\n")


def hang() -> None:
    """As a machine does: QEMU, which takes no signal of the terminal's, is waited for."""
    subprocess.run([value("--qemu-bin"), "hang"])


def command() -> int:
    script = Path(shlex.split(value("--script-sh"))[-1])
    text = os.fsdecode(script.read_bytes())
    text = re.sub(r">/dev/kmsg", f">>{shlex.quote(str(serial_log()))}", text)
    return subprocess.run(["/bin/sh", "-c", text.replace("<6>", "")]).returncode


def main() -> int:
    log("Linux version 6.12.117-fast")
    if MODE == "boot-panic":
        log("Kernel panic - not syncing: VFS: Unable to mount root fs")
        log("CPU: 0 UID: 0 PID: 1")
        return 255
    if MODE == "boot-hang":
        hang()
    if MODE == "no-boot":
        print("qemu-system-x86_64: cannot set up guest memory", file=sys.stderr)
        return 255
    if "--script-sh" not in sys.argv:
        log("Run /virtme-init as init process")
        return 0
    if MODE == "complains":
        log("WARNING: CPU: 1 PID: 9 at kernel/sched/fast.c:12")
    if MODE == "counts-ticks":
        log("sched/fast: sched_clock() counts ticks: adaptive cannot measure")
    status = command() if MODE != "dies" else 255
    if MODE == "dies":
        log("FAST start")
    if MODE == "panic":
        log("Kernel panic - not syncing: Attempted to kill init!")
        time.sleep(60)
    if MODE == "hang":
        hang()
    return status


sys.exit(main())
