# SPDX-License-Identifier: GPL-2.0
"""`python scripts` is `fast`: Python looks for packages in this directory first, so a checkout that
was moved, or whose environment knows another checkout, runs its own code."""

import fastlab.cli.__main__  # noqa: F401
