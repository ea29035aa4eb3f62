// SPDX-License-Identifier: GPL-2.0
// Four threads take one std::counting_semaphore as a lock. The argument: how often each does.
#include <cstdlib>
#include <semaphore>
#include <thread>
#include <vector>

static std::counting_semaphore<4> place(1);
static volatile long shared;

static void work(volatile long &sum, int steps)
{
	for (int k = 0; k < steps; k++)
		sum = sum + 1;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? std::atol(argv[1]) : 1;
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([=] {
			volatile long own = 0;

			for (long n = 0; n < rounds; n++) {
				place.acquire();
				work(shared, 10000);
				place.release();
				work(own, 2000);
			}
		});
	for (auto &thread : threads)
		thread.join();
}
