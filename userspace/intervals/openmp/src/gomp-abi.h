/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GCC's constants (include/gomp-constants.h). */
#ifndef GOMP_ABI_H
#define GOMP_ABI_H

enum {
	TASK_UNTIED = 1 << 0,
	TASK_FINAL = 1 << 1,
	TASK_DEPEND = 1 << 3,
	TASK_PRIORITY = 1 << 4,
	TASK_UP = 1 << 8,
	TASK_GRAINSIZE = 1 << 9,
	TASK_IF = 1 << 10,
	TASK_NOGROUP = 1 << 11,
	TASK_REDUCTION = 1 << 12,
	TASK_DETACH = 1 << 13,
	TASK_STRICT = 1 << 14,
};

/* A target region without a device clause. */
enum { DEVICE_DEFAULT = -1 };

enum { TARGET_NOWAIT = 1 << 0 };

enum { DEPEND_IN = 1, DEPEND_OUT, DEPEND_INOUT, DEPEND_MUTEXINOUTSET };

enum { CANCEL_PARALLEL = 1, CANCEL_LOOP = 2, CANCEL_SECTIONS = 4, CANCEL_TASKGROUP = 8 };

#endif
