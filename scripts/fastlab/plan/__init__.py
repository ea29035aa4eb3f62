# SPDX-License-Identifier: GPL-2.0
"""From an experiment's file to its runs, and their rows."""
