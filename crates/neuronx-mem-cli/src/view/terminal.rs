//! `view --terminal`: a recording on the terminal, or one screen of it for a pipe.

use neuronx_mem_view::Recording;
use neuronx_mem_view::terminal::{Options, is_usable, run, still};

use crate::failure::Failure;
use crate::output::{self, Answer};

/// Columns and rows of a screen that goes to a file or to another program.
const DEFAULT_SIZE: (u16, u16) = (100, 40);

pub(super) fn show(recording: &Recording) -> Result<Answer, Failure> {
    if is_usable() {
        run(recording, Options::from_environment())?;
    } else {
        let (width, height) = DEFAULT_SIZE;
        output::print(&still(recording, side("COLUMNS", width), side("LINES", height)))?;
    }
    Ok(Answer::Yes)
}

/// A length that the environment says, if it says one.
fn side(name: &str, default: u16) -> u16 {
    let said = std::env::var(name).ok().and_then(|text| text.parse().ok());
    said.filter(|length| *length > 0).unwrap_or(default)
}
