//! One screen as plain text. Writes no escape codes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::app::App;
use super::{Options, draw};
use crate::Recording;

/// Most columns and rows of a picture.
const MAX_SIDE: u16 = 2000;

/// The first screen of the viewer, at the peak, as lines of text without escape codes; at most
/// 2,000 columns and rows. O(events).
///
/// ```
/// use neuronx_mem_replay::{Input, ReplayOptions, TraceReader};
/// use neuronx_mem_view::{Recording, terminal};
///
/// let input = Input::from_events(TraceReader::new("a,1,4194304,0\nf,1\n".as_bytes(), "tiny"))?;
/// let recording = Recording::of(&input, &ReplayOptions::default())?;
/// let picture = terminal::still(&recording, 100, 40);
/// assert_eq!(picture.lines().count(), 40);
/// assert!(picture.contains("peak 4,194,304 bytes at event 1"));
/// # Ok::<(), neuronx_mem_view::ViewError>(())
/// ```
#[must_use]
pub fn still(recording: &Recording, width: u16, height: u16) -> String {
    let mut app = App::new(recording, Options { is_coloured: false });
    let area = Rect { x: 0, y: 0, width: width.min(MAX_SIDE), height: height.min(MAX_SIDE) };
    app.on_resize(area.width, area.height);
    let mut buffer = Buffer::empty(area);
    draw::render(&mut buffer, area, &app);
    text_of(&buffer)
}

/// The letters of a buffer, without what is blank at the ends of lines.
pub(super) fn text_of(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut text = String::new();
    for y in area.y..area.bottom() {
        let mut line = String::new();
        let mut n_covered = 0;
        for x in area.x..area.right() {
            let symbol = buffer[(x, y)].symbol();
            if n_covered == 0 {
                line.push_str(symbol);
                // A wide letter covers the cells after it.
                n_covered = ratatui::text::Span::raw(symbol).width();
            }
            n_covered = n_covered.saturating_sub(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
