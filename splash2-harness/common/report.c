// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/results.h"
#include "report.h"

/* JSON has no word for what is not finite. */
static void print_json_real(double value)
{
	if (isfinite(value))
		printf("%.17g", value);
	else
		printf("null");
}

static void print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ')
			printf("\\u%04x", c);
		else
			printf(c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	putchar('"');
}

static void print_json_sizes(const struct splash_program *p)
{
	const char *comma = "";

	printf(",\"sizes\":{");
	for (const struct splash_number *n = p->numbers; n && n->name; n++, comma = ",")
		printf("%s\"%s\":%" PRIu64, comma, n->name, *n->value);
	for (const struct splash_real *r = p->reals; r && r->name; r++, comma = ",") {
		printf("%s\"%s\":", comma, r->name);
		print_json_real(*r->value);
	}
	for (const struct splash_word *w = p->words; w && w->name; w++, comma = ",") {
		printf("%s\"%s\":", comma, w->name);
		if (*w->value)
			print_json_string(*w->value);
		else
			printf("null");
	}
	printf("}");
}

static void print_json_profile(const struct report *r)
{
	const struct splash_profile *p = &r->profile;

	printf(",\"profile\":{\"locks\":%" PRIu64 ",\"barriers\":%" PRIu64 ",\"flags\":%" PRIu64,
	       p->locks, p->barriers, p->flags);
	if (r->opt->profile)
		printf(",\"contended\":%" PRIu64 ",\"lock_ns\":%" PRIu64 ",\"barrier_ns\":%" PRIu64
		       ",\"flag_ns\":%" PRIu64 "}", p->contended, p->lock_ns, p->barrier_ns,
		       p->flag_ns);
	else
		printf(",\"contended\":null,\"lock_ns\":null,\"barrier_ns\":null,\"flag_ns\":null}");
}

static double throughput(const struct report *r)
{
	return 1e9 / (double)r->elapsed_ns;
}

static double fairness(const struct report *r)
{
	return jain_index(r->busy_ns, r->opt->threads);
}

static void print_json(const struct report *r)
{
	printf("{\"schema\":1,\"benchmark\":\"%s\",\"threads\":%u,\"iterations\":1,\"seed\":%" PRIu64,
	       r->program->name, r->opt->threads, r->opt->seed);
	print_json_sizes(r->program);
	printf(",\"elapsed_ns\":%" PRIu64 ",\"throughput\":%.6f,\"context_switches\":%" PRIu64,
	       r->elapsed_ns, throughput(r), r->sched.context_switches);
	if (r->sched.has_migrations)
		printf(",\"migrations\":%" PRIu64, r->sched.migrations);
	else
		printf(",\"migrations\":null");
	printf(",\"fairness\":%.6f,\"thread_busy_ns\":[", fairness(r));
	for (unsigned int i = 0; i < r->opt->threads; i++)
		printf("%s%.0f", i ? "," : "", r->busy_ns[i]);
	printf("]");
	print_json_profile(r);
	printf(",\"result\":");
	print_json_real(r->result);
	printf(",\"check\":\"%s\",\"check_detail\":", r->verdict.failed ? "failed" : "ok");
	print_json_string(r->verdict.detail);
	printf("}\n");
}

/* One kind of operation: how many, and how long the average thread waited there. */
static void print_waits(const struct report *r, const char *name, uint64_t count, uint64_t ns)
{
	printf("  %-17s %" PRIu64, name, count);
	if (r->opt->profile && count)
		printf(", waited for %.6f s by each thread, %.1f%% of the time",
		       (double)ns / 1e9 / r->opt->threads,
		       100.0 * (double)ns / r->opt->threads / (double)r->elapsed_ns);
	putchar('\n');
}

static void print_table(const struct report *r)
{
	const struct splash_program *p = r->program;

	printf("%s\n", p->name);
	printf("  threads           %u\n", r->opt->threads);
	for (const struct splash_number *n = p->numbers; n && n->name; n++)
		printf("  %-17s %" PRIu64 "\n", n->name, *n->value);
	for (const struct splash_real *x = p->reals; x && x->name; x++)
		printf("  %-17s %g\n", x->name, *x->value);
	for (const struct splash_word *w = p->words; w && w->name; w++)
		if (*w->value)
			printf("  %-17s %s\n", w->name, *w->value);
	printf("  seed              %" PRIu64 "\n", r->opt->seed);
	printf("  elapsed           %.6f s\n", (double)r->elapsed_ns / 1e9);
	print_waits(r, "locks", r->profile.locks, r->profile.lock_ns);
	print_waits(r, "barriers", r->profile.barriers, r->profile.barrier_ns);
	print_waits(r, "flags", r->profile.flags, r->profile.flag_ns);
	if (r->opt->profile)
		printf("  contended locks   %" PRIu64 "\n", r->profile.contended);
	printf("  context switches  %" PRIu64 "\n", r->sched.context_switches);
	if (r->sched.has_migrations)
		printf("  migrations        %" PRIu64 "\n", r->sched.migrations);
	else
		printf("  migrations        not available\n");
	printf("  fairness          %.4f (Jain's index of the threads' time on a CPU, 1 is fair)\n",
	       fairness(r));
	printf("  result            %.17g\n", r->result);
	printf("  self-check        %s%s\n", r->verdict.failed ? "FAILED: " : "ok",
	       r->verdict.detail);
}

void report_print(const struct report *report)
{
	if (report->opt->json)
		print_json(report);
	else
		print_table(report);
}
