// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "job.h"

static const char *add_sysctl(struct job *job, char *setting)
{
	char *value = strchr(setting, '=');

	if (!value || value == setting || !value[1])
		return "a sysctl line is not sysctl NAME=VALUE";
	if (job->n_sysctls == JOB_MAX_SYSCTLS)
		return "too many sysctl lines";
	*value++ = '\0';
	job->sysctls[job->n_sysctls++] = (struct sysctl){ setting, value };
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

const char *job_parse(struct job *job, char *text)
{
	const char *error;
	char *rest;

	memset(job, 0, sizeof(*job));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strncmp(line, "sysctl ", 7))
			error = add_sysctl(job, line + 7);
		else if (!strncmp(line, "run ", 4))
			error = set_argv(job, line + 4);
		else
			error = "a line is neither sysctl nor run";
		if (error)
			return error;
	}
	return job->argv[0] ? NULL : "there is no run line";
}
