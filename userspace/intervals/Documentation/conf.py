# SPDX-License-Identifier: GPL-2.0
"""Sphinx: sphinx-build -W -b html userspace/intervals/Documentation build/intervals-html"""

project = "intervals"
html_theme = "alabaster"
