// SPDX-License-Identifier: GPL-2.0
/* A scheduler is waited for, and one that ends too early is told with its last words. */
#include "fake_guest.h"
#include "../scheduler.h"

static const char *const directories[] = { "/sys", "/sys/kernel", "/sys/kernel/sched_ext" };
static const char *const files[] = { SCHEDULER_STATE, SCHEDULER_SEQUENCE, "/scheduler.err" };

static int make_tree(UNIT_STATE)
{
	make_directories(directories, COUNT_OF(directories));
	return 0;
}

static int remove_tree(UNIT_STATE)
{
	return remove_all(files, COUNT_OF(files), directories, COUNT_OF(directories));
}

SET_UP
{
	*said = '\0';
	unlink(at(SCHEDULER_STATE));
	unlink(at(SCHEDULER_SEQUENCE));
	return 0;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(at(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static bool start(const char *script)
{
	char *argv[] = { "/bin/sh", "-c", (char *)script, root, NULL };

	return scheduler_start(argv, root);
}

SET_UP_TEST(without_a_scheduler_nothing_is_waited_for)
{
	char *none[] = { NULL };
	const struct job job = { 0 };

	assert_true(scheduler_start(none, root));
	assert_true(scheduler_acted(&job, root));
	assert_string_equal(said, "");
}

SET_UP_TEST(waits_until_it_is_enabled)
{
	assert_true(start("sleep 0.05; echo enabled > $0" SCHEDULER_STATE "; exec sleep 1"));
	assert_string_equal(said, "");
}

SET_UP_TEST(tells_what_one_said_that_cannot_be_loaded)
{
	char *missing[] = { "/no/such", NULL };

	write_text(SCHEDULER_STATE, "disabled\n");
	assert_false(start("echo load: Invalid argument >&2; exit 1"));
	assert_string_equal(said,
			    "FAST err init: /bin/sh ended before its scheduler was enabled\n"
			    "FAST err load: Invalid argument\n");
	*said = '\0';
	assert_false(scheduler_start(missing, root));
	assert_non_null(strstr(said, "FAST err cannot run /no/such: No such file or directory\n"));
}

SET_UP_TEST(one_that_is_thrown_out_has_not_acted)
{
	const struct job job = { .scheduler = { "/bin/s" } };

	write_text(SCHEDULER_STATE, "enabled\n");
	assert_true(scheduler_acted(&job, root));
	write_text(SCHEDULER_STATE, "disabled\n");
	assert_false(scheduler_acted(&job, root));
	assert_non_null(strstr(said, "the scheduler of /bin/s did not last to the end"));
}

SET_UP_TEST(a_workload_that_loads_one_must_have_done_so)
{
	const struct job job = { .scheduled = true, .argv = { "/bin/s" } };

	write_text(SCHEDULER_SEQUENCE, "0\n");
	assert_false(scheduler_acted(&job, root));
	assert_string_equal(said, "FAST err init: /bin/s enabled no sched_ext scheduler\n");
	write_text(SCHEDULER_SEQUENCE, "1\n");
	assert_true(scheduler_acted(&job, root));
}

RUN_TESTS(make_tree, remove_tree)
