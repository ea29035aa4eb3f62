// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <inttypes.h>

#include "document.h"
#include "doubts.h"

static void put_ratio(FILE *out, const struct report *report, const char *name,
		      enum counter whole, enum counter portion)
{
	const struct counters_result *of = &report->results[whole];
	const struct counters_result *part = &report->results[portion];

	if (of->available && of->value && part->available)
		fprintf(out, "%20.4f  %s\n", (double)part->value / (double)of->value, name);
}

static void put_place(FILE *out, const struct report *report)
{
	if (!report->cpus)
		fputs("of the program's threads\n\n", out);
	else if (report->others)
		fprintf(out, "on CPUs %s; other programs may run on these CPUs: %s\n\n",
			report->cpus, report->others);
	else
		fprintf(out, "on CPUs %s, which the program has to itself\n\n", report->cpus);
}

/* The runs' standard deviation, if there were several. */
static void put_spread(FILE *out, const struct spread *spread)
{
	if (spread)
		fprintf(out, "  ± %.2f %%", spread_percent(spread));
	fputc('\n', out);
}

static void put_doubts(FILE *out, const struct report *report)
{
	const char *doubts[DOUBTS];
	int count = doubts_find(report->results, report->session->elapsed_ns, doubts);

	for (int i = 0; i < count; i++)
		fprintf(out, "impossible: %s\n", doubts[i]);
	if (count)
		fputc('\n', out);
}

void report_text(FILE *out, const struct report *report)
{
	const struct events *events = report->events;
	const struct session *session = report->session;

	fprintf(out, "\nfast-stat: %s on %s, ",
		events->user_only ? "user space" : "user and kernel", events->cpu);
	if (session->roi)
		fprintf(out, "in %u region%s of interest\n", session->regions,
			session->regions == 1 ? "" : "s");
	else
		fputs("the whole program\n", out);
	if (report->elapsed)
		fprintf(out, "means of %u runs, ± their standard deviation\n",
			report->elapsed->runs);
	put_place(out, report);
	for (int i = 0; i < COUNTERS; i++) {
		const struct counters_result *result = &report->results[i];

		if (!(report->wanted & COUNTER_BIT(i)))
			continue;
		if (result->available)
			fprintf(out, "%20" PRIu64 "  %s", result->value, counter_names[i].name);
		else
			fprintf(out, "%20s  %s: %s", "not available", counter_names[i].name,
				result->why_not);
		if (i == TASK_CLOCK && result->available)
			fputs(" (ns)", out);
		put_spread(out, report->spreads && result->available ? &report->spreads[i] : NULL);
	}
	put_ratio(out, report, "instructions per cycle", CYCLES, INSTRUCTIONS);
	put_ratio(out, report, "L2 misses per reference", L2_REFERENCES, L2_MISSES);
	put_ratio(out, report, "L3 misses per reference", L3_REFERENCES, L3_MISSES);
	fprintf(out, "%20.6f  seconds elapsed", report->elapsed ? report->elapsed->mean / 1e9 :
		(double)session->elapsed_ns / 1e9);
	put_spread(out, report->elapsed);
	fputc('\n', out);
	put_doubts(out, report);
}

void report_set(FILE *out, unsigned int set)
{
	const char *comma = "";

	for (int i = 0; i < COUNTERS; i++) {
		if (!(set & COUNTER_BIT(i)))
			continue;
		fprintf(out, "%s%s", comma, counter_names[i].name);
		comma = ",";
	}
}

static void put_counter(FILE *out, int i, const struct event *event,
			const struct counters_result *result)
{
	fprintf(out, "\"%s\":{\"unit\":\"%s\"", counter_names[i].name, counter_names[i].unit);
	document_text(out, "event", event->name);
	document_number(out, "value", result->available, result->value);
	document_text(out, "why_not", result->available ? NULL : result->why_not);
	fputc('}', out);
}

void report_json(FILE *out, const struct report *report)
{
	const struct events *events = report->events;
	const char *doubts[DOUBTS];
	int count = doubts_find(report->results, report->session->elapsed_ns, doubts);
	bool first = true;

	fprintf(out, "{\"schema\":2,\"cpu\":\"%s\",\"modes\":[\"user\"%s]", events->cpu,
		events->user_only ? "" : ",\"kernel\"");
	document_text(out, "cpus", report->cpus);
	document_text(out, "others", report->others);
	document_session(out, report->session);
	fputs(",\"counters\":{", out);
	for (int i = 0; i < COUNTERS; i++) {
		if (!(report->wanted & COUNTER_BIT(i)))
			continue;
		if (!first)
			fputc(',', out);
		first = false;
		put_counter(out, i, &events->of[i], &report->results[i]);
	}
	fputs("},\"doubts\":[", out);
	for (int i = 0; i < count; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", doubts[i]);
	fputs("]}\n", out);
}

void report_events(FILE *out, const struct events *events)
{
	fprintf(out, "cpu: %s\n", events->cpu);
	for (int i = 0; i < COUNTERS; i++) {
		const struct event *event = &events->of[i];

		if (event->name)
			fprintf(out, "%-16s  %s (type %u, config %#llx)\n", counter_names[i].name,
				event->name, event->attr.type,
				(unsigned long long)event->attr.config);
		else
			fprintf(out, "%-16s  not available: %s\n", counter_names[i].name,
				event->why_not);
	}
}
