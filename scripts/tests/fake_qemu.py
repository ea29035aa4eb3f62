#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Acts as QEMU as far as vm.py can tell. $FAKE_QEMU says how it ends; default: well."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

OUTPUT = {"schema": 1, "benchmark": "single_ctr", "threads": 4, "seed": 1, "check": "ok"}
MODE = os.environ.get("FAKE_QEMU", "")
BEGUN = time.monotonic()


def option(name: str, key: str) -> str:
    """The value of key= in the QEMU option `-name` that has it, or ""."""
    values = [sys.argv[i + 1] for i, word in enumerate(sys.argv[:-1]) if word == f"-{name}"]
    words = [word for value in values for word in value.split(",") if word.startswith(f"{key}=")]
    return words[0].partition("=")[2] if words else ""


def say(text: str) -> None:
    with Path("host").open("a") as host:
        host.write(text)


def trouble(text: str) -> None:
    with Path("serial.log").open("a") as serial:
        serial.write(text)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def boot() -> None:
    if MODE == "boot-panic":
        trouble("Run /init\nKernel panic - not syncing: No working init found.\nCPU: 0\n")
        time.sleep(60)
    if MODE == "boot-hang":
        time.sleep(60)


def save(path: Path) -> None:
    """What vm.py looks at in a saved machine: 1000 instructions, an interrupt due at 1500 ns."""
    clock = struct.pack(">Iqq", 1, 500 if MODE == "clock-moved" else 0, 1000)
    timer = struct.pack(">II165xq", 0, 3, 700 if MODE == "no-timer" else 1500)
    icount = b"timer/instr" if MODE == "other-qemu" else b"timer/icount"
    # The memory may hold what looks like a clock.
    memory = b"RAM \x0c" + icount + struct.pack(">Iqq", 1, 0, 7) + b"\x05"
    path.write_bytes(memory + b"\x0c" + icount + clock + b"\x04apic" + timer + b"devices")


def run_job() -> None:
    if name := option("plugin", "attribute"):
        Path(name).write_text("{}\n")
    if MODE == "killed":
        die()
    say("FAST begin\n")
    if MODE == "refused":
        say("FAST err init: cannot set sched/fast/policy to strict: No such file\n")
        say("FAST exit 126\nFAST end\n")
        sys.exit(1)
    say("FAST start\n")
    if MODE == "panic":
        trouble("Oops: general protection fault\nRIP: 0010:fast_select+0x1\n")
        time.sleep(60)
    if MODE == "hang":
        time.sleep(60)
    if MODE == "killed-late":
        die()
    if MODE == "killed-unnamed":
        os.kill(os.getpid(), 40)
    if MODE == "reset":
        sys.exit(0)
    if MODE == "plugin-dies":
        print("cachesim: plugin.jsonl: No space left on device", file=sys.stderr)
        sys.exit(1)
    if MODE != "no-roi":
        Path("plugin.jsonl").write_text('{"schema":1}\n' * (2 if MODE == "two-rois" else 1))
    status = 2 if MODE == "usage" else 0
    if status:
        say("FAST err single_ctr: unknown option\n")
    else:
        say(f"FAST out {json.dumps(OUTPUT)}\n")
    if MODE == "memory":
        words = [option("object", name) for name in ("mem-path", "size", "share", "readonly")]
        say(f"FAST err {' '.join(words)}\n")
    if MODE == "preloaded":
        libraries = os.environ.get("LD_PRELOAD", "None").split(":")
        paths = (os.path.realpath(one) if "/" in one else one for one in libraries)
        say(f"FAST err preloaded {':'.join(paths)}\n")
    say(f"FAST stat used 3\nFAST exit {status}\nFAST end\n")
    sys.exit(1)


def answer(command: str, arguments: dict[str, str]) -> object:
    if command == "migrate":
        save(Path(arguments["uri"].removeprefix("file:")))
    if command == "query-migrate":
        if MODE == "no-room":
            return {"status": "failed", "error-desc": "Unable to write: No space left on device"}
        saving = MODE == "slow-saving" and time.monotonic() < BEGUN + 5
        return {"status": "active" if saving else "completed"}
    if command == "query-status":
        return {"status": "paused"}
    return {}


def main() -> None:
    if MODE == "no-plugin":
        print("Could not load plugin cachesim: undefined symbol", file=sys.stderr)
        sys.exit(1)
    Path("host").touch()
    Path("serial.log").touch()
    if option("object", "share") == "on":
        Path(option("object", "mem-path")).touch()
    control = socket.socket(fileno=int(option("chardev", "fd")))
    stream = control.makefile("rw")
    print(json.dumps({"QMP": {}}), file=stream, flush=True)
    for line in iter(lambda: control.recv(4096).decode(), ""):
        request = json.loads(line)
        reply = {"return": answer(request["execute"], request["arguments"])}
        print(json.dumps(reply), file=stream, flush=True)
        if request["execute"] == "qmp_capabilities" and "-incoming" not in sys.argv:
            boot()
            print(json.dumps({"event": "STOP"}), file=stream, flush=True)
        if request["execute"] == "cont":
            run_job()


main()
