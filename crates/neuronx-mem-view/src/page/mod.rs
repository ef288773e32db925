//! The page: one HTML file with the recording in it. Knows what goes into the file and how much of
//! it; what is done with it is in `assets/`.

mod choose;
mod content;
mod frame;
mod pack;
mod sites;
mod text;
mod tiles;

#[cfg(test)]
mod tests;

use std::io::Write;

use crate::{Recording, ViewError};

/// How much of a large recording goes into a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageOptions {
    /// Allocations that are there one by one; of more, those that live at chosen moments and then the
    /// largest, and the others as a sum. Each takes some ten bytes of the file.
    pub max_allocations: usize,
    /// Points of the timeline; of more events, several make a point with its smallest and largest sums.
    pub max_points: usize,
    /// Marks; beyond it the later ones are left out.
    pub max_marks: usize,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { max_allocations: 400_000, max_points: 1 << 18, max_marks: 10_000 }
    }
}

/// Writes the page. O(events · log), some 40 bytes of memory an event beside the recording.
///
/// The file asks for nothing from outside, and its content security policy would not let it. Texts
/// of the recording are data in it, never markup. What is summed up or left out, the page says.
///
/// ```
/// use neuronx_mem_replay::{Input, ReplayOptions, TraceReader};
/// use neuronx_mem_view::{PageOptions, Recording, write_page};
///
/// let input = Input::from_events(TraceReader::new("a,1,512,0\nf,1\n".as_bytes(), "tiny"))?;
/// let recording = Recording::of(&input, &ReplayOptions::default())?;
/// let mut page = Vec::new();
/// write_page(&recording, &PageOptions::default(), &mut page)?;
/// assert!(page.starts_with(b"<!doctype html>"));
/// # Ok::<(), neuronx_mem_view::ViewError>(())
/// ```
///
/// # Errors
///
/// [`ViewError::Write`].
pub fn write_page(
    recording: &Recording,
    options: &PageOptions,
    mut out: impl Write,
) -> Result<(), ViewError> {
    let content = content::content(recording, options)?;
    frame::write(&content, &mut out)?;
    Ok(out.flush()?)
}
