// SPDX-License-Identifier: GPL-2.0

/** Four threads that share one monitor. */
public class Monitor {
    private static final int WORKERS = 4;
    private static final int TURNS = 1000;
    private static final int STEPS = 64;
    private static final Object LOCK = new Object();
    private static final long[] TABLE = new long[512];

    private static void work(long seed) {
        long number = seed;
        for (int turn = 0; turn < TURNS; turn++) {
            synchronized (LOCK) {
                for (int i = 0; i < STEPS; i++) {
                    number = number * 6364136223846793005L + 1442695040888963407L;
                    TABLE[(int) (number >>> 55)]++;
                }
            }
        }
    }

    public static void main(String[] words) throws InterruptedException {
        Thread[] threads = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            final long seed = i;
            threads[i] = new Thread(() -> work(seed));
            threads[i].start();
        }
        long sum = 0;
        for (Thread thread : threads) {
            thread.join();
        }
        for (long count : TABLE) {
            sum += count;
        }
        if (sum != WORKERS * TURNS * STEPS) {
            System.exit(1);
        }
    }
}
