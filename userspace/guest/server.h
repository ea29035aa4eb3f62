/* SPDX-License-Identifier: GPL-2.0 */
/* A server that runs beside the program, in a session of its own. Not thread-safe. */
#ifndef GUEST_SERVER_H
#define GUEST_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct server {
	const char *path;
	pid_t pid;
	int output;	/* a file with its stdout and stderr */
	int status;	/* as a shell would report it; -1: it runs */
};

/*
 * Start the program `words[0]` with the argv after it, in the directory, and wait until it listens
 * at a port or socket. False after a message on stderr.
 */
bool server_start(struct server *server, char **words, const char *directory);

/* A child has ended: was it the server? Notes its status then. */
bool server_has_ended(struct server *server, pid_t pid, int status);

/* Say on stderr that it ended before the program did. */
void server_tell_end(const struct server *server);

/* End it, by SIGTERM or else by SIGKILL. */
void server_stop(struct server *server);

#endif
