// SPDX-License-Identifier: LGPL-2.1-or-later
//! rayon: the parallel forms in Rust. Input, serial parts and checks are C's (kernels/kernels.h).

#![allow(non_upper_case_globals)]

use std::ffi::c_void;
use std::os::raw::{c_char, c_int, c_uint};
use std::ptr::{addr_of, addr_of_mut};
use std::slice;

use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

const FORK_JOIN_TASKS: usize = 1024;
const NQUEENS_MAX: usize = 16;
const MATMUL_LEAF: usize = 64;
const SORT_LEAF: usize = 8192;
const SUMS_LEAF: usize = 16384;
const SOR_ITERATIONS: c_uint = 50;
const DFS_NEIGHBOURS: c_uint = 4;
const DFS_ROOT: u32 = 0;
const STACK_BYTES: usize = 64 << 20;
const EAGAIN: c_int = 11;

#[repr(C)]
struct Fib {
    n: c_uint,
    result: u64,
}

#[repr(C)]
struct ForkJoin {
    rounds: c_uint,
    done: [c_uint; FORK_JOIN_TASKS],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Nqueens {
    columns: u32,
    left: u32,
    right: u32,
    solutions: u64,
    placements: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Uts {
    state: [u8; 20],
    depth: u32,
    nodes: u64,
}

#[repr(C)]
struct Matmul {
    n: usize,
    a: *const f64,
    b: *const f64,
    c: *mut f64,
}

#[repr(C)]
struct Sort {
    n: usize,
    values: *mut i32,
    scratch: *mut i32,
}

#[repr(C)]
struct Reduce {
    n: usize,
    values: *const f64,
    sum: f64,
}

#[repr(C)]
struct Scan {
    n: usize,
    input: *const i64,
    out: *mut i64,
}

#[repr(C)]
struct Sor {
    n: usize,
    cells: *mut f32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct DagNode {
    state: u64,
    depth: u32,
}

extern "C" {
    static mut bench_fib: Fib;
    static mut bench_fork_join: ForkJoin;
    static mut bench_nqueens: Nqueens;
    static mut bench_uts: Uts;
    static bench_matmul: Matmul;
    static bench_sort: Sort;
    static mut bench_reduce: Reduce;
    static bench_scan: Scan;
    static bench_sor: Sor;
    static bench_dag_root: DagNode;

    fn nqueens_free(board: *const Nqueens) -> u32;
    fn nqueens_full(board: *const Nqueens) -> bool;
    fn nqueens_place(board: *const Nqueens, column: u32, next: *mut Nqueens);
    fn uts_children(node: *const Uts) -> c_uint;
    fn uts_child(node: *const Uts, index: c_uint, child: *mut Uts);
    fn matmul_leaf(a: *const f64, b: *const f64, c: *mut f64, n: usize);
    fn sort_leaf(values: *mut i32, n: usize);
    fn sort_merge(to: *mut i32, a: *const i32, na: usize, b: *const i32, nb: usize);
    fn sort_rank(values: *const i32, n: usize, limit: i32) -> usize;
    fn reduce_part(values: *const f64, n: usize) -> f64;
    fn scan_sum(input: *const i64, n: usize) -> i64;
    fn scan_part(out: *mut i64, input: *const i64, n: usize, before: i64) -> i64;
    fn sor_rows(begin: usize, end: usize, colour: c_uint);
    fn dag_visit(node: *const DagNode) -> c_uint;
    fn dag_child(node: *const DagNode, index: c_uint, child: *mut DagNode);
    fn dfs_neighbour(vertex: u32, direction: c_uint) -> u32;
    fn dfs_label(vertex: u32, parent: u32) -> bool;
}

/// An address that tasks share; the kernels see to it that they do not collide.
struct Shared<T>(*mut T);

unsafe impl<T> Send for Shared<T> {}
unsafe impl<T> Sync for Shared<T> {}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

impl<T> Shared<T> {
    fn at(&self, index: usize) -> *mut T {
        unsafe { self.0.add(index) }
    }

    fn from(&self, index: usize) -> Self {
        Shared(self.at(index))
    }
}

fn fib(n: c_uint) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (first, second) = rayon::join(|| fib(n - 1), || fib(n - 2));
    first + second
}

extern "C" fn fib_run() {
    unsafe { bench_fib.result = fib(bench_fib.n) }
}

fn fj_task(done: Shared<c_uint>, index: usize) {
    unsafe { *done.at(index) += 1 }
}

fn fj_input() -> (c_uint, Shared<c_uint>) {
    unsafe { (bench_fork_join.rounds, Shared(addr_of_mut!(bench_fork_join.done).cast())) }
}

extern "C" fn fj_run() {
    let (rounds, done) = fj_input();
    for _ in 0..rounds {
        rayon::scope(|scope| {
            for i in 0..FORK_JOIN_TASKS {
                scope.spawn(move |_| fj_task(done, i));
            }
        });
    }
}

fn fj_rec_range(done: Shared<c_uint>, begin: usize, end: usize) {
    if end - begin == 1 {
        return fj_task(done, begin);
    }
    let middle = begin + (end - begin) / 2;
    rayon::join(|| fj_rec_range(done, begin, middle), || fj_rec_range(done, middle, end));
}

extern "C" fn fj_rec_run() {
    let (rounds, done) = fj_input();
    for _ in 0..rounds {
        fj_rec_range(done, 0, FORK_JOIN_TASKS);
    }
}

fn nqueens(board: &mut Nqueens) {
    if unsafe { nqueens_full(board) } {
        board.solutions = 1;
        return;
    }
    let mut next = [Nqueens::default(); NQUEENS_MAX];
    let mut count = 0;
    let mut free = unsafe { nqueens_free(board) };
    while free != 0 {
        unsafe { nqueens_place(board, free & free.wrapping_neg(), &mut next[count]) };
        count += 1;
        free &= free - 1;
    }
    next[..count].par_iter_mut().with_max_len(1).for_each(nqueens);
    board.placements = count as u64 + next.iter().map(|one| one.placements).sum::<u64>();
    board.solutions = next.iter().map(|one| one.solutions).sum();
}

extern "C" fn nqueens_run() {
    nqueens(unsafe { &mut *addr_of_mut!(bench_nqueens) })
}

fn uts(node: &mut Uts) {
    let count = unsafe { uts_children(node) } as usize;
    let mut children = vec![Uts::default(); count];
    for (i, child) in children.iter_mut().enumerate() {
        unsafe { uts_child(node, i as c_uint, child) };
    }
    children.par_iter_mut().with_max_len(1).for_each(uts);
    node.nodes = 1 + children.iter().map(|one| one.nodes).sum::<u64>();
}

extern "C" fn uts_run() {
    uts(unsafe { &mut *addr_of_mut!(bench_uts) })
}

/// c += a * b, for squares inside the matrices.
fn matmul(a: Shared<f64>, b: Shared<f64>, c: Shared<f64>, size: usize, n: usize) {
    if size == MATMUL_LEAF {
        return unsafe { matmul_leaf(a.0, b.0, c.0, n) };
    }
    let half = size / 2;
    let quarter = |row: usize, column: usize, step: usize| {
        let a = a.from(row * half * n + step * half);
        let b = b.from(step * half * n + column * half);
        matmul(a, b, c.from(row * half * n + column * half), half, n)
    };
    for step in 0..2 {
        rayon::join(
            || rayon::join(|| quarter(0, 0, step), || quarter(0, 1, step)),
            || rayon::join(|| quarter(1, 0, step), || quarter(1, 1, step)),
        );
    }
}

extern "C" fn matmul_run() {
    let m = unsafe { &*addr_of!(bench_matmul) };
    matmul(Shared(m.a as *mut f64), Shared(m.b as *mut f64), Shared(m.c), m.n, m.n);
}

fn merge(to: Shared<i32>, a: Shared<i32>, na: usize, b: Shared<i32>, nb: usize) {
    if na < nb {
        return merge(to, b, nb, a, na);
    }
    if na + nb <= SORT_LEAF {
        return unsafe { sort_merge(to.0, a.0, na, b.0, nb) };
    }
    let ma = na / 2;
    let mb = unsafe { sort_rank(b.0, nb, *a.at(ma)) };
    rayon::join(
        || merge(to, a, ma, b, mb),
        || merge(to.from(ma + mb), a.from(ma), na - ma, b.from(mb), nb - mb),
    );
}

fn sort(values: Shared<i32>, scratch: Shared<i32>, n: usize, to_scratch: bool) {
    if n <= SORT_LEAF {
        unsafe {
            sort_leaf(values.0, n);
            if to_scratch {
                std::ptr::copy_nonoverlapping(values.0, scratch.0, n);
            }
        }
        return;
    }
    let half = n / 2;
    rayon::join(
        || sort(values, scratch, half, !to_scratch),
        || sort(values.from(half), scratch.from(half), n - half, !to_scratch),
    );
    let (from, to) = if to_scratch { (values, scratch) } else { (scratch, values) };
    merge(to, from, half, from.from(half), n - half);
}

extern "C" fn sort_run() {
    let input = unsafe { &*addr_of!(bench_sort) };
    sort(Shared(input.values), Shared(input.scratch), input.n, false);
}

extern "C" fn reduce_run() {
    let reduce = unsafe { &mut *addr_of_mut!(bench_reduce) };
    let parts = unsafe { slice::from_raw_parts(reduce.values, reduce.n) }.par_chunks(SUMS_LEAF);
    reduce.sum = parts.map(|part| unsafe { reduce_part(part.as_ptr(), part.len()) }).sum();
}

/// There is no scan in rayon: two passes over the same parts.
extern "C" fn scan_run() {
    let scan = unsafe { &*addr_of!(bench_scan) };
    let input = unsafe { slice::from_raw_parts(scan.input, scan.n) }.par_chunks(SUMS_LEAF);
    let out = unsafe { slice::from_raw_parts_mut(scan.out, scan.n) }.par_chunks_mut(SUMS_LEAF);
    let sums = input.clone().map(|part| unsafe { scan_sum(part.as_ptr(), part.len()) });
    let mut before: Vec<i64> = sums.collect();
    let mut sum = 0;
    for part in &mut before {
        sum += std::mem::replace(part, sum);
    }
    out.zip(input).zip(&before).for_each(|((out, part), &before)| unsafe {
        scan_part(out.as_mut_ptr(), part.as_ptr(), part.len(), before);
    });
}

extern "C" fn sor_run() {
    let n = unsafe { (*addr_of!(bench_sor)).n };
    for i in 0..2 * SOR_ITERATIONS {
        (1..n - 1).into_par_iter().for_each(|row| unsafe { sor_rows(row, row + 1, i & 1) });
    }
}

fn dag<'scope>(scope: &Scope<'scope>, node: DagNode) {
    for i in 0..unsafe { dag_visit(&node) } {
        let mut child = DagNode::default();
        unsafe { dag_child(&node, i, &mut child) };
        scope.spawn(move |scope| dag(scope, child));
    }
}

extern "C" fn dag_run() {
    rayon::scope(|scope| dag(scope, unsafe { *addr_of!(bench_dag_root) }));
}

fn dfs<'scope>(scope: &Scope<'scope>, vertex: u32) {
    for i in 0..DFS_NEIGHBOURS {
        let next = unsafe { dfs_neighbour(vertex, i) };
        if unsafe { dfs_label(next, vertex) } {
            scope.spawn(move |scope| dfs(scope, next));
        }
    }
}

extern "C" fn dfs_run() {
    rayon::scope(|scope| dfs(scope, DFS_ROOT));
}

/// Used by one thread at a time, which also starts and stops it.
static mut POOL: Option<ThreadPool> = None;

fn pool() -> &'static ThreadPool {
    unsafe { (*addr_of!(POOL)).as_ref() }.expect("not started")
}

extern "C" fn start(workers: c_uint) -> c_int {
    let builder = ThreadPoolBuilder::new().num_threads(workers as usize).stack_size(STACK_BYTES);
    match builder.build() {
        Ok(built) => {
            unsafe { *addr_of_mut!(POOL) = Some(built) };
            0
        }
        Err(_) => EAGAIN,
    }
}

extern "C" fn stop() {
    unsafe { *addr_of_mut!(POOL) = None };
}

extern "C" fn enter(run: extern "C" fn()) {
    pool().install(|| run());
}

extern "C" fn submit(function: extern "C" fn(*mut c_void), arg: *mut c_void) {
    let arg = Shared(arg);
    pool().spawn(move || function(arg.at(0)));
}

#[repr(C)]
pub struct Form {
    kernel: *const c_char,
    run: Option<extern "C" fn()>,
}

unsafe impl Sync for Form {}

const fn form(kernel: &'static [u8], run: extern "C" fn()) -> Form {
    Form { kernel: kernel.as_ptr() as *const c_char, run: Some(run) }
}

static FORMS: [Form; 14] = [
    form(b"fib\0", fib_run),
    form(b"fj\0", fj_run),
    form(b"fj_rec\0", fj_rec_run),
    form(b"nqueens\0", nqueens_run),
    form(b"uts_t1\0", uts_run),
    form(b"uts_t3\0", uts_run),
    form(b"matmul\0", matmul_run),
    form(b"sort\0", sort_run),
    form(b"reduce\0", reduce_run),
    form(b"scan\0", scan_run),
    form(b"sor\0", sor_run),
    form(b"dag\0", dag_run),
    form(b"dfs\0", dfs_run),
    Form { kernel: std::ptr::null(), run: None },
];

#[repr(C)]
pub struct Runtime {
    name: *const c_char,
    start: extern "C" fn(c_uint) -> c_int,
    stop: extern "C" fn(),
    enter: extern "C" fn(extern "C" fn()),
    submit: extern "C" fn(extern "C" fn(*mut c_void), *mut c_void),
    forms: *const Form,
    print_counts: Option<extern "C" fn()>,
    max_workers: c_uint,
    here: Option<extern "C" fn(extern "C" fn())>,
    looped: Option<extern "C" fn(usize, usize, extern "C" fn(usize, usize, *mut c_void), *mut c_void)>,
}

unsafe impl Sync for Runtime {}

#[no_mangle]
pub static bench_runtime: Runtime = Runtime {
    name: b"rayon\0".as_ptr() as *const c_char,
    start,
    stop,
    enter,
    submit,
    forms: FORMS.as_ptr(),
    print_counts: None,
    max_workers: 0,
    here: None,
    looped: None,
};
