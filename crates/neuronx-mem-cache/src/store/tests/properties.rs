//! File names and contents of any shape: what is written is read back, what is changed is noticed.

use std::fs;

use proptest::prelude::*;

use super::super::place::{FileName, entry_name, seal_name};
use super::super::seal::Seal;
use super::{EntryKind, directory, key, store};
use crate::CacheKey;

#[test]
fn file_names() {
    let digits = "0123456789abcdef0123456789abcdef";
    let key: CacheKey = digits.parse().unwrap();
    let seal = Seal::of(b"abc");
    let check = |name: &str, expected| assert_eq!(FileName::read(name, EntryKind::Neff), expected, "{name}");
    check(&entry_name(key, EntryKind::Neff), FileName::Entry(key));
    check(&seal_name(key, seal), FileName::Seal(key, seal));
    check(".tmp.Xy12", FileName::Unfinished);
    for name in ["", ".", "neff", digits, ".neff", "README.neff", "0.neff"] {
        check(name, FileName::Foreign);
    }
    for end in [".hlo", ".neff.bak", ".seal", ".3.seal", ".3-0.seal", ".neff.seal", "x.neff"] {
        check(&format!("{digits}{end}"), FileName::Foreign);
    }
    for length in ["03", "+3", "-3", "99999999999999999999"] {
        check(&format!("{digits}.{length}-{digits}.seal"), FileName::Foreign);
    }
}

proptest! {
    #[test]
    fn any_name_is_read_or_foreign(name: String) {
        match FileName::read(&name, EntryKind::Neff) {
            FileName::Entry(key) => prop_assert_eq!(entry_name(key, EntryKind::Neff), name),
            FileName::Seal(key, seal) => prop_assert_eq!(seal_name(key, seal), name),
            FileName::Unfinished => prop_assert!(name.starts_with(".tmp.")),
            FileName::Foreign => {}
        }
    }

    #[test]
    fn whatever_is_put_comes_back(number: u128, bytes in proptest::collection::vec(any::<u8>(), 1..2000)) {
        let directory = directory();
        let store = store(&directory);
        store.put(&key(number), &bytes).unwrap();
        prop_assert_eq!(store.get(&key(number)).map(|entry| entry.bytes), Some(bytes));
    }

    #[test]
    fn any_change_of_a_file_is_noticed(
        bytes in proptest::collection::vec(any::<u8>(), 1..200),
        other in proptest::collection::vec(any::<u8>(), 1..200),
    ) {
        let directory = directory();
        let store = store(&directory);
        store.put(&key(1), &bytes).unwrap();
        fs::write(store.path_of(&key(1)), &other).unwrap();
        prop_assert_eq!(store.get(&key(1)).is_some(), bytes == other);
    }
}
