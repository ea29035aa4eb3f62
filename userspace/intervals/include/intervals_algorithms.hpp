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
#include <optional>
#include <tuple>
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
	void replace(Function &&function) { make(function); }

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
class pile : pinned {
public:
	struct node {
		T value;
		node *below;
	};

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

/* Of equal elements, those of `a` come first. */
template <typename From, typename To, typename Less>
void merge(From a, From a_end, From b, From b_end, To out, Less &less)
{
	const auto by_a = a_end - a >= b_end - b;

	if ((a_end - a) + (b_end - b) <= SORTED_ALONE) {
		std::merge(std::make_move_iterator(a), std::make_move_iterator(a_end),
			   std::make_move_iterator(b), std::make_move_iterator(b_end), out, less);
		return;
	}
	/* Halve the longer one, and split the other accordingly. */
	const From half = by_a ? a + (a_end - a) / 2 : b + (b_end - b) / 2;
	const From a_half = by_a ? half : std::upper_bound(a, a_end, *half, less);
	const From b_half = by_a ? std::lower_bound(b, b_end, *half, less) : half;

	ivl::invoke([&] { detail::merge(a, a_half, b, b_half, out, less); },
		    [&] { detail::merge(a_half, a_end, b_half, b_end,
					out + ((a_half - a) + (b_half - b)), less); });
}

/* Merge sort; the result goes to `first` or to `other`. */
template <typename One, typename Other, typename Less>
void stable_sort(One first, One last, Other other, bool into_other, Less &less)
{
	const One half = first + (last - first) / 2;
	const Other other_half = other + (half - first);

	if (last - first <= SORTED_ALONE) {
		std::stable_sort(first, last, less);
		if (into_other)
			std::move(first, last, other);
		return;
	}
	ivl::invoke([&] { detail::stable_sort(first, half, other, !into_other, less); },
		    [&] { detail::stable_sort(half, last, other_half, !into_other, less); });
	if (into_other)
		detail::merge(first, half, half, last, other, less);
	else
		detail::merge(other, other_half, other_half, other + (last - first), first, less);
}

/* Of parallel_pipeline(). A slot is a std::optional item. */
template <typename Slot, typename Function>
struct stage {
	static void call(void *item, void *arg)
	{
		stage *self = static_cast<stage *>(arg);

		self->failed.call([&] { self->function(**static_cast<Slot *>(item)); });
		if (self->failed.there())
			ivl_fail(ECANCELED);
	}

	Function &function;
	failure &failed;
};

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

/** A loop of two indices; ends are not included. */
template <typename Index>
struct blocked_range2d {
	Index row_begin; /**< The first row. */
	Index row_end; /**< Past the last one. */
	Index column_begin; /**< The first column. */
	Index column_end; /**< Past the last one. */
};

/**
 * body(block) for blocks that together are the range: its longer side is halved until a block has
 * at most `grain` elements. If one throws, as invoke().
 */
template <typename Index, typename Body>
void parallel_for(const blocked_range2d<Index> &range, Body &&body, std::size_t grain = 0)
{
	if (!(range.row_begin < range.row_end && range.column_begin < range.column_end))
		return;
	const std::size_t rows = detail::distance(range.row_begin, range.row_end),
			  columns = detail::distance(range.column_begin, range.column_end);
	const std::size_t most = detail::grain_of(rows * columns, grain);
	blocked_range2d<Index> one = range, other = range;

	if (rows * columns <= most) {
		body(range);
		return;
	}
	if (rows >= columns)
		one.row_end = other.row_begin = detail::advance(range.row_begin, rows / 2);
	else
		one.column_end = other.column_begin =
			detail::advance(range.column_begin, columns / 2);
	ivl::invoke([&] { ivl::parallel_for(one, body, most); },
		    [&] { ivl::parallel_for(other, body, most); });
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
 * As std::stable_sort(), for random-access iterators; std::bad_alloc without room for as many
 * elements again. Otherwise as parallel_sort().
 */
template <typename Iterator, typename Less = std::less<>>
void parallel_stable_sort(Iterator first, Iterator last, Less less = Less())
{
	using element = typename std::iterator_traits<Iterator>::value_type;
	static_assert(!std::is_same_v<element, bool>, "parallel_stable_sort() of bool: use char");
	auto before = [&](const element &one, const element &other) -> bool {
		return less(one, other);
	};
	std::vector<element> other(std::make_move_iterator(first), std::make_move_iterator(last));

	detail::stable_sort(other.begin(), other.end(), first, true, before);
}

/** Does a stage take several items at a time, or one after the other? */
enum class filter_mode { parallel, serial_in_order };

/** A stage of parallel_pipeline(): function(item &) for each item. */
template <typename Function>
struct filter {
	filter_mode mode; /**< Of the stage. */
	Function function; /**< Changes the item in place. */
};
/** Deduces Function. */
template <typename Function> filter(filter_mode, Function) -> filter<Function>;

/**
 * Take items from source(), which returns a std::optional, until it has none, and pass each through
 * all stages; as ivl_parallel_pipeline(). If one throws, no more stages begin.
 */
template <typename Source, typename... Functions>
void parallel_pipeline(std::size_t tokens, Source &&source, filter<Functions>... filters)
{
	using slot = std::invoke_result_t<Source &>;
	detail::failure failed;
	std::size_t next = 0;
	const auto slots = std::make_unique<slot[]>(tokens);	/* in turn: the last item has left */
	auto take = [&]() -> slot * {
		slot &into = slots[next++ % tokens];

		failed.call([&] {
			into.reset();
			if (slot made = source())
				into.emplace(std::move(*made));
		});
		return into && !failed.there() ? &into : nullptr;
	};
	std::tuple<detail::stage<slot, Functions>...> calls{ { filters.function, failed }... };
	const int number = std::apply([&](auto &...one) {
		const ivl_stage stages[] = {
			{ one.call, &one, filters.mode == filter_mode::serial_in_order }...
		};

		return ivl_parallel_pipeline(tokens, [](void *arg) -> void * {
			return (*static_cast<decltype(take) *>(arg))();
		}, &take, stages, sizeof...(Functions));
	}, calls);

	failed.rethrow();
	detail::check(number, "the pipeline has failed");
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
class commutative : detail::pinned {
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
