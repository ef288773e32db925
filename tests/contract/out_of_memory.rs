//! When memory runs out, and when something else fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{MIB, Outcome, Setup, all};

fn tight() -> Setup {
    Setup { memory_bytes: 128 * MIB, ..Setup::default() }
}

#[test]
fn a_refused_allocation_recovers_and_counts_a_retry() {
    all(&Setup { faults: "seed=1 fail=allocate:once(1):4", ..Setup::default() }, |subject| {
        let held = subject.hold(4 * MIB);
        assert_eq!((subject.stat("num_alloc_retries"), subject.stat("num_ooms")), (1, 0));
        subject.free(&held).unwrap();
    });
    // The same without a fault: cached memory makes room.
    all(&tight(), |subject| {
        let cached = subject.hold(100 * MIB);
        subject.free(&cached).unwrap();
        let held = subject.hold(110 * MIB);
        assert_eq!((subject.stat("num_alloc_retries"), subject.stat("num_ooms")), (1, 0));
        subject.free(&held).unwrap();
    });
}

#[test]
fn persistent_exhaustion_is_an_error_and_counted() {
    all(&tight(), |subject| {
        let held = subject.hold(100 * MIB);
        assert_eq!(subject.allocate(100 * MIB, 0), Err(Outcome::OutOfMemory), "{}", subject.name());
        assert_eq!((subject.stat("num_alloc_retries"), subject.stat("num_ooms")), (1, 1));
        assert_eq!(subject.stat("allocated_bytes.all.current"), 100 * MIB);
        subject.free(&held).unwrap();
        let after = subject.hold(100 * MIB);
        subject.free(&after).unwrap();
    });
    all(&Setup { faults: "seed=1 fail=allocate:from(1):4", ..Setup::default() }, |subject| {
        assert_eq!(subject.allocate(4 * MIB, 0), Err(Outcome::OutOfMemory));
        assert_eq!((subject.stat("num_ooms"), subject.stat("reserved_bytes.all.current")), (1, 0));
    });
}

#[test]
fn any_other_status_fails_at_once() {
    for (faults, status) in [
        ("seed=1 fail=allocate:from(1):1", 1),
        ("seed=1 fail=allocate:from(1):2", 2),
        ("seed=1 fail=allocate:from(1):6", 6),
        ("seed=1 fail=allocate:from(1):11", 11),
        ("seed=1 fail=allocate:from(1):13", 13),
        ("seed=1 fail=allocate:from(1):14", 14),
    ] {
        all(&Setup { faults, ..Setup::default() }, |subject| {
            assert_eq!(subject.allocate(4 * MIB, 0), Err(Outcome::Runtime(status)), "{}", subject.name());
            assert_eq!((subject.stat("num_alloc_retries"), subject.stat("num_ooms")), (0, 0));
        });
    }
}

#[test]
fn the_second_step_can_be_switched_off() {
    all(&Setup { has_recovery: false, ..tight() }, |subject| {
        let cached = subject.hold(100 * MIB);
        subject.free(&cached).unwrap();
        assert_eq!(subject.allocate(110 * MIB, 0), Err(Outcome::OutOfMemory));
        assert_eq!((subject.stat("num_alloc_retries"), subject.stat("num_device_free")), (0, 0));
    });
}

#[test]
fn the_first_step_waits_for_the_own_stream() {
    all(&Setup { has_recovery: false, ..tight() }, |subject| {
        // A medium segment, so that its free part serves another size.
        let first = subject.hold(60 * MIB);
        subject.submit(0);
        subject.free(&first).unwrap();
        let second = subject.hold(60 * MIB);
        assert_eq!(second.address, first.address);
        subject.submit(0);
        subject.free(&second).unwrap();
        let other = subject.hold(50 * MIB);
        assert_eq!((other.address == first.address, subject.stat("num_ooms")), (false, 0));
        subject.free(&other).unwrap();
    });
}

#[test]
fn cleanup_runs_when_memory_runs_out_and_at_no_other_time() {
    all(&tight(), |subject| {
        let counts: [Arc<AtomicU64>; 2] = Default::default();
        let ids = counts.clone().map(|count| {
            subject.on_release(Box::new(move || {
                count.fetch_add(1, Ordering::SeqCst);
            }))
        });
        let read = || counts.each_ref().map(|count| count.load(Ordering::SeqCst));
        let held = subject.hold(100 * MIB);
        assert_eq!(read(), [0, 0]);
        assert_eq!(subject.allocate(100 * MIB, 0), Err(Outcome::OutOfMemory));
        assert_eq!(read(), [1, 1], "{}: all callbacks run", subject.name());
        // Unregistering twice, or what never was, is safe.
        assert!(subject.forget_release(ids[0]) && !subject.forget_release(ids[0]));
        assert!(!subject.forget_release(77));
        assert_eq!(subject.allocate(100 * MIB, 0), Err(Outcome::OutOfMemory));
        assert_eq!(read(), [1, 2]);
        subject.free(&held).unwrap();
        assert!(subject.forget_release(ids[1]));
    });
}

#[test]
fn a_cap_is_like_a_smaller_device() {
    all(&Setup::default(), |subject| {
        subject.set_cap(64 * MIB);
        let held = subject.hold(40 * MIB);
        assert_eq!(subject.allocate(40 * MIB, 0), Err(Outcome::OutOfMemory));
        subject.set_cap(u64::MAX);
        let more = subject.hold(40 * MIB);
        [held, more].iter().for_each(|held| subject.free(held).unwrap());
    });
}
