//! Times the viewer for a terminal on a synthetic trace of ten million events: `cargo run --release
//! --example terminal_speed -p neuronx-mem-view --features terminal [EVENTS]`. Claims nothing; prints
//! milliseconds.

#![allow(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use neuronx_mem_replay::{Input, ReplayOptions, TraceReader};
use neuronx_mem_view::Recording;
use neuronx_mem_view::terminal::{App, Options, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Tensors live at once.
const N_LIVE: u64 = 4_000;

/// Events of a step.
const STEP: u64 = 10_000;

/// Keys of a kind that are timed; the median is printed.
const N_KEYS: usize = 41;

fn main() -> Result<(), Box<dyn Error>> {
    let n_events = std::env::args().nth(1).map_or(Ok(10_000_000), |text| text.parse())?;
    let text = trace(n_events)?;
    let start = Instant::now();
    let input = Input::from_events(TraceReader::new(text.as_bytes(), "synthetic"))?;
    let recording = Recording::of(&input, &ReplayOptions::default())?;
    drop(input);
    print("read and replay", start.elapsed());
    let mut terminal = Terminal::new(TestBackend::new(200, 60))?;
    let start = Instant::now();
    let mut app = App::new(&recording, Options::default());
    app.on_resize(200, 60);
    terminal.draw(|frame| draw(frame, &app))?;
    print("first screen", start.elapsed());
    let end = KeyCode::End;
    let keys = [
        ("a column back, from the end", end, KeyCode::Left),
        ("an event back, from the end", end, KeyCode::Char(',')),
        ("a closer look", end, KeyCode::Char('+')),
        ("a key that moves nothing", end, KeyCode::Tab),
    ];
    for (name, first, key) in keys {
        app.on_key(KeyEvent::new(first, KeyModifiers::NONE));
        terminal.draw(|frame| draw(frame, &app))?;
        let mut times = Vec::new();
        for _ in 0..N_KEYS {
            let start = Instant::now();
            app.on_key(KeyEvent::new(key, KeyModifiers::NONE));
            terminal.draw(|frame| draw(frame, &app))?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        print(name, times[N_KEYS / 2]);
    }
    for line in ["f>1MiB step\n", "/nowhere\n"] {
        let start = Instant::now();
        for letter in line.chars() {
            let key = if letter == '\n' { KeyCode::Enter } else { KeyCode::Char(letter) };
            app.on_key(KeyEvent::new(key, KeyModifiers::NONE));
        }
        terminal.draw(|frame| draw(frame, &app))?;
        print(line.trim_end(), start.elapsed());
    }
    Ok(())
}

fn print(what: &str, time: Duration) {
    println!("{what}: {:.1} ms", time.as_secs_f64() * 1e3);
}

/// Tensors of mixed sizes, each freed when as many as are live have come after it, give or take.
fn trace(n_events: u64) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let mut live: Vec<u64> = Vec::new();
    let mut random = 1_u64;
    for event in 0..n_events {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = random >> 33;
        if event % STEP == 0 {
            writeln!(text, "m,step {}", event / STEP)?;
        } else if live.len() as u64 > draw % (2 * N_LIVE) {
            let idx = usize::try_from(draw).unwrap_or(0) % live.len();
            writeln!(text, "f,{}", live.swap_remove(idx))?;
        } else {
            let bytes = 512 << (draw % 14);
            writeln!(text, "a,{event},{},{}", bytes + draw % 512, draw % 3)?;
            live.push(event);
        }
    }
    Ok(text)
}
