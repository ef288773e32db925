//! The verb `cache` from outside, each run in an environment of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use neuronx_mem_cache::{CacheKey, EntryKind, LockDirectory, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{in_clean_environment, outcome};

/// What the machine's own directories may be on is no business of these tests.
const PLACEMENT: [&str; 3] = ["network_filesystem", "program_filesystem", "short_lived"];

/// Directories of a run: `neff`, `hlo` and `local` in one that is removed at the end.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Nothing of the environment of the tests is left.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = in_clean_environment(arguments);
        command.env("TORCH_NEURONX_NEFF_CACHE_DIR", self.path("neff"));
        command.env("TORCH_NEURONX_HLO_CACHE_DIR", self.path("hlo"));
        command.env("TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR", self.path("local"));
        command
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        outcome(&mut self.command(arguments)).parts()
    }

    #[track_caller]
    fn object(&self, code: i32, arguments: &[&str]) -> Value {
        let (ran, out, err) = self.run(arguments);
        assert_eq!((ran, err.as_str(), out.lines().count()), (code, "", 1), "{out}");
        serde_json::from_str(&out).unwrap()
    }

    /// Without the path of this run.
    fn neutral(&self, text: &str) -> String {
        text.replace(&self.0.path().display().to_string(), "PLACE")
    }

    /// Entries 1 to n of 100 bytes; the higher the number, the more recently used.
    fn fill(&self, n_entries: u64) -> Store {
        let store = Store::open(self.path("neff"), EntryKind::Neff);
        for number in 1..=n_entries {
            let key = CacheKey::from_number(number.into());
            store.put(&key, &[1; 100]).unwrap();
            let file = File::options().append(true).open(store.path_of(&key)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(number)).unwrap();
        }
        store
    }
}

/// A lock file as a process leaves it that is killed.
fn leave_lock(local: &Path) -> PathBuf {
    let path = LockDirectory::new(local).path_of(&CacheKey::from_number(1));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "process 1\nboot none\nstarted 0\n").unwrap();
    path
}

/// Kinds of findings, without those of the machine.
fn kinds(object: &Value) -> Vec<&str> {
    let kinds =
        object["findings"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap());
    kinds.filter(|kind| !PLACEMENT.contains(kind)).collect()
}

#[test]
fn check_looks_at_missing_directories_and_leaves_them_missing() {
    let place = Place::new();
    let object: Value = place.object(0, &["cache", "check", "--json", "--min-free", "1"]);
    assert_eq!((&object["schema"], &object["ok"], kinds(&object)), (&json!(1), &json!(true), vec![]));
    let directories = object["directories"].as_array().unwrap();
    let seen = |idx: usize| {
        let directory = &directories[idx];
        ["role", "path", "state", "writable", "variable", "locks"].map(|key| directory[key].clone())
    };
    let expected = |role: &str, variable: &str, locks: Value| {
        [json!(role), json!(place.path(role)), json!("creatable"), json!(true), json!(variable), locks]
    };
    assert_eq!(seen(0), expected("neff", "TORCH_NEURONX_NEFF_CACHE_DIR", Value::Null));
    assert_eq!(seen(1), expected("hlo", "TORCH_NEURONX_HLO_CACHE_DIR", Value::Null));
    let locks = json!({"test": "work", "held": 0, "stale": 0, "unreadable": 0});
    assert_eq!(seen(2), expected("local", "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR", locks));
    for directory in directories {
        assert!(directory["free"].as_u64().unwrap() <= directory["total"].as_u64().unwrap());
        assert!(directory["filesystem"].is_string() && directory["placement"].is_string());
    }
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 0);
}

#[test]
fn check_prints_paragraphs_and_findings() {
    let place = Place::new();
    fs::create_dir(place.path("neff")).unwrap();
    File::create(place.path("hlo")).unwrap();
    leave_lock(&place.path("local"));
    let _held = LockDirectory::new(place.path("local")).try_lock(&CacheKey::from_number(2)).unwrap();
    let (code, out, err) = place.run(&["cache", "check", "--min-free", "1"]);
    assert_eq!((code, err.as_str()), (1, ""));
    let is_ours = |line: &&str| {
        let of_machine = ["  file system", "  free"].iter().any(|start| line.starts_with(start));
        !of_machine && !line.contains("entries on ")
    };
    let text: String = out.lines().filter(is_ours).map(|line| line.to_owned() + "\n").collect();
    insta::assert_snapshot!(place.neutral(&text), @r"
    NEFF directory PLACE/neff
      state        there, can be written

    HLO directory PLACE/hlo
      state        not there, cannot be made

    local directory PLACE/local
      state        there, can be written
      locks        work; 1 held, 1 stale

    Findings
    error: HLO directory PLACE/hlo: something that is no directory is in its place or above it
    note: local directory PLACE/local: lock files that ended processes left: 1; they block nobody, `cache gc` removes them
    ");
}

#[test]
fn check_takes_directories_from_the_command_line() {
    let place = Place::new();
    let [neff, local] = ["other-neff", "other-local"].map(|name| place.path(name).display().to_string());
    let arguments =
        ["cache", "check", "--json", "--min-free", "1", "--neff-dir", &neff, "--local-dir", &local];
    let object = place.object(0, &arguments);
    let paths: Vec<&Value> =
        object["directories"].as_array().unwrap().iter().map(|row| &row["path"]).collect();
    assert_eq!(paths, [&json!(neff), &json!(place.path("hlo")), &json!(local)]);
}

#[test]
fn a_neff_cache_that_is_off_has_no_directory() {
    let place = Place::new();
    let roles = |arguments: &[&str]| {
        let mut command =
            place.command(&[&["cache", "check", "--json", "--min-free", "1"], arguments].concat());
        command.env_remove("TORCH_NEURONX_NEFF_CACHE_DIR").env("TORCH_NEURONX_NEFF_DISABLE_CACHE", "1");
        let (code, out, err) = outcome(&mut command).parts();
        assert_eq!((code, err.as_str()), (0, ""));
        let object: Value = serde_json::from_str(&out).unwrap();
        let rows = object["directories"].as_array().unwrap().iter();
        rows.map(|row| row["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles(&[]), ["hlo", "local"]);
    assert_eq!(roles(&["--neff-dir", &place.path("neff").display().to_string()]), ["neff", "hlo", "local"]);
}

#[test]
fn check_wants_space() {
    let place = Place::new();
    let object = place.object(1, &["cache", "check", "--json", "--min-free", "16777215TiB"]);
    assert_eq!(kinds(&object), ["little_space", "little_space", "little_space"]);
}

#[test]
fn gc_removes_the_least_recently_used() {
    let place = Place::new();
    let store = place.fill(10);
    let lock = leave_lock(&place.path("local"));
    let object = place.object(0, &["cache", "gc", "--max-size", "450", "--json"]);
    let report = |role: &str, figures: [u64; 5]| {
        let [entries, bytes, removed_entries, removed_bytes, kept_bytes] = figures;
        json!({
            "role": role, "path": place.path(role), "entries": entries, "bytes": bytes,
            "removed_entries": removed_entries, "removed_bytes": removed_bytes, "kept_bytes": kept_bytes,
            "removed_leftovers": 0, "removed_directories": 0, "failures": 0,
        })
    };
    let caches = [report("neff", [10, 1000, 6, 600, 400]), report("hlo", [0; 5])];
    assert_eq!(object, json!({"schema": 1, "caches": caches, "removed_lock_files": 1}));
    let kept = (1..=10).filter(|number| store.exists(&CacheKey::from_number(*number)));
    assert_eq!(kept.collect::<Vec<_>>(), [7, 8, 9, 10]);
    assert!(!lock.exists());
}

#[test]
fn gc_prints_what_it_did() {
    let place = Place::new();
    place.fill(30);
    let (code, out, err) = place.run(&["cache", "gc", "--max-size", "2KiB"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(place.neutral(&out), @r"
    NEFF directory PLACE/neff
      found      3,000 bytes (2.9 KiB) in 30 entries
      removed    1,000 bytes in 10 entries
      kept       2,000 bytes (2.0 KiB) in 20 entries
      leftovers  0 removed

    HLO directory PLACE/hlo
      found      0 bytes in 0 entries
      removed    0 bytes in 0 entries
      kept       0 bytes in 0 entries
      leftovers  0 removed

    Lock files of ended processes: 0 removed
    ");
}

#[test]
fn wrong_usage_is_refused() {
    let place = Place::new();
    for arguments in [&["cache", "gc"][..], &["cache", "gc", "--max-size", "much"], &["cache", "clean"]] {
        let (code, out, err) = place.run(arguments);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{err}");
    }
    File::create(place.path("neff")).unwrap();
    let (code, out, err) = place.run(&["cache", "gc", "--max-size", "1GiB"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        place.neutral(&err),
        "neuronx-mem: error: cannot list PLACE/neff: Not a directory (os error 20)\n"
    );
}

#[test]
fn a_wrong_variable_is_a_warning_on_the_way() {
    let place = Place::new();
    let mut command = place.command(&["cache", "gc", "--max-size", "1GiB"]);
    command.env("TORCH_NEURONX_HLO_CACHE", "perhaps");
    let (code, _, err) = outcome(&mut command).parts();
    assert_eq!((code, err.lines().count()), (0, 1));
    assert!(err.contains("TORCH_NEURONX_HLO_CACHE") && err.contains("WARN"), "{err}");
}

/// The other half of the lock test tells by its exit code.
#[test]
fn the_second_process_tells_what_it_got() {
    let place = Place::new();
    let file = place.path("file");
    let code = || place.run(&["cache", "try-lock", &file.display().to_string()]).0;
    assert_eq!(code(), 12);
    File::create(&file).unwrap();
    assert_eq!(code(), 10);
    let held = File::open(&file).unwrap();
    held.lock().unwrap();
    assert_eq!(code(), 11);
    drop(held);
    assert_eq!(code(), 10);
}
