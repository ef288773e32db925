//! `view` and `replay --html` from outside: which file they write, and what they refuse. What the page
//! shows is for the tests in a browser.

use std::fs;

use crate::support::{Folder, Ran, in_clean_environment, in_root, outcome, output_with_input, root};

const GPT2: &str = "tests/data/traces/gpt2_bf16.csv.zst";
const OOM: &str = "tests/data/snapshots/oom.pickle";

fn run(arguments: &[&str]) -> Ran {
    let mut command = in_root(arguments);
    command.env("COLUMNS", "100");
    outcome(&mut command)
}

#[track_caller]
fn check_page(bytes: &[u8]) {
    assert!(bytes.starts_with(b"<!doctype html>\n<html lang=\"en\">"));
    assert!(bytes.ends_with(b"</script>\n</body>\n</html>\n"));
}

#[track_caller]
fn check_refused(arguments: &[&str], message: &str) {
    let ran = run(arguments);
    assert_eq!(ran.err, format!("neuronx-mem: error: {message}\n"));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
}

#[test]
fn the_help_says_what_the_page_is() {
    let ran = run(&["view", "--help"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!("help_view", ran.out);
}

#[test]
fn a_page_is_written_where_it_is_wanted() {
    let folder = Folder::new();
    let wanted = folder.path("page.html");
    let ran = run(&["view", OOM, "-o", &wanted]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let (name, size) = ran.out.trim_end().rsplit_once(": ").unwrap();
    assert_eq!(name, wanted);
    assert!(size.ends_with(" KiB"), "{size}");
    check_page(&fs::read(wanted).unwrap());
    assert_eq!(folder.names(), ["page.html"], "no other file is left");
}

#[test]
fn without_a_name_the_page_is_called_like_the_input() {
    let folder = Folder::new();
    for (input, page) in [(GPT2, "gpt2_bf16.html"), (OOM, "oom.html")] {
        let input = root().join(input).canonicalize().unwrap();
        let mut command = in_clean_environment(&["view", input.to_str().unwrap()]);
        let ran = outcome(command.current_dir(folder.name()));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.starts_with(&format!("{page}: ")), "{}", ran.out);
        check_page(&fs::read(folder.path(page)).unwrap());
    }
}

#[test]
fn a_page_goes_through_pipes() {
    let input = fs::read(root().join(GPT2)).unwrap();
    let output = output_with_input(in_root(&["view", "-", "-o", "-"]), &input);
    assert!(output.status.success() && output.stderr.is_empty());
    check_page(&output.stdout);
}

#[test]
fn a_replay_writes_the_page_of_what_it_replays() {
    let folder = Folder::new();
    let page = folder.path("replay.html");
    let plain = run(&["replay", OOM, "--json"]);
    let ran = run(&["replay", OOM, "--json", "--html", &page]);
    let without_time = |text: &str| text.split("\"elapsed_ns\"").next().unwrap().to_owned();
    assert_eq!(without_time(&ran.out), without_time(&plain.out), "the answer is the same");
    check_page(&fs::read(&page).unwrap());
    // Out of memory is still the answer, and the page is there.
    let ran = run(&["replay", GPT2, "--memory", "4GiB", "--html", &page]);
    assert_eq!(ran.code, 1);
    check_page(&fs::read(&page).unwrap());
}

#[test]
fn what_cannot_be_shown_is_refused_in_one_line() {
    let folder = Folder::new();
    check_refused(
        &["view", OOM, "--device", "7"],
        &format!("{OOM}: device 7 has neither events nor segments"),
    );
    let empty = folder.file("empty.csv", "# nothing\n");
    check_refused(&["view", &empty], &format!("{empty}: holds no events"));
    let serve = "the argument '--output <OUT.html>' cannot be used with '--serve <PORT>'";
    check_refused(&["view", OOM, "-o", "a.html", "--serve", "0"], serve);
    let nowhere = folder.path("no/such/folder/page.html");
    let ran = run(&["view", OOM, "-o", &nowhere]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (2, "", 1));
    assert!(ran.err.contains(&nowhere), "{}", ran.err);
}

#[test]
fn a_taken_port_is_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = run(&["view", OOM, "--serve", &port]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (2, "", 1));
    assert!(ran.err.starts_with(&format!("neuronx-mem: error: --serve {port}: ")), "{}", ran.err);
}
