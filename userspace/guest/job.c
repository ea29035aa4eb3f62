// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define MOST_CPUS 64
/* In the year 2200; the kernel's own limit is later. */
#define LATEST_DATE 7258118400

static const char *add_fast(struct job *job, char *setting)
{
	char *value = strchr(setting, '=');

	if (!value || value == setting || !value[1])
		return "a fast line is not fast NAME=VALUE";
	if (job->n_fast == JOB_MAX_FAST)
		return "too many fast lines";
	*value++ = '\0';
	job->fast[job->n_fast++] = (struct setting){ setting, value };
	return NULL;
}

static const char *add_feature(struct job *job, const char *name)
{
	if (!*name || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != strlen(name))
		return "a feature line is not feature NAME";
	if (job->n_features == JOB_MAX_FEATURES)
		return "too many feature lines";
	job->features[job->n_features++] = name;
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

static const char *set_argv(struct job *job, char *words)
{
	size_t n = 0;
	char *rest;

	if (job->argv[0])
		return "more than one run line";
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (n == JOB_MAX_WORDS)
			return "too many words in the run line";
		job->argv[n++] = word;
	}
	return n && *job->argv[0] == '/' ? NULL : "the run line names no absolute path";
}

static const char *set_clock(struct job *job)
{
	job->clock = true;
	return NULL;
}

const char *job_parse(struct job *job, char *text)
{
	const char *error;
	char *rest;

	memset(job, 0, sizeof(*job));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strncmp(line, "fast ", 5))
			error = add_fast(job, line + 5);
		else if (!strncmp(line, "feature ", 8))
			error = add_feature(job, line + 8);
		else if (!strncmp(line, "env ", 4))
			error = add_environment(job, line + 4);
		else if (!strncmp(line, "date ", 5))
			error = set_date(job, line + 5);
		else if (!strncmp(line, "cpus ", 5))
			error = set_cpus(job, line + 5);
		else if (!strcmp(line, "clock"))
			error = set_clock(job);
		else if (!strncmp(line, "run ", 4))
			error = set_argv(job, line + 4);
		else
			error = "a line is neither fast, feature, env, date, cpus, clock nor run";
		if (error)
			return error;
	}
	return job->argv[0] ? NULL : "there is no run line";
}
