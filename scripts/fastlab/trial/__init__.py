# SPDX-License-Identifier: GPL-2.0
"""Does FAST help this program?"""
