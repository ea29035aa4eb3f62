# SPDX-License-Identifier: GPL-2.0
"""To see what the scheduler did: recordings of runs, as traces and as a picture."""
