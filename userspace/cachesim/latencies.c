// SPDX-License-Identifier: GPL-2.0
#include "latencies.h"

#include <stdlib.h>

#include "array.h"

int latencies_add(struct latencies *l, uint64_t ns)
{
	if (!ARRAY_GROW(l->ns, l->n, l->room))
		return -1;
	l->ns[l->n++] = ns;
	return 0;
}

static int compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

void latencies_sort(struct latencies *l)
{
	if (l->n)
		qsort(l->ns, l->n, sizeof(*l->ns), compare);
}

uint64_t latencies_percentile(const struct latencies *l, unsigned int thousandths)
{
	return l->ns[(l->n * thousandths + 999) / 1000 - 1];
}

uint64_t latencies_mean(const struct latencies *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->ns[i];
	return (sum + l->n / 2) / l->n;
}

void latencies_free(struct latencies *l)
{
	free(l->ns);
	*l = (struct latencies){ 0 };
}
