# SPDX-License-Identifier: GPL-2.0
"""Four threads that share one connection to an SQLite database, whose mutex each of them takes."""

import sqlite3
import threading

WORKERS = 4
ROWS = 40


def work(worker: int) -> None:
    for row in range(ROWS):
        connection.execute("insert into numbers values (?, ?)", (worker, row))
        connection.execute("select sum(number) from numbers").fetchone()


connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
connection.execute("create table numbers (worker integer, number integer)")
threads = [threading.Thread(target=work, args=(worker,)) for worker in range(WORKERS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert connection.execute("select count(*) from numbers").fetchone() == (WORKERS * ROWS,)
