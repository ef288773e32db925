//! Who goes, who stays, and what is swept.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use tempfile::TempDir;

use super::evict::evict;
use super::oldest::{Oldest, Record};
use super::{GcOptions, GcReport};
use crate::{CacheKey, EntryKind, Store};

const HOUR: Duration = Duration::from_secs(3600);

/// A moment that no file of a test has by itself.
fn moment(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + second)
}

fn age(path: &Path, time: SystemTime) {
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

fn key(number: u64) -> CacheKey {
    CacheKey::of_bytes(&number.to_le_bytes())
}

/// Entries 0 to n-1 of 100 bytes each; the higher the number, the more recently used.
fn filled(directory: &TempDir, n_entries: u64) -> Store {
    let store = Store::open(directory.path(), EntryKind::Neff);
    for number in 0..n_entries {
        store.put(&key(number), &[7; 100]).unwrap();
        age(&store.path_of(&key(number)), moment(number));
    }
    store
}

fn kept(store: &Store, n_entries: u64) -> Vec<u64> {
    (0..n_entries).filter(|number| store.exists(&key(*number))).collect()
}

#[track_caller]
fn check_counts(report: &GcReport, scanned: u64, removed: u64, kept_bytes: u64) {
    let counts = (report.scanned_entries, report.removed_entries, report.kept_bytes, report.failures);
    assert_eq!(counts, (scanned, removed, kept_bytes, 0));
}

#[test]
fn the_least_recently_used_go_first() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory, 20);
    age(&store.path_of(&key(3)), moment(100));
    let report = store.gc(&GcOptions::new(1250)).unwrap();
    check_counts(&report, 20, 8, 1200);
    assert_eq!((report.scanned_bytes, report.removed_bytes), (2000, 800));
    assert_eq!(kept(&store, 20), [3, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
}

#[test]
fn nothing_goes_while_it_fits() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory, 5);
    check_counts(&store.gc(&GcOptions::new(500)).unwrap(), 5, 0, 500);
    check_counts(&store.gc(&GcOptions::new(499)).unwrap(), 5, 1, 400);
}

#[test]
fn nothing_stays_of_zero_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory, 30);
    let report = store.gc(&GcOptions::new(0)).unwrap();
    check_counts(&report, 30, 30, 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    check_counts(&store.gc(&GcOptions::new(0)).unwrap(), 0, 0, 0);
}

#[test]
fn a_bounded_batch_gives_the_same() {
    for n_batch in [0, 1, 2, 7] {
        let directory = tempfile::tempdir().unwrap();
        let store = filled(&directory, 20);
        let report = store.gc(&GcOptions::new(600).with_n_batch(n_batch)).unwrap();
        check_counts(&report, 20, 14, 600);
        assert_eq!(kept(&store, 20), [14, 15, 16, 17, 18, 19]);
    }
}

#[test]
fn an_entry_used_since_the_walk_stays() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory, 1);
    let record = Record { used: moment(0), key: key(0), length_bytes: 100 };
    assert!(store.get(&key(0)).is_some());
    let mut report = GcReport { kept_bytes: 100, ..GcReport::default() };
    evict(&store, &record, &mut report);
    assert_eq!((report.spared_entries, report.removed_entries, report.kept_bytes), (1, 0, 100));
    assert!(store.get(&key(0)).is_some_and(|entry| entry.is_sealed));
}

#[test]
fn a_reader_keeps_its_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory, 1);
    let mut file = File::open(store.path_of(&key(0))).unwrap();
    check_counts(&store.gc(&GcOptions::new(0)).unwrap(), 1, 1, 0);
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    assert_eq!(bytes, [7; 100]);
}

#[test]
fn leftovers_go_when_they_are_old() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory, 1);
    let shard = store.path_of(&key(0)).parent().unwrap().to_owned();
    let options = GcOptions::new(u64::MAX).with_now(moment(0) + HOUR);
    for (name, time) in [(".tmp.old", moment(0)), (".tmp.young", moment(1)), ("other.txt", moment(0))] {
        fs::write(shard.join(name), b"x").unwrap();
        age(&shard.join(name), time);
    }
    let orphan = directory.path().join("ff/ff");
    fs::create_dir_all(&orphan).unwrap();
    let seal = orphan.join("ffff0000000000000000000000000000.3-06b05ab6733a618578af5f94892f3950.seal");
    File::create(&seal).unwrap();
    age(&seal, moment(0));
    let empty = orphan.join("ffff0000000000000000000000000000.neff");
    File::create(&empty).unwrap();
    age(&empty, moment(0));
    let report = store.gc(&options).unwrap();
    check_counts(&report, 1, 0, 100);
    assert_eq!(report.removed_leftovers, 3);
    assert!(!orphan.exists() && shard.join(".tmp.young").exists() && shard.join("other.txt").exists());
    assert!(store.get(&key(0)).unwrap().is_sealed);
}

#[test]
fn seals_of_overwritten_bytes_go_and_the_right_one_stays() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), EntryKind::Neff);
    for bytes in [&b"one"[..], b"two", b"three"] {
        store.put(&key(0), bytes).unwrap();
    }
    let shard = store.path_of(&key(0)).parent().unwrap().to_owned();
    let n_files = || fs::read_dir(&shard).unwrap().count();
    let report = store.gc(&GcOptions::new(u64::MAX)).unwrap();
    assert_eq!((report.removed_leftovers, n_files()), (0, 4));
    let later = GcOptions::new(u64::MAX).with_now(SystemTime::now() + HOUR + HOUR);
    let report = store.gc(&later).unwrap();
    assert_eq!((report.removed_leftovers, n_files()), (2, 2));
    let entry = store.get(&key(0)).unwrap();
    assert_eq!((entry.bytes.as_slice(), entry.is_sealed), (&b"three"[..], true));
}

#[test]
fn damage_is_not_made_to_look_whole() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), EntryKind::Neff);
    store.put(&key(0), b"one").unwrap();
    store.put(&key(0), b"two").unwrap();
    fs::write(store.path_of(&key(0)), b"tw").unwrap();
    let later = GcOptions::new(u64::MAX).with_now(SystemTime::now() + HOUR + HOUR);
    assert_eq!(store.gc(&later).unwrap().removed_leftovers, 0);
    assert!(store.lookup(&key(0)).met_corruption());
}

#[test]
fn read_only_layers_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let shared = filled(&directory, 3);
    let local = tempfile::tempdir().unwrap();
    let store = Store::layered(local.path(), directory.path(), EntryKind::Neff);
    check_counts(&store.gc(&GcOptions::new(0)).unwrap(), 0, 0, 0);
    assert_eq!(kept(&shared, 3), [0, 1, 2]);
}

proptest! {
    /// Against sorting everything.
    #[test]
    fn the_bounded_heap_holds_the_oldest(
        ages in proptest::collection::vec((0u64..50, 1u64..100), 0..60),
        n_most in 1usize..20,
        wanted in 0u64..2000,
    ) {
        let records: Vec<Record> = ages
            .iter()
            .enumerate()
            .map(|(idx, (second, length))| Record {
                used: moment(*second),
                key: CacheKey::from_number(idx as u128),
                length_bytes: *length,
            })
            .collect();
        let mut oldest = Oldest::new(n_most, wanted);
        records.iter().for_each(|record| oldest.offer(*record));
        let mut sorted = records;
        sorted.sort();
        let mut expected = Vec::new();
        let mut bytes = 0;
        for record in sorted.into_iter().take(n_most) {
            if bytes >= wanted {
                break;
            }
            bytes += record.length_bytes;
            expected.push(record);
        }
        expected.sort_by_key(|record| record.key);
        prop_assert_eq!(oldest.into_shard_order(), expected);
    }
}
