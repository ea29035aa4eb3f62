/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perfetto's packets (protos/perfetto/trace: trace_packet.proto, track_event/), as ui.perfetto.dev
 * and trace_processor read them. A track is a line in the picture, identified by a number; a
 * thread's is its id.
 */
#ifndef IVL_PERFETTO_H
#define IVL_PERFETTO_H

#include <stdint.h>

struct ivl_lane;

/* Values of TrackEvent.Type. */
enum ivl_event_type {
	IVL_EVENT_BEGIN = 1,
	IVL_EVENT_END = 2,
	IVL_EVENT_INSTANT = 3,
};

struct ivl_event {
	enum ivl_event_type type;
	uint64_t track;
	uint64_t ns;			/* 0: now */
	const char *name;
	uint64_t flow_from, flow_to;	/* ids of arrows that begin and end here; 0: none */
	const char *fact;		/* annotation; NULL: none */
	uint64_t value;
};

/* The clock of the kernel's tracers, for a common time line. */
uint64_t ivl_perfetto_now(void);

/* Parent of all other tracks. */
void ivl_perfetto_process(void);
void ivl_perfetto_thread(struct ivl_lane *lane, uint32_t tid, const char *name);
/* A track without a thread, inside `parent` (0: the process). Returns its number. */
uint64_t ivl_perfetto_track(struct ivl_lane *lane, uint64_t parent, const char *name);
void ivl_perfetto_event(struct ivl_lane *lane, const struct ivl_event *event);
/* An instant event of the process. */
void ivl_perfetto_note(const char *words);

#endif
