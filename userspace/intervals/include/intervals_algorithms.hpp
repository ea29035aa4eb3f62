/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file
 * Loops and algorithms of intervals.hpp, which includes this file.
 *
 * A range is halved until a part is not longer than its grain; grain 0: ivl_grain(). If a part
 * throws, parts that have not begun do not run, and the first exception reaches the caller. If the
 * grain is given, the way in which results are combined does not depend on the workers.
 *
 * Sums of more than 1024 bytes are kept off the stack of a task, except for parameters and
 * variables of the program's own functions.
 */
#ifndef INTERVALS_ALGORITHMS_HPP
#define INTERVALS_ALGORITHMS_HPP

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

#include "intervals.hpp"
#include "intervals_algorithms.h"

namespace ivl {

#ifndef __cpp_exceptions
inline namespace no_exceptions {
#endif

namespace detail {

/* The length of a range; Index may have no type for differences. */
template <typename Index>
std::size_t distance(Index first, Index last)
{
	if constexpr (std::is_integral_v<Index>)
		return static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
	else
		return static_cast<std::size_t>(last - first);
}

/* The index `count` after `first`. */
template <typename Index>
Index advance(Index first, std::size_t count)
{
	if constexpr (std::is_integral_v<Index>)
		return static_cast<Index>(static_cast<std::size_t>(first) + count);
	else
		return static_cast<Index>(first + static_cast<std::ptrdiff_t>(count));
}

/* Elements that share words must not be written at the same time. */
template <typename Iterator>
constexpr bool shares_words = std::is_same_v<Iterator, std::vector<bool>::iterator>;

/* As inside(), where there are several parts. */
template <typename Function>
void inside_if(bool several, Function &&function)
{
	if (several)
		inside(function);
	else
		function();
}

inline std::size_t grain_of(std::size_t count, std::size_t grain)
{
	return grain ? grain : ivl_grain(count);
}

template <typename Body>
void split(std::size_t begin, std::size_t end, std::size_t grain, Body &body)
{
	if (end - begin <= grain) {
		body(begin, end);
		return;
	}
	const std::size_t middle = begin + (end - begin) / 2;
	scope both;
	child left(both, [&, begin, middle, grain] { split(begin, middle, grain, body); });

	split(middle, end, grain, body);
	both.sync();
}

/* Larger sums are not on the stack (src/tunables.h). */
template <typename T>
constexpr bool is_large = sizeof(T) > 1024;

/* As room, on the heap. */
template <typename T>
class far_room {
public:
	template <typename Function>
	void make(Function &&function)
	{
		auto made = std::make_unique<room<T>>();

		made->make(function);
		value = std::move(made);
	}

	template <typename Function>
	void replace(Function &&function)
	{
		make(function);
	}

	T &operator*() noexcept { return **value; }

private:
	std::unique_ptr<room<T>> value;
};

template <typename T>
using room_for_sum = std::conditional_t<is_large<T>, far_room<T>, room<T>>;

/* sum = function(). */
template <typename T, typename Function>
void assign(T &sum, Function &&function)
{
	if constexpr (is_large<T>) {
		far_room<T> made;

		made.make(function);
		sum = std::move(*made);
	} else {
		sum = function();
	}
}

template <typename Sum, typename Part, typename Combine>
void reduce(std::size_t begin, std::size_t end, std::size_t grain, Sum &sum, Part &part,
	    Combine &combine)
{
	if (end - begin <= grain) {
		part(begin, end, sum);
		return;
	}
	const std::size_t middle = begin + (end - begin) / 2;
	Sum more;
	scope both;
	child left(both, [&, begin, middle, grain] {
		detail::reduce(begin, middle, grain, sum, part, combine);
	});

	detail::reduce(middle, end, grain, more, part, combine);
	both.sync();
	combine(sum, more);
}

/* Made by several tasks and destroyed at once. */
template <typename T>
class pile {
public:
	struct node {
		T value;
		node *below;
	};

	pile() = default;
	pile(const pile &) = delete;
	pile &operator=(const pile &) = delete;

	~pile()
	{
		for (node *below, *top = highest; top; top = below) {
			below = top->below;
			delete top;
		}
	}

	/* The result of function(). */
	template <typename Function>
	node *add(Function &&function)
	{
		node *top = new node{ function(), highest };

		while (!highest.compare_exchange_weak(top->below, top))
			;
		return top;
	}

private:
	std::atomic<node *> highest{nullptr};
};

/* Use only std::sort() for fewer elements than this. */
constexpr std::ptrdiff_t SORTED_ALONE = 2048;

/* Move the median of three to the front. */
template <typename Iterator, typename Less>
void choose_pivot(Iterator first, Iterator last, Less &less)
{
	Iterator a = first + (last - first) / 4, b = first + (last - first) / 2,
		 c = last - (last - first) / 4;

	if (less(*b, *a))
		std::swap(a, b);
	if (less(*c, *b))
		b = less(*c, *a) ? a : c;
	std::iter_swap(first, b);
}

/* The range is then partitioned: smaller elements before the pivot, greater ones after it. */
template <typename Iterator, typename Less>
std::pair<Iterator, Iterator> partition(Iterator first, Iterator last, Less &less)
{
	choose_pivot(first, last, less);
	Iterator above = std::partition(first + 1, last, [&](const auto &one) {
		return less(one, *first);
	});
	Iterator pivot = above - 1;

	std::iter_swap(first, pivot);
	/* Many elements are equal to the pivot and need no more sorting. */
	if (pivot - first < (last - first) / 8)
		above = std::partition(above, last, [&](const auto &one) {
			return !less(*pivot, one);
		});
	return { pivot, above };
}

/* Quicksort; after `turns` bad pivots std::sort() takes over. */
template <typename Iterator, typename Less>
void sort(Iterator first, Iterator last, Less &less, unsigned int turns, failure &failed)
{
	if (last - first <= SORTED_ALONE || !turns) {
		failed.call([&] {
			std::sort(first, last, [&](const auto &one, const auto &other) -> bool {
				return less(one, other);
			});
		});
		return;
	}
	/* If less() has thrown, the whole range. */
	std::pair<Iterator, Iterator> sorted(first, last);

	failed.call([&] { sorted = detail::partition(first, last, less); });
	ivl::invoke([&] { detail::sort(first, sorted.first, less, turns - 1, failed); },
		    [&] { detail::sort(sorted.second, last, less, turns - 1, failed); });
}

} // namespace detail

/**
 * For each index from `first` up to, not including, `last`: body(index); or, if the body takes two
 * arguments, body(begin, end) for parts of at most `grain`.
 */
template <typename Index, typename Body>
void parallel_for(Index first, Index last, Body &&body, std::size_t grain = 0)
{
	detail::failure failed;
	auto part = [&](std::size_t begin, std::size_t end) {
		failed.call([&] {
			const Index from = detail::advance(first, begin);
			const Index to = detail::advance(first, end);

			if constexpr (std::is_invocable_v<Body &, Index, Index>) {
				static_cast<void>(body(from, to));
			} else {
				for (Index i = from; i != to; ++i)
					static_cast<void>(body(i));
			}
		});
	};

	if (!(first < last))
		return;
	const std::size_t count = detail::distance(first, last);

	detail::inside_if(count > (grain ? grain : 1), [&] {
		detail::split(0, count, detail::grain_of(count, grain), part);
	});
	failed.rethrow();
}

/**
 * combine() the results of part(begin, end, identity) for parts of the range, in order: it must be
 * associative, and need not be commutative. Returns `identity` for an empty range. Throws
 * std::bad_alloc if there is no memory for a sum of more than 1024 bytes.
 */
template <typename Index, typename T, typename Part, typename Combine>
std::decay_t<T> parallel_reduce(Index first, Index last, T &&identity, Part &&part,
				Combine &&combine, std::size_t grain = 0)
{
	using room = detail::room_for_sum<std::decay_t<T>>;
	detail::failure failed;
	room sum;
	auto one = [&](std::size_t begin, std::size_t end, room &to) {
		failed.call([&] {
			to.make([&] {
				return part(detail::advance(first, begin),
					    detail::advance(first, end), std::as_const(identity));
			});
		});
	};
	/* Both exist if nothing has thrown. */
	auto both = [&](room &to, room &more) {
		failed.call([&] {
			to.replace([&] { return combine(std::move(*to), std::move(*more)); });
		});
	};

	if (!(first < last))
		return std::forward<T>(identity);
	const std::size_t count = detail::distance(first, last);

	detail::inside_if(count > (grain ? grain : 1), [&] {
		detail::reduce(0, count, detail::grain_of(count, grain), sum, one, both);
	});
	failed.rethrow();
	return std::move(*sum);
}

/**
 * As std::inclusive_scan(first, last, out, operation, identity), for random-access iterators; `out`
 * may be `first`. The operation must be associative. It is called once or twice per element: once
 * if one worker does all the work and no grain is given. Returns the end of the output.
 */
template <typename Iterator, typename Output, typename T, typename Operation>
Output parallel_scan(Iterator first, Iterator last, Output out, const T &identity,
		     Operation &&operation, std::size_t grain = 0)
{
	static_assert(!std::is_same_v<T, bool> && !detail::shares_words<Output>,
		      "parallel_scan() of bool: use char");
	using node = typename detail::pile<T>::node;
	/* ivl_parallel_scan_parts() copies sums as bytes: pass the address of a T instead. */
	detail::pile<T> sums;
	node *none = nullptr;
	auto fold_into = [&](std::size_t begin, std::size_t end, T &sum, auto put) {
		for (; begin < end; begin++) {
			detail::assign(sum, [&] {
				return operation(std::move(sum),
						 first[static_cast<std::ptrdiff_t>(begin)]);
			});
			put(begin, sum);
		}
	};
	/* Lets a small sum stay in a register. */
	auto fold = [&](std::size_t begin, std::size_t end, T &sum, auto put) {
		if constexpr (detail::is_large<T>) {
			fold_into(begin, end, sum, put);
		} else {
			T all = std::move(sum);

			fold_into(begin, end, all, put);
			sum = std::move(all);
		}
	};
	auto begin_sum = [&] { return sums.add([&] { return T(identity); }); };
	auto part = [&](std::size_t begin, std::size_t end, node *&sum) {
		node *own = begin_sum();

		fold(begin, end, own->value, [](std::size_t, const T &) {});
		sum = own;
	};
	/* No other part needs the sum before this one any more. */
	auto scan = [&](std::size_t begin, std::size_t end, node *&sum) {
		if (!sum)
			sum = begin_sum();
		fold(begin, end, sum->value, [&](std::size_t i, const T &value) {
			out[static_cast<std::ptrdiff_t>(i)] = value;
		});
	};
	auto combine = [&](node *&sum, node *more) {
		detail::assign(more->value, [&] {
			return operation(std::as_const(sum->value), std::move(more->value));
		});
		sum = more;
	};
	struct calls {
		detail::failure failed;
		decltype(part) &add;
		decltype(scan) &put;
		decltype(combine) &join;
	} all{ {}, part, scan, combine };

	ivl_parallel_scan_parts(
		0, static_cast<std::size_t>(last - first), grain, &none, sizeof(none),
		[](std::size_t begin, std::size_t end, void *sum, void *arg) {
			calls *to = static_cast<calls *>(arg);

			to->failed.call([&] { to->add(begin, end, *static_cast<node **>(sum)); });
		},
		[](std::size_t begin, std::size_t end, void *sum, void *arg) {
			calls *to = static_cast<calls *>(arg);

			to->failed.call([&] { to->put(begin, end, *static_cast<node **>(sum)); });
		},
		[](void *sum, const void *more, void *arg) {
			calls *to = static_cast<calls *>(arg);

			to->failed.call([&] {
				to->join(*static_cast<node **>(sum),
					 *static_cast<node *const *>(more));
			});
		},
		&all);
	all.failed.rethrow();
	return out + (last - first);
}

/**
 * As std::sort(), for random-access iterators: in place, not stable. If less() throws, elements may
 * be lost, duplicated or moved from, as in std::sort().
 */
template <typename Iterator, typename Less = std::less<>>
void parallel_sort(Iterator first, Iterator last, Less less = Less())
{
	static_assert(!detail::shares_words<Iterator>, "parallel_sort() of bool: use char");
	detail::failure failed;
	unsigned int turns = 0;

	for (auto count = last - first; count > 0; count /= 2)
		turns += 2;
	detail::inside_if(last - first > detail::SORTED_ALONE, [&] {
		detail::sort(first, last, less, turns, failed);
	});
	failed.rethrow();
}

/**
 * A T to which tasks add, each worker to its own copy; as ivl_commutative: the operation must be
 * associative and commutative. Destroy it before its runtime, when no task adds to it.
 *
 *	ivl::commutative<long> sum(runtime);
 *	runtime.run([&] { ivl::parallel_for(0, n, [&](int i) { sum.view() += i; }); });
 *	long all = sum.read(std::plus<>());
 */
template <typename T>
class commutative {
public:
	/** Each view begins as a copy of the operation's identity. */
	explicit commutative(const runtime &of, T zero = T())
		: runtime_of(of.get()), identity(std::move(zero))
	{
		static_assert(alignof(slot) <= alignof(std::max_align_t), "T is aligned too much");
		const auto none = std::make_unique<slot>();

		detail::check(ivl_commutative_create(detail::not_moved(of.get()), sizeof(slot),
						     none.get(), &it));
	}

	commutative(const commutative &) = delete;
	commutative &operator=(const commutative &) = delete;

	~commutative()
	{
		ivl_commutative_read(it, nullptr, [](void *, const void *view, void *) {
			const slot *one = static_cast<const slot *>(view);

			if (one->made)
				one->get()->~T();
		}, nullptr);
		ivl_commutative_destroy(it);
	}

	/**
	 * As ivl_commutative_view(), whose errors it throws; valid until the caller spawns or
	 * waits.
	 */
	T &view()
	{
		slot *one = static_cast<slot *>(ivl_commutative_view(it));

		if (!one)
			detail::raise(error(is_here() ? ENOMEM : EINVAL));
		if (!one->made) {
			::new (static_cast<void *>(one->room)) T(identity);
			one->made = true;
		}
		return *one->get();
	}

	/** operation(sum, view) over all views; call it while no task adds. */
	template <typename Operation>
	T read(Operation &&operation) const
	{
		struct reading {
			Operation &operation;
			detail::room_for_sum<T> sum;
			std::exception_ptr thrown;
		} all{ operation, {}, nullptr };

		all.sum.make([&] { return T(identity); });
		ivl_commutative_read(it, &all, [](void *arg, const void *view, void *) {
			const slot *one = static_cast<const slot *>(view);
			reading *into = static_cast<reading *>(arg);

			if (!one->made || into->thrown)
				return;
			IVL_TRY {
				into->sum.replace([&] {
					return into->operation(std::move(*into->sum), *one->get());
				});
			} IVL_CATCH_ALL {
				into->thrown = std::current_exception();
			}
		}, nullptr);
		if (all.thrown)
			std::rethrow_exception(all.thrown);
		return std::move(*all.sum);
	}

private:
	/* Copied bytewise while it holds no T. */
	struct slot {
		bool made = false;
		alignas(T) unsigned char room[sizeof(T)] = {};

		T *get() { return reinterpret_cast<T *>(room); }
		const T *get() const { return reinterpret_cast<const T *>(room); }
	};

	/* Is the caller a task of the reducer's runtime? */
	bool is_here() const
	{
		const ivl_place *here = ivl_here();

		return here && here == ivl_place_at(runtime_of, ivl_place_index(here));
	}

	ivl_runtime *runtime_of;
	ivl_commutative *it = nullptr;
	T identity;
};

#ifndef __cpp_exceptions
} // namespace no_exceptions
#endif

} // namespace ivl

#endif
