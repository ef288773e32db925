//! `cargo xtask bench`: builds the benchmark program outside the workspace and runs it. What is
//! measured, and which ratios are claimed, is the program's business; counting is `count.rs`'s.

mod count;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "measure all allocators in one run, or count instructions";

/// The text of `cargo xtask bench --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask bench [--json] [--check] [--filter TEXT] [--repetitions N]
       cargo xtask bench --count [--accept]

Without --count: CPU time per operation of every allocator on every workload, in one program and one
run, as a table. --check fails unless every claimed ratio holds.
With --count: instructions per operation, counted by valgrind as the difference of a short and a long
run less the harness, compared with bench/instructions.txt; a figure that moved by more than 3 %, or
is above its limit, fails. --accept writes the new figures.
";

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let root = workspace.root();
    let program = build(root, Build::Whole)?;
    match arguments.split_first() {
        Some((first, rest)) if first == "--count" => {
            let bare = build(root, Build::WithoutRecorder)?;
            count::run(root, &program, &bare, rest)
        }
        _ => {
            let mut command = Command::new(&program);
            command.args(arguments).current_dir(root);
            process::run(command)
        }
    }
}

/// What is built into the program.
#[derive(Clone, Copy)]
enum Build {
    Whole,
    /// The facade without its history, to see what one that is off costs.
    WithoutRecorder,
}

fn build(root: &Path, build: Build) -> Result<PathBuf, Failure> {
    let manifest = ["build", "--release", "--manifest-path", "bench/Cargo.toml"];
    let mut command = process::cargo(root, &manifest);
    if matches!(build, Build::WithoutRecorder) {
        // Read at compile time by the facade, so only what depends on it is built again.
        command.env("NEURONX_MEM_BENCH_WITHOUT_RECORDER", "1");
    }
    command.args(["--target-dir", "target/bench"]);
    process::run(command)?;
    let built = root.join("target/bench/release/neuronx-mem-bench");
    let named = root.join("target/bench").join(build.program());
    fs::copy(&built, &named).map_err(|error| Failure::Broken(format!("cannot copy the program: {error}")))?;
    Ok(named)
}

impl Build {
    /// Its own name, since the next build takes the place of this one.
    fn program(self) -> &'static str {
        match self {
            Self::Whole => "neuronx-mem-bench",
            Self::WithoutRecorder => "neuronx-mem-bench-without-recorder",
        }
    }
}
