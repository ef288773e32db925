//! Instructions per operation, counted by valgrind: the same on every machine and in every mood of
//! it. Knows which cells are counted, how far a figure may move and which limits are promised.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;

/// Cells to count: allocator, workload, repeats of the short run. The long one is three times that.
const CELLS: [(&str, &str, u64); 6] = [
    ("pool", "gpt2_bf16", 20),
    ("pool", "hot 4 KiB", 10),
    ("pool", "1k live", 1),
    ("pool", "100k live", 1),
    ("facade handle", "gpt2_bf16", 20),
    ("facade, history on, no clock", "gpt2_bf16", 20),
];

/// Where the figures are kept, from the root.
const FIGURES: &str = "bench/instructions.txt";

/// Percent by which a figure may move.
const TOLERANCE_PERCENT: u64 = 3;

/// Promised: instructions of the pool on `gpt2_bf16`.
const POOL_LIMIT: u64 = 185;

/// Promised: how much more the pool takes with a hundred times the live blocks, below.
const GROWTH_LIMIT: u64 = 2;

/// Promised: percent that a history costs while it is off.
const RECORDER_LIMIT_PERCENT: u64 = 2;

/// Counts every cell of `program`, and the facade of `bare`, which has no recorder.
pub(super) fn run(root: &Path, program: &Path, bare: &Path, arguments: &[String]) -> Result<(), Failure> {
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
    let without_recorder = per_step(bare, "facade handle", "gpt2_bf16", 20)?;
    println!("facade handle without a recorder, gpt2_bf16: {without_recorder} instructions per operation");
    let broken_promises = broken_promises(&figures, without_recorder);
    if !broken_promises.is_empty() {
        return Err(broken(broken_promises.join("\n")));
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
/// reading the trace and the first touch of memory fall out. What the harness itself takes is
/// counted the same way and taken off.
fn per_step(program: &Path, subject: &str, workload: &str, repeats: u64) -> Result<u64, Failure> {
    let (whole, n_steps) = difference(program, subject, workload, repeats)?;
    let (harness, _) = difference(program, "null", workload, repeats)?;
    Ok(whole.saturating_sub(harness) / n_steps)
}

/// Instructions and steps of the long run less those of the short one.
fn difference(program: &Path, subject: &str, workload: &str, repeats: u64) -> Result<(u64, u64), Failure> {
    let (short, short_steps) = instructions(program, subject, workload, repeats)?;
    let (long, long_steps) = instructions(program, subject, workload, repeats * 3)?;
    Ok((long.saturating_sub(short), long_steps.saturating_sub(short_steps).max(1)))
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

/// One line for each promise that the figures break.
fn broken_promises(figures: &BTreeMap<String, u64>, without_recorder: u64) -> Vec<String> {
    let figure = |cell: &str| figures.get(cell).copied().unwrap_or(u64::MAX);
    let mut lines = Vec::new();
    let pool = figure("pool, gpt2_bf16");
    if pool > POOL_LIMIT {
        lines.push(format!("pool, gpt2_bf16: {pool} instructions, at most {POOL_LIMIT} are promised"));
    }
    let (few, many) = (figure("pool, 1k live"), figure("pool, 100k live"));
    if many >= few.saturating_mul(GROWTH_LIMIT) {
        lines.push(format!("pool: {many} instructions with 100k live blocks, {few} with 1k"));
    }
    let with_recorder = figure("facade handle, gpt2_bf16");
    if with_recorder * 100 > without_recorder * (100 + RECORDER_LIMIT_PERCENT) {
        lines.push(format!(
            "facade: {with_recorder} instructions with the history off, {without_recorder} without one"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{broken_promises, moved, parse, text};

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

    #[test]
    fn promises_are_kept_at_the_limit_and_broken_above_it() {
        let measured = |pool, many, facade| {
            figures(&[
                ("pool, gpt2_bf16", pool),
                ("pool, 1k live", 100),
                ("pool, 100k live", many),
                ("facade handle, gpt2_bf16", facade),
            ])
        };
        assert!(broken_promises(&measured(185, 199, 306), 300).is_empty());
        assert_eq!(
            broken_promises(&measured(186, 200, 307), 300),
            [
                "pool, gpt2_bf16: 186 instructions, at most 185 are promised",
                "pool: 200 instructions with 100k live blocks, 100 with 1k",
                "facade: 307 instructions with the history off, 300 without one",
            ]
        );
    }
}
