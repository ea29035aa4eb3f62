// SPDX-License-Identifier: LGPL-2.1-or-later
/* Graphs, pipelines, loops over planes, stable sorts, and a lock of readers and writers. */
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>

#include "check.hpp"

namespace {

constexpr int MANY = TEST_SANITIZED ? 300 : 2000, SORTED = TEST_SANITIZED ? 20000 : 200000;

/* A diamond and a tail; twice. */
void test_graph(ivl::runtime &runtime)
{
	std::atomic<int> clock{0};
	int a = 0, b = 0, c = 0, d = 0, e = 0;
	ivl::flow_graph graph;
	const auto first = graph.add([&] { a = ++clock; });
	const auto left = graph.add([&] { b = ++clock; }, { first });
	const auto right = graph.add([&] { c = ++clock; }, { first });
	const auto last = graph.add([&] { d = ++clock; }, { left, right });

	graph.add([&] { e = ++clock; }, { last });
	for (int turn = 0; turn < 2; turn++) {
		clock = 0;
		runtime.run([&] { graph.run(); });
		CHECK(clock == 5 && a == 1 && d == 4 && e == 5 && b + c == 5);
	}
	clock = 0;
	graph.run();				/* from outside */
	CHECK(clock == 5 && a == 1 && d == 4 && e == 5);
	ivl::flow_graph().run();
}

void test_graph_guard(ivl::runtime &runtime)
{
	ivl::guard guard(runtime);
	ivl::flow_graph graph;
	long count = 0;				/* the guard's */

	for (int i = 0; i < MANY; i++)
		graph.add([&] { count++; }, {}, { guard.get() });
	runtime.run([&] { graph.run(); });
	CHECK(count == MANY);
}

void test_graph_errors(ivl::runtime &runtime)
{
	bool early = false, late = false, fails = true;
	ivl::flow_graph graph, cycle, unknown;
	const auto before = graph.add([&] { early = true; });
	const auto thrower = graph.add([&] { if (fails) throw 7; }, { before });

	graph.add([&] { late = true; }, { thrower });
	runtime.run([&] { CHECK_THROWS(int, 7, graph.run()); });
	CHECK(early && !late);
	/* The graph can be run again. */
	fails = false;
	runtime.run([&] { graph.run(); });
	CHECK(late);

	cycle.add([&] { CHECK(false); }, { 1 });
	cycle.add([&] { CHECK(false); }, { 0 });
	CHECK_ERROR(EDEADLK, "would close a cycle", runtime.run([&] { cycle.run(); }));
	unknown.add([&] { CHECK(false); }, { 1 });
	CHECK_CAUGHT(std::out_of_range, true, runtime.run([&] { unknown.run(); }));

	/* A guard of one runtime, and a graph that runs in another. */
	ivl::guard guard(runtime);
	ivl::flow_graph other;

	other.add([&] { CHECK(false); }, {}, { guard.get() });
	CHECK_ERROR(EINVAL, "", other.run());
}

/* A std::optional that cannot be copied. */
struct item {
	explicit item(int of) : number(std::make_unique<int>(of)) {}
	std::unique_ptr<int> number;
};

void test_pipeline(ivl::runtime &runtime, std::size_t tokens)
{
	std::atomic<int> under_way{0}, most{0};
	std::vector<int> doubled;
	int made = 0, first = 0;
	auto run = [&] {
		ivl::parallel_pipeline(tokens, [&]() -> std::optional<item> {
			if (made == MANY)
				return std::nullopt;
			const int now = ++under_way;

			if (now > most)		/* only here */
				most = now;
			return item(made++);
		}, ivl::filter{ ivl::filter_mode::serial_in_order, [&](item &one) {
			CHECK(*one.number == first++);
		} }, ivl::filter{ ivl::filter_mode::parallel, [&](item &one) {
			*one.number *= 2;
		} }, ivl::filter{ ivl::filter_mode::serial_in_order, [&](item &one) {
			doubled.push_back(*one.number);
			under_way--;
		} });
	};

	runtime.run(run);
	CHECK(made == MANY && most <= static_cast<int>(tokens) && doubled.size() == MANY);
	for (int i = 0; i < MANY; i++)
		CHECK(doubled[i] == 2 * i);
	/* From outside. */
	doubled.clear();
	made = first = 0;
	run();
	CHECK(doubled.size() == MANY && doubled.back() == 2 * (MANY - 1));
}

/* Items of one parallel stage are there at the same time: each waits for another one. */
void test_pipeline_parallel(ivl::runtime &runtime)
{
	std::atomic<int> arrived{0};
	int left = 8;

	runtime.run([&] {
		ivl::parallel_pipeline(2, [&] { return left-- > 0 ? std::optional(left) : std::nullopt; },
			ivl::filter{ ivl::filter_mode::parallel, [&](int) {
				const int mine = arrived++;

				while (arrived < (mine | 1) + 1) {
					struct ivl_scope scope = IVL_SCOPE_INIT;
					struct ivl_task task;

					ivl_spawn(&scope, &task, [](void *) { std::this_thread::yield(); },
						  nullptr);
					ivl_sync(&scope);
				}
			} });
	});
	CHECK(arrived == 8);
}

void test_pipeline_errors(ivl::runtime &runtime)
{
	using mode = ivl::filter_mode;
	const auto endless = [] { return std::optional<int>(1); };
	const auto nothing = [](int) {};
	std::atomic<int> calls{0};

	CHECK_ERROR(EINVAL, "has failed", runtime.run([&] {
		ivl::parallel_pipeline(0, endless, ivl::filter{ mode::parallel, nothing });
	}));
	for (mode kind : { mode::parallel, mode::serial_in_order })
		runtime.run([&] {
			calls = 0;
			CHECK_THROWS(int, 5, ivl::parallel_pipeline(4, endless,
				ivl::filter{ kind, [&](int) { if (++calls == 20) throw 5; } },
				ivl::filter{ mode::serial_in_order, nothing }));
		});
	runtime.run([&] {
		CHECK_THROWS(int, 6, ivl::parallel_pipeline(4,
			[&]() -> std::optional<int> { throw 6; },
			ivl::filter{ mode::parallel, [&](int) { CHECK(false); } }));
	});
	CHECK_ERROR(EIO, "has failed", runtime.run([&] {
		ivl::parallel_pipeline(4, endless,
				       ivl::filter{ mode::parallel, [&](int) { ivl_fail(EIO); } });
	}));
}

void test_plane(ivl::runtime &runtime)
{
	constexpr int rows = 37, columns = 211;

	for (std::size_t grain : { 0, 1, 50, 100000 }) {
		std::vector<std::atomic<int>> done(rows * columns);
		auto count = [&](const ivl::blocked_range2d<int> &block) {
			const int height = block.row_end - block.row_begin,
				  width = block.column_end - block.column_begin;

			CHECK(!grain || static_cast<std::size_t>(height * width) <= grain);
			/* The longer side is halved, so no block is much longer than the plane. */
			CHECK(width <= 8 * height);
			for (int row = block.row_begin; row < block.row_end; row++)
				for (int i = block.column_begin; i < block.column_end; i++)
					done[(row - 5) * columns + i + 3]++;
		};
		const ivl::blocked_range2d<int> plane{ 5, 5 + rows, -3, columns - 3 };

		runtime.run([&] { ivl::parallel_for(plane, count, grain); });
		ivl::parallel_for(plane, count, grain);
		for (const auto &one : done)
			CHECK(one == 2);
	}
	runtime.run([&] {
		auto never = [](const auto &) { CHECK(false); };

		ivl::parallel_for(ivl::blocked_range2d<unsigned int>{ 1, 1, 0, 9 }, never);
		ivl::parallel_for(ivl::blocked_range2d<unsigned int>{ 0, 9, 4, 3 }, never);
		CHECK_THROWS(int, 3, ivl::parallel_for(ivl::blocked_range2d<int>{ 0, 9, 0, 9 },
						       [](const auto &) { throw 3; }, 2));
	});
}

void test_stable_sort(ivl::runtime &runtime)
{
	std::mt19937 random(1);

	for (int size : { 0, 1, 2, 2048, 2049, SORTED }) {
		/* Few keys: the second number shows the order of equal ones. */
		std::vector<std::pair<int, int>> values(size), expected;
		std::vector<std::unique_ptr<int>> owned(size);
		auto less = [](const auto &one, const auto &other) { return one.first < other.first; };

		for (int i = 0; i < size; i++) {
			values[i] = { static_cast<int>(random() % 50), i };
			owned[i] = std::make_unique<int>(values[i].first);
		}
		expected = values;
		std::stable_sort(expected.begin(), expected.end(), less);
		auto outside = values;

		runtime.run([&] {
			ivl::parallel_stable_sort(values.begin(), values.end(), less);
			ivl::parallel_stable_sort(owned.begin(), owned.end(),
				[](const auto &one, const auto &other) { return *one > *other; });
		});
		CHECK(values == expected);
		for (int i = 1; i < size; i++)
			CHECK(*owned[i - 1] >= *owned[i]);
		ivl::parallel_stable_sort(outside.begin(), outside.end(), less);
		CHECK(outside == expected);
	}
	std::vector<int> numbers(SORTED);
	std::atomic<int> left{SORTED};

	std::iota(numbers.rbegin(), numbers.rend(), 0);
	CHECK_THROWS(int, 4, runtime.run([&] {
		ivl::parallel_stable_sort(numbers.begin(), numbers.end(), [&](int one, int other) {
			if (--left < 0)
				throw 4;
			return one < other;
		});
	}));
	ivl::parallel_stable_sort(numbers.begin(), numbers.end());
	CHECK(std::is_sorted(numbers.begin(), numbers.end()));
}

void test_shared_mutex(ivl::runtime &runtime)
{
	ivl::shared_mutex mutex;
	long one = 0, other = 0;		/* equal, except for the writer */
	std::atomic<int> readers{0}, most{0};
	auto use = [&](int i) {
		if (i % 4) {
			std::shared_lock lock(mutex);
			const int now = ++readers;

			for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);)
				;
			CHECK(one == other);
			if (i % 16 == 1)
				std::this_thread::yield();
			readers--;
		} else {
			std::unique_lock lock(mutex);

			one++;
			CHECK(!readers);
			if (i % 16 == 0)
				std::this_thread::yield();
			other++;
		}
	};
	std::thread thread([&] {
		for (int i = 0; i < MANY; i++)
			use(i);
	});

	runtime.run([&] { ivl::parallel_for(0, MANY, use, 1); });
	thread.join();
	CHECK(one == 2 * (MANY / 4) && other == one);
}

/* A task with the lock waits for a child: its worker runs tasks that want the lock. */
void test_shared_mutex_waits(ivl::runtime &runtime)
{
	ivl::shared_mutex mutex;
	std::atomic<int> done{0};

	runtime.run([&] {
		ivl::task_group group;

		for (int i = 0; i < 20; i++)
			group.run([&, i] {
				auto child = [&] { ivl::invoke([&] { done++; }, [] {}); };

				if (i % 3) {
					std::shared_lock lock(mutex);
					child();
				} else {
					std::unique_lock lock(mutex);
					child();
				}
			});
		group.wait();
	});
	CHECK(done == 20);
}

void test_shared_mutex_errors()
{
	ivl::shared_mutex mutex;
	ivl_numa_rwlock *lock;

	mutex.lock();
	CHECK_ERROR(EDEADLK, "is the writer", mutex.lock());
	CHECK_ERROR(EDEADLK, "is the writer", mutex.lock_shared());
	std::thread([&] { CHECK(!mutex.try_lock() && !mutex.try_lock_shared()); }).join();
	mutex.unlock();
	mutex.lock_shared();
	CHECK(!mutex.try_lock() && mutex.try_lock_shared());
	mutex.unlock_shared();
	mutex.unlock_shared();
	CHECK(mutex.try_lock());
	mutex.unlock();

	CHECK(!ivl_numa_rwlock_init(&lock));
	CHECK(ivl_numa_rwlock_unlock(lock) == EPERM);
	CHECK(!ivl_numa_rwlock_rdlock(lock));
	CHECK(ivl_numa_rwlock_destroy(lock) == EBUSY);
	CHECK(!ivl_numa_rwlock_unlock(lock) && ivl_numa_rwlock_unlock(lock) == EPERM);
	CHECK(!ivl_numa_rwlock_wrlock(lock));
	std::thread([&] { CHECK(ivl_numa_rwlock_unlock(lock) == EPERM); }).join();
	CHECK(ivl_numa_rwlock_destroy(lock) == EBUSY);
	CHECK(!ivl_numa_rwlock_unlock(lock) && !ivl_numa_rwlock_destroy(lock));
}

/* A reader that comes after a writer waits for it, so the writer does not starve. */
void test_shared_mutex_order()
{
	ivl::shared_mutex mutex;
	std::atomic<bool> written{false};

	mutex.lock_shared();
	std::thread writer([&] {
		std::unique_lock lock(mutex);

		written = true;
	});

	while (mutex.try_lock_shared()) {
		mutex.unlock_shared();
		std::this_thread::yield();
	}
	std::thread reader([&] {
		std::shared_lock lock(mutex);

		CHECK(written);
	});

	mutex.unlock_shared();
	writer.join();
	reader.join();
}

} // namespace

int main()
{
	on_all([](ivl::runtime runtime) {
		test_graph(runtime);
		test_graph_guard(runtime);
		test_graph_errors(runtime);
		for (std::size_t tokens : { 1, 2, 16 })
			test_pipeline(runtime, tokens);
		test_pipeline_errors(runtime);
		test_plane(runtime);
		test_stable_sort(runtime);
		test_shared_mutex(runtime);
		test_shared_mutex_waits(runtime);
	});
	ivl::config config;

	config.workers = 3;
	ivl::runtime runtime(config);

	test_pipeline_parallel(runtime);
	test_shared_mutex_errors();
	test_shared_mutex_order();
}
