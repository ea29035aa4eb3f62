# SPDX-License-Identifier: GPL-2.0
"""What the simulation's counts come from: functions, lines of source, lines of caches."""
