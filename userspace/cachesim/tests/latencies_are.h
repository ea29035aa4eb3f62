/* SPDX-License-Identifier: GPL-2.0 */
/* assert_latencies(space, ns...) for a test that defines LATENCIES_OF(space, out). */
#define assert_latencies(space, ...) do { \
	const uint64_t wanted_[] = { 0, ##__VA_ARGS__ }; \
	assert_latencies_are(space, wanted_ + 1, COUNT_OF(wanted_) - 1); \
} while (0)

static void assert_latencies_are(uint64_t space, const uint64_t *wanted, size_t n)
{
	struct latencies l = { 0 };

	assert_int_equal(LATENCIES_OF(space, &l), 0);
	assert_int_equal(l.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(l.ns[i], wanted[i]);
	latencies_free(&l);
}
