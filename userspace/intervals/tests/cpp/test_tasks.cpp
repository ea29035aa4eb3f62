// SPDX-License-Identifier: LGPL-2.1-or-later
/* intervals.hpp: runtime, scope, invoke, task_group, future, guard, mutex. */
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"

namespace {

const int SIZE = TEST_SANITIZED ? 12 : 18, TIMES = TEST_SANITIZED ? 50 : 1000;

/* Counts live objects. */
struct counted {
	static std::atomic<int> there;
	int value;

	explicit counted(int value) : value(value) { there++; }
	counted(const counted &other) : value(other.value) { there++; }
	counted(counted &&other) noexcept : value(other.value) { there++; }
	~counted() { there--; }
};
std::atomic<int> counted::there{0};

long fib_of(int n)
{
	long a = 0, b = 1;

	for (; n; n--)
		b += std::exchange(a, b);
	return a;
}

void test_run(const ivl::runtime &runtime)
{
	int ran = 0;

	CHECK(runtime.run([] { return std::string(100, 'x'); }) == std::string(100, 'x'));
	CHECK(runtime.run([] { return std::make_unique<int>(3); }) != nullptr);
	/* run() returns the object, not a copy. */
	const std::array<int, 3> array{};
	CHECK(&runtime.run([&]() -> const std::array<int, 3> & { return array; }) == &array);
	runtime.run([&] { ran++; });
	CHECK(ran == 1);
	CHECK_THROWS(int, 7, runtime.run([] { throw 7; }));
	/* The program's own function is used, not a copy. */
	struct { int calls = 0; void operator()() { calls++; } } function;
	runtime.run(function);
	CHECK(function.calls == 1);
}

int fails(ivl_interval *, void *)
{
	return EIO;
}

/* An interval's error counts after the function has returned. */
void test_failed(ivl::runtime &runtime)
{
	const auto create = [] {
		ivl_release(ivl_create(ivl_current(), nullptr, fails, nullptr, nullptr));
		return 3;
	};

	CHECK_ERROR(EIO, "the task has failed", runtime.run(create));
	CHECK_ERROR(EIO, "the task has failed", runtime.run_here([&] { create(); }));
	CHECK_ERROR(ECANCELED, "the task has failed", runtime.run([] {
		ivl_cancel(ivl_current());
	}));
	CHECK_THROWS(int, 7, runtime.run([&] {
		create();
		throw 7;
	}));
	runtime.run([&] { CHECK_ERROR(EIO, "the task has failed", ivl::async(create).get()); });
}

/* A task waits for itself. */
void test_own_future(ivl::runtime &runtime)
{
	runtime.run([] {
		ivl::future<void> own;
		std::atomic<bool> there{false};

		own = ivl::async([&] {
			while (!there)
				std::this_thread::yield();
			CHECK_ERROR(EDEADLK, "join", own.get());
		});
		there = true;
		own.get();
	});
}

/* The child of a fork() has no workers. */
void test_fork()
{
	ivl::runtime runtime;
	int status;
	const pid_t child = fork();

	if (!child) {
		CHECK_ERROR(ESRCH, "only in the parent process", runtime.run([] {}));
		_exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

/* The calling thread handles an exception meanwhile; its tasks handle their own. */
void test_run_here(ivl::runtime &runtime)
{
	const std::thread::id here = std::this_thread::get_id();

	CHECK(runtime.run_here([] { return std::this_thread::get_id(); }) == here);
	try {
		throw 1;
	} catch (int &one) {
		CHECK(runtime.run_here([] { return !std::current_exception(); }));
		CHECK_THROWS(int, 2, runtime.run_here([] {
			ivl::invoke([] {}, [] { throw 2; });
		}));
		CHECK(one == 1);
		try {
			std::rethrow_exception(std::current_exception());
		} catch (int &same) {
			CHECK(&same == &one);
		}
	}
	CHECK(!std::current_exception());
	CHECK(runtime.run_here([] { return fib(SIZE); }) == fib_of(SIZE));
}

void test_scope(ivl::runtime &runtime)
{
	CHECK(runtime.run([] { return fib(SIZE); }) == fib_of(SIZE));

	/* A child throws; its siblings still run. */
	std::atomic<int> ran{0};

	CHECK_THROWS(int, 1, runtime.run([&] {
		ivl::scope scope;
		ivl::child a(scope, [&] { ran++; });
		ivl::child b(scope, [&] { throw 1; });
		ivl::child c(scope, [&] { ran++; });

		scope.sync();
	}));
	CHECK(ran == 2);

	/* An exception leaves the block: no child still runs in its frame. */
	for (int i = 0; i < TIMES; i++) {
		CHECK_THROWS(int, 2, runtime.run([&] {
			std::array<std::atomic<int>, 64> frame{};
			ivl::scope scope;
			ivl::child a(scope, [&] { for (auto &one : frame) one++; });
			ivl::child b(scope, [&] { for (auto &one : frame) one++; });

			throw 2;
		}));
	}

	/* The block's exception wins over a child's. */
	CHECK_THROWS(int, 2, runtime.run([&] {
		ivl::scope scope;
		ivl::child a(scope, [] { throw 1; });
		ivl::child b(scope, [] { throw 1; });

		throw 2;
	}));

	/* Used again, after an exception too. */
	runtime.run([&] {
		ivl::scope scope;
		ivl::child a(scope, [] { throw 3; });

		CHECK_THROWS(int, 3, scope.sync());
		ivl::child b(scope, [&] { ran++; });
		scope.sync();
	});
	CHECK(ran == 3);
}

/* Functions of namespaces that have an invoke(), too. */
namespace other {

struct function {
	std::atomic<int> &calls;
	void operator()() const { calls++; }
};

template <typename Function, typename Other>
void invoke(Function &&, Other &&) {}

} // namespace other

void test_invoke(ivl::runtime &runtime)
{
	std::array<int, 4> done{};

	runtime.run([&] {
		ivl::invoke([&] { done[0] = 1; }, [&] { done[1] = 1; }, [&] { done[2] = 1; },
			    [&] { done[3] = 1; });
	});
	CHECK((done == std::array<int, 4>{ 1, 1, 1, 1 }));
	CHECK_THROWS(int, 5, runtime.run([&] { ivl::invoke([] {}, [] { throw 5; }, [] {}); }));

	std::atomic<int> calls{0};
	const other::function function{ calls };
	/* One that takes further arguments, for std::invoke(). */
	const auto bound = std::bind(function);

	runtime.run([&] {
		ivl::invoke(function, function, function);
		ivl::invoke(bound, bound, bound);
	});
	CHECK(calls == 6);
}

/* A discarded void result is no warning. */
void test_discarded(ivl::runtime &runtime)
{
	struct [[nodiscard]] result {};
	std::atomic<int> calls{0};
	const auto function = [&] { calls++; return result(); };

	runtime.run([&] {
		ivl::scope scope;
		ivl::child child(scope, function);

		ivl::invoke(function, function);
		scope.sync();
		ivl::finish([&](ivl::task_group &group) {
			group.run(function);
			return function();
		});
		ivl::parallel_for(0, 1, [&](int) { return function(); });
		ivl::parallel_for(0, 1, [&](int, int) { return function(); });
	});
	CHECK(calls == 7);
}

void grow(ivl::task_group &group, std::atomic<int> &leaves, int levels)
{
	if (!levels) {
		leaves++;
		return;
	}
	for (int i = 0; i < 2; i++)
		group.run([&, levels] { grow(group, leaves, levels - 1); });
}

void test_group(ivl::runtime &runtime)
{
	std::atomic<int> leaves{0};

	CHECK(runtime.run([&] {
		return ivl::finish([&](ivl::task_group &group) { grow(group, leaves, 8); });
	}));
	CHECK(leaves == 256);

	/* Large functions, and functions that own something. */
	std::atomic<int> sum{0};
	std::array<int, 100> numbers{};

	numbers[99] = 5;
	runtime.run([&] {
		ivl::task_group group;

		for (int i = 0; i < 10; i++) {
			group.run([&, own = counted(i)] { sum += own.value; });
			group.run([&, numbers] { sum += numbers[99]; });
		}
		CHECK(group.wait());
		CHECK(counted::there == 0);
	});
	CHECK(sum == 45 + 50);

	/* With a policy of its own instead of the runtime's. */
	std::atomic<int> ran{0};

	runtime.run([&] {
		ivl::task_group group;

		group.run(IVL_HELP_FIRST, [&] { ran++; });
		if (ivl_worker_count(runtime.get()) == 1)
			CHECK(ran == 0);
		group.run(IVL_WORK_FIRST, [&, own = counted(1)] { ran += own.value; });
		if (ivl_worker_count(runtime.get()) == 1)
			CHECK(ran == 1);
		group.run(IVL_ADAPTIVE, [&] { ran++; }, ivl_here());
		CHECK(group.wait());
	});
	CHECK(ran == 3);

	/* One throws: tasks that have not begun are dropped, and their captures destroyed. */
	std::atomic<int> began{0};

	runtime.run([&] {
		ivl::task_group group;

		CHECK_THROWS(int, 4, {
			for (int i = 0; i < 1000; i++)
				group.run([&, own = counted(i)] {
					if (began++ == 3)
						throw 4;
				});
			group.wait();
		});
		CHECK(counted::there == 0);
		/* The group can be used again. */
		group.run([&] { sum = 1; });
		CHECK(group.wait());
	});
	CHECK(sum == 1);
	if (ivl_worker_count(runtime.get()) == 1)
		CHECK(began == 4);

	/* Cancelled by hand, and by leaving the block. */
	runtime.run([&] {
		ivl::task_group group;

		group.cancel();
		group.run([&] { sum = 2; });
		CHECK(group.cancelled());
		CHECK(!group.wait());
		CHECK(!group.cancelled());
	});
	CHECK(sum == 1);
	for (int i = 0; i < TIMES; i++) {
		CHECK_THROWS(int, 6, runtime.run([&] {
			std::array<std::atomic<int>, 64> frame{};

			ivl::finish([&](ivl::task_group &group) {
				for (int j = 0; j < 4; j++)
					group.run([&, own = counted(j)] {
						for (auto &one : frame)
							one++;
					});
				throw 6;
			});
		}));
		CHECK(counted::there == 0);
	}
}

void test_future(ivl::runtime &runtime)
{
	std::mutex pinned;

	runtime.run([&] {
		auto number = ivl::async([] { return fib(10); });
		auto words = ivl::async([own = std::make_unique<int>(3)] {
			return std::string(*own, 'x');
		});
		auto nothing = ivl::async([] {});
		auto bad = ivl::async([]() -> int { throw 8; });
		auto reference = ivl::async([&]() -> std::mutex & { return pinned; });

		CHECK(number.get() == 55);
		CHECK(words.get() == "xxx");
		CHECK(&reference.get() == &pinned);
		nothing.get();
		CHECK_THROWS(int, 8, bad.get());
		CHECK_THROWS(int, 8, bad.get());
		CHECK(number.ready() && number.valid());
		/* Its result is gone. */
		ivl::future<std::string> moved = std::move(words);
		CHECK(!words.valid() && moved.valid());
		moved = ivl::async([] { return std::string("y"); });
		CHECK(moved.get() == "y");
	});
	/* A chain: each is waited for by another task, and some by none. */
	runtime.run([&] {
		std::vector<ivl::future<int>> all;

		all.push_back(ivl::async([] { return 0; }));
		for (int i = 1; i < 100; i++) {
			all.push_back(ivl::async([before = std::move(all.back())]() mutable {
				return before.get() + 1;
			}));
			auto unasked = ivl::async([own = counted(i)] { return own.value; });
		}
		CHECK(all.back().get() == 99);
		CHECK(counted::there == 0);
	});
}

/* In an interval that has ended. */
void test_late_future(ivl::runtime &runtime)
{
	struct late {
		ivl::task_group group;
		std::atomic<bool> ended{false};

		static int body(ivl_interval *, void *arg)
		{
			static_cast<late *>(arg)->begin();
			return 0;
		}

		void begin()
		{
			group.run(IVL_HELP_FIRST, [this] {
				while (!ended)
					std::this_thread::yield();
				CHECK_ERROR(EINVAL, "ended", ivl::async([] {}));
			});
		}
	};

	runtime.run([] {
		late late;

		CHECK(!ivl_inline(nullptr, late::body, &late));
		late.ended = true;
		CHECK(late.group.wait());
	});
}

void test_guards(ivl::runtime &runtime)
{
	ivl::mutex mutex;
	long plain = 0;

	runtime.run([&] {
		ivl::finish([&](ivl::task_group &group) {
			for (int i = 0; i < 200; i++)
				group.run([&] {
					std::lock_guard lock(mutex);

					plain++;
				});
		});
		std::unique_lock lock(mutex, std::try_to_lock);

		CHECK(lock.owns_lock());
		CHECK_ERROR(EDEADLK, "the caller owns the mutex", mutex.lock());
	});
	CHECK(plain == 200);

	ivl::guard guard(runtime, "guard");

	struct holder {
		static int body(ivl_interval *, void *arg) { ++*static_cast<long *>(arg); return 0; }
	};
	runtime.run([&] {
		for (int i = 0; i < 100; i++) {
			ivl_interval *one = ivl_create(ivl_current(), nullptr, holder::body, &plain,
						       nullptr);
			CHECK(!ivl_add_guard(one, guard.get()));
			ivl_release(one);
		}
	});
	CHECK(plain == 300);
}

/* By a thread of no runtime, which does not wait. */
void test_handed_over()
{
	std::atomic<bool> go{false};
	ivl::runtime runtime;
	auto handed = runtime.async([&] {
		while (!go)
			std::this_thread::yield();
		return ivl_here() == ivl_place_at(runtime.get(), 0);
	}, ivl_place_at(runtime.get(), 0));
	auto failing = ivl::async([]() -> int { throw 5; });
	auto moved = ivl::async([own = counted(4)] { return own.value + !ivl_here(); });
	bool inside[2];

	CHECK(!handed.ready());
	go = true;
	CHECK(handed.get());
	CHECK_THROWS(int, 5, failing.get());
	CHECK(moved.get() == 4);
	ivl::invoke([&] { inside[0] = ivl_here(); }, [&] { inside[1] = ivl_here(); });
	CHECK(inside[0] && inside[1]);
	CHECK_THROWS(int, 6, ivl::invoke([] { throw 6; }, [] {}));
	CHECK(!ivl_here());
}

/* Outside any runtime the functions run in the process's own, or as children in turn. */
void test_outside()
{
	std::atomic<int> sum{0};
	ivl::task_group group;

	CHECK(fib(10) == 55);
	group.run([&] { sum++; });
	group.run([&, own = counted(1)] { sum++; });
	CHECK(group.wait());
	CHECK(sum == 2 && counted::there == 0);
	group.run([&] { throw 9; });
	CHECK_THROWS(int, 9, group.wait());
}

ivl::task_local<std::vector<counted>> kept;
ivl::task_local<const int> zero;

/* Each level keeps its own value over its children; none remains. */
int keep(int levels)
{
	const bool first = !kept.find();

	kept.get().emplace_back(levels);
	if (levels)
		ivl::invoke([=] { CHECK(keep(levels - 1) == levels - 1); },
			    [=] { CHECK(keep(levels - 1) == levels - 1); });
	/* The last call of invoke() is the caller's own. */
	return first ? kept.get()[0].value : levels;
}

void test_task_local(ivl::runtime &runtime)
{
	const int before = counted::there;

	CHECK(runtime.run([] { return keep(6); }) == 6);
	CHECK(counted::there == before);
	CHECK(runtime.run([] { return zero.get() == 0 && zero.find(); }));
	CHECK_ERROR(EINVAL, "", kept.get());
}

void test_errors()
{
	ivl::config config;

	config.stack_bytes = 1;
	CHECK_CAUGHT(ivl::error, caught.code() == std::errc::invalid_argument &&
		     std::strstr(caught.what(), "stack_bytes is 1"), ivl::runtime runtime(config));
	setenv("INTERVALS_QUEUE", "none", 1);
	CHECK_ERROR(EINVAL, "INTERVALS_QUEUE=none", ivl::runtime runtime);
	unsetenv("INTERVALS_QUEUE");
}

} // namespace

/* Moved-from objects are empty, and a runtime can be assigned. */
void test_nothing()
{
	ivl::runtime one, two;
	ivl::future<int> none;

	CHECK(!none.valid() && !none.ready());
	none.wait();
	CHECK_ERROR(EINVAL, "", none.get());
	one = std::move(two);
	CHECK(one.get() && !two.get());
	CHECK_ERROR(EINVAL, "moved", two.run([] {}));
	CHECK_ERROR(EINVAL, "moved", two.run_here([] {}));
	CHECK_ERROR(EINVAL, "moved", ivl::guard(two, "guard"));
	CHECK_ERROR(EINVAL, "moved", ivl::commutative<int>(two, 0));
	CHECK(one.run([] { return 3; }) == 3);
	two = ivl::runtime();
	{
		ivl::commutative<int> sum(one, 0);

		two.run([&] { CHECK_ERROR(EINVAL, "not a task of its runtime", sum.view()); });
		CHECK_ERROR(EINVAL, "not a task of its runtime", sum.view());
	}
}

/* Nested places on a synthetic machine: two packages of two caches. */
void test_hints()
{
	ivl::config config;

	config.workers = 4;
	config.places = IVL_PLACES_LLC;
	config.cross_place = false;
	setenv("HWLOC_SYNTHETIC", "package:2 l3:2 core:1 pu:1", 1);
	ivl::runtime runtime(config);
	unsetenv("HWLOC_SYNTHETIC");
	/* The first task is in one leaf only. */
	for (unsigned int leaf : { 0u, 2u }) {
		const ivl_place *package = ivl_place_outer(ivl_place_at(runtime.get(), leaf));
		const int times = 100;
		std::atomic<int> inside(0);

		CHECK(package);
		runtime.run([&] {
			const auto task = [&] { inside += ivl_place_outer(ivl_here()) == package; };
			ivl::task_group group;

			for (int i = 0; i < times; i++) {
				group.run(task, package);
				group.run(IVL_WORK_FIRST, task, package);
				group.run(IVL_HELP_FIRST, task, package);
			}
			CHECK(group.wait());
		});
		CHECK(inside == 3 * times);
	}
}

int main()
{
	on_all([](ivl::runtime runtime) {
		test_run(runtime);
		test_failed(runtime);
		test_run_here(runtime);
		test_scope(runtime);
		test_invoke(runtime);
		test_discarded(runtime);
		test_group(runtime);
		test_future(runtime);
		test_own_future(runtime);
		test_late_future(runtime);
		test_guards(runtime);
		test_task_local(runtime);
	});
	test_handed_over();
	test_outside();
	test_errors();
	test_fork();
	test_nothing();
	test_hints();
}
