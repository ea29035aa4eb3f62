# SPDX-License-Identifier: GPL-2.0
"""Findings as tables, pictures, documents and a page."""
