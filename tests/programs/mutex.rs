// SPDX-License-Identifier: GPL-2.0

//! Four threads that share one mutex.

use std::sync::{Arc, Mutex};
use std::thread;

const WORKERS: u64 = 4;
const TURNS: u64 = 300;
const STEPS: u64 = 200;

fn work(table: &Mutex<[u64; 512]>, seed: u64) {
    let mut number = seed;
    for _ in 0..TURNS {
        let mut table = table.lock().unwrap();
        for _ in 0..STEPS {
            number = number
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            table[(number >> 55) as usize] += 1;
        }
    }
}

fn main() {
    let table = Arc::new(Mutex::new([0; 512]));
    let threads: Vec<_> = (0..WORKERS)
        .map(|seed| {
            let table = Arc::clone(&table);
            thread::spawn(move || work(&table, seed))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(table.lock().unwrap().iter().sum::<u64>(), WORKERS * TURNS * STEPS);
}
