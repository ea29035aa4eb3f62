// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <inttypes.h>

#include "document.h"

/* In thousandths. */
static const unsigned int percentiles[] = { 500, 900, 990, 999, 1000 };

#define PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

static void put_times(FILE *out, const struct histogram *histogram)
{
	uint64_t events = histogram_events(histogram);

	fprintf(out, "%12" PRIu64, events);
	for (unsigned int i = 0; i < PERCENTILES; i++) {
		if (events)
			fprintf(out, "%11.2f",
				(double)histogram_percentile(histogram, percentiles[i]) / 1e3);
		else
			fprintf(out, "%11s", "-");
	}
	fputc('\n', out);
}

void report_text(FILE *out, const struct report *report)
{
	const struct session *s = report->session;

	if (s->roi)
		fprintf(out, "\nfast-latency: in %u region%s of interest, in us\n\n", s->regions,
			s->regions == 1 ? "" : "s");
	else
		fputs("\nfast-latency: in us\n\n", out);
	fprintf(out, "%-10s%12s%11s%11s%11s%11s%11s\n", "", "events", "median", "90 %", "99 %",
		"99.9 %", "most");
	for (unsigned int i = 0; i < report->count; i++) {
		const struct latency *latency = &report->latencies[i];

		fprintf(out, "%-10s", latency->name);
		if (latency->why_not || latency->unseen)
			fprintf(out, "  not available: %s\n", latency->why_not ?: latency->unseen);
		else
			put_times(out, latency->histogram);
	}
	for (unsigned int i = 0; i < report->count; i++) {
		const struct latency *latency = &report->latencies[i];

		if (latency->if_none && !latency->why_not && !latency->unseen &&
		    !histogram_events(latency->histogram))
			fprintf(out, "\n%s: %s\n", latency->name, latency->if_none);
	}
	fprintf(out, "\n%.6f seconds elapsed\n", (double)s->elapsed_ns / 1e9);
}

static void put_buckets(FILE *out, const struct histogram *histogram)
{
	const char *comma = "";

	fputs(",\"buckets\":[", out);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->count[i])
			continue;
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", comma, histogram_end(i),
			histogram->count[i]);
		comma = ",";
	}
	fputc(']', out);
}

static void put_latency(FILE *out, const struct latency *latency)
{
	fprintf(out, "\"%s\":{\"unit\":\"ns\"", latency->name);
	if (latency->why_not) {
		fputs(",\"events\":null,\"buckets\":null", out);
		document_text(out, "why_not", latency->why_not);
	} else {
		document_number(out, "events", true, histogram_events(latency->histogram));
		put_buckets(out, latency->histogram);
		document_text(out, "why_not", NULL);
	}
	document_text(out, "unseen", latency->why_not ? NULL : latency->unseen);
	fputc('}', out);
}

/* The locks that were handed over. */
static void put_locks(FILE *out, const struct shared *shared)
{
	const char *comma = "";

	fputs(",\"locks\":[", out);
	for (unsigned int i = 0; i < SHARED_LOCKS; i++) {
		const struct shared_lock *lock = &shared->locks[i];

		if (!lock->handoffs)
			continue;
		fprintf(out, "%s{\"process\":%" PRIu64 ",\"address\":\"0x%" PRIx64
			"\",\"handoffs\":%" PRIu64 "}", comma, lock->key >> SHARED_ADDRESS_BITS,
			lock->key & ((UINT64_C(1) << SHARED_ADDRESS_BITS) - 1), lock->handoffs);
		comma = ",";
	}
	fputc(']', out);
}

static void put_maps(FILE *out, const struct shared *shared)
{
	/* Locked: the writing process has not finished. */
	if (!*shared->maps || shared->maps_lock) {
		fputs(",\"maps\":null", out);
		return;
	}
	fprintf(out, ",\"maps\":{\"process\":%u", shared->maps_process);
	document_text(out, "text", shared->maps);
	fputc('}', out);
}

void report_json(FILE *out, const struct report *report)
{
	fputs("{\"schema\":1", out);
	document_session(out, report->session);
	fputs(",\"latencies\":{", out);
	for (unsigned int i = 0; i < report->count; i++) {
		if (i)
			fputc(',', out);
		put_latency(out, &report->latencies[i]);
	}
	fputc('}', out);
	put_locks(out, report->shared);
	put_maps(out, report->shared);
	fputs("}\n", out);
}
