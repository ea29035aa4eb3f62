// SPDX-License-Identifier: LGPL-2.1-or-later
/* The part with exceptions of a program without them (no_exceptions.cpp). */
#include <intervals.hpp>

bool throws_and_catches(ivl_policy policy, unsigned int workers);

bool throws_and_catches(ivl_policy policy, unsigned int workers)
{
	ivl::config config, wrong;
	int caught = 0;

	wrong.stack_bytes = 1;
	try {
		ivl::runtime runtime(wrong);
	} catch (const ivl::error &error) {
		caught += error.code().value() == EINVAL;
	}
	config.policy = policy;
	config.workers = workers;
	try {
		ivl::runtime(config).run([&] {
			try {
				ivl::invoke([] { throw 1; }, [] {});
			} catch (int number) {
				caught += number;
			}
			try {
				ivl::parallel_for(0, 1000, [](int) { throw 2; });
			} catch (int number) {
				caught += number == 2;
			}
			throw 3;
		});
	} catch (int number) {
		caught += number == 3;
	}
	return caught == 4;
}
