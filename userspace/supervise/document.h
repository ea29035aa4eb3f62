/* SPDX-License-Identifier: GPL-2.0 */
/* The common part of the measuring programs' JSON documents. */
#ifndef FAST_SUPERVISE_DOCUMENT_H
#define FAST_SUPERVISE_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "session.h"

/*
 * Opens the file of --json as *document; NULL without a path. To be called before the
 * program runs, so that a bad path costs no run. Returns 0, or EXIT_OURS after a message.
 */
int document_open(FILE **document, const char *path);
/* Flushes the document, which stays open. Returns 0, or EXIT_OURS after a message. */
int document_flush(FILE *document, const char *path);

/* Members, each after a comma. An unknown value is null. */
void document_number(FILE *document, const char *name, bool known, uint64_t value);
/* Any text (json_text.h). NULL: unknown. */
void document_text(FILE *document, const char *name, const char *text);
/* How the program ended, and the measured regions and time. */
void document_session(FILE *document, const struct session *session);

#endif
