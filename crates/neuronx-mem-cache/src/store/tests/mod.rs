//! The store from outside and its files from inside; named after the tests of the first system
//! where they ask the same.

mod concurrent;
mod properties;

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::place::seal_name;
use super::seal::Seal;
use super::{Durability, EntryKind, Layer, MissReason, Store};
use crate::CacheKey;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn store(directory: &TempDir) -> Store {
    Store::open(directory.path(), EntryKind::Neff)
}

fn key(number: u128) -> CacheKey {
    CacheKey::from_number(number)
}

/// Every file below a directory, relative and sorted.
fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(directory) = todo.pop() {
        for file in fs::read_dir(directory).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[track_caller]
fn check_bytes(store: &Store, key: CacheKey, bytes: &[u8]) {
    let entry = store.get(&key).unwrap();
    assert_eq!((entry.bytes.as_slice(), entry.is_sealed), (bytes, true));
}

#[track_caller]
fn check_miss(store: &Store, key: CacheKey, reason: MissReason) {
    let lookup = store.lookup(&key);
    assert_eq!((lookup.entry, lookup.miss), (None, Some(reason)));
}

fn age(path: &Path, time: SystemTime) {
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

#[test]
fn put_and_get() {
    let directory = directory();
    let store = store(&directory);
    store.put(&key(1), b"neff").unwrap();
    check_bytes(&store, key(1), b"neff");
    assert!(store.exists(&key(1)));
    assert_eq!(store.get(&key(1)).unwrap().layer, Layer::Local);
}

#[test]
fn get_non_existent() {
    let directory = directory();
    check_miss(&store(&directory), key(1), MissReason::Absent);
    assert!(!store(&directory).exists(&key(1)));
    let nowhere = Store::open(directory.path().join("a/b"), EntryKind::Neff);
    check_miss(&nowhere, key(1), MissReason::Absent);
    assert_eq!(files(directory.path()), [""; 0]);
}

#[test]
fn remove() {
    let directory = directory();
    let store = store(&directory);
    store.put(&key(1), b"one").unwrap();
    store.put(&key(1), b"two").unwrap();
    assert!(store.remove(&key(1)).unwrap());
    check_miss(&store, key(1), MissReason::Absent);
    assert_eq!(files(directory.path()), [""; 0]);
    assert!(!store.remove(&key(1)).unwrap());
}

#[test]
fn sharded_path() {
    let directory = directory();
    let store = store(&directory);
    let key: CacheKey = "0123456789abcdef0123456789abcdef".parse().unwrap();
    store.put(&key, b"abc").unwrap();
    let seal = "01/23/0123456789abcdef0123456789abcdef.3-06b05ab6733a618578af5f94892f3950.seal";
    assert_eq!(files(directory.path()), [seal, "01/23/0123456789abcdef0123456789abcdef.neff"]);
    assert_eq!(fs::read(store.path_of(&key)).unwrap(), b"abc");
    assert_eq!(fs::metadata(directory.path().join(seal)).unwrap().len(), 0);
    let hlo = Store::open(directory.path(), EntryKind::Hlo);
    assert!(hlo.path_of(&key).ends_with("01/23/0123456789abcdef0123456789abcdef.hlo"));
}

#[test]
fn files_are_readable_by_whom_the_umask_lets_in() {
    let directory = directory();
    let store = store(&directory);
    store.put(&key(1), b"neff").unwrap();
    let plain = directory.path().join("plain");
    File::create(&plain).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&store.path_of(&key(1))), mode(&plain));
}

#[test]
fn large_data() {
    let directory = directory();
    let store = store(&directory).with_durability(Durability::Machine);
    let bytes: Vec<u8> = (0..8_000_000u32).map(|idx| idx.to_le_bytes()[idx as usize % 3]).collect();
    store.put(&key(1), &bytes).unwrap();
    check_bytes(&store, key(1), &bytes);
}

#[test]
fn empty_data() {
    let directory = directory();
    let store = store(&directory);
    let error = store.put(&key(0xa), b"").unwrap_err();
    let text = "entry 0000000000000000000000000000000a has no bytes, and an empty entry cannot be told from a missing one";
    assert_eq!(error.to_string(), text);
    store.put(&key(1), b"neff").unwrap();
    File::create(store.path_of(&key(1))).unwrap();
    check_miss(&store, key(1), MissReason::Empty);
    assert!(!store.exists(&key(1)));
}

#[test]
fn overwrite() {
    let directory = directory();
    let store = store(&directory);
    for bytes in [&b"first"[..], b"second, longer", b"3", b"first"] {
        store.put(&key(1), bytes).unwrap();
        check_bytes(&store, key(1), bytes);
    }
}

#[test]
fn damage_is_a_miss_until_the_next_put() {
    let directory = directory();
    let store = store(&directory);
    let path = store.path_of(&key(1));
    store.put(&key(1), b"0123456789").unwrap();
    fs::write(&path, b"01234").unwrap();
    let reason = MissReason::Corrupt { length_bytes: 5, sealed_length_bytes: 10 };
    assert_eq!(reason.to_string(), "the entry has 5 bytes and 10 were stored");
    check_miss(&store, key(1), reason);
    fs::write(&path, b"0123x56789").unwrap();
    let reason = MissReason::Corrupt { length_bytes: 10, sealed_length_bytes: 10 };
    assert_eq!(reason.to_string(), "the entry's 10 bytes are not those that were stored");
    check_miss(&store, key(1), reason);
    store.put(&key(1), b"0123456789").unwrap();
    check_bytes(&store, key(1), b"0123456789");
}

#[test]
fn unreadable_is_a_miss() {
    let directory = directory();
    let store = store(&directory);
    fs::create_dir_all(store.path_of(&key(1))).unwrap();
    check_miss(&store, key(1), MissReason::Unreadable { reason: "not a file".to_owned() });
    assert!(!store.exists(&key(1)));
}

#[test]
fn files_of_another_program_are_taken_without_seal() {
    let directory = directory();
    let store = store(&directory);
    fs::create_dir_all(store.path_of(&key(1)).parent().unwrap()).unwrap();
    fs::write(store.path_of(&key(1)), b"theirs").unwrap();
    let entry = store.get(&key(1)).unwrap();
    assert_eq!((entry.bytes.as_slice(), entry.is_sealed), (&b"theirs"[..], false));
}

#[test]
fn a_writer_that_died_leaves_the_old_entry() {
    let directory = directory();
    let store = store(&directory);
    store.put(&key(1), b"old").unwrap();
    let shard = store.path_of(&key(1)).parent().unwrap().to_owned();
    // As far as a writer gets before the rename.
    fs::write(shard.join(".tmp.abc"), b"new").unwrap();
    File::create(shard.join(seal_name(key(1), Seal::of(b"new")))).unwrap();
    check_bytes(&store, key(1), b"old");
}

#[test]
fn hits_renew_the_age() {
    let directory = directory();
    let store = store(&directory);
    store.put(&key(1), b"neff").unwrap();
    let path = store.path_of(&key(1));
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    age(&path, long_ago);
    check_bytes(&store, key(1), b"neff");
    let renewed = modified(&path);
    assert!(renewed > long_ago + Duration::from_secs(100_000_000));
    check_bytes(&store, key(1), b"neff");
    assert_eq!(modified(&path), renewed);
}

#[test]
fn layered_reads_both_and_writes_one() {
    let directory = directory();
    let [local, shared] = ["local", "shared"].map(|name| directory.path().join(name));
    let theirs = Store::open(&shared, EntryKind::Neff);
    theirs.put(&key(1), b"shared").unwrap();
    let long_ago = SystemTime::UNIX_EPOCH;
    age(&theirs.path_of(&key(1)), long_ago);
    let before = files(&shared);
    let store = Store::layered(&local, &shared, EntryKind::Neff);
    let entry = store.get(&key(1)).unwrap();
    assert_eq!((entry.bytes.as_slice(), entry.layer), (&b"shared"[..], Layer::Shared(0)));
    assert!(store.exists(&key(1)) && !local.exists());
    store.put(&key(1), b"local").unwrap();
    store.put(&key(2), b"local").unwrap();
    assert_eq!(store.get(&key(1)).unwrap().layer, Layer::Local);
    assert!(store.remove(&key(1)).unwrap());
    check_bytes(&store, key(1), b"shared");
    assert_eq!(store.clear().unwrap(), 1);
    assert_eq!((files(&shared), modified(&theirs.path_of(&key(1)))), (before, long_ago));
}

#[test]
fn damage_in_one_layer_does_not_hide_the_other() {
    let directory = directory();
    let [local, shared] = ["local", "shared"].map(|name| directory.path().join(name));
    Store::open(&shared, EntryKind::Neff).put(&key(1), b"shared").unwrap();
    let store = Store::layered(&local, &shared, EntryKind::Neff);
    store.put(&key(1), b"local").unwrap();
    fs::write(store.path_of(&key(1)), b"loc").unwrap();
    let lookup = store.lookup(&key(1));
    assert!(lookup.met_corruption());
    assert_eq!(lookup.entry.unwrap().bytes, b"shared");
}

#[test]
fn clear_empty_cache() {
    let directory = directory();
    assert_eq!(store(&directory).clear().unwrap(), 0);
    assert_eq!(Store::open(directory.path().join("none"), EntryKind::Neff).clear().unwrap(), 0);
}

#[test]
fn clear_removes_empty_shard_directories() {
    let directory = directory();
    let store = store(&directory);
    for number in 0..300u128 {
        store.put(&CacheKey::of_bytes(&number.to_le_bytes()), b"neff").unwrap();
    }
    store.put(&key(1), b"neff").unwrap();
    let shard = store.path_of(&key(1)).parent().unwrap().to_owned();
    fs::write(shard.join("notes.txt"), b"mine").unwrap();
    fs::write(shard.join(".tmp.young"), b"being written").unwrap();
    fs::write(shard.join(".tmp.old"), b"left").unwrap();
    age(&shard.join(".tmp.old"), SystemTime::UNIX_EPOCH);
    fs::write(directory.path().join("README"), b"mine").unwrap();
    assert_eq!(store.clear().unwrap(), 301);
    assert_eq!(files(directory.path()), ["00/00/.tmp.young", "00/00/notes.txt", "README"]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn clear_then_add_new_entries() {
    let directory = directory();
    let store = store(&directory);
    store.put(&key(1), b"old").unwrap();
    store.clear().unwrap();
    store.put(&key(2), b"new").unwrap();
    check_miss(&store, key(1), MissReason::Absent);
    check_bytes(&store, key(2), b"new");
}

#[test]
fn a_directory_under_a_file_is_refused() {
    let directory = directory();
    let file = directory.path().join("file");
    File::create(&file).unwrap();
    let store = Store::open(file.join("neff"), EntryKind::Neff);
    check_miss(&store, key(1), MissReason::Absent);
    let error = store.put(&key(1), b"neff").unwrap_err();
    assert!(matches!(error, crate::CacheError::Io { .. }), "{error}");
    assert!(!store.remove(&key(1)).unwrap());
}
