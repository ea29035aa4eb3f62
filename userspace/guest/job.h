/* SPDX-License-Identifier: GPL-2.0 */
/* The job that the host gives to the guest, as text. */
#ifndef GUEST_JOB_H
#define GUEST_JOB_H

#include <stdbool.h>
#include <stddef.h>

#define JOB_MAX_SETTINGS 64
#define JOB_MAX_ENVIRONMENT 64
#define JOB_MAX_WORDS 64

struct setting {
	const char *path;
	const char *value;
};

struct settings {
	struct setting of[JOB_MAX_SETTINGS];
	size_t n;
};

struct job {
	struct settings early;	/* values of the kernel's files, before the other CPUs are started */
	struct settings late;	/* and after */
	bool clock;		/* the host's plugin has a clock, which needs the burner */
	char *environment[JOB_MAX_ENVIRONMENT];	/* of the workload besides init's: NAME=VALUE */
	size_t n_environment;
	unsigned long date;	/* the time of day at the start, in seconds since 1970; 0: as it is */
	unsigned int cpus;	/* the workload is confined to CPUs 0..cpus-1; 0: not confined */
	char *scheduler[JOB_MAX_WORDS + 1];	/* loads a sched_ext scheduler; ended by NULL */
	bool scheduled;		/* the workload itself loads one */
	char *argv[JOB_MAX_WORDS + 1];	/* the workload, ended by NULL */
};

/*
 * Parse the text: "set PATH=VALUE", "late PATH=VALUE", "env NAME=VALUE", "date SECONDS", "cpus N", "clock",
 * "scheduler PATH WORD..." and "scheduled" lines, then one "run PATH WORD..." line. The job points
 * into the text, which is changed. Returns NULL, or what is wrong.
 */
const char *job_parse(struct job *job, char *text);

#endif
