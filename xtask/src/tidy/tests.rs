//! Each rule on a few lines of input: what it finds, and what it leaves alone.
//!
//! Forbidden words are put together from parts, because this file is checked too.

mod texts;

use super::check;
use super::files::File;
use super::finding::Finding;
use super::{arrows, manifest, readme, source, unsafe_blocks};
use crate::workspace::{Dependency, DependencyKind, Member, Target};

const CLEAN_MANIFEST: &str = "\
[package]
name = \"neuronx-mem-pool\"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license = { workspace = true }
repository.workspace = true
keywords.workspace = true
categories.workspace = true

[lints]
workspace = true # all of them

[dependencies]
neuronx-mem-rounding = { workspace = true }
";

fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

fn member(name: &str, dependencies: &[(&str, DependencyKind)]) -> Member {
    let target = |name: &str, kind: &str, source: &str| Target {
        name: name.to_owned(),
        kinds: vec![kind.to_owned()],
        source: format!("crates/{name}/{source}"),
        has_doc_tests: kind == "lib",
    };
    Member {
        id: name.to_owned(),
        name: name.to_owned(),
        version: "0.1.0".to_owned(),
        folder: format!("crates/{name}"),
        is_published: true,
        targets: vec![target(name, "lib", "src/lib.rs"), target(name, "test", "tests/one.rs")],
        dependencies: dependencies
            .iter()
            .map(|(package, kind)| Dependency { package: (*package).to_owned(), kind: *kind })
            .collect(),
        test_features: Vec::new(),
    }
}

/// Compares findings with lines of the form `line: message`.
#[track_caller]
fn check_findings(findings: impl IntoIterator<Item = Finding>, expected: &[&str]) {
    let found: Vec<String> =
        findings.into_iter().map(|finding| format!("{}: {}", finding.line, finding.message)).collect();
    assert_eq!(found, expected);
}

/// The messages of the arrow rule for one crate among all crates of the house.
#[track_caller]
fn check_arrow(package: &str, kind: DependencyKind, target: &str, expected: &[&str]) {
    let members = [member(package, &[(target, kind)]), member(target, &[])];
    let manifest =
        file("Cargo.toml", &format!("[package]\nname = \"x\"\n[dependencies]\n{target} = \"1\"\n"));
    check_findings(arrows::check(&members[0], &members, &manifest), expected);
}

#[test]
fn arrows_point_down() {
    use DependencyKind::{Build, Dev, Normal};
    check_arrow("neuronx-mem-pool", Normal, "neuronx-mem-rounding", &[]);
    check_arrow("neuronx-mem-cli", Normal, "neuronx-mem-rounding", &[]);
    check_arrow("neuronx-mem-tests", Normal, "neuronx-mem-cli", &[]);
    check_arrow(
        "neuronx-mem-pool",
        Normal,
        "neuronx-mem-replay",
        &["4: `neuronx-mem-pool` (floor 2) may use lower floors only, `neuronx-mem-replay` is on floor 4"],
    );
    check_arrow(
        "neuronx-mem-sim",
        Build,
        "neuronx-mem-pool",
        &["4: `neuronx-mem-sim` (floor 2) may use lower floors only, `neuronx-mem-pool` is on floor 2"],
    );
    check_arrow(
        "neuronx-mem-stats",
        Normal,
        "neuronx-mem-config",
        &["4: `neuronx-mem-stats` is a leaf and may use no crate of the workspace, not `neuronx-mem-config`"],
    );
    check_arrow("neuronx-mem-pool", Dev, "neuronx-mem-sim", &[]);
    check_arrow("neuronx-mem-pool", Dev, "neuronx-mem-tests", &[]);
    check_arrow(
        "neuronx-mem-pool",
        Dev,
        "neuronx-mem",
        &["4: the tests of `neuronx-mem-pool` (floor 2) use `neuronx-mem` from above (floor 3)"],
    );
}

#[test]
fn the_shared_tool_serves_its_own_floor_and_no_other_tool_does() {
    use DependencyKind::Normal;
    check_arrow("neuronx-mem-tune", Normal, "neuronx-mem-replay", &[]);
    check_arrow("neuronx-mem-cli", Normal, "neuronx-mem-replay", &[]);
    check_arrow(
        "neuronx-mem-replay",
        Normal,
        "neuronx-mem-tune",
        &["4: `neuronx-mem-replay` (floor 4) may use lower floors only, `neuronx-mem-tune` is on floor 4"],
    );
    check_arrow(
        "neuronx-mem-explain",
        Normal,
        "neuronx-mem-tune",
        &["4: `neuronx-mem-explain` (floor 4) may use lower floors only, `neuronx-mem-tune` is on floor 4"],
    );
    check_arrow(
        "neuronx-mem",
        Normal,
        "neuronx-mem-replay",
        &["4: `neuronx-mem` (floor 3) may use lower floors only, `neuronx-mem-replay` is on floor 4"],
    );
}

#[test]
fn arrows_need_a_floor_and_a_folder_name() {
    let stranger = member("neuronx-mem-attic", &[]);
    check_findings(
        arrows::check(&stranger, &[], &file("Cargo.toml", "")),
        &["1: `neuronx-mem-attic` has no floor; give it one in xtask/src/floors.rs"],
    );
    let mut moved = member("neuronx-mem-pool", &[]);
    moved.folder = "crates/pool".to_owned();
    check_findings(
        arrows::check(&moved, &[], &file("Cargo.toml", "[package]\nname = \"neuronx-mem-pool\"\n")),
        &["2: the folder `pool` is not named like the package `neuronx-mem-pool`"],
    );
    moved.folder = "xtask".to_owned();
    check_findings(arrows::check(&moved, &[], &file("Cargo.toml", "")), &[]);
}

#[test]
fn arrows_ignore_packages_from_outside() {
    let pool = member("neuronx-mem-pool", &[("smallvec", DependencyKind::Normal)]);
    check_findings(arrows::check(&pool, std::slice::from_ref(&pool), &file("Cargo.toml", "")), &[]);
}

#[test]
fn dependency_lines_are_found_in_every_notation() {
    let text = "a = 1\nneuronx-mem.workspace = true\nx = { package = \"y\" }\n[dev-dependencies.z]\n";
    assert_eq!(manifest::dependency_line(text, "neuronx-mem"), 2);
    assert_eq!(manifest::dependency_line(text, "y"), 3);
    assert_eq!(manifest::dependency_line(text, "z"), 4);
    assert_eq!(manifest::dependency_line(text, "neuronx-mem-pool"), 1);
}

#[test]
fn manifests_inherit_fields_and_lints() {
    let pool = member("neuronx-mem-pool", &[]);
    check_findings(manifest::check(&pool, &file("Cargo.toml", CLEAN_MANIFEST)), &[]);
    let own_version =
        CLEAN_MANIFEST.replace("version.workspace = true\nedition", "version = \"1.0.0\"\nedition");
    check_findings(
        manifest::check(&pool, &file("Cargo.toml", &own_version)),
        &["1: `version` is not inherited: write `version.workspace = true`"],
    );
    // The same words in another table do not count.
    let other_table = CLEAN_MANIFEST.replace("[lints]", "[lint]");
    check_findings(
        manifest::check(&pool, &file("Cargo.toml", &other_table)),
        &["1: lints are not inherited: write `[lints]` and `workspace = true`"],
    );
    let dotted = CLEAN_MANIFEST.replace("[lints]\nworkspace = true # all of them\n", "");
    let dotted = format!("lints.workspace = true\n{dotted}");
    check_findings(manifest::check(&pool, &file("Cargo.toml", &dotted)), &[]);
}

#[test]
fn unpublished_manifests_need_no_catalogue_fields() {
    let mut scenarios = member("neuronx-mem-tests", &[]);
    let text = CLEAN_MANIFEST
        .replace("repository.workspace = true\nkeywords.workspace = true\ncategories.workspace = true\n", "");
    check_findings(
        manifest::check(&scenarios, &file("Cargo.toml", &text)),
        &[
            "1: `repository` is not inherited: write `repository.workspace = true`",
            "1: `keywords` is not inherited: write `keywords.workspace = true`",
            "1: `categories` is not inherited: write `categories.workspace = true`",
        ],
    );
    scenarios.is_published = false;
    check_findings(manifest::check(&scenarios, &file("Cargo.toml", &text)), &[]);
}

#[test]
fn safe_crates_forbid_unsafe_code() {
    let pool = member("neuronx-mem-pool", &[]);
    let roots: Vec<&str> = manifest::crate_roots(&pool).collect();
    assert_eq!(roots, ["crates/neuronx-mem-pool/src/lib.rs"]);
    assert_eq!(manifest::crate_roots(&member("neuronx-mem-nrt", &[])).count(), 0);
    assert_eq!(manifest::crate_roots(&member("neuronx-mem-tests", &[])).count(), 0);
    let root = file(roots[0], "//! Page.\n\n#![forbid(unsafe_code)]\n");
    check_findings(manifest::check_unsafe(&pool, &root), &[]);
    let message = "1: `neuronx-mem-pool` has no system calls: its root says `#![forbid(unsafe_code)]`";
    check_findings(
        manifest::check_unsafe(&pool, &file(roots[0], "//! `#![forbid(unsafe_code)]`\n")),
        &[message],
    );
}

#[track_caller]
fn check_source(path: &str, text: &str, expected: &[&str]) {
    check_findings(source::check(&file(path, text)), expected);
}

#[test]
fn sources_open_with_their_page() {
    let message = "1: the first line is not `//!`: say what the file knows and what it refuses";
    check_source("src/a.rs", "//! Page.\n", &[]);
    check_source("src/a.rs", "#![no_std]\n//! Page.\n", &[message]);
    check_source("src/a.rs", "#!/usr/bin/env run\n//! Page.\n", &[message]);
    check_source("src/a.rs", "\n//! Page.\n", &[message]);
    check_source("src/a.rs", "", &[message]);
}

#[test]
fn sources_have_a_bounded_length() {
    let page = "//! Page.\n";
    let lines = |n_lines: usize| format!("{page}{}", "x\n".repeat(n_lines - 1));
    let message = "401: 401 lines without tests, 400 is the limit: split it, or add `//! Long because: ...`";
    check_source("src/a.rs", &lines(400), &[]);
    check_source("src/a.rs", &lines(401), &[message]);
    check_source("src/a/tests.rs", &lines(401), &[]);
    check_source("tests/a.rs", &lines(401), &[]);
    check_source("tests/tool/a.rs", &lines(401), &[]);
    check_source("src/tests_a.rs", &lines(401), &[message]);
    check_source("src/a.rs", &format!("//! Long because: one table.\n{}", lines(401)), &[]);
    check_source("src/a.rs", &format!("//! Long because:\n{}", lines(400)), &[message]);
    // A reason below the page is not in the page.
    check_source("src/a.rs", &format!("{}//! Long because: late.\n", lines(400)), &[message]);
}

#[test]
fn sources_are_measured_without_their_tests() {
    let block = "#[cfg(test)]\nmod tests {\n";
    check_source("src/a.rs", &format!("//! Page.\n{}{block}{}", "x\n".repeat(399), "y\n".repeat(99)), &[]);
    // A declaration among the modules does not hide what follows it.
    let declared = format!("//! Page.\n#[cfg(test)]\nmod tests;\n{}", "x\n".repeat(400));
    check_source(
        "src/a.rs",
        &declared,
        &["401: 401 lines without tests, 400 is the limit: split it, or add `//! Long because: ...`"],
    );
    let indented = format!("//! Page.\n    #[cfg(test)]\n{}", "x\n".repeat(399));
    check_source(
        "src/a.rs",
        &indented,
        &["401: 401 lines without tests, 400 is the limit: split it, or add `//! Long because: ...`"],
    );
}

#[test]
fn library_roots_are_short() {
    let message = "61: 61 lines without tests, 60 is the limit: split it, or add `//! Long because: ...`";
    let lines = |n_lines: usize| format!("//! Page.\n{}", "x\n".repeat(n_lines - 1));
    check_source("src/lib.rs", &lines(60), &[]);
    check_source("src/lib.rs", &lines(61), &[message]);
    check_source("tests/lib.rs", &lines(61), &[]);
}

#[test]
fn sources_hold_no_switched_off_or_unfinished_code() {
    let ignored = concat!("#[", "ignore");
    let panicking = concat!("should_", "panic");
    let unfinished = concat!("todo", "!(");
    let missing = concat!("unimplemented", "!(");
    check_source(
        "src/a.rs",
        &format!(
            "//! Page.\n{ignored} = \"slow\"]\n#[{panicking}]\nfn a() {{ {unfinished}) }}\nfn b() {{ {missing}) }}\n"
        ),
        &[
            &format!("2: `{ignored}`: an ignored test tests nothing: mend it or take it out"),
            &format!("3: `{panicking}`: assert the error value instead of expecting a panic"),
            &format!("4: `{unfinished}`: unfinished code"),
            &format!("5: `{missing}`: unfinished code"),
        ],
    );
    check_source("src/a.rs", &format!("//! No {unfinished}) here.\n// Nor {panicking}.\n"), &[]);
}

#[test]
fn tests_do_not_sleep() {
    let sleep = concat!("thread::", "sleep");
    let message =
        format!("`{sleep}`: a test that sleeps depends on the machine: use a signal or the virtual clock");
    let line = format!("    std::{sleep}(PAUSE);\n");
    check_source("src/a.rs", &format!("//! Page.\n{line}"), &[]);
    check_source("src/a.rs", &format!("//! Page.\n#[cfg(test)]\nmod tests;\n{line}"), &[]);
    check_source("src/a/tests.rs", &format!("//! Page.\n{line}"), &[&format!("2: {message}")]);
    check_source("tests/a.rs", &format!("//! Page.\n{line}"), &[&format!("2: {message}")]);
    check_source(
        "src/a.rs",
        &format!("//! Page.\n{line}#[cfg(test)]\nmod tests {{\n{line}}}\n"),
        &[&format!("5: {message}")],
    );
}

#[test]
fn examples_run() {
    let panicking = concat!("should_", "panic");
    check_source(
        "src/a.rs",
        &format!("//! ```ignore\n/// ```rust,{panicking}\n/// ```\n/// ```no_run\n/// ```text\n"),
        &[
            "1: an example marked `ignore`: examples run and succeed",
            &format!("2: an example marked `{panicking}`: examples run and succeed"),
        ],
    );
}

#[test]
fn the_readme_has_a_row_for_every_published_crate() {
    let mut members = [member("neuronx-mem", &[]), member("neuronx-mem-pool", &[])];
    let text = "`neuronx-mem-pool` is a crate.\n| crate | is |\n|---|---|\n| [`neuronx-mem`](x) | all |\n";
    let readme = file("README.md", text);
    check_findings(
        readme::check(&members, &readme),
        &["1: the table of crates has no row for `neuronx-mem-pool`"],
    );
    members[1].is_published = false;
    check_findings(readme::check(&members, &readme), &[]);
}

#[test]
fn findings_are_sorted_lines() {
    let members = [member("neuronx-mem-pool", &[])];
    let files = [
        file("z.md", "a \n"),
        file("crates/neuronx-mem-pool/Cargo.toml", CLEAN_MANIFEST),
        file("crates/neuronx-mem-pool/src/lib.rs", "//! Page.\na \nb \n"),
    ];
    let lines: Vec<String> = check(&members, &files).iter().map(Finding::to_string).collect();
    assert_eq!(
        lines,
        [
            "crates/neuronx-mem-pool/src/lib.rs:1: `neuronx-mem-pool` has no system calls: its root says \
             `#![forbid(unsafe_code)]`",
            "crates/neuronx-mem-pool/src/lib.rs:2: a blank at the end of the line",
            "crates/neuronx-mem-pool/src/lib.rs:3: a blank at the end of the line",
            "z.md:1: a blank at the end of the line",
        ]
    );
}

#[test]
fn unsafe_blocks_have_proofs_and_committed_numbers() {
    let word = concat!("un", "safe");
    let path = "crates/neuronx-mem-nrt/src/calls.rs";
    let proved = format!("//! Page.\n// SAFETY: it is.\nlet a = {word} {{ b() }};\n");
    let bare = format!("//! Page.\n{word} impl Send for A {{}}\n// {word} {{ in words }}\n");
    let counts = |text: &str| file("xtask/unsafe-blocks.txt", text);
    check_findings(unsafe_blocks::check(&[file(path, &proved)], &counts("neuronx-mem-nrt 1\n")), &[]);
    check_findings(
        unsafe_blocks::check(&[file(path, &bare)], &counts("neuronx-mem-nrt 2\n")),
        &[
            &format!("2: this {word} block has no proof: say `// SAFETY: ...` above it"),
            &format!(
                "1: the numbers of {word} blocks have changed: read the new proofs, then write\nneuronx-mem-nrt 1"
            ),
        ],
    );
    // One proof serves one block.
    let two = format!("// SAFETY: it is.\n{word} {{ a() }};\n{word} {{ b() }};\n");
    let found = unsafe_blocks::check(&[file(path, &two)], &counts("neuronx-mem-nrt 2\n"));
    assert_eq!(found.len(), 1);
    // Tests and tools are not counted.
    for elsewhere in ["tests/a.rs", "xtask/src/a.rs", "crates/neuronx-mem-nrt/tests/a.rs"] {
        check_findings(unsafe_blocks::check(&[file(elsewhere, &bare)], &counts("")), &[]);
    }
}
