/* SPDX-License-Identifier: GPL-2.0 */
/* What the JSON documents of the measuring programs have in common. */
#ifndef FAST_SUPERVISE_DOCUMENT_H
#define FAST_SUPERVISE_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "session.h"

/*
 * The file of --json, *document; NULL where there is no path. To be opened before the
 * program has run for an hour, not after. 0, or EXIT_OURS after a complaint.
 */
int document_open(FILE **document, const char *path);
/* All is written: 0, else EXIT_OURS after a complaint. It stays open. */
int document_flush(FILE *document, const char *path);

/* Members, each behind a comma. What is not known is null. */
void document_number(FILE *document, const char *name, bool known, uint64_t value);
/* Any text (json_text.h). NULL is not known. */
void document_text(FILE *document, const char *name, const char *text);
/* How the program ended and what of it was measured. */
void document_session(FILE *document, const struct session *session);

#endif
