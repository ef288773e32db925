//! What tidy says of any text: names of machines, ends of lines and files,
//! snapshots that wait for review.

use super::super::text;
use super::{check_findings, file};

#[track_caller]
fn check_text(path: &str, text: &str, expected: &[&str]) {
    check_findings(text::check(&file(path, text)), expected);
}

#[test]
fn texts_name_no_machine() {
    let root = concat!("/", "root/");
    let work = concat!("/", "work/");
    let home = concat!("/", "home/");
    let users = concat!("/", "Users/");
    check_text(
        "docs/a.txt",
        &format!("in {root}x\nfile://{work}x\n\"{home}ada/x\"\n({users}ada.l/x)\n"),
        &[
            &format!("1: `{root}` is a path of one machine"),
            &format!("2: `{work}` is a path of one machine"),
            &format!("3: `{home}ada/` is a path of one machine"),
            &format!("4: `{users}ada.l/` is a path of one machine"),
        ],
    );
    let outside = concat!("../", "shared");
    check_text("a.csv", &format!("see {outside}\n"), &[&format!("1: `{outside}` is outside of the project")]);
}

#[test]
fn relative_paths_and_addresses_are_no_machine() {
    let root = concat!("/", "root/");
    let home = concat!("/", "home/");
    let lines = [
        format!("https://example.org{root}x\n"),
        format!("$TMP{root}x ${{TMP}}{root}x ..{root}x <folder>{root}x\n"),
        format!("{home}<user>/x {home}$USER/x {home}ada\n"),
    ];
    check_text("a.md", &lines.concat(), &[]);
    // A second place in the line is still found.
    let line = format!("x{root}y and {root}\n");
    check_text("a.txt", &line, &[&format!("1: `{root}` is a path of one machine")]);
}

#[test]
fn texts_end_cleanly() {
    check_text(
        "a.rs",
        "a \nb\t\nc\r\nd",
        &[
            "1: a blank at the end of the line",
            "2: a blank at the end of the line",
            "3: a blank at the end of the line",
            "4: no newline at the end of the file",
        ],
    );
    check_text("a.md", "a\n", &[]);
    check_text("a.toml", "", &[]);
    check_text("a.snap", "a \nb", &[]);
}

#[test]
fn snapshots_do_not_wait_for_review() {
    let message = "1: a snapshot that waits for review: accept it or take it out";
    check_text("src/snapshots/a.snap.new", "", &[message]);
    check_text("src/.a.rs.pending-snap", "", &[message]);
    check_text("src/snapshots/a.snap", "", &[]);
}
