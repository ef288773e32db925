//! Writes a synthetic trace of ten million events, to measure `view` with: `cargo run --release
//! --example synthetic_trace -p neuronx-mem-view [EVENTS] > big.csv`. The same on every machine.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{BufWriter, Write, stdout};

/// Tensors live at once, give or take.
const N_LIVE: usize = 4_000;

/// Events of a step.
const STEP: u64 = 10_000;

/// Bytes of tensors, before some are added.
const SIZES: [u64; 8] = [512, 4096, 40_000, 65_536, 1 << 20, 3 << 20, 5 << 20, 20 << 20];

fn main() -> Result<(), Box<dyn Error>> {
    let n_events: u64 = std::env::args().nth(1).map_or(Ok(10_000_000), |text| text.parse())?;
    let mut out = BufWriter::new(stdout().lock());
    let mut live = VecDeque::new();
    let mut random = 1_u64;
    for event in 0..n_events {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = random >> 33;
        let is_free = live.len() > N_LIVE || (number.is_multiple_of(2) && live.len() > N_LIVE / 2);
        if event % STEP == 0 {
            writeln!(out, "m,step {}", event / STEP)?;
        } else if is_free {
            // One of the oldest, so that lives overlap without end.
            let idx = usize::try_from(number / 2 % 64).unwrap_or(0).min(live.len() - 1);
            if let Some(id) = live.swap_remove_front(idx) {
                writeln!(out, "f,{id}")?;
            }
        } else {
            let size = SIZES[usize::try_from(number / 2 % 8).unwrap_or(0)] + number % 1000 * 8;
            writeln!(out, "a,{event},{size},{}", number % 3)?;
            live.push_back(event);
        }
    }
    Ok(out.flush()?)
}
