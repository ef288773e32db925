//! Allocating and freeing.

use super::{MIB, Outcome, Setup, all};

#[test]
fn an_allocation_returns_a_valid_pointer() {
    all(&Setup::default(), |subject| {
        let held = subject.hold(4 * MIB);
        assert!(held.address != 0 && held.address.is_multiple_of(64), "{}", subject.name());
        assert_eq!((held.requested_bytes, held.block_bytes), (4 * MIB, 4 * MIB));
        assert_eq!(subject.memory_info(), (64 * MIB, 24 << 30));
        subject.free(&held).unwrap();
    });
}

#[test]
fn no_bytes_are_a_null_pointer_without_a_runtime_call() {
    all(&Setup::default(), |subject| {
        let held = subject.hold(0);
        assert_eq!((held.id, held.address, held.block_bytes), (0, 0, 0));
        assert_eq!((subject.stat("num_device_alloc"), subject.stat("allocation_requests")), (0, 1));
        subject.record_stream(&held, 0).unwrap();
        assert_eq!((subject.free(&held), subject.free(&held)), (Ok(()), Ok(())));
    });
}

#[test]
fn the_same_size_is_recycled_without_a_runtime_call() {
    all(&Setup::default(), |subject| {
        let first = subject.hold(4 * MIB);
        subject.free(&first).unwrap();
        let again = subject.hold(4 * MIB);
        assert_eq!(again.address, first.address);
        // Another size comes from the same segment, where it once had a tensor of its own.
        let other = subject.hold(8 * MIB);
        assert_eq!(subject.stat("num_device_alloc"), 1);
        // In another pool it does not.
        let small = subject.hold(4096);
        assert_eq!(subject.stat("num_device_alloc"), 2);
        [again, other, small].iter().for_each(|held| subject.free(held).unwrap());
    });
}

#[test]
fn a_block_is_freed_exactly_once() {
    all(&Setup::default(), |subject| {
        let held = subject.hold(4 * MIB);
        subject.free(&held).unwrap();
        assert_eq!(subject.free(&held), Err(Outcome::InvalidBlock), "{}", subject.name());
        // Its memory belongs to somebody else now, whom an old free does not touch.
        let next = subject.hold(4 * MIB);
        assert_eq!(subject.free(&held), Err(Outcome::InvalidBlock));
        assert_eq!(subject.record_stream(&held, 0), Err(Outcome::InvalidBlock));
        assert_eq!(subject.stat("allocated_bytes.all.current"), 4 * MIB);
        subject.free(&next).unwrap();
        assert_eq!(subject.stat("num_tensor_frees"), 2);
    });
}

#[test]
fn sizes_beyond_any_device_are_an_error() {
    all(&Setup::default(), |subject| {
        assert_eq!(subject.allocate(u64::MAX, 0), Err(Outcome::SizeOverflow));
        assert_eq!(subject.allocate(u64::MAX - 4096, 0), Err(Outcome::SizeOverflow));
        assert_eq!(subject.stat("num_device_alloc"), 0);
    });
}

#[test]
fn empty_cache_gives_free_segments_back_and_no_other() {
    all(&Setup::default(), |subject| {
        let (kept, freed) = (subject.hold(4096), subject.hold(100 * MIB));
        subject.free(&freed).unwrap();
        assert_eq!(subject.memory_info().0, 102 * MIB);
        assert_eq!(subject.empty_cache(), (1, 100 * MIB));
        assert_eq!((subject.memory_info().0, subject.stat("reserved_bytes.all.current")), (2 * MIB, 2 * MIB));
        assert_eq!(subject.empty_cache(), (0, 0));
        subject.free(&kept).unwrap();
    });
}

#[test]
fn blocks_that_nobody_frees_go_back_with_the_allocator() {
    all(&Setup::default(), |subject| {
        subject.hold(4 * MIB);
        subject.hold(100 * MIB);
    });
}

#[test]
fn configured_keys_decide_on_sizes() {
    let setup = Setup { config: "kRoundupPower2Divisions=8,kMediumSegmentSize=33554432", ..Setup::default() };
    all(&setup, |subject| {
        let held = subject.hold(5 * MIB + 1);
        assert_eq!(held.block_bytes, 5 * MIB + MIB / 2);
        assert_eq!(subject.stat("reserved_bytes.all.current"), 32 * MIB);
        subject.free(&held).unwrap();
    });
}
