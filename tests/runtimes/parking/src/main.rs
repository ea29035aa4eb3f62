// SPDX-License-Identifier: GPL-2.0

//! Four threads share a mutex of parking_lot. The argument: how often each takes it.

use parking_lot::Mutex;
use std::hint::black_box;
use std::thread;

static SHARED: Mutex<u64> = Mutex::new(0);

fn work(sum: &mut u64, steps: u64) {
    for k in 0..steps {
        *sum = black_box(*sum).wrapping_add(k);
    }
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(move || {
                let mut own = 0;
                for _ in 0..rounds {
                    work(&mut SHARED.lock(), 10000);
                    work(&mut own, 2000);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
