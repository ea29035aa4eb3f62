// SPDX-License-Identifier: LGPL-2.1-or-later
/* Coroutines that go on in a runtime. */
#include <coroutine>

#include "check.hpp"

namespace {

/* Begins at once; its frame goes when it ends. */
struct detached {
	struct promise_type {
		detached get_return_object() { return {}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

detached move_on(const ivl::runtime &runtime, std::atomic<int> &moved)
{
	const ivl_place *const place = ivl_place_at(runtime.get(), 0);

	for (int i = 0; i < 3; i++) {
		co_await ivl::schedule(runtime, place);
		CHECK(ivl_here() && ivl_current());
		/* As in any interval, a wait gives the worker away. */
		CHECK(fib(10) == 55);
		moved++;
	}
	co_await ivl::schedule();
	CHECK(ivl_here());
	moved++;
}

detached refuse(const ivl::runtime &moved_from, bool &refused)
{
	try {
		co_await ivl::schedule(moved_from);
	} catch (const ivl::error &caught) {
		refused = caught.code().value() == EINVAL;
	}
}

} // namespace

int main()
{
	constexpr int coroutines = 100;
	std::atomic<int> moved{0};
	bool refused = false;

	on_all([&](ivl::runtime runtime) {
		moved = 0;
		for (int i = 0; i < coroutines; i++)
			move_on(runtime, moved);
		/* The last part of each is the default runtime's, for which no stop waits. */
		while (moved < 4 * coroutines)
			sched_yield();
	});
	ivl::runtime runtime, other(std::move(runtime));

	refuse(runtime, refused);
	CHECK(refused);
}
