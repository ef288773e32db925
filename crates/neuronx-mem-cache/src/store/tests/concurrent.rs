//! Writers, readers and removers of one store at once, as threads; processes are in `tests/processes`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::{check_bytes, directory, files, key, store};

/// Ends the other thread of a test, even when this one panics.
struct Enough<'a>(&'a AtomicBool);

impl Drop for Enough<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn concurrent_writes() {
    let directory = directory();
    let store = store(&directory);
    let versions: Vec<Vec<u8>> = (1..=8u8).map(|number| vec![number; usize::from(number) * 10_000]).collect();
    thread::scope(|scope| {
        for version in &versions {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..40 {
                    store.put(&key(1), version).unwrap();
                    assert!(store.get(&key(1)).unwrap().is_sealed);
                }
            });
        }
    });
    let entry = store.get(&key(1)).unwrap();
    assert!(entry.is_sealed && versions.contains(&entry.bytes));
    assert!(files(directory.path()).iter().all(|file| !file.contains(".tmp.")));
}

/// Two versions are written over each other until a reader has seen enough.
#[test]
fn a_reader_never_sees_half_an_entry() {
    let directory = directory();
    let store = store(&directory);
    let versions = [vec![1u8; 300_000], vec![2u8; 7], vec![3u8; 90_001]];
    store.put(&key(1), &versions[0]).unwrap();
    let is_enough = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for version in versions.iter().cycle() {
                store.put(&key(1), version).unwrap();
                if is_enough.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let _enough = Enough(&is_enough);
        let mut n_changes = 0;
        let mut last = versions[0].clone();
        while n_changes < 200 {
            let lookup = store.lookup(&key(1));
            let entry = lookup.entry.unwrap();
            assert!(entry.is_sealed && lookup.miss.is_none() && versions.contains(&entry.bytes));
            n_changes += u32::from(entry.bytes != last);
            last = entry.bytes;
        }
    });
}

#[test]
fn puts_survive_the_removal_of_their_directories() {
    let directory = directory();
    let store = store(&directory);
    let is_enough = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_enough.load(Ordering::Relaxed) {
                store.clear().unwrap();
            }
        });
        let _enough = Enough(&is_enough);
        for _ in 0..500 {
            store.put(&key(1), b"neff").unwrap();
        }
    });
    store.put(&key(1), b"neff").unwrap();
    check_bytes(&store, key(1), b"neff");
}
