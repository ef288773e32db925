//! The viewer without a terminal: keys change the state, screens are pinned as text.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod clicks;
mod finding;
mod keys;
mod samples;
mod screens;

use std::path::{Path, PathBuf};

use neuronx_mem_replay::{Input, ReadOptions, ReplayOptions, TraceInput, TraceReader};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::still::text_of;
use super::{App, Options, draw};
use crate::Recording;

/// Two steps on two streams; everything has its place in the figures of the tests.
const STEPS: &str = "m,step 1\na,1,4194304,0\na,2,33554432,0\na,3,1000,7\nf,2\nm,step 2\na,4,104857600,7\nf,1\n\
    f,4\nm,end\nf,3\n";

fn of_text(text: &str, options: &ReplayOptions) -> Recording {
    let input = Input::from_events(TraceReader::new(text.as_bytes(), "steps.csv")).unwrap();
    Recording::of(&input, options).unwrap()
}

fn steps() -> Recording {
    of_text(STEPS, &ReplayOptions::default())
}

/// A file of the workspace's test data.
fn sample(name: &str) -> Recording {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name))
}

fn read(path: &Path) -> Recording {
    let input = TraceInput::File(path.to_owned());
    Recording::read(&input, &ReadOptions::default(), &ReplayOptions::default()).unwrap()
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(folder);
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn press(app: &mut App<'_>, key: KeyCode) {
    app.on_key(KeyEvent::new(key, KeyModifiers::NONE));
}

/// Types letters one by one.
fn keys(app: &mut App<'_>, letters: &str) {
    letters.chars().for_each(|letter| press(app, KeyCode::Char(letter)));
}

/// Types a line and ends it.
fn line(app: &mut App<'_>, letters: &str) {
    keys(app, letters);
    press(app, KeyCode::Enter);
}

/// The screen as text.
fn screen(app: &mut App<'_>, width: u16, height: u16) -> String {
    app.on_resize(width, height);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, app)).unwrap();
    text_of(terminal.backend().buffer())
}

fn app(recording: &Recording) -> App<'_> {
    App::new(recording, Options::default())
}
