//! `cargo xtask fuzz`: builds the fuzz targets outside the workspace and runs them for some seconds.
//!
//! Knows how to let rustc count what a run covers, which is all that libFuzzer needs; the pass is part
//! of every rustc, so neither nightly nor cargo-fuzz is. What a target checks is its own business.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "feed the readers and the pool with hostile bytes";

/// The text of `cargo xtask fuzz --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask fuzz [TARGET...] [--seconds N]

Builds the targets in fuzz/targets with libFuzzer and runs the named ones, or all, for N seconds each
(60 unless said). What a run found worth keeping stays in target/fuzz/corpus for the next one; an input
that fails is written to target/fuzz/artifacts, and the command fails.

  snapshot_reader   pickle and JSON snapshots, their histories and what is written of them
  trace_reader      traces
  config_parser     the allocator's configuration and the environment
  pool              operations on segments and blocks, checked one by one

Needs a C++ compiler, which builds libFuzzer, and the network the first time.
";

/// Name, and longest input in bytes: long enough for the structure, short enough to be fast.
const TARGETS: [(&str, u32); 4] =
    [("snapshot_reader", 65_536), ("trace_reader", 16_384), ("config_parser", 4_096), ("pool", 4_096)];

/// Lets rustc count branches and comparisons for libFuzzer.
const FLAGS: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// Below the root: what is built and what the runs leave.
const FOLDER: &str = "target/fuzz";

/// Seconds a target unless said.
const DEFAULT_SECONDS: u32 = 60;

/// Seconds that one input may take, and memory that it may need, MiB.
const LIMITS: [&str; 2] = ["-timeout=10", "-rss_limit_mb=1024"];

/// Targets and seconds of a command line.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    targets: Vec<(&'static str, u32)>,
    seconds: u32,
}

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let wanted = parse(arguments)?;
    let workspace = Workspace::load()?;
    let root = workspace.root();
    let host = host(root)?;
    let mut command = process::cargo(root, &["build", "--release"]);
    command.args(["--manifest-path", "fuzz/Cargo.toml", "--target-dir", FOLDER, "--target", &host]);
    command.args(wanted.targets.iter().flat_map(|(name, _)| ["--bin", name]));
    command.env("RUSTFLAGS", FLAGS.join(" "));
    process::run(command)?;
    for (name, max_bytes) in wanted.targets {
        fuzz(root, &host, name, max_bytes, wanted.seconds)?;
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Wanted, Failure> {
    let mut targets = Vec::new();
    let mut seconds = DEFAULT_SECONDS;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--seconds" {
            let number = arguments.next().and_then(|text| text.parse().ok()).filter(|n| *n > 0);
            seconds =
                number.ok_or_else(|| Failure::Usage("--seconds takes a whole number from 1".to_owned()))?;
            continue;
        }
        let target = TARGETS.iter().find(|(name, _)| name == argument);
        targets.push(*target.ok_or_else(|| {
            let names = TARGETS.map(|(name, _)| name).join(", ");
            Failure::Usage(format!("no fuzz target `{argument}`; the targets are {names}"))
        })?);
    }
    if targets.is_empty() {
        targets = TARGETS.to_vec();
    }
    Ok(Wanted { targets, seconds })
}

/// The triple of this machine: with it named, the flags stay away from build scripts.
fn host(root: &Path) -> Result<String, Failure> {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(root).arg("-vV");
    let text = process::capture(command)?.text;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::Broken("rustc does not say its host".to_owned()))
}

fn fuzz(root: &Path, host: &str, name: &str, max_bytes: u32, seconds: u32) -> Result<(), Failure> {
    let corpus = format!("{FOLDER}/corpus/{name}");
    let artifacts = format!("{FOLDER}/artifacts/{name}");
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(root.join(folder))
            .map_err(|error| Failure::Broken(format!("cannot make `{folder}`: {error}")))?;
    }
    let program = root.join(FOLDER).join(host).join("release").join(name);
    let mut command = Command::new(program);
    command.current_dir(root).args(LIMITS);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={max_bytes}"));
    command.arg(format!("-artifact_prefix={artifacts}/")).args(["-print_final_stats=1", "-verbosity=0"]);
    // New inputs go to the first folder; the others are only read.
    command.arg(corpus);
    command.args(seeds(name).into_iter().filter(|folder| root.join(folder).is_dir()));
    process::run(command)
}

/// Folders of good inputs to start from.
fn seeds(name: &str) -> Vec<String> {
    let mut folders = vec![format!("fuzz/seeds/{name}")];
    if name == "snapshot_reader" {
        folders.push("tests/data/snapshots".to_owned());
    }
    folders
}

#[cfg(test)]
mod tests {
    //! Command lines.

    use super::{TARGETS, Wanted, parse};
    use crate::failure::Failure;

    #[track_caller]
    fn check(arguments: &str, expected: Result<(&[&str], u32), &str>) {
        let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        let found = parse(&words);
        let expected = expected
            .map(|(names, seconds)| {
                let target = |name: &&str| *TARGETS.iter().find(|(own, _)| own == name).unwrap();
                Wanted { targets: names.iter().map(target).collect(), seconds }
            })
            .map_err(|message| Failure::Usage(message.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn targets_and_seconds_are_read() {
        check("", Ok((&["snapshot_reader", "trace_reader", "config_parser", "pool"], 60)));
        check("pool --seconds 5", Ok((&["pool"], 5)));
        check("--seconds 7 pool trace_reader", Ok((&["pool", "trace_reader"], 7)));
        let seconds = "--seconds takes a whole number from 1";
        check("pool --seconds", Err(seconds));
        check("pool --seconds 0", Err(seconds));
        let names =
            "no fuzz target `pond`; the targets are snapshot_reader, trace_reader, config_parser, pool";
        check("pond", Err(names));
    }
}
