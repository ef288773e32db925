//! Files: written in one step, or not at all.
#![expect(clippy::unwrap_used, reason = "a panic is the report")]

use std::fs;
use std::path::Path;

use neuronx_mem_snapshot::{Error, Format, Limits, Snapshot, Value};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// JSON cannot hold it, so writing fails after the first bytes went out.
fn unwritable() -> Snapshot {
    let mut snapshot = Snapshot::new();
    snapshot.set_extra("padding", Value::from("x".repeat(1 << 20).as_str()));
    snapshot.set_extra("x", Value::from(f64::NAN));
    snapshot
}

#[test]
fn the_name_chooses_the_format() {
    let folder = tempfile::tempdir().unwrap();
    for (name, first) in
        [("a.pickle", 0x80), ("a.json", b'{'), ("a", 0x80), ("a.JSON", b'{'), ("a.pkl", 0x80)]
    {
        let path = folder.path().join(name);
        Snapshot::new().write_file(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap()[0], first, "{name}");
        assert_eq!(Snapshot::read_file(&path, &Limits::default()).unwrap(), Snapshot::new(), "{name}");
    }
    assert_eq!(names(folder.path()).len(), 5, "no temporary file stays");
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot.json");
    Snapshot::new().write_file(&path).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(unwritable().write_file(&path), Err(Error::NotRepresentable { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["snapshot.json"]);
}

#[test]
fn a_failed_rename_removes_the_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    let error = Snapshot::new().write_file(&path).unwrap_err();
    assert!(matches!(error, Error::Io { operation: "renaming the temporary file", .. }), "{error}");
    assert_eq!(names(folder.path()), ["taken"]);
}

#[test]
fn a_missing_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = Snapshot::new().write_file(folder.path().join("no/such/snapshot.pickle")).unwrap_err();
    assert!(matches!(error, Error::Io { operation: "creating the temporary file", .. }), "{error}");
    let error = Snapshot::read_file(folder.path().join("none"), &Limits::default()).unwrap_err();
    assert!(matches!(error, Error::Io { operation: "opening the snapshot", .. }), "{error}");
    assert!(Snapshot::read_file(folder.path(), &Limits::default()).is_err());
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot.pickle");
    Snapshot::new().write_file_as(&path, Format::Pickle, true).unwrap();
    let mut limits = Limits::default();
    limits.max_input_bytes = 10;
    assert!(Snapshot::read_file(&path, &limits).unwrap_err().is_limit());
    fs::write(&path, b"").unwrap();
    assert!(matches!(
        Snapshot::read_file(&path, &Limits::default()),
        Err(Error::UnknownFormat { first_byte: None })
    ));
}

/// A disk that fills up after some bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported() {
    let mut snapshot = Snapshot::new();
    snapshot.set_extra("padding", Value::from("x".repeat(1 << 20).as_str()));
    for format in [Format::Pickle, Format::Json] {
        let error = snapshot.write_to(&mut Full(1000), format).unwrap_err();
        let Error::Io { source, .. } = error else { panic!("an i/o error") };
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
    }
}
