// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define MOST_CPUS 64
/* In the year 2200; the kernel's own limit is later. */
#define LATEST_DATE 7258118400

static const char *add_setting(struct settings *settings, char *setting)
{
	char *value = strchr(setting, '=');

	if (*setting != '/' || !value || !value[1])
		return "a set or late line is not set PATH=VALUE with an absolute PATH";
	if (settings->n == JOB_MAX_SETTINGS)
		return "too many set or late lines";
	*value++ = '\0';
	settings->of[settings->n++] = (struct setting){ setting, value };
	return NULL;
}

static const char *add_environment(struct job *job, char *variable)
{
	if (*variable == '=' || !strchr(variable, '='))
		return "an env line is not env NAME=VALUE";
	if (job->n_environment == JOB_MAX_ENVIRONMENT)
		return "too many env lines";
	job->environment[job->n_environment++] = variable;
	return NULL;
}

static const char *set_date(struct job *job, const char *seconds)
{
	char *end;

	if (job->date)
		return "more than one date line";
	job->date = strtoul(seconds, &end, 10);
	/* strtoul() would take a sign or a space, too. */
	if (*seconds < '1' || *seconds > '9' || *end || job->date > LATEST_DATE)
		return "a date line is not date SECONDS";
	return NULL;
}

static const char *set_cpus(struct job *job, const char *number)
{
	unsigned long cpus;
	char *end;

	if (job->cpus)
		return "more than one cpus line";
	cpus = strtoul(number, &end, 10);
	/* strtoul() would take a sign or a space, too. */
	if (*number < '1' || *number > '9' || *end || cpus > MOST_CPUS)
		return "a cpus line is not cpus N with N from 1 to 64";
	job->cpus = (unsigned int)cpus;
	return NULL;
}

static const char *set_argv(char **argv, char *words)
{
	size_t n = 0;
	char *rest;

	if (argv[0])
		return "more than one run line, or scheduler line";
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (n == JOB_MAX_WORDS)
			return "too many words in the run line or the scheduler line";
		argv[n++] = word;
	}
	return n && *argv[0] == '/' ? NULL : "a run or scheduler line names no absolute path";
}

static const char *set_flag(bool *flag)
{
	*flag = true;
	return NULL;
}

const char *job_parse(struct job *job, char *text)
{
	const char *error;
	char *rest;

	memset(job, 0, sizeof(*job));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strncmp(line, "set ", 4))
			error = add_setting(&job->early, line + 4);
		else if (!strncmp(line, "late ", 5))
			error = add_setting(&job->late, line + 5);
		else if (!strncmp(line, "env ", 4))
			error = add_environment(job, line + 4);
		else if (!strncmp(line, "date ", 5))
			error = set_date(job, line + 5);
		else if (!strncmp(line, "cpus ", 5))
			error = set_cpus(job, line + 5);
		else if (!strcmp(line, "clock"))
			error = set_flag(&job->clock);
		else if (!strcmp(line, "scheduled"))
			error = set_flag(&job->scheduled);
		else if (!strncmp(line, "scheduler ", 10))
			error = set_argv(job->scheduler, line + 10);
		else if (!strncmp(line, "run ", 4))
			error = set_argv(job->argv, line + 4);
		else
			error = "a line is neither set, late, env, date, cpus, clock, scheduler, scheduled nor run";
		if (error)
			return error;
	}
	return job->argv[0] ? NULL : "there is no run line";
}
