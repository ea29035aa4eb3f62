/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words that relacy makes macros of, and by which the runtime's sources mean C's.
 * To be included behind relacy.
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
