/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of a runtime that its threads call before they wait for a lock, as events of tracefs
 * (uprobes). The kernel has them for all programs until they are removed. Not thread-safe.
 */
#ifndef FAST_LOOK_PROBES_H
#define FAST_LOOK_PROBES_H

#include <stdbool.h>
#include <stddef.h>

#define PROBES_MAX 16

struct probe {
	const char *path;
	unsigned long long offset;	/* of the function's first instruction in the file */
	const char *lock;		/* where its address is, for uprobe_events: "%di" */
	bool once;			/* as for waits_probe() */
	struct tracefs_dynevent *event;	/* NULL: none */
};

struct probes {
	struct probe all[PROBES_MAX];
	unsigned int count;
	char system[32];		/* of the events */
};

/* The name of a probe's event. */
void probes_name(unsigned int probe, char *name, size_t size);

/*
 * Add the probe that `text` describes: "once" or "each", the register with the lock's address, the
 * offset in the file, and its path, with a colon between. Keeps pointers into the text. Returns -1
 * if it describes none, or if there are PROBES_MAX.
 */
int probes_add(struct probes *p, char *text);

/* Make the events, and remove those of killed processes. One that the kernel refuses has none. */
void probes_open(struct probes *p);
void probes_close(struct probes *p);

#endif
