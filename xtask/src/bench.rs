//! `cargo xtask bench`: builds the benchmark program outside the workspace and runs it; with
//! `--count`, counts instructions under valgrind and compares them with the committed figures.
//!
//! Knows which cells are counted and how far a figure may move. What is measured, and which ratios
//! are claimed, is the program's business.

use std::collections::BTreeMap;
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
run, compared with bench/instructions.txt; a figure that moved by more than 3 % fails. --accept
writes the new figures.
";

/// Cells to count: allocator, workload, repeats of the short run. The long one is three times that.
const CELLS: [(&str, &str, u64); 6] = [
    ("pool", "gpt2_bf16", 1),
    ("pool", "hot 4 KiB", 10),
    ("pool", "1k live", 1),
    ("pool", "100k live", 1),
    ("facade handle", "gpt2_bf16", 1),
    ("facade, history on", "gpt2_bf16", 1),
];

/// Where the figures are kept, from the root.
const FIGURES: &str = "bench/instructions.txt";

/// Percent by which a figure may move.
const TOLERANCE_PERCENT: u64 = 3;

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let root = workspace.root();
    let program = build(root)?;
    match arguments.split_first() {
        Some((first, rest)) if first == "--count" => count(root, &program, rest),
        _ => {
            let mut command = Command::new(&program);
            command.args(arguments).current_dir(root);
            process::run(command)
        }
    }
}

fn build(root: &Path) -> Result<PathBuf, Failure> {
    let manifest = ["build", "--release", "--manifest-path", "bench/Cargo.toml"];
    let mut command = process::cargo(root, &manifest);
    command.args(["--target-dir", "target/bench"]);
    process::run(command)?;
    Ok(root.join("target/bench/release/neuronx-mem-bench"))
}

fn count(root: &Path, program: &Path, arguments: &[String]) -> Result<(), Failure> {
    let is_accepted = match arguments {
        [] => false,
        [flag] if flag == "--accept" => true,
        _ => return Err(Failure::Usage("--count takes --accept and nothing else".to_owned())),
    };
    let mut figures = BTreeMap::new();
    for (subject, workload, repeats) in CELLS {
        let per_step = per_step(program, subject, workload, repeats)?;
        println!("{subject}, {workload}: {per_step} instructions per operation");
        figures.insert(format!("{subject}, {workload}"), per_step);
    }
    let path = root.join(FIGURES);
    if is_accepted {
        return fs::write(&path, text(&figures))
            .map_err(|error| broken(format!("cannot write {FIGURES}: {error}")));
    }
    let committed =
        fs::read_to_string(&path).map_err(|error| broken(format!("cannot read {FIGURES}: {error}")))?;
    let moved = moved(&parse(&committed), &figures);
    if moved.is_empty() { Ok(()) } else { Err(broken(moved.join("\n"))) }
}

/// Instructions of the long run minus the short one, divided by the steps in between: start-up,
/// reading the trace and the first touch of memory fall out.
fn per_step(program: &Path, subject: &str, workload: &str, repeats: u64) -> Result<u64, Failure> {
    let (short, short_steps) = instructions(program, subject, workload, repeats)?;
    let (long, long_steps) = instructions(program, subject, workload, repeats * 3)?;
    let steps = long_steps.saturating_sub(short_steps).max(1);
    Ok(long.saturating_sub(short) / steps)
}

fn instructions(program: &Path, subject: &str, workload: &str, repeats: u64) -> Result<(u64, u64), Failure> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command.args(["--count", subject, workload, &repeats.to_string()]);
    let output = command.output().map_err(|error| broken(format!("cannot run valgrind: {error}")))?;
    let steps = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().find_map(|line| line.split("Collected :").nth(1));
    let collected = collected.and_then(|number| number.trim().parse().ok());
    collected
        .zip(steps)
        .ok_or_else(|| broken(format!("valgrind counted nothing for {subject} on {workload}: {said}")))
}

fn text(figures: &BTreeMap<String, u64>) -> String {
    figures.iter().map(|(cell, figure)| format!("{figure:>6}  {cell}\n")).collect()
}

fn parse(text: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (figure, cell) = line.trim().split_once("  ")?;
        Some((cell.to_owned(), figure.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// One line for each figure that is new, gone, or moved by more than the tolerance.
fn moved(committed: &BTreeMap<String, u64>, measured: &BTreeMap<String, u64>) -> Vec<String> {
    let mut lines = Vec::new();
    for (cell, now) in measured {
        match committed.get(cell) {
            None => lines.push(format!("{cell}: {now} instructions, not committed yet")),
            Some(before) if now.abs_diff(*before) * 100 > before * TOLERANCE_PERCENT => {
                lines.push(format!("{cell}: {now} instructions, {before} committed"));
            }
            Some(_) => {}
        }
    }
    let gone = committed.keys().filter(|cell| !measured.contains_key(*cell));
    lines.extend(gone.map(|cell| format!("{cell}: committed and not counted any more")));
    lines
}

fn broken(message: String) -> Failure {
    Failure::Broken(message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{moved, parse, text};

    fn figures(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        pairs.iter().map(|(cell, figure)| ((*cell).to_owned(), *figure)).collect()
    }

    #[test]
    fn figures_survive_the_file() {
        let some = figures(&[("pool, gpt2_bf16", 279), ("facade handle, hot 4 KiB", 12_345)]);
        assert_eq!(parse(&text(&some)), some);
    }

    #[test]
    fn three_percent_either_way_is_tolerated() {
        let committed = figures(&[("a", 100), ("b", 100), ("c", 100), ("gone", 1)]);
        let measured = figures(&[("a", 103), ("b", 104), ("c", 96), ("new", 5)]);
        assert_eq!(
            moved(&committed, &measured),
            [
                "b: 104 instructions, 100 committed",
                "c: 96 instructions, 100 committed",
                "new: 5 instructions, not committed yet",
                "gone: committed and not counted any more",
            ]
        );
    }
}
