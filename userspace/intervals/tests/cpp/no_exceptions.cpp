// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All of intervals.hpp, compiled with -fno-exceptions. Part of the same program is compiled with
 * exceptions (with_exceptions.cpp), and throws and catches them.
 */
#include <array>
#include <numeric>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"

bool throws_and_catches(ivl_policy policy, unsigned int workers);

namespace {

void test_tasks(ivl::runtime &runtime)
{
	static ivl::task_local<std::vector<int>> local;
	ivl::guard guard(runtime, "guard");
	ivl::mutex mutex;
	std::atomic<int> sum{0};
	int by_mutex = 0;

	CHECK(guard.get());
	CHECK(runtime.run([] { return fib(12); }) == 144);
	CHECK(runtime.run_here([] { return fib(12); }) == 144);
	runtime.run([&] {
		ivl::invoke([&] { sum++; }, [&] { sum++; }, [&] { sum++; });
		CHECK(ivl::finish([&](ivl::task_group &group) {
			for (int i = 0; i < 100; i++)
				group.run([&, i] { sum += i; });
			const std::array<char, 1000> large{};
			group.run(IVL_WORK_FIRST, [&, large] { sum += large[0]; });
		}));
		ivl::future<int> future = ivl::async([] { return 7; });
		CHECK(future.get() == 7);
		local.get().push_back(1);
		CHECK(local.find()->size() == 1);
		ivl::parallel_for(0, 100, [&](int) {
			mutex.lock();
			by_mutex++;
			mutex.unlock();
		});
	});
	CHECK(sum == 3 + 4950 && by_mutex == 100);
}

void test_algorithms(ivl::runtime &runtime)
{
	std::vector<int> numbers(5000), sums(numbers.size());
	ivl::commutative<long> reducer(runtime);

	std::iota(numbers.rbegin(), numbers.rend(), 0);
	runtime.run([&] {
		CHECK(ivl::parallel_reduce(0, 5000, 0L, [&](int from, int to, long sum) {
			return std::accumulate(&numbers[from], &numbers[to], sum);
		}, std::plus<>()) == 5000 * 4999 / 2);
		ivl::parallel_sort(numbers.begin(), numbers.end());
		ivl::parallel_scan(numbers.begin(), numbers.end(), sums.begin(), 0, std::plus<>());
		ivl::parallel_for(0, 5000, [&](int i) { reducer.view() += i; });
	});
	for (int i = 0; i < 5000; i++)
		CHECK(numbers[i] == i && sums[i] == i * (i + 1) / 2);
	CHECK(reducer.read(std::plus<>()) == 5000 * 4999 / 2);
}

/* Instead of throwing, the program prints the error and aborts. */
void test_error()
{
	char said[200] = "";
	int pipes[2], status;
	pid_t child;

	CHECK(!pipe(pipes));
	child = fork();
	if (!child) {
		ivl::config config;

		dup2(pipes[1], STDERR_FILENO);
		config.stack_bytes = 1;
		ivl::runtime runtime(config);
		_exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CHECK(read(pipes[0], said, sizeof(said) - 1) > 0);
	CHECK(std::strstr(said, "intervals: config: stack_bytes is 1"));
}

} // namespace

int main()
{
	test_error();
	on_all([](ivl::runtime runtime) {
		test_tasks(runtime);
		test_algorithms(runtime);
	});
	for (unsigned int workers : { 1u, 2u, 8u })
		for (ivl_policy policy : { IVL_ADAPTIVE, IVL_WORK_FIRST, IVL_HELP_FIRST })
			CHECK(throws_and_catches(policy, workers));
}
