// SPDX-License-Identifier: GPL-2.0
/* The job's text: what is understood, and that anything else is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "../job.h"

static const char *parse(struct job *job, const char *text)
{
	static char copy[4096];

	snprintf(copy, sizeof(copy), "%s", text);
	return job_parse(job, copy);
}

static void understands_a_job(void)
{
	struct job job;

	CHECK(!parse(&job, "fast depth=1\nfast policy=x=y\nfeature NO_DELAY_DEQUEUE\n"
			   "cpus 64\nclock\nrun /bin/one  two --three=4\n"));
	CHECK(job.n_fast == 2);
	CHECK(!strcmp(job.fast[0].name, "depth"));
	CHECK(!strcmp(job.fast[0].value, "1"));
	CHECK(!strcmp(job.fast[1].value, "x=y"));
	CHECK(job.n_features == 1);
	CHECK(!strcmp(job.features[0], "NO_DELAY_DEQUEUE"));
	CHECK(job.cpus == 64);
	CHECK(job.clock);
	CHECK(!strcmp(job.argv[0], "/bin/one"));
	CHECK(!strcmp(job.argv[1], "two"));
	CHECK(!strcmp(job.argv[2], "--three=4"));
	CHECK(!job.argv[3]);
}

static void asks_for_no_more_than_it_says(void)
{
	struct job job;

	CHECK(!parse(&job, "run /a\n"));
	CHECK(!job.n_fast && !job.n_features && !job.cpus && !job.clock);
}

static void refuses_anything_else(void)
{
	static const char *const wrong[] = {
		"", "\n", "fast depth=1\n", "run one\n", "run  \n", "fast depth\nrun /a\n",
		"fast =1\nrun /a\n", "fast a=\nrun /a\n", "run /a\nrun /b\n", "ruin /a\n",
		"clock 1\nrun /a\n", "cpus 0\nrun /a\n", "cpus 65\nrun /a\n", "cpus -1\nrun /a\n", "cpus 1x\nrun /a\n",
		"cpus  1\nrun /a\n", "cpus 99999999999999999999\nrun /a\n", "cpus \nrun /a\n",
		"cpus 1\ncpus 1\nrun /a\n", "feature \nrun /a\n", "feature no\nrun /a\n",
		"feature A B\nrun /a\n",
	};
	struct job job;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!parse(&job, wrong[i])) {
			fprintf(stderr, "accepted: \"%s\"\n", wrong[i]);
			failures++;
		}
	}
}

static void bounds_what_it_holds(void)
{
	char features[JOB_MAX_FEATURES * 10 + 32] = "";
	char fast[JOB_MAX_FAST * 9 + 32] = "";
	char words[JOB_MAX_WORDS * 2 + 32] = "run /a";
	struct job job;

	for (int i = 0; i < JOB_MAX_FAST; i++)
		strcat(fast, "fast a=1\n");
	strcat(fast, "run /a\n");
	CHECK(!parse(&job, fast));
	memmove(fast + 9, fast, strlen(fast) + 1);
	CHECK(parse(&job, fast));

	for (int i = 0; i < JOB_MAX_FEATURES; i++)
		strcat(features, "feature A\n");
	strcat(features, "run /a\n");
	CHECK(!parse(&job, features));
	memmove(features + 10, features, strlen(features) + 1);
	CHECK(parse(&job, features));

	for (int i = 1; i < JOB_MAX_WORDS; i++)
		strcat(words, " b");
	CHECK(!parse(&job, words));
	CHECK(!job.argv[JOB_MAX_WORDS]);
	strcat(words, " b");
	CHECK(parse(&job, words));
}

int main(void)
{
	understands_a_job();
	asks_for_no_more_than_it_says();
	refuses_anything_else();
	bounds_what_it_holds();
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
