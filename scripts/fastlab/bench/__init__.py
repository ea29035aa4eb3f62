# SPDX-License-Identifier: GPL-2.0
"""The laboratory itself, and the runtime, measured."""
