# SPDX-License-Identifier: GPL-2.0
"""`python -m fastlab.cli` is `fast`."""

import signal
import sys

try:
    from fastlab.cli.main import main

    status = main()
except KeyboardInterrupt:
    # While it was loaded: nothing has begun.
    status = 128 + signal.SIGINT
sys.exit(status)
