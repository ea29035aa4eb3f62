# SPDX-License-Identifier: GPL-2.0
"""A file system and a virtual machine for a kernel."""
