# SPDX-License-Identifier: GPL-2.0
"""The ground: types, the vocabulary, progress, programs and files."""
