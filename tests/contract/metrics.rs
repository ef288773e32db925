//! Statistics, tables and snapshots.

use super::{Held, MIB, Setup, all};

#[test]
fn peaks_survive_a_free_until_they_are_reset() {
    all(&Setup::default(), |subject| {
        let held = [4 * MIB, 8 * MIB].map(|bytes| subject.hold(bytes));
        subject.free(&held[1]).unwrap();
        for family in ["allocated_bytes", "active_bytes"] {
            let value = |metric: &str| subject.stat(&format!("{family}.all.{metric}"));
            assert_eq!((value("current"), value("peak")), (4 * MIB, 12 * MIB), "{}", subject.name());
            assert_eq!((value("allocated"), value("freed")), (12 * MIB, 8 * MIB));
        }
        subject.reset_peak();
        for family in ["allocated_bytes", "active_bytes", "reserved_bytes"] {
            let value = |metric: &str| subject.stat(&format!("{family}.all.{metric}"));
            assert_eq!(value("current"), value("peak"));
        }
        subject.free(&held[0]).unwrap();
    });
}

#[test]
fn accumulated_values_are_reset_and_current_ones_stay() {
    all(&Setup::default(), |subject| {
        let held = subject.hold(4 * MIB);
        let gone = subject.hold(MIB);
        subject.free(&gone).unwrap();
        subject.reset_accumulated();
        for key in ["num_alloc_retries", "num_ooms", "num_tensor_frees", "allocation_requests"] {
            assert_eq!(subject.stat(key), 0, "{key}");
        }
        let value = |metric: &str| subject.stat(&format!("allocated_bytes.all.{metric}"));
        assert_eq!(
            (value("current"), value("peak"), value("allocated"), value("freed")),
            (4 * MIB, 5 * MIB, 0, 0)
        );
        subject.free(&held).unwrap();
    });
}

#[test]
fn reserved_is_at_least_allocated_and_that_at_least_active() {
    all(&Setup::default(), |subject| {
        let held = [1000, 5 * MIB + 1].map(|bytes| subject.hold(bytes));
        let current = |family: &str| subject.stat(&format!("{family}.all.current"));
        assert_eq!(current("reserved_bytes"), 66 * MIB);
        assert_eq!(
            (current("allocated_bytes"), current("active_bytes")),
            (1024 + 6 * MIB, 1000 + 5 * MIB + 1)
        );
        held.iter().for_each(|held| subject.free(held).unwrap());
    });
}

#[test]
fn devices_count_for_themselves_and_start_at_zero() {
    all(&Setup { devices: 3, ..Setup::default() }, |subject| {
        let held = subject.hold(MIB);
        let unused = subject.stats_of(2);
        assert_eq!(unused.len(), 124);
        let limit = unused["max_split_size"];
        assert!(unused.values().filter(|value| **value != 0).eq([&limit]), "{}", subject.name());
        assert_eq!(subject.stats_of(0)["allocation_requests"], 1);
        subject.free(&held).unwrap();
    });
}

#[test]
fn texts_are_the_same_whoever_tells_them() {
    let texts = std::cell::RefCell::new(Vec::new());
    all(&Setup::default(), |subject| {
        let held = [4 * MIB, 8 * MIB].map(|bytes| subject.hold(bytes));
        subject.free(&held[0]).unwrap();
        let summary = subject.summary();
        let analysis = subject.analysis_summary();
        let snapshot = subject.snapshot_json();
        assert!(snapshot.starts_with('{') && snapshot.contains("\"segments\""));
        texts.borrow_mut().push((subject.name(), summary, analysis));
        subject.free(&held[1]).unwrap();
    });
    let texts = texts.into_inner();
    insta::assert_snapshot!(texts[0].1);
    for (name, summary, analysis) in &texts {
        assert_eq!(summary, &texts[0].1, "{name}");
        // Over libnrt the range of addresses is not known; the same libnrt tells the same.
        let same = texts.iter().filter(|(other, _, _)| name.ends_with("libnrt") == other.ends_with("libnrt"));
        same.for_each(|(_, _, other)| assert_eq!(analysis, other, "{name}"));
    }
}

#[test]
fn threads_that_allocate_and_free_leave_nothing() {
    all(&Setup::default(), |subject| {
        std::thread::scope(|scope| {
            for seed in 0..4u64 {
                scope.spawn(move || {
                    let mut held: Vec<Held> = Vec::new();
                    for i in 0..500u64 {
                        held.push(subject.hold((i * 7919 + seed * 104_729) % (3 * MIB) + 1));
                        if i % 3 != 0 {
                            let idx = usize::try_from(i * seed).unwrap() % held.len();
                            subject.free(&held.swap_remove(idx)).unwrap();
                        }
                    }
                    held.iter().for_each(|held| subject.free(held).unwrap());
                });
            }
        });
        subject.synchronize();
        let stats = ["allocated_bytes.all.current", "active_bytes.all.current", "allocation.all.current"];
        assert_eq!(stats.map(|key| subject.stat(key)), [0; 3], "{}", subject.name());
        assert_eq!((subject.stat("allocation_requests"), subject.stat("num_tensor_frees")), (2000, 2000));
    });
}
