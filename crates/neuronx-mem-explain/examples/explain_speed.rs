//! Times every question on a synthetic trace of ten million events: `cargo run --release --example
//! explain_speed -p neuronx-mem-explain [EVENTS]`. Claims nothing; prints seconds.

#![allow(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use neuronx_mem_explain::{Diff, DiffOptions, ExplainOptions, Explanation, Input, LeakOptions, Leaks, Run};
use neuronx_mem_replay::TraceReader;

/// Tensors live at once.
const N_LIVE: u64 = 4_000;

/// Events of a step.
const STEP: u64 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let n_events = std::env::args().nth(1).map_or(Ok(10_000_000), |text| text.parse())?;
    let text = trace(n_events)?;
    println!("{n_events} events, {} MiB of text", text.len() >> 20);
    let input = timed("read", || Input::from_events(TraceReader::new(text.as_bytes(), "synthetic")))?;
    let explanation = timed("explain", || Explanation::of(&input, &ExplainOptions::default()))?;
    println!("  at event {}, {} bytes reserved", explanation.event, explanation.heap.reserved_bytes());
    let run = timed("lives", || Run::of(&input))?;
    let diff = timed("diff", || Diff::of(&run, &run, &DiffOptions::default()))?;
    let leaks = timed("leaks", || Leaks::of(&run, &LeakOptions::default()))?;
    println!("  {} sites differ, {} leak", diff.groups.len(), leaks.leaks.len());
    Ok(())
}

fn timed<T, E>(what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    let result = work();
    println!("{what}: {:.2} s", start.elapsed().as_secs_f64());
    result
}

/// Tensors of mixed sizes, each freed when as many as are live have come after it, give or take.
fn trace(n_events: u64) -> Result<String, std::fmt::Error> {
    const SIZES: [u64; 8] = [512, 4096, 40_000, 65_536, 1 << 20, 3 << 20, 5 << 20, 20 << 20];
    let mut text = String::new();
    let mut live = std::collections::VecDeque::new();
    let mut random = 1_u64;
    for event in 0..n_events {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = random >> 33;
        if event % STEP == 0 {
            writeln!(text, "m,step {}", event / STEP)?;
        } else if live.len() as u64 > N_LIVE || (number.is_multiple_of(2) && live.len() as u64 > N_LIVE / 2) {
            let idx = usize::try_from(number / 2 % 64).unwrap_or(0).min(live.len() - 1);
            if let Some(id) = live.swap_remove_front(idx) {
                writeln!(text, "f,{id}")?;
            }
        } else {
            let size = SIZES[usize::try_from(number / 2 % 8).unwrap_or(0)] + number % 1000 * 8;
            writeln!(text, "a,{event},{size},{}", number % 3)?;
            live.push_back(event);
        }
    }
    Ok(text)
}
