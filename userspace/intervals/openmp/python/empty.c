// SPDX-License-Identifier: LGPL-2.1-or-later
/* A library without content, whose SONAME intervals_openmp/copies.py overwrites in copies of it. */
typedef int ivl_nothing;
