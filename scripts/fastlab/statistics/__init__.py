# SPDX-License-Identifier: GPL-2.0
"""Rows become findings."""
