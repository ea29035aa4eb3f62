// SPDX-License-Identifier: GPL-2.0
// How many threads rayon has, and on which CPUs they are.
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

extern "C" {
    fn sched_getcpu() -> i32;
}

fn main() {
    let ran = AtomicU64::new(0);

    (0..4000).into_par_iter().for_each(|_| {
        for _ in 0..200 {
            ran.fetch_or(1 << unsafe { sched_getcpu() }, Ordering::Relaxed);
        }
    });
    println!(
        "{{\"threads\":{},\"told\":{},\"ran\":{}}}",
        rayon::current_num_threads(),
        std::thread::available_parallelism().unwrap(),
        ran.into_inner()
    );
}
