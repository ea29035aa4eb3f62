# SPDX-License-Identifier: GPL-2.0
"""A first answer on the running kernel: which lock do a program's threads wait for?"""
