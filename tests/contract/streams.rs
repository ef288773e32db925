//! Frees in stream order, and blocks that several streams use.

use super::{MIB, Outcome, Setup, all};

#[test]
fn a_free_waits_for_the_work_before_it() {
    all(&Setup::default(), |subject| {
        let held = subject.hold(4 * MIB);
        let work = subject.submit(0);
        subject.free(&held).unwrap();
        assert_eq!(subject.stat("allocated_bytes.all.current"), 4 * MIB, "{}", subject.name());
        subject.complete(0, work).unwrap();
        assert_eq!(subject.stat("allocated_bytes.all.current"), 0);
    });
}

#[test]
fn memory_freed_on_one_stream_serves_any_other() {
    all(&Setup::default(), |subject| {
        let other = subject.new_stream();
        let first = subject.hold(4 * MIB);
        subject.free(&first).unwrap();
        let second = subject.allocate(4 * MIB, other).unwrap();
        assert_eq!(second.address, first.address);
        subject.free(&second).unwrap();
    });
}

#[test]
fn a_recorded_block_waits_for_the_last_of_its_streams() {
    all(&Setup::default(), |subject| {
        let (a, b) = (subject.new_stream(), subject.new_stream());
        let held = subject.hold(4 * MIB);
        // The own stream is none, and the same twice is once.
        [0, a, b, a, a].iter().for_each(|stream| subject.record_stream(&held, *stream).unwrap());
        let work = [0, a, b].map(|stream| (stream, subject.submit(stream)));
        subject.free(&held).unwrap();
        for (n_done, (stream, ticket)) in work.into_iter().rev().enumerate() {
            assert_eq!(subject.stat("allocated_bytes.all.current"), 4 * MIB, "{n_done} done");
            subject.complete(stream, ticket).unwrap();
        }
        assert_eq!(subject.stat("allocated_bytes.all.current"), 0);
    });
}

#[test]
fn a_stalled_stream_delays_its_own_blocks_alone() {
    all(&Setup::default(), |subject| {
        let stalled = subject.new_stream();
        let held = subject.allocate(4 * MIB, stalled).unwrap();
        let work = subject.submit(stalled);
        subject.free(&held).unwrap();
        for _ in 0..100 {
            let other = subject.hold(4 * MIB);
            assert_ne!(other.address, held.address);
            subject.free(&other).unwrap();
        }
        assert_eq!(subject.stat("reserved_bytes.all.current"), 64 * MIB);
        subject.complete(stalled, work).unwrap();
        assert_eq!(subject.stat("allocated_bytes.all.current"), 0);
    });
}

#[test]
fn streams_that_are_none_are_refused() {
    all(&Setup::default(), |subject| {
        assert_eq!(subject.allocate(MIB, 7), Err(Outcome::UnknownStream), "{}", subject.name());
        let held = subject.hold(MIB);
        assert_eq!(subject.record_stream(&held, 7), Err(Outcome::UnknownStream));
        assert_eq!(subject.complete(7, 1), Err(Outcome::UnknownStream));
        assert_eq!(subject.complete(0, 1), Err(Outcome::UnknownStream));
        subject.free(&held).unwrap();
    });
}

#[test]
fn synchronize_runs_every_queued_free() {
    all(&Setup::default(), |subject| {
        let other = subject.new_stream();
        for stream in [0, other] {
            let held = subject.allocate(MIB, stream).unwrap();
            subject.submit(stream);
            subject.free(&held).unwrap();
        }
        assert_eq!(subject.stat("allocated_bytes.all.current"), 2 * MIB);
        subject.synchronize();
        assert_eq!(subject.stat("allocated_bytes.all.current"), 0);
        assert_eq!(subject.stat("num_sync_all_streams"), 1);
    });
}
