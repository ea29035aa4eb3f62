// SPDX-License-Identifier: GPL-2.0
#include "document.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "json_text.h"

int document_open(FILE **document, const char *path)
{
	*document = path ? fopen(path, "we") : NULL;
	if (path && !*document)
		return complain("cannot write %s: %s", path, strerror(errno));
	return 0;
}

int document_flush(FILE *document, const char *path)
{
	if (fflush(document) || ferror(document))
		return complain("cannot write %s: %s", path, strerror(errno));
	return 0;
}

void document_number(FILE *document, const char *name, bool known, uint64_t value)
{
	if (known)
		fprintf(document, ",\"%s\":%" PRIu64, name, value);
	else
		fprintf(document, ",\"%s\":null", name);
}

void document_text(FILE *document, const char *name, const char *text)
{
	fprintf(document, ",\"%s\":", name);
	if (text)
		json_text(document, text, strlen(text));
	else
		fputs("null", document);
}

void document_session(FILE *document, const struct session *session)
{
	int status = session->wait_status;

	document_number(document, "exit_status", WIFEXITED(status), (uint64_t)WEXITSTATUS(status));
	document_number(document, "signal", WIFSIGNALED(status), (uint64_t)WTERMSIG(status));
	document_number(document, "regions", session->roi, session->regions);
	document_number(document, "elapsed_ns", true, session->elapsed_ns);
}
