/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is the test built with a sanitizer, which makes it slow and its frames large? */
#ifndef TEST_SANITIZED_H
#define TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#else
#define TEST_SANITIZED 0
#endif

#endif
