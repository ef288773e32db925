//! The kernels of the int64 crate take no host memory: proved by a global allocator that counts.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::alloc::System;

use neuronx_mem_int64::kernels::{copy_low_words, scan, sign_extend, truncate};
use neuronx_mem_int64::{as_values, as_words};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The only test of this file: another one would allocate on its own thread meanwhile.
#[test]
fn kernels_and_views_allocate_nothing() {
    let mut values: Vec<i64> = (0..100_000).map(|number| number << (number % 40)).collect();
    let (mut words, mut widened) = (vec![0; values.len()], vec![0; values.len()]);
    let region = Region::new(COUNTING);
    let found = scan(&values);
    copy_low_words(&values, &mut words).unwrap();
    sign_extend(&words, &mut widened).unwrap();
    truncate(&mut values);
    let is_same = as_values(as_words(&values)).unwrap() == widened;
    let change = region.change();
    assert_eq!((change.allocations, change.reallocations, change.deallocations), (0, 0, 0));
    assert!(found.count > 0 && is_same);
}
