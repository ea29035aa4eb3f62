# SPDX-License-Identifier: GPL-2.0
"""How far to trust the simulation: a preset of this machine, and predictions beside figures."""
