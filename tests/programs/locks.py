# SPDX-License-Identifier: GPL-2.0
"""Four threads that share one lock, and CPython's own."""

import sys
import threading

WORKERS = 4
TURNS = 100
LOCK = threading.Lock()
table = [0] * 512


def work(seed: int) -> None:
    number = seed
    for _ in range(TURNS):
        with LOCK:
            for _ in range(20):
                number = (number * 6364136223846793005 + 1442695040888963407) % (1 << 64)
                table[number >> 55] += 1


# So that the threads change often.
sys.setswitchinterval(0.0005)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(WORKERS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sum(table) == WORKERS * TURNS * 20
