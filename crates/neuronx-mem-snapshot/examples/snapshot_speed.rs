//! Measures writing and reading a snapshot of a million trace entries with some thousand stacks.
//! Knows how to ask Linux for the peak memory; refuses to judge: it prints a table.
//!
//! `cargo run --release -p neuronx-mem-snapshot --example snapshot_speed [entries]`
//!
//! Each phase runs in its own process, so that one peak does not hide another.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use neuronx_mem_snapshot::history::{Event, History};
use neuronx_mem_snapshot::{Action, Format, Limits, RecordOptions, Snapshot, StackId};

type Failure = Box<dyn std::error::Error>;

const N_STACKS: u64 = 4_000;
const DEPTH: u64 = 24;

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => print!("{}", overview(1_000_000)?),
        [n_entries] => print!("{}", overview(n_entries.parse()?)?),
        [phase, n_entries, path] => print!("{}", run_phase(phase, n_entries.parse()?, path.as_ref())?),
        _ => return Err("usage: speed [entries]".into()),
    }
    Ok(())
}

/// Runs each phase in a process of its own and gathers what they print.
fn overview(n_entries: u64) -> Result<String, Failure> {
    let path = std::env::temp_dir().join(format!("neuronx-mem-speed-{}.pickle", std::process::id()));
    let mut table = format!("{n_entries} entries, {N_STACKS} stacks of {DEPTH} frames\n");
    let mut phases = || -> Result<(), Failure> {
        for phase in ["record", "write", "read", "json"] {
            let output = Command::new(std::env::current_exe()?)
                .args([phase, &n_entries.to_string()])
                .arg(&path)
                .output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
            table.push_str(&String::from_utf8_lossy(&output.stdout));
        }
        Ok(())
    };
    let result = phases();
    let _ = std::fs::remove_file(&path);
    result.map(|()| table)
}

fn run_phase(phase: &str, n_entries: u64, path: &Path) -> Result<String, Failure> {
    let mut report = String::new();
    let file_bytes = || std::fs::metadata(path).map_or(1, |metadata| metadata.len());
    match phase {
        "record" => {
            let (mut history, stacks) = history();
            let before = Instant::now();
            record(&mut history, &stacks, n_entries);
            let nanos_each = before.elapsed().as_nanos() / u128::from(n_entries.max(1));
            writeln!(report, "record {nanos_each:>6} ns an event, peak {} MB", peak_bytes() >> 20)?;
        }
        "write" => {
            let snapshot = snapshot(n_entries);
            let before = Instant::now();
            snapshot.write_file(path)?;
            line(&mut report, "write", before, file_bytes())?;
        }
        "read" => {
            let before = Instant::now();
            let snapshot = Snapshot::read_file(path, &Limits::default())?;
            line(&mut report, "read", before, file_bytes())?;
            if snapshot.trace(0).len() as u64 != n_entries {
                return Err("entries were lost".into());
            }
        }
        "json" => {
            let snapshot = snapshot(n_entries / 10);
            let json = PathBuf::from(path).with_extension("json");
            let before = Instant::now();
            snapshot.write_file_as(&json, Format::Json, false)?;
            let written = before.elapsed().as_secs_f64();
            let before = Instant::now();
            let back = Snapshot::read_file(&json, &Limits::default());
            let bytes = std::fs::metadata(&json)?.len();
            std::fs::remove_file(&json)?;
            let read = before.elapsed().as_secs_f64();
            writeln!(
                report,
                "json   {:>6} MB for a tenth, write {written:.2} s, read {read:.2} s",
                bytes >> 20
            )?;
            if back? != snapshot {
                return Err("json changed the snapshot".into());
            }
        }
        other => return Err(format!("unknown phase {other}").into()),
    }
    Ok(report)
}

#[expect(clippy::cast_precision_loss, reason = "for printing")]
fn line(report: &mut String, phase: &str, before: Instant, file_bytes: u64) -> Result<(), Failure> {
    let seconds = before.elapsed().as_secs_f64();
    let peak = peak_bytes();
    let ratio = peak as f64 / file_bytes as f64;
    writeln!(
        report,
        "{phase:<6} {:>6.1} MB in {seconds:.3} s, peak {} MB = {ratio:.2} times the file",
        file_bytes as f64 / f64::from(1 << 20),
        peak >> 20
    )?;
    Ok(())
}

fn snapshot(n_entries: u64) -> Snapshot {
    let (mut history, stacks) = history();
    // In pieces, so that records and entries are not both in memory at once.
    const PIECE: u64 = 10_000;
    let mut snapshot = Snapshot::new();
    let mut importer = neuronx_mem_snapshot::StackImporter::new();
    let mut n_left = n_entries;
    while n_left > 0 {
        let n_piece = n_left.min(PIECE);
        history.clear();
        record(&mut history, &stacks, n_piece);
        history.export_with(&mut snapshot, 0, &mut importer);
        n_left -= n_piece;
    }
    snapshot
}

fn history() -> (History, Vec<StackId>) {
    let mut history = History::new();
    history.configure(&RecordOptions::default());
    let table = history.stacks_mut();
    let stacks = (0..N_STACKS).map(|stack| {
        let frames = (0..DEPTH).map(|level| {
            let line = if level == 0 { stack } else { stack % (7 + level) };
            table.intern_frame(
                &format!("function_{}", level % 19),
                &format!("site/package/module_{level}.py"),
                line,
            )
        });
        let frames: Vec<_> = frames.collect();
        table.intern_stack(&frames)
    });
    let stacks = stacks.collect();
    (history, stacks)
}

fn record(history: &mut History, stacks: &[StackId], n_entries: u64) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for position in 0..n_entries {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> 33;
        let action = [Action::Alloc, Action::FreeRequested, Action::FreeCompleted][(position % 3) as usize];
        let stack = stacks.get((random % N_STACKS) as usize).copied();
        let event = Event::new(action, 1_796_072_040_868_254 + position * 3)
            .with_addr(0x7a00_0000_0000 + (random << 9))
            .with_size_bytes(512 * (1 + random % 40_000))
            .with_stack(stack);
        history.record(&event);
    }
}

/// Most resident memory of this process so far; 0 where /proc does not exist.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
