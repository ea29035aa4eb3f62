# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command intervals-openmp: runs programs of GCC's OpenMP on libintervals-gomp.

`python -m intervals_openmp` is the same for scripts of Python.
"""
