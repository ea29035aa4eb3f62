# SPDX-License-Identifier: GPL-2.0
"""Sources, patches and configurations become kernels."""
