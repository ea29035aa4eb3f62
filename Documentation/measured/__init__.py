# SPDX-License-Identifier: GPL-2.0
"""The kinds of measured tables that tables.py writes into the pages."""
