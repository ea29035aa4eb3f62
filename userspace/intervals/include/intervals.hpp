/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * intervals for C++17: lambdas, exceptions, and objects that wait and release at the end of a
 * block.
 *
 *	long sum = ivl::parallel_reduce(0, n, 0L, add_up, std::plus<>());
 *
 * A header over intervals.h; there is nothing else to link, and the two may be mixed. An exception
 * thrown by a task is rethrown to the waiter; of several exceptions, the first. Functions throw
 * ivl::error where their C counterparts return an errno value. A function is called directly if
 * there is no memory for a task, or for a child outside of any runtime. Loops, algorithms,
 * invoke(), async() and task groups of a thread outside use ivl_default().
 *
 * With -fno-exceptions, a message goes to stderr and the program aborts instead of throwing.
 */
#ifndef INTERVALS_HPP
#define INTERVALS_HPP

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef __cpp_impl_coroutine
#include <coroutine>
#endif

#include "intervals.h"
#include "intervals_sync.h"

#ifdef __cpp_exceptions
#define IVL_TRY try
#define IVL_CATCH_ALL catch (...)
#else
#define IVL_TRY if (true)
#define IVL_CATCH_ALL if (false)
#endif

/** Namespace of the C++ headers. */
namespace ivl {

#ifndef __cpp_exceptions
/* Keeps these apart from the functions of files that are compiled with exceptions. */
inline namespace no_exceptions {
#endif

/** An errno value; what() has the text of ivl_last_error(). */
class error : public std::system_error {
public:
	/** For the call that has just failed, or with another text. */
	explicit error(int number, const char *words = ivl_last_error())
		: std::system_error(number, std::generic_category(), words) {}
};

namespace detail {

template <typename Exception>
[[noreturn, gnu::cold, gnu::noinline]] void raise(const Exception &exception)
{
#ifdef __cpp_exceptions
	throw exception;
#else
	std::fprintf(stderr, "intervals: %s\n", exception.what());
	std::abort();
#endif
}

/* `words`: for errors without a text of their own. */
inline void check(int number, const char *words = nullptr)
{
	if (number)
		raise(words ? error(number, words) : error(number));
}

/* The C runtime of an ivl::runtime, unless it was moved from. */
inline ivl_runtime *not_moved(ivl_runtime *runtime)
{
	if (!runtime)
		raise(error(EINVAL, "the runtime was moved"));
	return runtime;
}

/* Base of what stays where it was made. */
struct pinned {
	pinned() = default;
	pinned(const pinned &) = delete;
	pinned &operator=(const pinned &) = delete;
};

/* The first exception of tasks that run at the same time. */
class failure {
public:
	/* Call the function, unless there is an exception already. */
	template <typename Function>
	void call(Function &&function) noexcept
	{
		if (there())
			return;
		IVL_TRY {
			function();
		} IVL_CATCH_ALL {
			take();
		}
	}

	void take() noexcept
	{
		if (!taken.exchange(true, std::memory_order_relaxed))
			first = std::current_exception();
	}

	bool there() const noexcept { return taken.load(std::memory_order_relaxed); }

	/* Only after all tasks have ended. */
	void rethrow()
	{
		if (there())
			rethrow_first();
	}

private:
	[[gnu::cold, gnu::noinline]] void rethrow_first()
	{
		taken.store(false, std::memory_order_relaxed);
		std::rethrow_exception(std::exchange(first, nullptr));
	}

	std::atomic<bool> taken{false};
	std::exception_ptr first;
};

/*
 * As std::optional, but a function's result is constructed in place, without a copy on the stack.
 */
template <typename T>
class room : pinned {
public:
	room() noexcept {}
	~room() { clear(); }

	/* Construct the T that function() returns. There must be none yet. */
	template <typename Function>
	void make(Function &&function)
	{
		::new (static_cast<void *>(std::addressof(value))) T(function());
		there = true;
	}

	/* As make(), replacing the current T, which the function may use. */
	template <typename Function>
	void replace(Function &&function)
	{
		T made(function());

		clear();
		make([&]() -> T && { return std::move(made); });
	}

	explicit operator bool() const noexcept { return there; }
	T &operator*() noexcept { return value; }

private:
	void clear() noexcept
	{
		if (std::exchange(there, false))
			value.~T();
	}

	union {
		T value;
	};
	bool there = false;
};

/* The result or exception of a function, for another task. */
template <typename T>
class outcome {
public:
	template <typename Function>
	void of(Function &function) noexcept
	{
		IVL_TRY {
			value.make([&]() -> kept {
				if constexpr (std::is_void_v<T>) {
					function();
					return kept();
				} else {
					return function();
				}
			});
		} IVL_CATCH_ALL {
			thrown = std::current_exception();
		}
	}

	/* `number`: the error of the call or of what the function has started. */
	T get(int number)
	{
		if (thrown)
			std::rethrow_exception(thrown);
		if (number)
			fail(number);
		if constexpr (!std::is_void_v<T>)
			return std::move(*value);
	}

private:
	[[noreturn]] void fail(int number)
	{
		if (value)
			raise(error(number, "the task has failed"));
		/* A process without workers has the runtime's own text. */
		if (number == ESRCH)
			raise(error(number));
		raise(error(number, "the task has not run"));
	}

	struct nothing {};
	using kept = std::conditional_t<std::is_lvalue_reference_v<T>,
					std::reference_wrapper<std::remove_reference_t<T>>,
					std::conditional_t<std::is_void_v<T>, nothing, T>>;

	room<kept> value;
	std::exception_ptr thrown;
};

/* Call function(), which does not throw; a thread outside takes part in ivl_default(). */
template <typename Function>
void inside(Function &&function)
{
	ivl_runtime *runtime = ivl_here() ? nullptr : ivl_default();

	struct call {
		Function &function;
		bool ran;
	} made{ function, false };

	if (runtime)
		ivl_run_here(runtime, [](ivl_interval *, void *arg) {
			struct call *self = static_cast<struct call *>(arg);

			self->ran = true;
			self->function();
			return 0;
		}, &made);
	if (!made.ran)
		function();
}

/* A result by value, or the reference that was returned. */
template <typename Function, typename Returned = std::invoke_result_t<Function &>>
using result = std::conditional_t<std::is_lvalue_reference_v<Returned>, Returned,
				  std::decay_t<Returned>>;

} // namespace detail

template <typename T> class future;

/** The defaults, changed by the environment; change fields as needed. */
struct config : ivl_config {
	/** As ivl_config_init(). */
	config() : ivl_config() { detail::check(ivl_config_init(this)); }
};

/** A runtime with workers until the end of the block. */
class runtime {
public:
	/** As ivl_start(). */
	explicit runtime(const ivl_config &given = config())
	{
		detail::check(ivl_start(&given, &it));
	}

	/** The source is empty afterwards: its functions fail with EINVAL. */
	runtime(runtime &&other) noexcept : it(std::exchange(other.it, nullptr)) {}
	runtime(const runtime &) = delete;
	runtime &operator=(const runtime &) = delete;

	/** Stops the current runtime; the source is empty afterwards. */
	runtime &operator=(runtime &&other) noexcept
	{
		runtime before(std::move(*this));

		it = std::exchange(other.it, nullptr);
		return *this;
	}

	/** As ivl_stop(). */
	~runtime()
	{
		if (it)
			ivl_stop(it);
	}

	/**
	 * Call function() inside of the runtime and wait for everything it starts. Returns its
	 * result, or throws its exception or the error of an interval inside.
	 */
	template <typename Function>
	detail::result<Function> run(Function &&function) const
	{
		return run_by(ivl_run, function);
	}

	/** As run(), with the caller working until it returns: ivl_run_here(). */
	template <typename Function>
	detail::result<Function> run_here(Function &&function) const
	{
		return run_by(ivl_run_here, function);
	}

	/** Start function(), which is moved or copied, without waiting; as ivl_submit(). */
	template <typename Function>
	future<detail::result<Function>> async(Function function,
					       const ivl_place *place = nullptr) const;

	/** For the C functions. */
	ivl_runtime *get() const noexcept { return it; }

private:
	template <typename Function>
	detail::result<Function> run_by(int (*enter)(ivl_runtime *, ivl_body *, void *),
					Function &function) const
	{
		using T = detail::result<Function>;
		struct call {
			Function &function;
			detail::outcome<T> outcome;
		} made{ function, {} };
		const int number = enter(detail::not_moved(it), [](ivl_interval *, void *arg) {
			struct call *self = static_cast<struct call *>(arg);

			self->outcome.of(self->function);
			return 0;
		}, &made);

		return made.outcome.get(number);
	}

	ivl_runtime *it = nullptr;
};

/**
 * Children that one block waits for: each is an ivl::child, declared after it.
 *
 *	ivl::scope scope;
 *	ivl::child left(scope, [&] { x = fib(n - 1); });
 *	y = fib(n - 2);
 *	scope.sync();
 */
class scope : detail::pinned {
public:
	/** As ivl_sync(). Throws the first exception of a child. */
	void sync()
	{
		ivl_sync(&children);
		if (__builtin_expect(first.load(std::memory_order_relaxed) != nullptr, 0))
			rethrow();
	}

private:
	template <typename> friend class child;

	/*
	 * Called by a child that throws, which has room for the exception: a scope must cost no
	 * more than in C.
	 */
	void take(std::exception_ptr *room) noexcept
	{
		std::exception_ptr *none = nullptr;

		/* Relaxed: read after ivl_sync(). */
		if (first.compare_exchange_strong(none, room, std::memory_order_relaxed))
			new (room) std::exception_ptr(std::current_exception());
	}

	std::exception_ptr taken() noexcept
	{
		std::exception_ptr *room = first.exchange(nullptr, std::memory_order_relaxed);
		std::exception_ptr exception = std::move(*room);

		room->~exception_ptr();
		return exception;
	}

	[[gnu::cold, gnu::noinline]] void rethrow() { std::rethrow_exception(taken()); }

	/* The child's block was left without sync(). */
	[[gnu::cold, gnu::noinline]] void leave(std::exception_ptr *room) noexcept
	{
		ivl_sync(&children);
		if (first.load(std::memory_order_relaxed) != room)
			return;
		/* Any exception will do: to know ours, each scope would have to count them. */
		if (!std::uncaught_exceptions())
			std::terminate();
		taken();
	}

	ivl_scope children = IVL_SCOPE_INIT;
	std::atomic<std::exception_ptr *> first{nullptr};
};

/**
 * A call that may run at the same time as what follows, up to scope.sync(); as ivl_spawn(). Nothing
 * is allocated: the function is stored in the object. If the block is left by an exception, the
 * destructor waits, and exceptions of the child are lost; if it is left otherwise without sync(),
 * std::terminate() is called. (Inside of a destructor that runs during stack unwinding the two
 * cannot be told apart.) No child of a scope may wait for another: sync() may call them one after
 * another.
 */
template <typename Function>
class child : detail::pinned {
public:
	/** Spawns the child. */
	child(scope &of, Function called) : in(of), function(std::move(called))
	{
		if (__builtin_expect(ivl_spawn(&of.children, &task, call, this), 0))
			call(this);
	}

	~child()
	{
		if (__builtin_expect(in.children.elsewhere != 0 ||
				     in.first.load(std::memory_order_relaxed) != nullptr, 0))
			in.leave(&thrown);
	}

private:
	static void call(void *arg)
	{
		child *self = static_cast<child *>(arg);

		IVL_TRY {
			static_cast<void>(self->function());
		} IVL_CATCH_ALL {
			self->in.take(&self->thrown);
		}
	}

	ivl_task task;
	scope &in;
	Function function;
	union {
		std::exception_ptr thrown;	/* set if scope.first points here */
	};
};

/** Calls function(). */
template <typename Function>
void invoke(Function &&function)
{
	static_cast<void>(function());
}

/** Call all functions, at the same time if there are workers. */
template <typename Function, typename... Others>
void invoke(Function &&function, Others &&...others)
{
	detail::failure failed;

	if (!ivl_here()) {
		detail::inside([&] { failed.call([&] { ivl::invoke(function, others...); }); });
		failed.rethrow();
		return;
	}
	scope all;
	child first(all, [&] { static_cast<void>(function()); });

	ivl::invoke(std::forward<Others>(others)...);
	all.sync();
}

/**
 * Tasks that are waited for together, as ivl_group: started by the waiter or by each other. An
 * exception of one cancels the rest.
 */
class task_group : detail::pinned {
public:
	/** Cancels tasks that have not begun and waits for the rest. */
	~task_group()
	{
		cancel();
		ivl_group_wait(&group);
	}

	/**
	 * Run function(), which is moved or copied, possibly at the same time as what follows;
	 * `place` is a hint as in ivl_async(), of any level.
	 */
	template <typename Function>
	void run(Function function, const ivl_place *place = nullptr)
	{
		start(std::move(function), [&](ivl_function *call, void *arg, std::size_t bytes) {
			return ivl_group_async(&group, call, arg, bytes, place);
		});
	}

	/** As above, by the given policy instead of the runtime's. */
	template <typename Function>
	void run(ivl_policy policy, Function function, const ivl_place *place = nullptr)
	{
		start(std::move(function), [&](ivl_function *call, void *arg, std::size_t bytes) {
			return ivl_group_async_by(&group, policy, call, arg, bytes, place);
		});
	}

	/**
	 * Wait until all tasks have ended. False: the group was cancelled. Throws the exception of
	 * a task. The group can be used again.
	 */
	bool wait()
	{
		const int number = ivl_group_wait(&group);
		const bool all = !stopped.exchange(false, std::memory_order_relaxed);

		failure.rethrow();
		detail::check(number, "a task has not run");
		return all;
	}

	/** Cancel tasks that have not begun. Called by the waiter or a task inside. */
	void cancel() noexcept { stopped.store(true, std::memory_order_relaxed); }

	/** Was it cancelled, or has a task thrown? For long-running tasks to poll. */
	bool cancelled() const noexcept { return stopped.load(std::memory_order_relaxed); }

private:
	/* Asyncs of up to this many bytes need no memory of their own (src/tunables.h). */
	static constexpr std::size_t SMALL = 128;

	template <typename Function>
	struct task_of {
		task_group *in;
		Function function;

		static void call(void *arg) { static_cast<task_of *>(arg)->run(); }

		static void call_owned(void *arg)
		{
			std::unique_ptr<task_of>(*static_cast<task_of **>(arg))->run();
		}

		void run()
		{
			if (in->cancelled())
				return;
			IVL_TRY {
				static_cast<void>(function());
			} IVL_CATCH_ALL {
				in->failure.take();
				in->cancel();
			}
		}
	};

	/* async(call, arg, bytes) starts an async or returns an error. */
	template <typename Function, typename Async>
	void start(Function function, Async async)
	{
		using task = task_of<Function>;

		if constexpr (std::is_trivially_copyable_v<Function> && sizeof(task) <= SMALL &&
			      alignof(task) <= alignof(std::max_align_t)) {
			task copied{ this, std::move(function) };

			if (async(task::call, &copied, sizeof(copied)))
				task::call(&copied);
		} else {
			task *owned = new task{ this, std::move(function) };

			if (async(task::call_owned, &owned, sizeof(owned)))
				task::call_owned(&owned);
		}
	}

	ivl_group group = IVL_GROUP_INIT;
	std::atomic<bool> stopped{false};
	detail::failure failure;
};

/** Call function(group) and wait for all tasks run in the group; as wait(). */
template <typename Function>
bool finish(Function &&function)
{
	task_group group;

	static_cast<void>(function(group));
	return group.wait();
}

/**
 * The future result or exception of a task; made by ivl::async(). The destructor waits. It must not
 * outlive the runtime, even if the task has ended.
 */
template <typename T>
class future {
public:
	/** Creates one without a task. */
	future() = default;
	/** The source has no task afterwards. */
	future(future &&other) noexcept
		: task(std::move(other.task)), interval(std::exchange(other.interval, nullptr)) {}

	/** Waits for the current task first. */
	future &operator=(future &&other) noexcept
	{
		future before(std::move(*this));

		task = std::move(other.task);
		interval = std::exchange(other.interval, nullptr);
		return *this;
	}

	~future()
	{
		if (!interval)
			return;
		wait();
		/* If it waits for us, this is its own future inside of its own function. */
		if (!ready())
			task.release();
		ivl_release(interval);
	}

	/** Does it have a task? Any thread, as for the other functions. */
	bool valid() const noexcept { return interval; }
	/** Has the task ended? False without a task. */
	bool ready() const noexcept { return interval && ivl_occurred(ivl_end_point(interval)); }
	/**
	 * Wait until the task has ended, running other tasks meanwhile. Returns at once without a
	 * task.
	 */
	void wait() const noexcept
	{
		if (interval)
			ivl_join(ivl_end_point(interval));
	}

	/**
	 * Return the task's result, once; or throw its exception or the error of an interval
	 * inside. EINVAL: no task. EDEADLK: the task waits for the caller.
	 */
	T get()
	{
		if (!interval)
			detail::raise(error(EINVAL, "the future has no task"));
		const int number = ivl_join(ivl_end_point(interval));

		if (!ready())
			detail::raise(error(number));
		return task->outcome.get(number);
	}

private:
	friend class runtime;
	template <typename Function> friend future<detail::result<Function>> async(Function);

	/* launch(body, arg, &interval) returns 0 or an errno value. */
	template <typename Function, typename Launch>
	future(Function function, Launch launch)
		: task(std::make_unique<task_of<Function>>(std::move(function)))
	{
		detail::check(launch(body, task.get(), &interval));
	}

	struct task_base {
		virtual ~task_base() = default;
		virtual void call() noexcept = 0;
		detail::outcome<T> outcome;
	};

	template <typename Function>
	struct task_of : task_base {
		explicit task_of(Function called) : function(std::move(called)) {}
		void call() noexcept override { this->outcome.of(function); }
		Function function;
	};

	static int body(ivl_interval *, void *arg)
	{
		static_cast<task_base *>(arg)->call();
		return 0;
	}

	std::unique_ptr<task_base> task;
	ivl_interval *interval = nullptr;
};

template <typename Function>
future<detail::result<Function>> runtime::async(Function function, const ivl_place *place) const
{
	ivl_runtime *const in = detail::not_moved(it);

	return { std::move(function), [&](ivl_body *body, void *arg, ivl_interval **made) {
		return ivl_submit(in, body, arg, place, made);
	} };
}

/**
 * Start function(), which is moved or copied, at once: as ivl_launch(), or outside of any interval
 * as ivl_submit() to ivl_default().
 */
template <typename Function>
future<detail::result<Function>> async(Function function)
{
	ivl_interval *const current = ivl_current();

	return { std::move(function), [&](ivl_body *body, void *arg, ivl_interval **made) {
		ivl_runtime *const in = current ? nullptr : ivl_default();

		if (in)
			return ivl_submit(in, body, arg, nullptr, made);
		*made = ivl_launch(nullptr, body, arg, nullptr);
		if (*made)
			return 0;
		return !current || ivl_occurred(ivl_end_point(current)) ? EINVAL : ENOMEM;
	} };
}

/**
 * A T for each task that asks for one, destroyed when the task has ended. As an ivl_key, it must be
 * created before the tasks and outlive them: usually it is static.
 *
 *	static ivl::task_local<std::vector<int>> buffer;
 *	...
 *	buffer.get().push_back(1);
 */
template <typename T>
class task_local : detail::pinned {
public:
	/** Creates the key. */
	task_local() noexcept
	{
		ivl_key_init(&key, [](void *value) { delete static_cast<T *>(value); });
	}

	/** The calling task's T, made by T() on first use. Throws the errors of ivl_key_set(). */
	T &get()
	{
		T *value = find();

		if (!value) {
			auto made = std::make_unique<std::remove_const_t<T>>();

			detail::check(ivl_key_set(&key, made.get()));
			value = made.release();
		}
		return *value;
	}

	/** nullptr: the calling task has not called get(). */
	T *find() const noexcept { return static_cast<T *>(ivl_key_get(&key)); }

private:
	ivl_key key;
};

/**
 * A guard for ivl_add_guard(), released at the end of the block; holders and waiters keep it. It
 * must not outlive its runtime.
 */
class guard : detail::pinned {
public:
	/** As ivl_guard_create(). */
	explicit guard(const runtime &of, const char *name = nullptr)
		: it(ivl_guard_create(detail::not_moved(of.get()), name))
	{
		if (!it)
			detail::raise(std::bad_alloc());
	}

	~guard() { ivl_guard_release(it); }

	/** For the C functions. */
	ivl_guard *get() const noexcept { return it; }

private:
	ivl_guard *it;
};

/**
 * Functions, what each comes after, and the guards that each holds: run as often as wanted.
 *
 *	const auto load = graph.add([&] { ... }), parse = graph.add([&] { ... }, { load });
 *	graph.run();
 */
class flow_graph : detail::pinned {
public:
	/**
	 * Add a function, which begins when the nodes of the numbers `after` have ended, and holds
	 * the guards, which are of the runtime of run(). Returns its number: 0, 1, ...
	 */
	std::size_t add(std::function<void()> function, std::vector<std::size_t> after = {},
			std::vector<ivl_guard *> guards = {})
	{
		nodes.push_back({ std::move(function), std::move(after), std::move(guards) });
		return nodes.size() - 1;
	}

	/**
	 * Call all functions and wait for them: by ivl_inline(), or outside in ivl_default(). Throws
	 * the first exception of one, after which no more begin; the errors of ivl_add_edge() and
	 * ivl_add_guard(); std::out_of_range: no such node. One call at a time.
	 */
	void run()
	{
		int number = 0;

		detail::inside([&] {
			number = ivl_inline(nullptr, [](ivl_interval *parent, void *arg) {
				flow_graph *self = static_cast<flow_graph *>(arg);

				self->failed.call([&] { self->create(parent); });
				return self->failed.there() ? ECANCELED : 0;
			}, this);
		});
		for (node &one : nodes)
			if (one.interval)
				ivl_release(std::exchange(one.interval, nullptr));
		failed.rethrow();
		detail::check(number, "the graph has failed");
	}

private:
	struct node {
		std::function<void()> function;
		std::vector<std::size_t> after;
		std::vector<ivl_guard *> guards;
		ivl_interval *interval = nullptr;
		flow_graph *in = nullptr;
	};

	void create(ivl_interval *parent)
	{
		for (node &one : nodes) {
			one.in = this;
			one.interval = ivl_create(parent, nullptr, [](ivl_interval *, void *arg) {
				node *self = static_cast<node *>(arg);

				self->in->failed.call(self->function);
				return self->in->failed.there() ? ECANCELED : 0;
			}, &one, nullptr);
			detail::check(one.interval ? 0 : ENOMEM);
		}
		for (node &one : nodes) {
			for (std::size_t other : one.after)
				detail::check(ivl_add_edge(ivl_end_point(nodes.at(other).interval),
							   ivl_start_point(one.interval)));
			for (ivl_guard *guard : one.guards)
				detail::check(ivl_add_guard(one.interval, guard));
		}
	}

	std::vector<node> nodes;
	detail::failure failed;
};

#ifdef __cpp_impl_coroutine
/** `co_await ivl::schedule(runtime)`: the coroutine goes on there, or throws: ivl_submit(). */
class schedule : public std::suspend_always {
public:
	/** In ivl_default(). */
	schedule() : in(ivl_default()) { detail::check(in ? 0 : EAGAIN); }
	/** In the runtime; `place` is a hint. */
	explicit schedule(const runtime &of, const ivl_place *place = nullptr)
		: in(detail::not_moved(of.get())), at(place) {}
	/** Called by co_await. */
	void await_suspend(std::coroutine_handle<> coroutine) const
	{
		detail::check(ivl_submit(in, [](ivl_interval *, void *arg) {
			std::coroutine_handle<>::from_address(arg).resume();
			return 0;
		}, coroutine.address(), at, nullptr));
	}

private:
	ivl_runtime *in;
	const ivl_place *at = nullptr;
};
#endif

/** ivl_numa_mutex, as std::mutex: for std::lock_guard, std::unique_lock, std::scoped_lock. */
class mutex : detail::pinned {
public:
	/** As ivl_numa_mutex_init(). */
	mutex() { detail::check(ivl_numa_mutex_init(&it), "mutex"); }
	~mutex() { ivl_numa_mutex_destroy(it); }

	/** Throws ivl::error with EDEADLK if the caller owns it. */
	void lock() { detail::check(ivl_numa_mutex_lock(it), "the caller owns the mutex"); }
	/** True: the caller owns it now. */
	bool try_lock() noexcept { return !ivl_numa_mutex_trylock(it); }
	/** Called by the owner. */
	void unlock() noexcept { ivl_numa_mutex_unlock(it); }

private:
	ivl_numa_mutex *it;
};

/** ivl_numa_rwlock, as std::shared_mutex: for std::unique_lock and std::shared_lock. */
class shared_mutex : detail::pinned {
public:
	/** As ivl_numa_rwlock_init(). */
	shared_mutex() { detail::check(ivl_numa_rwlock_init(&it), "shared mutex"); }
	~shared_mutex() { ivl_numa_rwlock_destroy(it); }

	/** Throws ivl::error with EDEADLK if the caller is the writer; as lock_shared(). */
	void lock() { detail::check(ivl_numa_rwlock_wrlock(it), "the caller is the writer"); }
	/** True: the caller is the writer now. */
	bool try_lock() noexcept { return !ivl_numa_rwlock_trywrlock(it); }
	/** Called by the writer. */
	void unlock() noexcept { ivl_numa_rwlock_unlock(it); }
	/** As lock(), for a reader. */
	void lock_shared() { detail::check(ivl_numa_rwlock_rdlock(it), "the caller is the writer"); }
	/** True: the caller is a reader now. */
	bool try_lock_shared() noexcept { return !ivl_numa_rwlock_tryrdlock(it); }
	/** Called by a reader. */
	void unlock_shared() noexcept { ivl_numa_rwlock_unlock(it); }

private:
	ivl_numa_rwlock *it;
};

#ifndef __cpp_exceptions
} // namespace no_exceptions
#endif

} // namespace ivl

#include "intervals_algorithms.hpp"

#undef IVL_TRY
#undef IVL_CATCH_ALL

#endif
