// SPDX-License-Identifier: GPL-2.0
#include "document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void put_counts(FILE *out, const char *mode, const struct cachesim_counts *n, bool nodes)
{
	const struct {
		const char *name;
		uint64_t value;
	} fields[] = {
		{ "instructions", n->instructions },
		{ "l1i_references", n->l1i_references },
		{ "l1i_misses", n->l1i_misses },
		{ "l1d_references", n->l1d_references },
		{ "l1d_misses", n->l1d_misses },
		{ "l2_references", n->l2_references },
		{ "l2_misses", n->l2_misses },
		{ "l3_references", n->l3_references },
		{ "l3_misses", n->l3_misses },
		{ "bus_requests", n->bus_requests },
		{ "cache_to_cache", n->cache_to_cache },
		{ "invalidations", n->invalidations },
		{ "writebacks", n->writebacks },
		{ "cycles", n->cycles / CACHESIM_CYCLE },
		{ "stall_cycles", n->stall_cycles / CACHESIM_CYCLE },
		{ "bus_wait_cycles", n->bus_wait_cycles / CACHESIM_CYCLE },
		/* The last one: only for a machine of several nodes. */
		{ "remote_memory", n->remote_memory },
	};
	size_t told = sizeof(fields) / sizeof(fields[0]) - !nodes;

	fprintf(out, "\"%s\":{", mode);
	for (size_t i = 0; i < told; i++)
		fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "", fields[i].name, fields[i].value);
	fputc('}', out);
}

static void put_modes(FILE *out, const struct cachesim_counts counts[CACHESIM_MODES], bool nodes)
{
	static const char *const names[CACHESIM_MODES] = {
		[CACHESIM_USER] = "user", [CACHESIM_KERNEL] = "kernel", [CACHESIM_IDLE] = "idle",
	};

	for (int mode = 0; mode < CACHESIM_MODES; mode++) {
		if (mode)
			fputc(',', out);
		put_counts(out, names[mode], &counts[mode], nodes);
	}
}

static void put_level(FILE *out, const char *name, const struct cachesim_level *l)
{
	fprintf(out, "\"%s\":{\"size\":%u,\"ways\":%u,\"line\":%u,\"write\":\"%s\","
		"\"replacement\":\"%s\",\"shared\":%s},",
		name, l->size, l->ways, l->line,
		l->write == CACHESIM_WRITE_THROUGH ? "through" : "back",
		l->replacement == CACHESIM_FIFO ? "fifo" : "lru", l->shared ? "true" : "false");
}

static void put_machine(FILE *out, const struct cachesim_machine *m)
{
	fputs("\"geometry\":{", out);
	put_level(out, "l1i", &m->l1i);
	put_level(out, "l1d", &m->l1d);
	put_level(out, "l2", &m->l2);
	put_level(out, "l3", &m->l3);
	fprintf(out, "\"clusters\":%u,\"cluster_cpus\":%u,\"migratory\":%s},", m->clusters,
		m->cluster_cpus, m->migratory ? "true" : "false");
	fprintf(out, "\"latency\":{\"l2\":%u,\"l3\":%u,\"transfer\":%u,\"next_transfer\":%u,"
		"\"memory\":%u,\"remote_memory\":%u,\"cache_to_cache\":%u,\"upgrade\":%u},",
		m->latency.l2, m->latency.l3, m->latency.transfer, m->latency.next_transfer,
		m->latency.memory, m->latency.remote_memory, m->latency.cache_to_cache, m->latency.upgrade);
	fprintf(out, "\"cpi\":%u,\"kernel_cpi\":%u,\"overlap\":%u,\"overlap_window\":%u,\"bus\":%u,"
		"\"pause\":%u,\"context_switch\":%u,\"wakeup\":%u,\"interrupt\":%u",
		m->cpi, m->kernel_cpi, m->overlap, m->overlap_window, m->bus, m->pause,
		m->context_switch, m->wakeup, m->interrupt);
}

/* The mean of no latencies is null. */
static void put_latency(FILE *out, const char *name, const struct latencies *l)
{
	static const struct {
		const char *name;
		unsigned int thousandths;
	} percentiles[] = {
		{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 }, { "max", 1000 },
	};

	fprintf(out, "\"%s\":{\"count\":%zu", name, l->n);
	if (l->n)
		fprintf(out, ",\"mean_ns\":%" PRIu64, latencies_mean(l));
	else
		fputs(",\"mean_ns\":null", out);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		fprintf(out, ",\"%s_ns\":", percentiles[i].name);
		if (l->n)
			fprintf(out, "%" PRIu64,
				latencies_percentile(l, percentiles[i].thousandths));
		else
			fputs("null", out);
	}
	fputc('}', out);
}

static void put_times(FILE *out, const char *name, const struct lock_times *times)
{
	fprintf(out, ",\"%s\":{\"count\":%" PRIu64 ",\"ns\":%" PRIu64 "}", name, times->count,
		times->ns);
}

static void put_use(FILE *out, const struct lock_use *use)
{
	fprintf(out, ",\"left\":%" PRIu64 ",\"local\":%" PRIu64 ",\"remote\":%" PRIu64
		",\"moved\":%" PRIu64, use->left, use->local, use->remote, use->moved);
	put_times(out, "handoff", &use->handoff);
	put_times(out, "hold_local", &use->hold_local);
	put_times(out, "hold_remote", &use->hold_remote);
	put_times(out, "outside", &use->outside);
}

/* Of any other futex only waits are known. */
static bool is_handed_over(const struct futex *f)
{
	return f->wakes || f->pi_unlocks || f->use.local || f->use.remote;
}

/* The program's own first. */
static void put_futexes(FILE *out, const struct futexes *f)
{
	size_t n;
	const struct futex *all = futexes_all(f, &n);
	const char *comma = "";

	fputs(",\"futexes\":[", out);
	for (int program = 1; program >= 0; program--) {
		for (const struct futex *one = all; one < all + n; one++) {
			if ((one->space == futexes_program_space(f)) != program ||
			    !is_handed_over(one))
				continue;
			fprintf(out, "%s{\"program\":%s,\"address\":%" PRIu64 ",\"wakes\":%" PRIu64
				",\"handoffs\":%" PRIu64 ",\"pi_unlocks\":%" PRIu64, comma,
				program ? "true" : "false", one->address, one->wakes, one->handoffs,
				one->pi_unlocks);
			put_use(out, &one->use);
			fputc('}', out);
			comma = ",";
		}
	}
	fputc(']', out);
}

static void put_frame(FILE *out, uint64_t pc, uint64_t sp, uint64_t bp, const uint64_t *stack,
		      unsigned int n)
{
	fprintf(out, "\"pc\":%" PRIu64 ",\"sp\":%" PRIu64 ",\"bp\":%" PRIu64 ",\"stack\":[",
		pc, sp, bp);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", stack[i]);
	fputc(']', out);
}

static void put_call_site(FILE *out, const struct call_site *site)
{
	const struct allocation_site *from = &site->allocation;

	fprintf(out, "{\"address\":%" PRIu64 ",\"releases\":%s,", site->address,
		site->releases ? "true" : "false");
	put_frame(out, site->pc, site->sp, site->bp, site->stack, site->n);
	if (from->n) {
		fputs(",\"allocation\":{", out);
		put_frame(out, from->pc, from->sp, from->bp, from->stack, from->n);
		fputc('}', out);
	}
	fputc('}', out);
}

static void put_locks(FILE *out, const struct region_locks *locks)
{
	size_t n;
	const struct call_site *sites = call_sites_all(locks->sites, &n);

	put_futexes(out, locks->futexes);
	fputs(",\"call_sites\":[", out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		put_call_site(out, &sites[i]);
	}
	fputs("],\"heap\":", out);
	if (locks->heap)
		fprintf(out, "%" PRIu64, locks->heap);
	else
		fputs("null", out);
}

static void put_document(FILE *out, const struct cachesim *cs, uint64_t elapsed,
			 const struct region_latencies *latencies,
			 const struct region_locks *locks)
{
	const struct cachesim_machine *m = cachesim_machine(cs);
	static const struct cachesim_counts none;
	struct cachesim_counts total[CACHESIM_MODES] = { 0 };
	bool nodes = cachesim_has_nodes(cs);

	for (unsigned int cpu = 0; cpu < cachesim_cpus(cs); cpu++)
		for (int mode = 0; mode < CACHESIM_MODES; mode++)
			cachesim_add(&total[mode], cachesim_counts(cs, cpu, mode), &none);
	fprintf(out, "{\"schema\":1,\"preset\":\"%s\",\"cpus\":%u,\"mhz\":%u,"
		"\"elapsed_cycles\":%" PRIu64 ",\"total\":{",
		m->name, cachesim_cpus(cs), m->mhz, elapsed);
	put_modes(out, total, nodes);
	fputs("},\"per_cpu\":[", out);
	for (unsigned int cpu = 0; cpu < cachesim_cpus(cs); cpu++) {
		fprintf(out, "%s{\"cpu\":%u,", cpu ? "," : "", cpu);
		/* A CPU's counts lie one mode after the other. */
		put_modes(out, cachesim_counts(cs, cpu, 0), nodes);
		fputc('}', out);
	}
	fputs("],", out);
	put_machine(out, m);
	fputs(",\"latencies\":{", out);
	put_latency(out, "handoff", &latencies->handoff);
	fputc(',', out);
	put_latency(out, "wakeup", &latencies->wakeup);
	fputc('}', out);
	if (locks)
		put_locks(out, locks);
	fputs("}\n", out);
}

char *document_format(const struct cachesim *cs, uint64_t elapsed,
		      const struct region_latencies *latencies,
		      const struct region_locks *locks, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	if (!out)
		return NULL;
	put_document(out, cs, elapsed, latencies, locks);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

int document_append(int fd, const char *text, size_t length)
{
	off_t before = lseek(fd, 0, SEEK_END);
	size_t done = 0;

	while (done < length) {
		ssize_t n = write(fd, text + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int saved = errno;

			/* Half a line would make the lines before it unreadable too. */
			if (done && before >= 0 && ftruncate(fd, before))
				fputs("cachesim: the output file ends with half a document\n",
				      stderr);
			errno = saved;
			return -1;
		}
		done += n;
	}
	return 0;
}
