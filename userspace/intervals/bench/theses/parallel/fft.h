/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct fft_call {
	size_t from, stride, to, count;
};

/* The combination's pairs, by halves. */
struct fft_pairs {
	size_t to, count, begin, end;
};

static void fft_combine_task(void *arg)
{
	struct fft_pairs *pairs = (struct fft_pairs *)arg;
	struct fft_pairs first = *pairs, second = *pairs;

	if (pairs->end - pairs->begin <= FFT_LEAF) {
		fft_combine(pairs->to, pairs->count, pairs->begin, pairs->end);
		return;
	}
	first.end = second.begin = pairs->begin + (pairs->end - pairs->begin) / 2;
	PAR_FORK2(fft_combine_task, &first, fft_combine_task(&second));
}

static void fft_task(void *arg)
{
	struct fft_call *call = (struct fft_call *)arg;
	size_t half = call->count / 2;
	struct fft_call even = { call->from, 2 * call->stride, call->to, half };
	struct fft_call odd = { call->from + call->stride, 2 * call->stride, call->to + half,
				half };
	struct fft_pairs pairs = { call->to, call->count, 0, half };

	if (call->count <= FFT_LEAF) {
		fft_leaf(call->from, call->stride, call->to, call->count);
		return;
	}
	PAR_FORK2(fft_task, &even, fft_task(&odd));
	fft_combine_task(&pairs);
}

static void fft_run(void)
{
	struct fft_call all = { 0, 1, 0, bench_fft.n };

	fft_task(&all);
}
