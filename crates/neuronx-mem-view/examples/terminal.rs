//! Shows a trace or a snapshot on a terminal: `cargo run --release --example terminal
//! -p neuronx-mem-view --features terminal FILE`. Where standard output is no terminal it prints one
//! screen of `COLUMNS` by `LINES`.

#![allow(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;

use neuronx_mem_replay::{ReadOptions, ReplayOptions, TraceInput};
use neuronx_mem_view::{Recording, terminal};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: terminal FILE")?;
    let input = TraceInput::File(file.into());
    let recording = Recording::read(&input, &ReadOptions::default(), &ReplayOptions::default())?;
    if terminal::is_usable() {
        return Ok(terminal::run(&recording, terminal::Options::from_environment())?);
    }
    let side = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    print!("{}", terminal::still(&recording, side("COLUMNS").unwrap_or(100), side("LINES").unwrap_or(40)));
    Ok(())
}
