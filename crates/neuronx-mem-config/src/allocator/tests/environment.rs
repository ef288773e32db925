//! The variable itself: unset, not Unicode, and one warning for each finding.

use std::ffi::OsStr;
use std::fmt;
use std::process::Command;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::super::environment::parse_and_warn;
use crate::{ALLOCATOR_CONFIG_VARIABLE, AllocatorConfig, Parsed};

/// Keeps each event as `LEVEL field=value …`.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        assert_eq!(*event.metadata().level(), Level::WARN);
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Parses a value of the variable and returns the warnings beside the result.
fn warned(value: Option<&OsStr>) -> (Parsed, Vec<String>) {
    let collector = Collector::default();
    let parsed = tracing::subscriber::with_default(collector.clone(), || parse_and_warn(value));
    let warnings = collector.0.lock().unwrap().clone();
    (parsed, warnings)
}

#[test]
fn an_unset_variable_is_the_default() {
    let (parsed, warnings) = warned(None);
    assert_eq!(parsed, AllocatorConfig::parse(""));
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn each_finding_is_warned_of_once() {
    let text = "kPoolBoundary=1MB,kMinRoundedSize=512,nope=1";
    let (parsed, warnings) = warned(Some(OsStr::new(text)));
    assert_eq!(parsed, AllocatorConfig::parse(text));
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    WARN message=kPoolBoundary: `1MB` is ignored because sizes are plain bytes without a suffix; 1048576 was probably meant variable="TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG" kind="size_suffix" key="kPoolBoundary"
    WARN message=unknown key `nope` is ignored variable="TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG" kind="unknown_key"
    "#);
}

#[cfg(unix)]
#[test]
fn bytes_that_are_not_unicode_are_replaced_with_a_finding() {
    use std::os::unix::ffi::OsStrExt;

    let value = OsStr::from_bytes(b"kMinRoundedSize=512,k\xff\xfe=1");
    let (parsed, warnings) = warned(Some(value));
    assert_eq!(parsed.config, AllocatorConfig::parse("kMinRoundedSize=512").config);
    let kinds: Vec<_> = parsed.findings.iter().map(crate::Finding::kind).collect();
    assert_eq!(kinds, ["not_unicode", "unknown_key"]);
    assert_eq!(parsed.findings[0].position(), Some(21..24));
    assert_eq!(warnings.len(), 2);
    insta::assert_snapshot!(parsed.findings[0], @"TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG is not valid UTF-8; its bad bytes are read as U+FFFD");
}

/// Set for a copy of this test binary; tells `from_env_reads_the_process_environment` to answer.
const ANSWER_VARIABLE: &str = "NEURONX_MEM_CONFIG_TEST_ANSWER";

#[test]
fn from_env_reads_the_process_environment() {
    if std::env::var_os(ANSWER_VARIABLE).is_some() {
        return println!("answer<{}>", AllocatorConfig::from_env().config.to_env_string());
    }
    // The environment of this process cannot be changed safely, so a copy of it is asked.
    let name = "allocator::tests::environment::from_env_reads_the_process_environment";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ANSWER_VARIABLE, "1")
        .env(ALLOCATOR_CONFIG_VARIABLE, "kRoundupPower2Divisions=8,x")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("answer<kRoundupPower2Divisions=8>"), "{printed}");
}
