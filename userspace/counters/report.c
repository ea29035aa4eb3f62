// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <inttypes.h>

#include "document.h"

static void put_ratio(FILE *out, const struct report *report, const char *name,
		      enum counter references, enum counter misses)
{
	const struct counters_result *of = &report->results[references];
	const struct counters_result *part = &report->results[misses];

	if (of->available && of->value && part->available)
		fprintf(out, "%20.4f  %s\n", (double)part->value / (double)of->value, name);
}

void report_text(FILE *out, const struct report *report)
{
	const struct events *events = report->events;
	const struct session *session = report->session;

	fprintf(out, "\nfast-stat: %s on %s, ",
		events->user_only ? "user space" : "user and kernel", events->cpu);
	if (session->roi)
		fprintf(out, "in %u region%s of interest\n\n", session->regions,
			session->regions == 1 ? "" : "s");
	else
		fputs("the whole program\n\n", out);
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
		if (counters_share(result) < 1)
			fprintf(out, " (counted %.1f %% of the time)",
				100 * counters_share(result));
		fputc('\n', out);
	}
	put_ratio(out, report, "L2 misses per reference", L2_REFERENCES, L2_MISSES);
	put_ratio(out, report, "L3 misses per reference", L3_REFERENCES, L3_MISSES);
	fprintf(out, "%20.6f  seconds elapsed\n\n", (double)session->elapsed_ns / 1e9);
}

void report_scaled(FILE *out, const struct report *report)
{
	double least = 1;

	for (int i = 0; i < COUNTERS; i++) {
		double share = counters_share(&report->results[i]);

		if (!report->results[i].available || share >= 1)
			continue;
		fprintf(out, "%s%s %.1f %%", least < 1 ? ", " : "fast-stat: warning: events took "
			"turns, since the CPU has too few counters for all at once. These were "
			"scaled up from the share of the time that they were counted: ",
			counter_names[i].name, 100 * share);
		if (share < least)
			least = share;
	}
	if (least < 1)
		fputs(". Name fewer (--events) to have them counted all the time\n", out);
}

static void put_counter(FILE *out, int i, const struct event *event,
			const struct counters_result *result)
{
	fprintf(out, "\"%s\":{\"unit\":\"%s\"", counter_names[i].name, counter_names[i].unit);
	document_text(out, "event", event->name);
	document_number(out, "value", result->available, result->value);
	document_number(out, "raw", result->available, result->raw);
	document_number(out, "enabled_ns", result->available, result->enabled_ns);
	document_number(out, "running_ns", result->available, result->running_ns);
	if (result->available)
		fprintf(out, ",\"share\":%.6f", counters_share(result));
	else
		fputs(",\"share\":null", out);
	document_text(out, "why_not", result->available ? NULL : result->why_not);
	fputc('}', out);
}

void report_json(FILE *out, const struct report *report)
{
	const struct events *events = report->events;
	bool first = true;

	fprintf(out, "{\"schema\":1,\"cpu\":\"%s\",\"modes\":[\"user\"%s]", events->cpu,
		events->user_only ? "" : ",\"kernel\"");
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
	fputs("}}\n", out);
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
