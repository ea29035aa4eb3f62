// SPDX-License-Identifier: GPL-2.0
#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attributing.h"
#include "document.h"
#include "guest_kernel.h"
#include "guest_time.h"
#include "qemu_callbacks.h"
#include "registers.h"
#include "simulation.h"
#include "system_calls.h"
#include "vcpu.h"

/* 0f 1f 84 00 imm32, imm32 = 0x46410000 | id: userspace/roi/roi.h. */
#define MARKER_SIZE 8
#define MARKER_OPCODE 0x00841f0fu
#define MARKER_MAGIC 0x46410000u

enum marker { MARKER_NONE, MARKER_WARMUP, MARKER_BEGIN, MARKER_END, MARKER_CLOCK };

static struct {
	uint64_t begun;		/* when, by the clock of the CPU that executed the marker */
	int out, attributed;	/* files of documents; -1: none */
} region = { .out = -1, .attributed = -1 };

/* A file to append to; -1 with a message. */
static int open_output(const char *name, char *error, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		snprintf(error, size, "cannot write %s: %s", name, strerror(errno));
	return fd;
}

int region_open(char *error, size_t size)
{
	if (sim.options.attribute) {
		region.attributed = open_output(sim.options.attribute, error, size);
		if (region.attributed < 0)
			return -1;
	}
	region.out = open_output(sim.options.out, error, size);
	return region.out < 0 ? -1 : 0;
}

void region_close(void)
{
	if (region.out >= 0)
		close(region.out);
	if (region.attributed >= 0)
		close(region.attributed);
	region.out = region.attributed = -1;
}

/* Appends the text, which is freed, to the file. */
static void append(int fd, const char *name, char *text, size_t length)
{
	if (!text)
		die(name, "out of memory for the document");
	if (document_append(fd, text, length))
		die(name, strerror(errno));
	free(text);
}

static void write_attribution(void)
{
	size_t length;
	char *text = attribution_format(attributing.attribution, system_calls_program(),
					vcpu_bases(), &length);

	append(region.attributed, sim.options.attribute, text, length);
}

static void write_document(void)
{
	uint64_t elapsed = latency_between(region.begun, guest_time_now()) / CACHESIM_CYCLE;
	struct region_latencies latencies = { 0 };
	struct region_locks locks;
	size_t length;
	char *text;

	system_calls_latencies(&latencies.handoff);
	guest_kernel_latencies(system_calls_program(), &latencies.wakeup);
	latencies_sort(&latencies.handoff);
	latencies_sort(&latencies.wakeup);
	text = document_format(sim.model, elapsed, &latencies, system_calls_end(&locks), &length);
	append(region.out, sim.options.out, text, length);
	latencies_free(&latencies.handoff);
	latencies_free(&latencies.wakeup);
}

static void begin_clock(void)
{
	if (sim.state != OUTSIDE)
		die("the clock begins a second time", "only the guest's init may mark its begin");
	vcpu_learn();
	guest_time_begin();
	sim.state = RUNNING;
	qemu_callbacks_reset();
}

static void begin_counting(void)
{
	uint64_t space;

	if (sim.state == OUTSIDE)
		die("a region of interest begins before the clock",
		    "the guest's init has to begin it: give it a job with a clock line");
	if (sim.state == COUNTING)
		say("begin marker while counting: counting starts anew");
	space = address_space();
	cachesim_zero_counts(sim.model);
	region.begun = guest_time_now();
	sim.state = COUNTING;
	guest_kernel_begin();
	system_calls_begin(space);
	attributing_begin();
}

static void end_counting(void)
{
	if (sim.state != COUNTING) {
		say("end marker without a begin marker: no document written");
		return;
	}
	write_document();
	if (attributing.attribution)
		write_attribution();
	sim.state = RUNNING;
}

static void on_marker(unsigned int passed, void *userdata)
{
	(void)passed;
	switch ((enum marker)(uintptr_t)userdata) {
	case MARKER_CLOCK:
		begin_clock();
		break;
	case MARKER_BEGIN:
		begin_counting();
		break;
	case MARKER_END:
		end_counting();
		break;
	default:	/* the model is warm already */
		break;
	}
}

static enum marker marker_of(const struct qemu_plugin_insn *insn)
{
	uint32_t word[2];

	if (qemu_plugin_insn_size(insn) != MARKER_SIZE)
		return MARKER_NONE;
	qemu_plugin_insn_data(insn, word, sizeof(word));
	if (word[0] != MARKER_OPCODE || (word[1] & 0xffff0000u) != MARKER_MAGIC)
		return MARKER_NONE;
	word[1] &= 0xffff;
	return word[1] <= MARKER_CLOCK ? word[1] : MARKER_NONE;
}

bool region_has_marker(const struct qemu_plugin_insn *insn)
{
	return marker_of(insn) != MARKER_NONE;
}

bool region_watch(struct qemu_plugin_insn *insn)
{
	enum marker marker = marker_of(insn);

	if (marker == MARKER_NONE)
		return false;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, QEMU_PLUGIN_CB_R_REGS,
					       (void *)(uintptr_t)marker);
	return true;
}
