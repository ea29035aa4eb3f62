# SPDX-License-Identifier: GPL-2.0
"""An original SPLASH-2 or Splash-3 tree."""
