//! The schedule of work: in order on a stream, beside each other across streams, stalled and
//! released; and as a driver of a queue uses it.

use neuronx_mem_sim::{CompletedWork, FaultPlan, SimulatedWork, WorkHandle, WorkState};
use proptest::prelude::*;

fn fixed(delay_ns: u64) -> SimulatedWork {
    FaultPlan::new(0).work_delay_ns(delay_ns..=delay_ns).work()
}

/// `stream:completed` of each stream that moved.
fn told(completed: &[CompletedWork]) -> String {
    completed.iter().map(|c| format!("{}:{}", c.stream, c.n_completed)).collect::<Vec<_>>().join(" ")
}

fn at(ns: u64) -> WorkState {
    WorkState::CompletesAt { ns }
}

#[test]
fn streams_run_in_order_and_beside_each_other() {
    let mut work = fixed(10);
    let a = work.submit(1);
    let b = work.submit(1);
    let c = work.submit(0);
    assert_eq!((a, b), (WorkHandle { stream: 1, ticket: 1 }, WorkHandle { stream: 1, ticket: 2 }));
    assert_eq!([a, b, c].map(|handle| work.state(handle)), [at(10), at(20), at(10)]);
    assert_eq!(told(&work.advance_to(9)), "");
    assert_eq!(told(&work.advance_to(10)), "0:1 1:1");
    assert_eq!(work.next_completion_ns(), Some(20));
    let d = work.submit(0); // at 10, on an idle stream
    let e = work.submit(1); // at 10, behind b
    assert_eq!((work.state(d), work.state(e)), (at(20), at(30)));
    assert_eq!(told(&work.advance_to(5)), ""); // no way back
    assert_eq!(work.now_ns(), 10);
    assert_eq!(told(&work.advance_to(100)), "0:2 1:3");
    assert_eq!((work.state(a), work.next_completion_ns()), (WorkState::Completed, None));
    assert_eq!(work.state(WorkHandle { stream: 1, ticket: 4 }), WorkState::Unknown);
    assert_eq!(work.state(WorkHandle { stream: 1, ticket: 0 }), WorkState::Unknown);
    assert_eq!(work.state(WorkHandle { stream: 9, ticket: 1 }), WorkState::Unknown);
}

#[test]
fn without_delays_work_completes_when_it_is_looked_at() {
    let mut work = FaultPlan::new(3).work();
    work.submit(0);
    work.submit(0);
    assert_eq!(told(&work.advance_to(0)), "0:2");
}

#[test]
fn a_stalled_stream_never_completes_until_it_is_released() {
    let mut work = FaultPlan::new(0).work_delay_ns(10..=10).stall_stream(1, 2).work();
    let handles = [(); 3].map(|()| work.submit(1));
    work.submit(0);
    assert_eq!(handles.map(|h| work.state(h)), [at(10), WorkState::Stalled, WorkState::Stalled]);
    assert_eq!(told(&work.advance_to(1_000_000)), "0:1 1:1");
    assert_eq!(work.next_completion_ns(), None);
    work.release(1);
    assert_eq!(handles.map(|h| work.state(h)), [WorkState::Completed, at(1_000_010), at(1_000_020)]);
    assert_eq!(told(&work.advance_to(1_000_015)), "1:2");
    work.stall(1, 3); // the third piece runs, but is not through
    assert_eq!(told(&work.advance_to(2_000_000)), "");
    work.release(1);
    work.release(1);
    work.release(7);
    assert_eq!(told(&work.advance_to(2_000_010)), "1:3");
}

#[test]
fn a_release_before_the_stalled_piece_is_reached_delays_nothing() {
    let mut work = FaultPlan::new(0).work_delay_ns(10..=10).stall_stream(0, 2).work();
    let handles = [(); 2].map(|()| work.submit(0));
    assert_eq!(told(&work.advance_to(5)), "");
    work.release(0);
    assert_eq!(handles.map(|h| work.state(h)), [at(10), at(20)]);
    // Released once, it stays so.
    assert_eq!(told(&work.advance_to(20)), "0:2");
}

#[test]
fn delays_are_drawn_from_the_seed_by_stream_and_ticket() {
    let ends = |seed: u64| {
        let mut work = FaultPlan::new(seed).work_delay_ns(5..=9).work();
        [0, 0, 0, 1, 1, 1].map(|stream| {
            let handle = work.submit(stream);
            work.state(handle)
        })
    };
    assert_eq!(ends(1), ends(1));
    assert_ne!(ends(1), ends(2));
    let lengths =
        |ends: [WorkState; 6]| ends.map(|end| matches!(end, WorkState::CompletesAt { ns } if ns > 7));
    assert!((0..20).any(|seed| lengths(ends(seed))[..3] != lengths(ends(seed))[3..]));
    // The order of submission on other streams changes nothing.
    let mut other = FaultPlan::new(1).work_delay_ns(5..=9).work();
    let handles = [1, 0, 1, 0, 1, 0].map(|stream| other.submit(stream));
    let states = [1, 3, 5, 0, 2, 4].map(|idx: usize| other.state(handles[idx]));
    assert_eq!(states, ends(1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    /// The model by itself: ends of pieces as sums, told exactly when they are due.
    #[test]
    fn what_is_foretold_happens(seed in any::<u64>(), steps in prop::collection::vec((0u32..4, 0u64..40), 1..80)) {
        let mut work = FaultPlan::new(seed).work_delay_ns(1..=30).stall_stream(3, 2).work();
        let mut handles: Vec<(WorkHandle, WorkState)> = Vec::new();
        let mut now_ns = 0;
        for (stream, pause_ns) in steps {
            let handle = work.submit(stream);
            let state = work.state(handle);
            prop_assert_eq!(state == WorkState::Stalled, handle.stream == 3 && handle.ticket >= 2);
            handles.push((handle, state));
            now_ns += pause_ns;
            let completed = work.advance_to(now_ns);
            prop_assert!(completed.windows(2).all(|pair| pair[0].stream < pair[1].stream));
            for (handle, foretold) in &handles {
                let is_due = matches!(foretold, WorkState::CompletesAt { ns } if *ns <= now_ns);
                let expected = if is_due { WorkState::Completed } else { *foretold };
                prop_assert_eq!(work.state(*handle), expected);
            }
            for CompletedWork { stream, n_completed } in completed {
                prop_assert_eq!(work.state(WorkHandle { stream, ticket: n_completed }), WorkState::Completed);
                let next = WorkHandle { stream, ticket: n_completed + 1 };
                prop_assert_ne!(work.state(next), WorkState::Completed);
            }
        }
        // Stepping from completion to completion ends with the stalled stream alone.
        while let Some(ns) = work.next_completion_ns() {
            prop_assert!(!work.advance_to(ns).is_empty());
        }
        for (handle, foretold) in handles {
            let expected = if foretold == WorkState::Stalled { foretold } else { WorkState::Completed };
            prop_assert_eq!(work.state(handle), expected);
        }
    }
}
