//! Full and read-only directories, as far as this user can make them.
//!
//! A mount in a namespace of its own needs rights that not everybody has, and vanishes with its
//! process. Where it is refused, a limit on file sizes stands for the full disk, and permissions for
//! the read-only directory.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use neuronx_mem_cache::{EntryKind, Store};

use crate::child::key;
use crate::children::command_behind;

/// Ways to a mount namespace: as root, and as anybody where the system allows that.
const NAMESPACES: [&[&str]; 2] = [&["unshare", "--mount"], &["unshare", "--mount", "--map-root-user"]];

const FULL: &str = r#"mount -t tmpfs -o size=256k tmpfs "$CACHE_TEST_DIRECTORY" && exec "$0" "$@""#;
const FEW_FILES: &str =
    r#"mount -t tmpfs -o size=16m,nr_inodes=60 tmpfs "$CACHE_TEST_DIRECTORY" && exec "$0" "$@""#;
const READ_ONLY: &str = r#"mount --bind "$CACHE_TEST_DIRECTORY" "$CACHE_TEST_DIRECTORY" &&
    mount -o remount,bind,ro "$CACHE_TEST_DIRECTORY" && exec "$0" "$@""#;

/// Files of at most 64 blocks of 512 bytes; the signal that goes with it is ignored.
const SMALL_FILES: &str = r#"trap '' XFSZ; ulimit -f 64; exec "$0" "$@""#;

/// A namespace in which mounts work, if there is one.
fn namespace() -> Option<&'static [&'static str]> {
    let can_mount = |words: &&&[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let mount = ["mount", "-t", "tmpfs", "tmpfs"];
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(mount).arg(directory.path());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    NAMESPACES.iter().find(can_mount).copied()
}

#[track_caller]
fn check_child(words: &[&str], script: &str, role: &str, directory: &Path, fill: bool) {
    let words = [words, &["sh", "-c", script]].concat();
    let mut command = command_behind(&words, role, directory);
    if fill {
        command.env("CACHE_TEST_FILL", "1");
    }
    let output = command.output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success() && out.contains("child: done"), "{script}\n{out}\n{err}");
}

#[test]
fn a_limit_on_file_sizes_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    check_child(&[], SMALL_FILES, "full", directory.path(), false);
}

#[test]
fn a_full_disk_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    match namespace() {
        Some(namespace) => check_child(namespace, FULL, "full", directory.path(), true),
        None => check_child(&[], SMALL_FILES, "full", directory.path(), false),
    }
}

#[test]
fn a_disk_that_has_room_for_few_files_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    if let Some(namespace) = namespace() {
        check_child(namespace, FEW_FILES, "few_files", directory.path(), false);
    }
}

#[test]
fn a_read_only_directory_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("neff"), EntryKind::Neff);
    store.put(&key(1), b"old").unwrap();
    match namespace() {
        Some(namespace) => check_child(namespace, READ_ONLY, "read_only", directory.path(), false),
        None => {
            let shard = store.path_of(&key(1)).parent().unwrap().to_owned();
            let closed = [shard.as_path(), shard.parent().unwrap(), store.root()];
            let set = |mode| {
                closed
                    .iter()
                    .for_each(|path| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap())
            };
            set(0o555);
            check_child(&[], r#"exec "$0" "$@""#, "read_only", directory.path(), false);
            set(0o755);
        }
    }
    assert!(store.get(&key(1)).is_some_and(|entry| entry.is_sealed && entry.bytes == b"old"));
}
