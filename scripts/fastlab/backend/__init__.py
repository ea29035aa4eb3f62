# SPDX-License-Identifier: GPL-2.0
"""One contract for all that makes runs."""
