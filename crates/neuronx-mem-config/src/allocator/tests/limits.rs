//! Long and hostile texts: bounded reports, one-line messages.

use crate::{AllocatorConfig, Finding, MAX_ITEM_FINDINGS, Severity};

const MEGABYTE: usize = 1 << 20;

/// Checks how many findings a text has, listed and not.
#[track_caller]
fn check(text: &str, total: usize) {
    let parsed = AllocatorConfig::parse(text);
    let listed = parsed.findings.iter().filter(|finding| !matches!(finding, Finding::More { .. })).count();
    let unlisted = match parsed.findings.last() {
        Some(Finding::More { count, .. }) => *count,
        _ => 0,
    };
    assert_eq!(listed + unlisted, total);
    assert!(listed <= MAX_ITEM_FINDINGS);
    for finding in &parsed.findings {
        let message = finding.to_string();
        assert!(message.chars().count() < 250, "{message}");
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
    assert_eq!(parsed.config, AllocatorConfig::default());
}

#[test]
fn a_megabyte_of_garbage_has_a_bounded_report() {
    check(&",".repeat(MEGABYTE), MEGABYTE + 1);
    check(&"x".repeat(MEGABYTE), 1);
    check(&"=".repeat(MEGABYTE), 1);
    check(&"kPoolBoundry=,".repeat(MEGABYTE / 14), MEGABYTE / 14 + 1);
    check(&format!("kPoolBoundary={}", "9".repeat(MEGABYTE)), 1);
    check(&format!("kPoolBoundary={}MB", "9".repeat(MEGABYTE)), 1);
    check(&format!("kPoolBoundary={}", "=".repeat(MEGABYTE)), 1);
    check(&format!("{}=1", "kPoolBoundary".repeat(MEGABYTE / 13)), 1);
    check(&"\0\u{1b}[2J\n\u{202e},".repeat(MEGABYTE / 10), MEGABYTE / 10 + 1);
    check(&" ".repeat(MEGABYTE), 0);
}

#[test]
fn what_is_not_listed_is_counted_last() {
    let items = "kMinRoundedSize=256,".repeat(MAX_ITEM_FINDINGS + 1);
    let text = format!("{items}bogus,kMaxSplitSizeBytes=1,");
    let findings = AllocatorConfig::parse(&text).findings;
    assert_eq!(findings.len(), MAX_ITEM_FINDINGS + 2);
    assert_eq!(findings[MAX_ITEM_FINDINGS].kind(), "dangerous_combination");
    let start = items.len();
    let expected = Finding::More { count: 2, worst: Severity::Error, position: start..text.len() };
    assert_eq!(findings.last(), Some(&expected));
    assert_eq!(expected.to_string(), "and 2 more");
}

#[test]
fn a_full_report_needs_no_more() {
    let text = ",".repeat(MAX_ITEM_FINDINGS - 1);
    let findings = AllocatorConfig::parse(&text).findings;
    assert_eq!(findings.len(), MAX_ITEM_FINDINGS);
    assert_eq!(findings[MAX_ITEM_FINDINGS - 1].kind(), "empty_item");
}

#[track_caller]
fn check_quoted(item: &str, expected: &str) {
    let findings = AllocatorConfig::parse(item).findings;
    let Some(Finding::MissingEquals { text, .. }) = findings.first() else { panic!("{findings:?}") };
    assert_eq!(text, expected);
}

#[test]
fn quotations_are_escaped_and_cut() {
    check_quoted("a\0b\nc", "a\\0b\\nc");
    check_quoted("\u{1b}[31m", "\\u{1b}[31m");
    check_quoted("\u{202e}x", "\\u{202e}x");
    check_quoted(&"y".repeat(64), &"y".repeat(64));
    check_quoted(&"y".repeat(65), &format!("{}…", "y".repeat(64)));
    check_quoted(&"é".repeat(70), &format!("{}…", "é".repeat(64)));
    // Counted after escaping, so that a message of escapes is no longer than any other.
    check_quoted(&"\0".repeat(40), &format!("{}…", "\\0".repeat(32)));
}
