// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a spawn and its sync cost in C and by intervals.hpp, at one worker: the same fib() in both,
 * in turn, and in C++ with what spawns apart from what does not, as GCC has it in C; then in C where
 * the process has a key. Prints the best of ROUNDS rounds of each as a line of JSON.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <intervals.hpp>

namespace {

const int N = 27, ROUNDS = 20;
/* Calls that spawn. */
const double SPAWNS = 317810;

long fib_c(long n);

struct call {
	long n, result;
};

void call_fib_c(void *arg)
{
	call *self = static_cast<call *>(arg);

	self->result = fib_c(self->n);
}

long fib_c(long n)
{
	if (n < 2)
		return n;
	call left = { n - 1, 0 };
	ivl_scope scope = IVL_SCOPE_INIT;
	ivl_task task;

	if (ivl_spawn(&scope, &task, call_fib_c, &left))
		call_fib_c(&left);
	const long right = fib_c(n - 2);

	ivl_sync(&scope);
	return left.result + right;
}

long fib_cpp(long n)
{
	if (n < 2)
		return n;
	long x, y;
	ivl::scope scope;
	ivl::child left(scope, [&] { x = fib_cpp(n - 1); });

	y = fib_cpp(n - 2);
	scope.sync();
	return x + y;
}

long fib_apart(long n);

long fork_apart(long n)
{
	long x, y;
	ivl::scope scope;
	ivl::child left(scope, [&x, n] { x = fib_apart(n - 1); });

	y = fib_apart(n - 2);
	scope.sync();
	return x + y;
}

inline long fib_apart(long n)
{
	return n < 2 ? n : fork_apart(n);
}

/* Not inlined: callgrind has the instructions of each. */
template <typename Function>
[[gnu::noinline]] double ns_of(Function function)
{
	const auto begin = std::chrono::steady_clock::now();

	if (function() != 196418)
		throw ivl::error(0, "wrong");
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
		.count() / SPAWNS;
}

} // namespace

int main()
{
	double c = 1e9, cpp = 1e9, apart = 1e9, key = 1e9;
	ivl::config config;
	ivl_key unused;

	config.workers = 1;
	ivl::runtime runtime(config);

	runtime.run([&] {
		for (int round = 0; round < ROUNDS; round++) {
			c = std::min(c, ns_of([] { return fib_c(N); }));
			cpp = std::min(cpp, ns_of([] { return fib_cpp(N); }));
			apart = std::min(apart, ns_of([] { return fib_apart(N); }));
		}
	});
	ivl_key_init(&unused, nullptr);
	runtime.run([&] {
		for (int round = 0; round < ROUNDS; round++)
			key = std::min(key, ns_of([] { return fib_c(N); }));
	});
	std::printf("{\"benchmark\": \"spawn\", \"workers\": 1, \"ns_in_c\": %.2f, "
		    "\"ns_in_cpp\": %.2f, \"ns_in_cpp_apart\": %.2f, "
		    "\"ns_in_c_with_a_key\": %.2f}\n", c, cpp, apart, key);
}
