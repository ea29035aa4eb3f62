// SPDX-License-Identifier: GPL-2.0
#include "allocators.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define GUEST_PAGE 4096u
#define MOST_BYTES 64u

struct function {
	enum allocator kind;
	unsigned int offset;	/* in its page */
	size_t n;
	uint8_t code[MOST_BYTES];
};

struct allocators {
	struct function *all;
	size_t n, room;
};

static enum allocator kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum allocator kind;
	} names[] = {
		{ "malloc", ALLOCATOR_MALLOC },
		{ "calloc", ALLOCATOR_CALLOC },
		{ "realloc", ALLOCATOR_REALLOC },
		{ "aligned_alloc", ALLOCATOR_ALIGNED_ALLOC },
		{ "memalign", ALLOCATOR_ALIGNED_ALLOC },
		{ "posix_memalign", ALLOCATOR_POSIX_MEMALIGN },
		{ "free", ALLOCATOR_FREE },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, name))
			return names[i].kind;
	return ALLOCATOR_NONE;
}

/* Bytes in hexadecimal; 0: they are none, or too many. */
static size_t read_code(const char *text, uint8_t code[MOST_BYTES])
{
	size_t n = 0;

	for (; *text && n < MOST_BYTES; text += 2)
		if (sscanf(text, "%2" SCNx8, &code[n++]) != 1 || !text[1])
			return 0;
	return *text ? 0 : n;
}

static int add(struct allocators *a, const char *name, uint64_t address, const char *code)
{
	struct function f = { .kind = kind_of(name), .offset = address & (GUEST_PAGE - 1) };

	f.n = read_code(code, f.code);
	if (f.kind == ALLOCATOR_NONE || !f.n || f.offset + f.n > GUEST_PAGE) {
		errno = EINVAL;
		return -1;
	}
	if (!ARRAY_GROW(a->all, a->n, a->room))
		return -1;
	a->all[a->n++] = f;
	return 0;
}

static int read_all(struct allocators *a, FILE *file)
{
	char name[16], code[2 * MOST_BYTES + 2];
	uint64_t address;
	int fields;

	while ((fields = fscanf(file, "%15s %" SCNx64 " %129s", name, &address, code)) == 3)
		if (add(a, name, address, code))
			return -1;
	if (fields == EOF && !ferror(file))
		return 0;
	errno = EINVAL;
	return -1;
}

struct allocators *allocators_read(const char *path, char *error, size_t size)
{
	struct allocators *a = calloc(1, sizeof(*a));
	FILE *file = a ? fopen(path, "re") : NULL;
	int failed = !file || read_all(a, file);

	if (failed)
		snprintf(error, size, "%s: %s; name a file of functions that allocate", path,
			 strerror(errno));
	if (file)
		fclose(file);
	if (!failed)
		return a;
	allocators_free(a);
	return NULL;
}

void allocators_free(struct allocators *a)
{
	if (a)
		free(a->all);
	free(a);
}

enum allocator allocators_at(const struct allocators *a, uint64_t address, const uint8_t *code)
{
	for (const struct function *f = a->all; f < a->all + a->n; f++)
		if (f->offset == (address & (GUEST_PAGE - 1)) && !memcmp(f->code, code, f->n))
			return f->kind;
	return ALLOCATOR_NONE;
}
