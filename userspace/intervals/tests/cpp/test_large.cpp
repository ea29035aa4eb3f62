// SPDX-License-Identifier: LGPL-2.1-or-later
/* Large stack use: sums of algorithms, and deep recursion. */
#include <array>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

/* A sum too large for one copy per halving of the range on a task's stack. */
template <std::size_t bytes>
using histogram = std::array<unsigned int, bytes / sizeof(unsigned int)>;

/* By value: only one copy exists at a time. */
void test_large_by_value(ivl::runtime &runtime)
{
	using bins = histogram<(64 << 10)>;
	const int count = 100000;
	bins found = runtime.run([] {
		return ivl::parallel_reduce(0, count, bins{}, [](int from, int to, bins sum) {
			for (; from < to; from++)
				sum[from % sum.size()]++;
			return sum;
		}, [](bins sum, const bins &more) {
			for (std::size_t i = 0; i < sum.size(); i++)
				sum[i] += more[i];
			return sum;
		}, 5000);
	});

	for (std::size_t i = 0; i < found.size(); i++)
		CHECK(found[i] == count / found.size() + (i < count % found.size()));
}

/* As large as a stack: by reference, and the result is constructed in place. */
void test_large_by_reference(ivl::runtime &runtime)
{
	using bins = histogram<(1 << 20)>;
	const auto zero = std::make_unique<bins>();
	const int count = 600000;
	auto one = [](int from, int to, const bins &sum) {
		bins all = sum;

		for (; from < to; from++)
			all[from % all.size()]++;
		return all;
	};
	auto both = [](const bins &left, const bins &right) {
		bins all = left;

		for (std::size_t i = 0; i < all.size(); i++)
			all[i] += right[i];
		return all;
	};
	auto found = std::make_unique<bins>(runtime.run([&] {
		return ivl::parallel_reduce(0, count, *zero, one, both, 100000);
	}));

	for (std::size_t i = 0; i < found->size(); i++)
		CHECK((*found)[i] == count / found->size() + (i < count % found->size()));
	/* Of an empty range. */
	CHECK(runtime.run([&] { return ivl::parallel_reduce(0, 0, *zero, one, both); }) == *zero);

	const std::vector<bins> in(6, *found);
	std::vector<bins> out(in.size());

	runtime.run([&] {
		ivl::parallel_scan(in.begin(), in.end(), out.begin(), *zero, both, 2);
	});
	for (std::size_t i = 0; i < in.size(); i++)
		CHECK(out[i][7] == (i + 1) * (*found)[7] && out[i].back() == (i + 1) * found->back());

	ivl::commutative<bins> reducer(runtime, *zero);

	runtime.run([&] {
		ivl::parallel_for(0, count, [&](int i) { reducer.view()[i % zero->size()]++; });
	});
	CHECK(*std::make_unique<bins>(reducer.read(both)) == *found);
}

/* Sanitizers multiply the size of each frame. */
constexpr std::size_t length = TEST_SANITIZED ? 50 : 400;

/* Deep recursion. */
void test_regex(ivl::runtime &runtime)
{
	CHECK(runtime.run([] {
		return std::regex_match(std::string(length, 'a'), std::regex("(a|b)*"));
	}));
}

} // namespace

int main()
{
	on_all([](ivl::runtime runtime) {
		test_large_by_value(runtime);
		test_large_by_reference(runtime);
		test_regex(runtime);
	});
}
