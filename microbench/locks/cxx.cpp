// SPDX-License-Identifier: GPL-2.0
/* The C++ library's: std::mutex, or a semaphore of C++20, whose release asks to wake all. */
#include <cstddef>
#include <mutex>
#include <new>
#include <semaphore>

struct options;
struct worker;

struct semaphore {
	std::binary_semaphore free{1};
	void lock() { free.acquire(); }
	void unlock() { free.release(); }
};

struct lock {
	FORM form;
};

extern "C" {

extern const size_t lock_size;
const size_t lock_size = sizeof(struct lock);

void lock_init(struct lock *lock, const struct options *)
{
	new (lock) struct lock;
}

void lock_take(struct lock *lock, struct worker *)
{
	lock->form.lock();
}

void lock_release(struct lock *lock, struct worker *)
{
	lock->form.unlock();
}

}
