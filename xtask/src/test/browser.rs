//! Tests in a browser, `tests/browser/`: Chromium opens the pages that the command writes.
//!
//! Knows how to fetch the driver below `target/`, where Chromium may be, and the closing lines of node's
//! own test runner. Needs node 20 or later, npm (the first time also its registry) and Chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::binaries::Binary;
use super::outcome::Outcome;
use super::python::program;
use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// How the suite is called in the list of crates.
pub(super) const NAME: &str = "browser";

/// The scripts, below the root.
const SCRIPTS: &str = "tests/browser";

/// Where the driver and the pictures go, below the root.
const FOLDER: &str = "target/browser";

/// Names of Chromium, unless `CHROMIUM` says where it is.
const CHROMIUMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Runs the suite; what keeps it from running is one failure.
pub(super) fn run(workspace: &Workspace, built: &[Binary]) -> Outcome {
    tested(workspace.root(), built).unwrap_or_else(|failure| {
        failure.print();
        Outcome::failure()
    })
}

fn tested(root: &Path, built: &[Binary]) -> Result<Outcome, Failure> {
    let program = program(root, built, "neuronx-mem")?;
    let chromium = chromium()?;
    let modules = driver(root)?;
    let pictures = root.join(FOLDER).join("pictures");
    fs::create_dir_all(&pictures).map_err(|error| broken("make", &pictures, &error))?;
    let mut command = Command::new("node");
    // One file after the other: each has a browser of its own.
    command.current_dir(root).args(["--test", "--test-reporter=tap", "--test-concurrency=1"]);
    command.args(scripts(root)?);
    command.env("NEURONX_MEM", program).env("CHROMIUM", chromium);
    command.env("BROWSER_MODULES", modules).env("BROWSER_PICTURES", &pictures);
    let mut ran = process::capture(command)?;
    let (passed, failed) = result_of(&ran.text, ran.success);
    ran.text.insert_str(0, &format!("---- browser: {SCRIPTS}\n"));
    Ok(Outcome { passed, failed, elapsed: ran.elapsed, output: ran.text })
}

/// The files with tests, by name: node's own search would find those of the driver too.
fn scripts(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let folder = root.join(SCRIPTS);
    let entries = fs::read_dir(&folder).map_err(|error| broken("read", &folder, &error))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".test.mjs")).collect();
    names.sort();
    Ok(names.iter().map(|name| Path::new(SCRIPTS).join(name)).collect())
}

/// The program of the browser.
fn chromium() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Ok(path.into());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&folders)
        .flat_map(|folder| CHROMIUMS.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    places.ok_or_else(|| {
        Failure::Broken("there is no Chromium: install it, or say with CHROMIUM where it is".to_owned())
    })
}

/// The folder of the driver's modules, fetched when the one named in the lock file is not there.
fn driver(root: &Path) -> Result<PathBuf, Failure> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| broken("make", &folder, &error))?;
    let mut is_there = folder.join("node_modules/playwright-core/package.json").is_file();
    for name in ["package.json", "package-lock.json"] {
        let wanted = root.join(SCRIPTS).join(name);
        let text = fs::read(&wanted).map_err(|error| broken("read", &wanted, &error))?;
        let copy = folder.join(name);
        if fs::read(&copy).is_ok_and(|there| there == text) {
            continue;
        }
        is_there = false;
        fs::write(&copy, text).map_err(|error| broken("write", &copy, &error))?;
    }
    if !is_there {
        let mut command = Command::new("npm");
        command.current_dir(&folder).stdin(Stdio::null());
        command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        process::run(command)?;
    }
    Ok(folder)
}

fn broken(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::Broken(format!("cannot {what} {}: {error}", path.display()))
}

/// Passed and failed of the closing lines `# pass 41` and `# fail 0`. A run that ends badly, or without
/// having run anything, is at least one failure.
pub(super) fn result_of(text: &str, success: bool) -> (u64, u64) {
    let closing = |what: &str| {
        text.lines().rev().find_map(|line| line.strip_prefix("# ")?.strip_prefix(what)?.trim().parse().ok())
    };
    let passed: u64 = closing("pass ").unwrap_or(0);
    let failed: u64 = ["fail ", "cancelled "].into_iter().filter_map(closing).sum();
    if success && passed > 0 { (passed, failed) } else { (passed, failed.max(1)) }
}
