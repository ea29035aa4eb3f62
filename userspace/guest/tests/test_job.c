// SPDX-License-Identifier: GPL-2.0
/* The job's text: what is understood, and that anything else is refused. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "../job.h"

static const char *parse(struct job *job, const char *text)
{
	static char copy[4096];

	snprintf(copy, sizeof(copy), "%s", text);
	return job_parse(job, copy);
}

TEST(understands_a_job)
{
	struct job job;

	assert_true(!parse(&job, "set /sys/a=1\nset /sys/b=x=y\nlate /proc/c=2\nscheduler /bin/s -f\nscheduled\n"
			   "env A=b c=d \nenv E=\ndate 1700000000\n"
			   "cpus 64\nclock\nrun /bin/one  two --three=4\n"));
	assert_true(job.early.n == 2);
	assert_string_equal(job.early.of[0].path, "/sys/a");
	assert_string_equal(job.early.of[0].value, "1");
	assert_string_equal(job.early.of[1].value, "x=y");
	assert_true(job.late.n == 1);
	assert_string_equal(job.late.of[0].path, "/proc/c");
	assert_string_equal(job.scheduler[0], "/bin/s");
	assert_string_equal(job.scheduler[1], "-f");
	assert_true(!job.scheduler[2]);
	assert_true(job.scheduled);
	assert_true(job.n_environment == 2);
	assert_string_equal(job.environment[0], "A=b c=d ");
	assert_string_equal(job.environment[1], "E=");
	assert_true(job.date == 1700000000);
	assert_true(job.cpus == 64);
	assert_true(job.clock);
	assert_string_equal(job.argv[0], "/bin/one");
	assert_string_equal(job.argv[1], "two");
	assert_string_equal(job.argv[2], "--three=4");
	assert_true(!job.argv[3]);
}

TEST(asks_for_no_more_than_it_says)
{
	struct job job;

	assert_true(!parse(&job, "run /a\n"));
	assert_true(!job.early.n && !job.late.n && !job.cpus && !job.clock);
	assert_true(!job.scheduler[0] && !job.scheduled);
	assert_true(!job.n_environment && !job.date);
}

TEST(refuses_anything_else)
{
	static const char *const wrong[] = {
		"", "\n", "set /a=1\n", "run one\n", "run  \n", "set /a\nrun /a\n",
		"set a=1\nrun /a\n", "set /a=\nrun /a\n", "set \nrun /a\n", "late a=1\nrun /a\n", "run /a\nrun /b\n", "ruin /a\n",
		"clock 1\nrun /a\n", "cpus 0\nrun /a\n", "cpus 65\nrun /a\n", "cpus -1\nrun /a\n", "cpus 1x\nrun /a\n",
		"cpus  1\nrun /a\n", "cpus 99999999999999999999\nrun /a\n", "cpus \nrun /a\n",
		"cpus 1\ncpus 1\nrun /a\n", "scheduler s\nrun /a\n", "scheduler \nrun /a\n",
		"scheduler /s\nscheduler /s\nrun /a\n", "scheduled 1\nrun /a\n", "env A\nrun /a\n", "env =b\nrun /a\n", "env \nrun /a\n",
		"date 0\nrun /a\n", "date -1\nrun /a\n", "date 1x\nrun /a\n",
		"date 99999999999999999999\nrun /a\n", "date 1\ndate 1\nrun /a\n",
	};
	struct job job;

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		if (!parse(&job, wrong[i]))
			fail_msg("accepted: \"%s\"", wrong[i]);
	}
}

TEST(bounds_what_it_holds)
{
	char environment[JOB_MAX_ENVIRONMENT * 8 + 32] = "";
	char settings[JOB_MAX_SETTINGS * 9 + 32] = "";
	char words[JOB_MAX_WORDS * 2 + 32] = "run /a";
	struct job job;

	for (int i = 0; i < JOB_MAX_SETTINGS; i++)
		strcat(settings, "set /a=1\n");
	strcat(settings, "run /a\n");
	assert_true(!parse(&job, settings));
	memmove(settings + 9, settings, strlen(settings) + 1);
	assert_true(parse(&job, settings));

	for (int i = 0; i < JOB_MAX_ENVIRONMENT; i++)
		strcat(environment, "env A=b\n");
	strcat(environment, "run /a\n");
	assert_true(!parse(&job, environment));
	memmove(environment + 8, environment, strlen(environment) + 1);
	assert_true(parse(&job, environment));

	for (int i = 1; i < JOB_MAX_WORDS; i++)
		strcat(words, " b");
	assert_true(!parse(&job, words));
	assert_true(!job.argv[JOB_MAX_WORDS]);
	strcat(words, " b");
	assert_true(parse(&job, words));
}

RUN_TESTS(NULL, NULL)
