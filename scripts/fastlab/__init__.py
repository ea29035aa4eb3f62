# SPDX-License-Identifier: GPL-2.0
"""Build, boot, run and compare Linux kernels with futex-aware scheduling."""
