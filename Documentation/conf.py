# SPDX-License-Identifier: GPL-2.0
"""Sphinx's settings for the laboratory's pages: `make docs`."""

project = "FAST"
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px"}
exclude_patterns = ["measured"]
