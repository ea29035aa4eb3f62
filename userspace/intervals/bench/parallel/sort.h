/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct merge_call {
	int32_t *to;
	const int32_t *a;
	size_t na;
	const int32_t *b;
	size_t nb;
};

static void merge(int32_t *to, const int32_t *a, size_t na, const int32_t *b, size_t nb);

static void merge_task(void *arg)
{
	struct merge_call *call = (struct merge_call *)arg;

	merge(call->to, call->a, call->na, call->b, call->nb);
}

/* The middle of the longer one splits both. */
static void merge(int32_t *to, const int32_t *a, size_t na, const int32_t *b, size_t nb)
{
	struct merge_call first = { to, a, na / 2, b, 0 };

	if (na < nb) {
		merge(to, b, nb, a, na);
		return;
	}
	if (na + nb <= SORT_LEAF) {
		sort_merge(to, a, na, b, nb);
		return;
	}
	first.nb = sort_rank(b, nb, a[first.na]);
	PAR_FORK2(merge_task, &first,
		  merge(to + first.na + first.nb, a + first.na, na - first.na, b + first.nb,
			nb - first.nb));
}

struct sort_call {
	int32_t *values, *scratch;
	size_t n;
	bool to_scratch;
};

static void sort_range(int32_t *values, int32_t *scratch, size_t n, bool to_scratch);

static void sort_task(void *arg)
{
	struct sort_call *call = (struct sort_call *)arg;

	sort_range(call->values, call->scratch, call->n, call->to_scratch);
}

/* The sorted values end in one of the two arrays; the halves are merged from the other. */
static void sort_range(int32_t *values, int32_t *scratch, size_t n, bool to_scratch)
{
	size_t half = n / 2;
	int32_t *from = to_scratch ? values : scratch, *to = to_scratch ? scratch : values;
	struct sort_call first = { values, scratch, half, !to_scratch };

	if (n <= SORT_LEAF) {
		sort_leaf(values, n);
		if (to_scratch)
			memcpy(scratch, values, n * sizeof(*values));
		return;
	}
	PAR_FORK2(sort_task, &first,
		  sort_range(values + half, scratch + half, n - half, !to_scratch));
	merge(to, from, half, from + half, n - half);
}

static void sort_run(void)
{
	sort_range(bench_sort.values, bench_sort.scratch, bench_sort.n, false);
}
