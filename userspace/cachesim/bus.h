/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a bus is busy.
 *
 * CPUs take turns of a quantum, so their requests do not come in the order of
 * time: one that comes later may have been made earlier. A "busy until" would make
 * it wait for what lies in its future. The time line is cut into slots instead, each as
 * long as the bus is occupied by one line, and a map says which are taken. It
 * remembers the last BUS_WORDS * 64 of them: many quanta. Before those, the bus
 * is taken for free.
 */
#ifndef BUS_H
#define BUS_H

#include <stdint.h>

#define BUS_WORDS 512u

/* All zeroes but for `slot`: a bus that was never busy. */
struct bus {
	uint64_t slot;			/* how long a slot is, in any unit of time; not 0 */
	uint64_t end;			/* the map is of the BUS_WORDS words of slots before this */
	uint64_t taken[BUS_WORDS];	/* a bit for each slot */
};

/*
 * A line asks for the bus at `time`, in the unit of `slot`, and gets the first free slot
 * from then on. Returns how long it waits for that.
 */
uint64_t bus_take(struct bus *b, uint64_t time);

#endif
