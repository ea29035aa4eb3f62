// SPDX-License-Identifier: LGPL-2.1-or-later
/* parallel_for, parallel_reduce, parallel_scan and parallel_sort, compared with std's. */
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "check.hpp"

namespace {

#if TEST_SANITIZED
const std::size_t SIZES[] = { 0, 1, 2, 100, 5000 };
#else
const std::size_t SIZES[] = { 0, 1, 2, 100, 5000, 20000 };
#endif
const std::size_t GRAINS[] = { 0, 1, 7, 100000 };

void test_for(ivl::runtime &runtime, std::size_t size)
{
	for (std::size_t grain : GRAINS) {
		std::vector<int> done(size), by_parts(size);
		std::atomic<bool> too_long{false};
		const int end = static_cast<int>(size) - 3;

		runtime.run([&] {
			ivl::parallel_for(-3, end, [&](int i) { done[i + 3]++; }, grain);
			ivl::parallel_for(std::size_t{0}, size, [&](std::size_t from, std::size_t to) {
				if (grain && to - from > grain)
					too_long = true;
				for (; from < to; from++)
					by_parts[from]++;
			}, grain);
		});
		CHECK(std::all_of(done.begin(), done.end(), [](int n) { return n == 1; }));
		CHECK(by_parts == done && !too_long);
	}
}

/* Further apart than the largest of the type. */
template <typename Index>
void test_far(ivl::runtime &runtime)
{
	const Index first = std::numeric_limits<Index>::min(),
		    last = std::numeric_limits<Index>::max();
	std::atomic<std::uint64_t> count{0};
	std::uint64_t expected = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);

	runtime.run([&] {
		ivl::parallel_for(first, last, [&](Index from, Index to) {
			CHECK(from < to);
			count += static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
		});
	});
	CHECK(count == expected);
	CHECK(runtime.run([&] {
		return ivl::parallel_reduce(first, last, std::uint64_t{0},
			[](Index from, Index to, std::uint64_t sum) {
				return sum + static_cast<std::uint64_t>(to) -
				       static_cast<std::uint64_t>(from);
			}, std::plus<>());
	}) == expected);
}

void test_for_throws(ivl::runtime &runtime)
{
	std::atomic<int> began{0};

	CHECK_THROWS(int, 1, runtime.run([&] {
		ivl::parallel_for(0, 100000, [&](int) {
			if (began++ >= 0)
				throw 1;
		}, 1);
	}));
	if (ivl_worker_count(runtime.get()) == 1)
		CHECK(began == 1);
}

/* Likewise: nothing begins after a part, a combination or a comparison has thrown. */
void test_reduce_throws(ivl::runtime &runtime)
{
	const bool alone = ivl_worker_count(runtime.get()) == 1;
	std::atomic<int> began{0}, combined{0};

	CHECK_THROWS(int, 2, runtime.run([&] {
		return ivl::parallel_reduce(0, 1000, 0, [&](int, int, int) -> int {
			began++;
			throw 2;
		}, std::plus<>(), 1);
	}));
	CHECK(!alone || began == 1);
	began = 0;
	CHECK_THROWS(int, 3, runtime.run([&] {
		return ivl::parallel_reduce(0, 1024, 0, [&](int, int, int) { return began++; },
					    [&](int, int) -> int {
			combined++;
			throw 3;
		}, 1);
	}));
	CHECK(!alone || (began == 2 && combined == 1));
}

void test_sort_throws(ivl::runtime &runtime)
{
	std::vector<unsigned int> numbers(50000);
	std::mt19937 random(1);
	std::atomic<int> calls{0}, threw{0};

	for (unsigned int &number : numbers)
		number = static_cast<unsigned int>(random());
	CHECK_THROWS(int, 3, runtime.run([&] {
		ivl::parallel_sort(numbers.begin(), numbers.end(), [&](auto a, auto b) {
			if (calls++ < 200000)
				return a < b;
			threw++;
			throw 3;
		});
	}));
	/* Bodies that still run may throw, too. */
	CHECK(threw <= static_cast<int>(ivl_worker_count(runtime.get())));
}

/* In a part, its second pass, or where sums are added; of a type that owns memory. */
void test_scan_throws(ivl::runtime &runtime)
{
	const std::vector<std::string> letters(1000, "a letter that has memory of its own");
	std::vector<std::string> found(letters.size());
	std::atomic<int> calls{0}, threw{0};

	for (std::size_t grain : { 0, 1, 7 }) {
		for (int last : { 0, 1, 500, 999 }) {
			calls = threw = 0;
			CHECK_THROWS(int, 5, runtime.run([&] {
				ivl::parallel_scan(letters.begin(), letters.end(), found.begin(),
						   std::string(),
						   [&](const std::string &, const std::string &more) {
					if (calls++ < last)
						return more;
					threw++;
					throw 5;
				}, grain);
			}));
			CHECK(threw <= static_cast<int>(ivl_worker_count(runtime.get())));
		}
	}
}

void test_reduce(ivl::runtime &runtime, std::size_t size)
{
	for (std::size_t grain : GRAINS) {
		/* Associative, but not commutative. */
		std::string expected;
		const std::size_t some = std::min<std::size_t>(size, 5000);

		for (std::size_t i = 0; i < some; i++)
			expected += static_cast<char>('a' + i % 26);
		std::string found = runtime.run([&] {
			return ivl::parallel_reduce(std::size_t{0}, some, std::string(),
				[&](std::size_t from, std::size_t to, std::string sum) {
					return sum + expected.substr(from, to - from);
				}, std::plus<>(), grain);
		});
		CHECK(found == expected);
	}
}

void test_scan(ivl::runtime &runtime, std::size_t size)
{
	std::vector<std::uint64_t> numbers(size), expected(size), found(size);

	std::iota(numbers.begin(), numbers.end(), 1);
	/* Composition of x -> a x + b, both in a word: associative, not commutative. */
	auto compose = [](std::uint64_t f, std::uint64_t g) {
		const std::uint32_t a = f >> 32, b = f, c = g >> 32, d = g;

		return std::uint64_t{a * c} << 32 | static_cast<std::uint32_t>(b * c + d);
	};
	const std::uint64_t identity = std::uint64_t{1} << 32;

	for (auto &number : numbers)
		number = (2 * number + 1) << 32 | number;
	std::inclusive_scan(numbers.begin(), numbers.end(), expected.begin(), compose, identity);
	for (std::size_t grain : GRAINS) {
		runtime.run([&] {
			auto end = ivl::parallel_scan(numbers.begin(), numbers.end(), found.begin(),
						      identity, compose, grain);
			CHECK(end == found.end());
		});
		CHECK(found == expected);
	}
	runtime.run([&] {
		ivl::parallel_scan(numbers.begin(), numbers.end(), numbers.begin(), identity, compose);
	});
	CHECK(numbers == expected);
}

/* A sum records how it was put together; the first part waits for the second. */
void test_scan_beside(ivl::runtime &runtime)
{
	const std::vector<std::string> letters{ "a", "b", "c", "d" };
	std::vector<std::string> found(4);
	std::atomic<bool> second{ivl_worker_count(runtime.get()) == 1};

	runtime.run([&] {
		ivl::parallel_scan(letters.begin(), letters.end(), found.begin(), std::string(),
				   [&](const std::string &sum, const std::string &more) {
			if (more == "b")
				second = true;
			while (more == "a" && !second)
				std::this_thread::yield();
			return "(" + sum + more + ")";
		}, 1);
	});
	CHECK((found == std::vector<std::string>{ "(a)", "((a)b)", "(((a)(b))c)",
						  "((((a)(b))(c))d)" }));
}

void test_sort(ivl::runtime &runtime, std::size_t size)
{
	std::mt19937 random(1);

	/* Random, few different, sorted, backwards, and all equal. */
	for (int kind = 0; kind < 5; kind++) {
		std::vector<unsigned int> numbers(size), expected;

		for (std::size_t i = 0; i < size; i++)
			numbers[i] = kind == 0 ? static_cast<unsigned int>(random()) :
				     kind == 1 ? static_cast<unsigned int>(random() % 3) :
				     kind == 2 ? static_cast<unsigned int>(i) :
				     kind == 3 ? static_cast<unsigned int>(size - i) : 5u;
		expected = numbers;
		std::sort(expected.begin(), expected.end(), std::greater<>());
		runtime.run([&] {
			ivl::parallel_sort(numbers.begin(), numbers.end(), std::greater<>());
		});
		CHECK(numbers == expected);
	}

	/* With a function chosen at run time. */
	std::vector<int> numbers(size), expected(size);
	const std::function<bool(int, int)> greater = std::greater<>();

	std::iota(numbers.begin(), numbers.end(), 0);
	std::reverse_copy(numbers.begin(), numbers.end(), expected.begin());
	runtime.run([&] { ivl::parallel_sort(numbers.begin(), numbers.end(), greater); });
	CHECK(numbers == expected);

	/* A type that can only be moved. */
	std::vector<std::unique_ptr<std::size_t>> owned;

	for (std::size_t i = 0; i < size; i++)
		owned.push_back(std::make_unique<std::size_t>(random()));
	runtime.run([&] {
		ivl::parallel_sort(owned.begin(), owned.end(), [](const auto &a, const auto &b) {
			return *a < *b;
		});
	});
	for (std::size_t i = 1; i < size; i++)
		CHECK(*owned[i - 1] <= *owned[i]);
}

/* The views are of a type that owns memory. */
void test_commutative(ivl::runtime &runtime, std::size_t size)
{
	using numbers = std::vector<std::size_t>;
	auto append = [](numbers sum, const numbers &view) {
		sum.insert(sum.end(), view.begin(), view.end());
		return sum;
	};
	ivl::commutative<numbers> reducer(runtime);

	CHECK(reducer.read(append).empty());
	runtime.run_here([&] {
		ivl::parallel_for(std::size_t{0}, size, [&](std::size_t i) {
			reducer.view().push_back(i);
		});
	});
	numbers all = reducer.read(append);

	std::sort(all.begin(), all.end());
	CHECK(all.size() == size);
	for (std::size_t i = 0; i < size; i++)
		CHECK(all[i] == i);
	if (size)
		CHECK_THROWS(int, 4, reducer.read([](numbers, const numbers &) -> numbers {
			throw 4;
		}));
	CHECK_ERROR(EINVAL, "", reducer.view());
}

/* A type with its own operator new. */
void test_commutative_new(ivl::runtime &runtime)
{
	struct number {
		long value = 0;
		static void *operator new(std::size_t) = delete;
	};
	ivl::commutative<number> sum(runtime);

	runtime.run([&] { ivl::parallel_for(0, 100, [&](int i) { sum.view().value += i; }); });
	CHECK(sum.read([](number a, number b) {
		return number{ a.value + b.value };
	}).value == 4950);
}

} // namespace

int main()
{
	on_all([](ivl::runtime runtime) {
		test_for_throws(runtime);
		test_reduce_throws(runtime);
		test_sort_throws(runtime);
		test_scan_throws(runtime);
		test_scan_beside(runtime);
		test_commutative_new(runtime);
		test_far<signed char>(runtime);
		test_far<int>(runtime);
		test_far<long>(runtime);
		test_far<unsigned int>(runtime);
		for (std::size_t size : SIZES) {
			test_for(runtime, size);
			test_reduce(runtime, size);
			test_scan(runtime, size);
			test_sort(runtime, size);
			test_commutative(runtime, size);
		}
	});
}
