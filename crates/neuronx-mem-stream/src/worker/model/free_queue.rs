//! The free queue under its owner's lock: the programs of `interleavings`, three threads of four
//! operations each, through the locks that the worker uses.
//!
//! No bound on preemptions: the search is complete, a minute for each, and every test counts the
//! orders that it saw to prove it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as Uncontended};

use crate::interleavings::{
    EVERYTHING_IN_A_RING, Owned, Programs, RECORDED_BY_OTHERS_WHILE_FREED, TWO_SUBMIT_AND_ONE_COMPLETES,
};
use crate::worker::sync::{Mutex, spawn};

fn run(owned: &Mutex<Option<Owned>>, programs: &Programs, thread: u8) {
    for step in programs[usize::from(thread)] {
        owned.lock().as_mut().unwrap().step(thread, step);
    }
}

/// Runs the three programs, and returns how many different orders of their operations were seen.
fn n_orders(programs: Programs) -> usize {
    let orders: Arc<Uncontended<BTreeSet<Vec<u8>>>> = Arc::default();
    let seen = Arc::clone(&orders);
    let mut builder = loom::model::Builder::new();
    // Whatever the environment says.
    builder.preemption_bound = None;
    builder.check(move || {
        let owned = Arc::new(Mutex::new(Some(Owned::new())));
        let threads = [1, 2].map(|thread: u8| {
            let owned = Arc::clone(&owned);
            spawn(format!("thread {thread}"), move || run(&owned, &programs, thread)).unwrap()
        });
        run(&owned, &programs, 0);
        for thread in threads {
            thread.join().unwrap();
        }
        let owned = owned.lock().take().unwrap();
        seen.lock().unwrap().insert(owned.finish());
    });
    orders.lock().unwrap().len()
}

/// 12! / (4! 4! 4!)
const ALL: usize = 34_650;

#[test]
fn two_threads_submit_and_free_while_one_completes_in_all_orders() {
    assert_eq!(n_orders(TWO_SUBMIT_AND_ONE_COMPLETES), ALL);
}

#[test]
fn three_threads_do_everything_in_a_ring_in_all_orders() {
    assert_eq!(n_orders(EVERYTHING_IN_A_RING), ALL);
}

#[test]
fn a_block_is_recorded_by_others_while_its_owner_frees_it_in_all_orders() {
    assert_eq!(n_orders(RECORDED_BY_OTHERS_WHILE_FREED), ALL);
}
