# SPDX-License-Identifier: GPL-2.0
"""QEMU's machine protocol (docs/interop/qmp-spec.rst there), as far as four commands need it."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from fastlab.base.model import FastError


class QmpError(FastError):
    """QEMU refused a command, or is gone."""


class Qmp:
    """The client's end of a connected socket. Used by one thread.

    The first command must be qmp_capabilities. QEMU's greeting is passed over.
    Events are remembered by name in `events`, and come in whenever something is read.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = b""
        self.events: set[str] = set()

    def execute(self, command: str, timeout: float, **arguments: Any) -> Any:
        """The command's result. Raises QmpError if it fails or takes longer than `timeout`
        seconds."""
        request = {"execute": command, "arguments": arguments}
        try:
            self._connection.sendall(json.dumps(request).encode())
        except OSError as error:
            raise QmpError(f"QEMU does not take the command {command}: {error}") from error
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            message = self.listen(left)
            if message and "error" in message:
                raise QmpError(f"QEMU refuses the command {command}: {message['error']['desc']}")
            if message and "return" in message:
                return message["return"]
        raise QmpError(f"QEMU does not answer the command {command} within {timeout:g} s")

    def listen(self, timeout: float) -> dict[str, Any] | None:
        """The next message; None if there is none within `timeout` seconds."""
        while b"\n" not in self._received:
            self._connection.settimeout(timeout)
            try:
                data = self._connection.recv(65536)
            except TimeoutError:
                return None
            except OSError as error:
                raise QmpError(f"QEMU has closed its control connection: {error}") from error
            if not data:
                raise QmpError("QEMU has closed its control connection")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "event" in message:
            self.events.add(message["event"])
        return message
