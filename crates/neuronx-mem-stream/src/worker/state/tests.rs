//! The choice of the next item, queue by queue, without a thread.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Picked, State};
use crate::worker::Priority;
use crate::worker::item::{Item, Plain};
use crate::worker::position::Position;
use crate::{StreamId, Ticket};

fn task() -> Item {
    Item::Task(Box::new(Plain(Some(|| ()))))
}

/// Streams 0 to 3 with the given priorities; that of stream 0 is fixed.
fn state(priorities: [u8; 3]) -> State {
    let mut state = State::new();
    for level in priorities {
        state.create_stream(Priority::new(level).unwrap(), 3);
    }
    state
}

fn push(state: &mut State, stream: u32, item: Item) -> Position {
    let ticket = state.push(StreamId(stream), item).unwrap();
    Position { stream: StreamId(stream), ticket }
}

/// Runs all that can run; returns the streams in the order in which they were chosen.
fn drain(state: &mut State) -> Vec<u32> {
    std::iter::from_fn(|| {
        let mut picked = state.pick()?;
        assert!(state.finish(&mut picked, None).is_none());
        Some(picked.position.stream.0)
    })
    .collect()
}

#[track_caller]
fn check_order(priorities: [u8; 3], submitted: &[u32], expected: &[u32]) {
    let mut state = state(priorities);
    for stream in submitted {
        push(&mut state, *stream, task());
    }
    assert_eq!(drain(&mut state), expected);
    assert!(state.is_idle());
}

#[test]
fn equal_priorities_run_in_order_of_submission() {
    check_order([0, 0, 0], &[3, 1, 0, 1, 2, 3], &[3, 1, 0, 1, 2, 3]);
}

#[test]
fn higher_priorities_run_first_and_each_stream_in_its_order() {
    check_order([0, 3, 1], &[0, 1, 2, 3, 2, 0], &[2, 2, 3, 0, 1, 0]);
}

#[test]
fn the_pool_hands_out_its_streams_in_turn_by_priority() {
    let mut state = state([0, 2, 0]);
    let mut next = |level| state.create_stream(Priority::new(level).unwrap(), 3).0;
    assert_eq!([next(0), next(0), next(0)], [1, 3, 1]);
    assert_eq!([next(2), next(2)], [2, 2]);
    // No stream has priority 1: all in turn, by a turn of their own.
    assert_eq!([next(1), next(1), next(1), next(1)], [1, 2, 3, 1]);
    assert_eq!(next(0), 3);
    assert_eq!(state.n_streams(), 4);
    assert_eq!(state.create_stream(Priority::DEFAULT, 0), StreamId::DEFAULT);
}

#[test]
fn a_waiting_stream_is_passed_over_until_the_other_has_come_that_far() {
    let mut state = state([3, 0, 0]);
    let first = push(&mut state, 0, task());
    push(&mut state, 0, task());
    push(&mut state, 1, Item::WaitFor(first));
    push(&mut state, 1, task());
    push(&mut state, 2, task());
    // Stream 1 is more urgent, and goes on as soon as the first work of stream 0 is done.
    assert_eq!(drain(&mut state), [0, 1, 1, 0, 2]);
}

#[test]
fn what_has_happened_is_not_queued() {
    let mut state = state([0, 0, 0]);
    let stamp = || Item::Stamp(Arc::default());
    let on = StreamId;
    let position = push(&mut state, 1, task());
    assert!(state.must_queue(on(1), &stamp()));
    assert!(!state.must_queue(on(2), &stamp()));
    assert!(state.must_queue(on(2), &Item::WaitFor(position)));
    assert!(!state.must_queue(on(1), &Item::WaitFor(position)));
    drain(&mut state);
    assert!(!state.must_queue(on(2), &Item::WaitFor(position)));
    assert!(state.must_queue(on(2), &Item::WaitSignal(Arc::default())));
    assert!(!state.must_queue(on(2), &Item::WaitSignal(Arc::new(AtomicBool::new(true)))));
}

#[test]
fn only_the_host_can_stall_and_not_after_shutdown() {
    let mut state = state([0, 0, 0]);
    let signal = Arc::new(AtomicBool::new(false));
    push(&mut state, 2, Item::WaitSignal(Arc::clone(&signal)));
    let last = push(&mut state, 2, task());
    push(&mut state, 1, Item::WaitFor(last));
    push(&mut state, 3, Item::WaitSignal(Arc::default()));
    push(&mut state, 0, task());
    assert_eq!(drain(&mut state), [0]);
    signal.store(true, Ordering::Relaxed);
    assert_eq!(drain(&mut state), [2, 2, 1]);
    assert!(!state.is_idle());
    state.is_shut_down = true;
    assert_eq!(drain(&mut state), [3]);
    assert!(state.is_idle());
}

#[test]
fn a_panic_dooms_what_was_accepted_before_it_was_known() {
    let mut state = state([0, 0, 0]);
    for _ in 0..2 {
        push(&mut state, 1, task());
    }
    let doomed = |picked: &Picked| (picked.position.ticket.0, picked.doom.is_some());
    let mut first = state.pick().unwrap();
    assert_eq!(doomed(&first), (1, false));
    state.finish(&mut first, Some("out of range".to_owned()));
    // Announced before the panic was known, pushed after it.
    push(&mut state, 1, Item::WaitSignal(Arc::default()));
    state.lane_mut(StreamId(1)).unwrap().reset();
    push(&mut state, 1, task());
    let fates: Vec<_> = std::iter::from_fn(|| {
        let mut picked = state.pick()?;
        state.finish(&mut picked, None);
        Some(doomed(&picked))
    })
    .collect();
    assert_eq!(fates, [(2, true), (3, true), (4, false)]);
    assert_eq!(state.lane(StreamId(1)).unwrap().completed, Ticket(4));
}

#[test]
fn a_failure_is_reported_once_and_the_lowest_stream_first() {
    let mut state = state([0, 0, 0]);
    for stream in [2, 1] {
        push(&mut state, stream, task());
        let mut picked = state.pick().unwrap();
        state.finish(&mut picked, Some(format!("stream {stream}")));
    }
    let text = |error: Option<crate::worker::WorkerError>| error.map(|error| error.to_string());
    assert_eq!(text(state.report_failure()).unwrap(), "work 1 of stream 1 panicked: stream 1");
    assert_eq!(text(state.report_failure()).unwrap(), "work 1 of stream 2 panicked: stream 2");
    assert_eq!(state.report_failure(), None);
    assert!(state.lane(StreamId(1)).unwrap().failure().is_some());
}
