# SPDX-License-Identifier: GPL-2.0
"""`python -m fastlab.cli` is `fast`."""

import sys

from fastlab.cli.main import main

sys.exit(main())
