/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IVL_EXCEPTION_H
#define IVL_EXCEPTION_H

#include "intervals.h"

/* __cxa_eh_globals of the C++ ABI for Itanium, section 2.2.2. */
struct ivl_exceptions {
	void *caught;
	unsigned int uncaught;
};

/* Look for a C++ library; for ivl_start(). Any thread. */
void ivl_exceptions_find(void);

/* NULL: the program has no C++. */
struct ivl_exceptions *ivl_exceptions_of_thread(void);

/* body(self, arg); ENOTRECOVERABLE if it throws. switch.S */
int ivl_call_body(ivl_interval *self, void *arg, ivl_body *body);

#endif
