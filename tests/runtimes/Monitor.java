// SPDX-License-Identifier: GPL-2.0

/** Four threads synchronize on one object. The argument: how often each does. */
public class Monitor {
    static final Object lock = new Object();
    static long shared;

    static long work(long sum, int steps) {
        for (int k = 0; k < steps; k++) {
            sum = sum * 6364136223846793005L + k;
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                long own = 0;
                for (int n = 0; n < rounds; n++) {
                    synchronized (lock) {
                        shared = work(shared, 20000);
                    }
                    own = work(own, 4000);
                }
                System.out.println(own);
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(shared);
    }
}
