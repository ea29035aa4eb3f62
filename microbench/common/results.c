// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "results.h"

double jain_index(const double *x, unsigned int n)
{
	double sum = 0, squares = 0;

	for (unsigned int i = 0; i < n; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	return sum * sum / (n * squares);
}

static double throughput(const struct results *r)
{
	return (double)r->opt->iterations * 1e9 / (double)r->elapsed_ns;
}

static void print_json(const struct results *r)
{
	const struct options *opt = r->opt;

	printf("{\"schema\":1,\"benchmark\":\"%s\",\"threads\":%u,\"iterations\":%" PRIu64
	       ",\"warmup\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"cs_lines\":%u,\"think\":%u"
	       ",\"locks\":%u,\"line\":%u", r->benchmark, opt->threads, opt->iterations,
	       opt->warmup, opt->seed, opt->cs_lines, opt->think, opt->locks, opt->line);
	printf(",\"elapsed_ns\":%" PRIu64 ",\"throughput\":%.3f,\"context_switches\":%" PRIu64,
	       r->elapsed_ns, throughput(r), r->sched.context_switches);
	if (r->sched.has_migrations)
		printf(",\"migrations\":%" PRIu64, r->sched.migrations);
	else
		printf(",\"migrations\":null");
	printf(",\"fairness\":%.6f,\"thread_throughput\":[",
	       jain_index(r->thread_throughput, opt->threads));
	for (unsigned int i = 0; i < opt->threads; i++)
		printf("%s%.3f", i ? "," : "", r->thread_throughput[i]);
	printf("],\"check\":\"%s\",\"check_detail\":\"%s\"}\n",
	       r->verdict.failed ? "failed" : "ok", r->verdict.detail);
}

static void print_table(const struct results *r)
{
	const struct options *opt = r->opt;

	printf("%s\n", r->benchmark);
	printf("  threads           %u\n", opt->threads);
	printf("  iterations        %" PRIu64 " in total, after %" PRIu64 " to warm up\n",
	       opt->iterations, opt->warmup);
	printf("  critical section  %u line%s of %u bytes, %u lock%s\n", opt->cs_lines,
	       opt->cs_lines > 1 ? "s" : "", opt->line, opt->locks, opt->locks > 1 ? "s" : "");
	printf("  outside           %u random steps on average, seed %" PRIu64 "\n", opt->think,
	       opt->seed);
	printf("  elapsed           %.6f s\n", (double)r->elapsed_ns / 1e9);
	printf("  throughput        %.0f iterations/s\n", throughput(r));
	printf("  context switches  %" PRIu64 "\n", r->sched.context_switches);
	if (r->sched.has_migrations)
		printf("  migrations        %" PRIu64 "\n", r->sched.migrations);
	else
		printf("  migrations        not available\n");
	printf("  fairness          %.4f (Jain's index, 1 is fair)\n",
	       jain_index(r->thread_throughput, opt->threads));
	printf("  self-check        %s%s\n", r->verdict.failed ? "FAILED: " : "ok",
	       r->verdict.detail);
}

void results_print(const struct results *results)
{
	if (results->opt->json)
		print_json(results);
	else
		print_table(results);
}
