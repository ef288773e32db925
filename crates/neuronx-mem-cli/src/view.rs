//! The verb `view`: a recording as a page, in a file or served to this host, or in the terminal.

mod arguments;
mod request;
mod serve;
mod terminal;

use std::io::Write;
use std::path::{Path, PathBuf};

use neuronx_mem_replay::{Input, TraceInput};
use neuronx_mem_view::{PageOptions, Recording, ViewError, write_page};

pub(crate) use arguments::ViewArguments;

use crate::config;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::steps::warn_of_skipped;
use crate::{target, units};

pub(crate) fn run(arguments: &ViewArguments) -> Result<Answer, Failure> {
    let chosen = config::choose(arguments.config.as_deref())?;
    let options = arguments.replay_options(chosen.config);
    let recording = Recording::read(&arguments.input(), &arguments.read_options(), &options)?;
    warn_of_skipped(&recording.name, recording.n_skipped);
    if arguments.terminal {
        return terminal::show(&recording);
    }
    if let Some(port) = arguments.serve {
        let mut page = Vec::new();
        write_page(&recording, &PageOptions::default(), &mut page)?;
        return serve::serve(port, &page);
    }
    let path = arguments.output.clone().unwrap_or_else(|| page_of(&arguments.input()));
    write(&recording, &path)?;
    if path != Path::new("-") {
        let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        output::print(&format!("{}: {}\n", path.display(), units::short(bytes)))?;
    }
    Ok(Answer::Yes)
}

/// Writes the page of an input that is replayed whatever it is: that of `replay --html`.
pub(crate) fn write_replayed(
    input: &Input,
    options: &neuronx_mem_replay::ReplayOptions,
    path: &Path,
) -> Result<(), Failure> {
    write(&Recording::replayed(input, options)?, path)
}

fn write(recording: &Recording, path: &Path) -> Result<(), Failure> {
    target::write(path, |out: &mut dyn Write| {
        write_page(recording, &PageOptions::default(), out).map_err(|error| match error {
            // Of the file, or of standard output, as of every other result.
            ViewError::Write(error) => Failure::Output(error),
            other => other.into(),
        })
    })
}

/// `train.csv.zst` becomes `train.html`, in the current folder.
fn page_of(input: &TraceInput) -> PathBuf {
    const ENDINGS: [&str; 7] = [".gz", ".zst", ".csv", ".jsonl", ".json", ".pickle", ".pkl"];
    let name = match input {
        TraceInput::File(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
        TraceInput::Stdin => None,
    };
    let name = name.unwrap_or_else(|| "memory".to_owned());
    let mut stem = name.as_str();
    for _ in 0..2 {
        stem = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)).unwrap_or(stem);
    }
    PathBuf::from(if stem.is_empty() { name.clone() } else { stem.to_owned() } + ".html")
}
