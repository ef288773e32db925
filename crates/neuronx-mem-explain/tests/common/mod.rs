//! What the tests share: the corpus, and inputs from text.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses some; in a test a panic is the report")]

use std::path::{Path, PathBuf};

use neuronx_mem_explain::{Input, ReadOptions, Run};
use neuronx_mem_replay::{TraceInput, TraceReader};

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

pub(crate) fn read(name: &str) -> Input {
    Input::read(&TraceInput::File(data(name)), &ReadOptions::default()).unwrap()
}

pub(crate) fn input(text: &str) -> Input {
    Input::from_events(TraceReader::new(text.as_bytes(), "text")).unwrap()
}

pub(crate) fn run(text: &str) -> Run {
    Run::of(&input(text)).unwrap()
}

/// The lines of a trace of the corpus.
pub(crate) fn lines(name: &str) -> Vec<String> {
    let text = TraceInput::File(data(name)).open_text().unwrap();
    std::io::BufRead::lines(text).map(|line| line.unwrap()).collect()
}
