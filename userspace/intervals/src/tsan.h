/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For liburcu's queue, whose atomics are assembly that ThreadSanitizer does not see. */
#ifndef IVL_TSAN_H
#define IVL_TSAN_H

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define IVL_TSAN
#endif
#endif

#if defined(IVL_TSAN) || defined(__SANITIZE_THREAD__)
/* Not by <sanitizer/tsan_interface.h>, which some clang packages lack. */
void __tsan_acquire(void *object);
void __tsan_release(void *object);
#define ivl_tsan_acquire(object) __tsan_acquire(object)
#define ivl_tsan_release(object) __tsan_release(object)
#else
#define ivl_tsan_acquire(object) ((void)(object))
#define ivl_tsan_release(object) ((void)(object))
#endif

#endif
