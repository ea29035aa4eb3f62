// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

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
		if (latency->why_not)
			fprintf(out, "  not available: %s\n", latency->why_not);
		else
			put_times(out, latency->histogram);
	}
	fprintf(out, "\n%.6f seconds elapsed\n", (double)s->elapsed_ns / 1e9);
}

static void put_string(FILE *out, const char *text, size_t size)
{
	fputc('"', out);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_number(FILE *out, const char *name, bool known, uint64_t value)
{
	if (known)
		fprintf(out, ",\"%s\":%" PRIu64, name, value);
	else
		fprintf(out, ",\"%s\":null", name);
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
		fputs(",\"events\":null,\"buckets\":null,\"why_not\":", out);
		put_string(out, latency->why_not, strlen(latency->why_not));
	} else {
		put_number(out, "events", true, histogram_events(latency->histogram));
		put_buckets(out, latency->histogram);
		fputs(",\"why_not\":null", out);
	}
	fputc('}', out);
}

/* Those that were handed over. */
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
	if (!shared->maps_size) {
		fputs(",\"maps\":null", out);
		return;
	}
	fprintf(out, ",\"maps\":{\"process\":%u,\"text\":", shared->maps_process);
	put_string(out, shared->maps, shared->maps_size);
	fputc('}', out);
}

void report_json(FILE *out, const struct report *report)
{
	const struct session *s = report->session;
	int status = s->wait_status;

	fputs("{\"schema\":1", out);
	put_number(out, "exit_status", WIFEXITED(status), (uint64_t)WEXITSTATUS(status));
	put_number(out, "signal", WIFSIGNALED(status), (uint64_t)WTERMSIG(status));
	put_number(out, "regions", s->roi, s->regions);
	put_number(out, "elapsed_ns", true, s->elapsed_ns);
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
