# SPDX-License-Identifier: GPL-2.0
"""A guest with the user's own files."""
