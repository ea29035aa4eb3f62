/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Undoes relacy's macros for C's words that the runtime's sources use. Include it after relacy.
 */
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef errno
#undef assert

#define _Alignas alignas
