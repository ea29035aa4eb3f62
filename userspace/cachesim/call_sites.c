// SPDX-License-Identifier: GPL-2.0
#include "call_sites.h"

#include <stdlib.h>

#include "array.h"

struct call_sites {
	struct futexes *futexes;
	struct call_site *all;
	size_t n, room;
};

struct call_sites *call_sites_new(struct futexes *futexes)
{
	struct call_sites *c = calloc(1, sizeof(*c));

	if (c)
		c->futexes = futexes;
	return c;
}

void call_sites_free(struct call_sites *c)
{
	free(c->all);
	free(c);
}

void call_sites_begin(struct call_sites *c)
{
	c->n = 0;
}

static bool is_power_of_four(uint64_t n)
{
	return !(n & (n - 1)) && (n & 0x5555555555555555ull);
}

int call_sites_call(struct call_sites *c, uint64_t space, uint64_t number,
		    const uint64_t arguments[3], struct call_site **site)
{
	enum futex_operation operation = futex_operation(number, arguments);
	bool releases = operation == FUTEX_RELEASES;
	struct futex *futex;

	*site = NULL;
	if (operation == FUTEX_DOES_ELSE || space != futexes_program_space(c->futexes))
		return 0;
	futex = futexes_at(c->futexes, space, arguments[0]);
	if (!futex)
		return -1;
	if (!is_power_of_four(releases ? ++futex->use.releases : ++futex->use.waits))
		return 0;
	if (!ARRAY_GROW(c->all, c->n, c->room))
		return -1;
	*site = &c->all[c->n++];
	**site = (struct call_site){
		.address = arguments[0],
		.releases = releases,
	};
	return 0;
}

const struct call_site *call_sites_all(const struct call_sites *c, size_t *n)
{
	*n = c->n;
	return c->all;
}
