// SPDX-License-Identifier: GPL-2.0

/** Four threads synchronize on one object. The argument: how often each does. */
public class Monitor {
    static final Object lock = new Object();
    static long shared;

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < rounds; n++) {
                    synchronized (lock) {
                        for (int k = 0; k < 2000; k++) {
                            shared += k ^ n;
                        }
                    }
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(shared);
    }
}
