// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Protocol buffers: a message is a sequence of fields, each a varint of number and type, followed
 * by a varint, eight bytes, or a length and bytes. The length of a nested message is filled in
 * later, as a varint of two bytes.
 */
#include "watch/perfetto.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "atomics.h"
#include "clock.h"
#include "watch/trace_file.h"

/* Longer names are cut; a packet has room for two. */
#define NAME_BYTES 255
#define LENGTH_BYTES 2
static_assert(2 * NAME_BYTES + 200 < IVL_PACKET_BYTES && IVL_PACKET_BYTES < 1 << 14,
	      "a packet has room, and its length two bytes");
static_assert(IVL_PACKET_BYTES <= IVL_LANE_BYTES, "a lane has room for a packet");

/* Tracks without a thread; thread ids are smaller. */
#define PROCESS_TRACK (UINT64_C(1) << 32)
static _Atomic(uint64_t) last_track = PROCESS_TRACK;

/* Field numbers of the protos. */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_TRACK = 60 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_FACT = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_FLOW = 47,
       EVENT_FLOW_END = 48 };
enum { FACT_UINT = 3, FACT_NAME = 10 };

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2 };

struct packet {
	unsigned char bytes[IVL_PACKET_BYTES];
	unsigned char *at;
	unsigned char *length;		/* of the packet */
};

static void varint(struct packet *packet, uint64_t value)
{
	while (value > 0x7f) {
		*packet->at++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*packet->at++ = (unsigned char)value;
}

static void key(struct packet *packet, unsigned int field, enum wire wire)
{
	varint(packet, field << 3 | wire);
}

static void put_number(struct packet *packet, unsigned int field, uint64_t value)
{
	key(packet, field, VARINT);
	varint(packet, value);
}

static void put_fixed(struct packet *packet, unsigned int field, uint64_t value)
{
	key(packet, field, FIXED64);
	for (int byte = 0; byte < 8; byte++)
		*packet->at++ = (unsigned char)(value >> 8 * byte);
}

static void put_text(struct packet *packet, unsigned int field, const char *text)
{
	const size_t whole = strlen(text), bytes = whole < NAME_BYTES ? whole : NAME_BYTES;

	key(packet, field, BYTES);
	varint(packet, bytes);
	memcpy(packet->at, text, bytes);
	packet->at += bytes;
}

/* Begin a nested message; returns the argument of close_message(). */
static unsigned char *open_message(struct packet *packet, unsigned int field)
{
	unsigned char *length;

	key(packet, field, BYTES);
	length = packet->at;
	packet->at += LENGTH_BYTES;
	return length;
}

static void close_message(struct packet *packet, unsigned char *length)
{
	const size_t bytes = (size_t)(packet->at - length) - LENGTH_BYTES;

	length[0] = (unsigned char)(bytes | 0x80);
	length[1] = (unsigned char)(bytes >> 7);
}

static void open_packet(struct packet *packet, const struct ivl_lane *lane)
{
	packet->at = packet->bytes;
	packet->length = open_message(packet, TRACE_PACKET);
	put_number(packet, PACKET_SEQUENCE, ivl_lane_sequence(lane));
}

static void close_packet(struct packet *packet, struct ivl_lane *lane)
{
	close_message(packet, packet->length);
	ivl_lane_append(lane, packet->bytes, (size_t)(packet->at - packet->bytes));
}

uint64_t ivl_perfetto_now(void)
{
	return ivl_clock_ns(CLOCK_BOOTTIME);
}

void ivl_perfetto_process(void)
{
	struct packet packet;
	unsigned char *track, *process;

	open_packet(&packet, NULL);
	track = open_message(&packet, PACKET_TRACK);
	put_number(&packet, TRACK_UUID, PROCESS_TRACK);
	process = open_message(&packet, TRACK_PROCESS);
	put_number(&packet, PROCESS_PID, (uint64_t)getpid());
	put_text(&packet, PROCESS_NAME, program_invocation_short_name);
	close_message(&packet, process);
	close_message(&packet, track);
	close_packet(&packet, NULL);
}

void ivl_perfetto_thread(struct ivl_lane *lane, uint32_t tid, const char *name)
{
	struct packet packet;
	unsigned char *track, *thread;

	open_packet(&packet, lane);
	track = open_message(&packet, PACKET_TRACK);
	put_number(&packet, TRACK_UUID, tid);
	put_number(&packet, TRACK_PARENT, PROCESS_TRACK);
	thread = open_message(&packet, TRACK_THREAD);
	put_number(&packet, THREAD_PID, (uint64_t)getpid());
	put_number(&packet, THREAD_TID, tid);
	put_text(&packet, THREAD_NAME, name);
	close_message(&packet, thread);
	close_message(&packet, track);
	close_packet(&packet, lane);
}

uint64_t ivl_perfetto_track(struct ivl_lane *lane, uint64_t parent, const char *name)
{
	/* Relaxed: only uniqueness matters. */
	const uint64_t number = atomic_fetch_add_explicit(&last_track, 1,
							  memory_order_relaxed) + 1;
	struct packet packet;
	unsigned char *track;

	open_packet(&packet, lane);
	track = open_message(&packet, PACKET_TRACK);
	put_number(&packet, TRACK_UUID, number);
	put_number(&packet, TRACK_PARENT, parent ? parent : PROCESS_TRACK);
	put_text(&packet, TRACK_NAME, name);
	close_message(&packet, track);
	close_packet(&packet, lane);
	return number;
}

void ivl_perfetto_event(struct ivl_lane *lane, const struct ivl_event *event)
{
	struct packet packet;
	unsigned char *track_event;

	open_packet(&packet, lane);
	put_number(&packet, PACKET_TIMESTAMP, event->ns ? event->ns : ivl_perfetto_now());
	track_event = open_message(&packet, PACKET_EVENT);
	put_number(&packet, EVENT_TYPE, event->type);
	put_number(&packet, EVENT_TRACK, event->track);
	if (event->name)
		put_text(&packet, EVENT_NAME, event->name);
	if (event->flow_from)
		put_fixed(&packet, EVENT_FLOW, event->flow_from);
	if (event->flow_to)
		put_fixed(&packet, EVENT_FLOW_END, event->flow_to);
	if (event->fact) {
		unsigned char *fact = open_message(&packet, EVENT_FACT);

		put_text(&packet, FACT_NAME, event->fact);
		put_number(&packet, FACT_UINT, event->value);
		close_message(&packet, fact);
	}
	close_message(&packet, track_event);
	close_packet(&packet, lane);
}

void ivl_perfetto_note(const char *words)
{
	const struct ivl_event note = { .type = IVL_EVENT_INSTANT, .track = PROCESS_TRACK,
					.name = words };

	ivl_perfetto_event(NULL, &note);
}
