// SPDX-License-Identifier: LGPL-2.1-or-later

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

/**
 * Java's ForkJoinPool. A program of its own, since nothing of the C programs' can be called without
 * cost, with their options and output (main.c). Warm-ups are more than theirs: the just-in-time
 * compiler has to come to rest first.
 */
final class Bench {
	private static final int NOT_WRITTEN = 3;
	private static final int WARMUPS = 5;
	private static final int REPEATS = 3;
	private static final int FORK_JOIN_TASKS = 1024;

	/** What a run did: is its result right, and how many tasks had it? 0: the unit is seconds. */
	private record Result(BooleanSupplier right, long tasks) {
	}

	private interface Kernel {
		/** Before each run, not timed. */
		default void prepare() {
		}

		Result run();
	}

	private static final class Fib extends RecursiveTask<Long> {
		private final int n;

		Fib(int n) {
			this.n = n;
		}

		@Override
		protected Long compute() {
			if (n < 2)
				return (long)n;
			Fib first = new Fib(n - 1);
			first.fork();
			long second = new Fib(n - 2).compute();
			return first.join() + second;
		}
	}

	private static long fibonacci(int n) {
		long a = 0, b = 1;
		for (; n > 0; n--) {
			long next = a + b;
			a = b;
			b = next;
		}
		return a;
	}

	private static Result fib(int n) {
		long result = new Fib(n).invoke();
		return new Result(() -> result == fibonacci(n), fibonacci(n + 1) - 1);
	}

	private static final class Increment extends RecursiveAction {
		private final int[] done;
		private final int begin, end;

		Increment(int[] done, int begin, int end) {
			this.done = done;
			this.begin = begin;
			this.end = end;
		}

		@Override
		protected void compute() {
			if (end - begin == 1) {
				done[begin]++;
				return;
			}
			int middle = begin + (end - begin) / 2;
			Increment first = new Increment(done, begin, middle);
			first.fork();
			new Increment(done, middle, end).compute();
			first.join();
		}
	}

	private static Result done(int[] done, int rounds) {
		return new Result(() -> Arrays.stream(done).allMatch(one -> one == rounds),
				  (long)rounds * FORK_JOIN_TASKS);
	}

	private static Result flat(int rounds) {
		int[] done = new int[FORK_JOIN_TASKS];
		Increment[] tasks = new Increment[FORK_JOIN_TASKS];
		for (int round = 0; round < rounds; round++) {
			for (int i = 0; i < FORK_JOIN_TASKS; i++) {
				tasks[i] = new Increment(done, i, i + 1);
				tasks[i].fork();
			}
			for (int i = FORK_JOIN_TASKS; i-- > 0;)
				tasks[i].join();
		}
		return done(done, rounds);
	}

	private static Result recursive(int rounds) {
		int[] done = new int[FORK_JOIN_TASKS];
		for (int round = 0; round < rounds; round++)
			new Increment(done, 0, FORK_JOIN_TASKS).invoke();
		return done(done, rounds);
	}

	/** Returns how many queens were placed; the solutions are in a field. */
	private static final class Queens extends RecursiveTask<Long> {
		private final int all, columns, left, right;
		long solutions;

		Queens(int all, int columns, int left, int right) {
			this.all = all;
			this.columns = columns;
			this.left = left;
			this.right = right;
		}

		@Override
		protected Long compute() {
			if (columns == all) {
				solutions = 1;
				return 0L;
			}
			int free = all & ~(columns | left | right);
			Queens[] next = new Queens[Integer.bitCount(free)];
			for (int i = 0; free != 0; free &= free - 1, i++) {
				int bit = free & -free;
				next[i] = new Queens(all, columns | bit, (left | bit) << 1,
						     (right | bit) >>> 1);
				next[i].fork();
			}
			long placements = next.length;
			for (int i = next.length; i-- > 0;) {
				placements += next[i].join();
				solutions += next[i].solutions;
			}
			return placements;
		}
	}

	private static Result queens(int n) {
		Queens board = new Queens((1 << n) - 1, 0, 0, 0);
		long placements = board.invoke();
		return new Result(() -> board.solutions == (n == 12 ? 14200 : n == 6 ? 4 : -1),
				  placements);
	}

	private static final ThreadLocal<MessageDigest> SHA1 = ThreadLocal.withInitial(() -> {
		try {
			return MessageDigest.getInstance("SHA-1");
		} catch (NoSuchAlgorithmException error) {
			throw new IllegalStateException(error);
		}
	});

	private static void store(byte[] bytes, int at, int word) {
		for (int i = 0; i < 4; i++)
			bytes[at + i] = (byte)(word >> (24 - 8 * i));
	}

	/** The tree under a node, of kernels/uts.c; its size. */
	private static final class Tree extends RecursiveTask<Long> {
		private final boolean geometric;
		private final int size, depth;
		private final byte[] state = new byte[20];

		/** The root. */
		Tree(boolean geometric, int size) {
			this.geometric = geometric;
			this.size = size;
			depth = 0;
			byte[] message = new byte[20];
			store(message, 16, geometric ? 19 : 42);
			digest(message);
		}

		private Tree(Tree parent, int index) {
			geometric = parent.geometric;
			size = parent.size;
			depth = parent.depth + 1;
			byte[] message = Arrays.copyOf(parent.state, 24);
			store(message, 20, index);
			digest(message);
		}

		private void digest(byte[] message) {
			MessageDigest sha1 = SHA1.get();
			sha1.update(message);
			try {
				sha1.digest(state, 0, state.length);
			} catch (DigestException error) {
				throw new IllegalStateException(error);
			}
		}

		private int children() {
			int bits = 0;
			for (int i = 16; i < 20; i++)
				bits = bits << 8 | state[i] & 0xff;
			double uniform = (bits & 0x7fffffff) / 2147483648.0;
			if (!geometric)
				return depth == 0 ? size : uniform < 0.124875 ? 8 : 0;
			if (depth >= size)
				return 0;
			return (int)Math.min(100, Math.log(1 - uniform) / Math.log(1 - 1 / 5.0));
		}

		@Override
		protected Long compute() {
			Tree[] children = new Tree[children()];
			for (int i = 0; i < children.length; i++) {
				children[i] = new Tree(this, i);
				children[i].fork();
			}
			long nodes = 1;
			for (int i = children.length; i-- > 0;)
				nodes += children[i].join();
			return nodes;
		}
	}

	private static Result tree(boolean geometric, int size, long expected) {
		long nodes = new Tree(geometric, size).invoke();
		return new Result(() -> nodes == expected, nodes - 1);
	}

	/** Of kernels/sums.c: what is added up, and the sum of the first n of them. */
	private static final int PERIOD = 1021;

	private static long addend(int i) {
		return 1 + i % PERIOD;
	}

	private static long sumOfFirst(long n) {
		long periods = n / PERIOD, rest = n % PERIOD;
		return periods * (PERIOD * (PERIOD + 1) / 2) + rest * (rest + 1) / 2;
	}

	/** As one writes it: sum() of doubles compensates for what each addition rounds. */
	private static Kernel reduce(int size) {
		double[] values = new double[size];
		Arrays.setAll(values, Bench::addend);
		return () -> {
			double sum = Arrays.stream(values).parallel().sum();
			return new Result(() -> sum == sumOfFirst(size), 0);
		};
	}

	/** In place, which is all that there is. */
	private static final class Scan implements Kernel {
		private final long[] values;

		Scan(int size) {
			values = new long[size];
		}

		@Override
		public void prepare() {
			Arrays.setAll(values, Bench::addend);
		}

		@Override
		public Result run() {
			Arrays.parallelPrefix(values, Long::sum);
			return new Result(this::right, 0);
		}

		private boolean right() {
			for (int i = 0; i < values.length; i++)
				if (values[i] != sumOfFirst(i + 1))
					return false;
			return true;
		}
	}

	/** Sleeps, submits, and takes the time to the task's beginning: the median in nanoseconds. */
	private static double wake(ForkJoinPool pool, boolean quick) throws InterruptedException {
		double[] latency = new double[quick ? 3 : 101];
		Semaphore done = new Semaphore(0);
		long[] begun = new long[1];
		for (int i = 0; i < latency.length; i++) {
			Thread.sleep(20);
			long submitted = System.nanoTime();
			pool.execute(() -> {
				begun[0] = System.nanoTime();
				done.release();
			});
			done.acquire();
			latency[i] = begun[0] - submitted;
		}
		Arrays.sort(latency);
		return latency[latency.length / 2];
	}

	private static long processNanos() {
		return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
			.getProcessCpuTime();
	}

	/** The process' CPU time over some seconds, as a share of one CPU. */
	private static double idle(boolean quick) throws InterruptedException {
		Thread.sleep(quick ? 10 : 1000);
		long cpu = processNanos(), time = System.nanoTime();
		Thread.sleep(quick ? 50 : 3000);
		return (double)(processNanos() - cpu) / (System.nanoTime() - time);
	}

	private static long peakKib() throws IOException {
		for (String line : Files.readAllLines(Path.of("/proc/self/status")))
			if (line.startsWith("VmHWM:"))
				return Long.parseLong(line.replaceAll("\\D", ""));
		return 0;
	}

	private static void print(String benchmark, int workers, String unit, double value,
				  boolean right) throws IOException {
		System.out.printf(Locale.ROOT, "{\"benchmark\":\"%s\",\"runtime\":\"java\","
			+ "\"workers\":%d,\"unit\":\"%s\",\"value\":%s,\"check\":\"%s\","
			+ "\"peak_kib\":%d}%n", benchmark, workers, unit,
			right ? Double.toString(value) : "null", right ? "ok" : "failed",
			peakKib());
	}

	private static Kernel kernel(String name, boolean quick) {
		return switch (name) {
		case "fib" -> () -> fib(quick ? 12 : 32);
		case "fj" -> () -> flat(quick ? 3 : 1000);
		case "fj_rec" -> () -> recursive(quick ? 3 : 1000);
		case "nqueens" -> () -> queens(quick ? 6 : 12);
		case "uts_t1" -> () -> quick ? tree(true, 4, 944) : tree(true, 10, 4130071);
		case "uts_t3" -> () -> quick ? tree(false, 10, 6123) : tree(false, 2000, 4112897);
		case "reduce" -> reduce(quick ? 50000 : 16777216);
		case "scan" -> new Scan(quick ? 50000 : 16777216);
		default -> null;
		};
	}

	private static boolean measure(ForkJoinPool pool, String name, Kernel kernel, boolean quick)
			throws Exception {
		int warmups = quick ? 0 : WARMUPS, repeats = quick ? 1 : REPEATS;
		for (int i = 0; i < warmups + repeats; i++) {
			kernel.prepare();
			long begun = System.nanoTime();
			Result result = pool.submit(() -> kernel.run()).get();
			double took = System.nanoTime() - begun;
			boolean right = result.right().getAsBoolean();
			boolean perTask = result.tasks() != 0;
			if (i >= warmups || !right)
				print(name, pool.getParallelism(), perTask ? "ns_per_task" : "seconds",
				      took / (perTask ? result.tasks() : 1e9), right);
			if (!right)
				return false;
		}
		return true;
	}

	public static void main(String[] arguments) throws Exception {
		int workers = Runtime.getRuntime().availableProcessors();
		boolean quick = false;
		String name = "";
		for (String word : arguments) {
			if (word.startsWith("--workers="))
				workers = Integer.parseInt(word.substring(10));
			else if (word.equals("--quick"))
				quick = true;
			else
				name = word;
		}
		ForkJoinPool pool = new ForkJoinPool(workers);
		Kernel kernel = kernel(name, quick);
		int status = 0;
		if (kernel != null) {
			status = measure(pool, name, kernel, quick) ? 0 : 1;
		} else if (name.equals("idle") || name.equals("wake")) {
			boolean idle = name.equals("idle");
			boolean right = pool.submit(() -> fib(12)).get().right().getAsBoolean();
			double value = idle ? idle(quick) : wake(pool, quick);
			print(name, workers, idle ? "cpu_share" : "ns", value, right);
		} else {
			status = NOT_WRITTEN;
		}
		pool.shutdown();
		System.exit(status);
	}
}
