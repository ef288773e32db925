//! Call stacks and phases as texts and as JSON, the same for all verbs that name places.

use neuronx_mem_explain::{SiteFrame, SiteId, Sites};
use serde::Serialize;

/// Longest name of a function or file in a table.
const MAX_NAME: usize = 60;

/// One frame in JSON, with the keys of a snapshot.
#[derive(Serialize)]
pub(crate) struct JsonFrame {
    name: String,
    filename: String,
    line: u64,
}

/// The frames in JSON, innermost first.
pub(crate) fn json_frames(frames: Vec<SiteFrame>) -> Vec<JsonFrame> {
    let frame = |frame: SiteFrame| JsonFrame { name: frame.name, filename: frame.filename, line: frame.line };
    frames.into_iter().map(frame).collect()
}

/// A site on a line: its innermost frames, or its phase.
pub(crate) fn site(sites: &Sites, site: SiteId, n_frames: usize) -> String {
    if sites.has_stack(site) {
        return stack(&sites.frames(site), n_frames);
    }
    phase(sites.phase(site).unwrap_or_default())
}

/// A phase on a line, in place of a stack.
pub(crate) fn phase(phase: &str) -> String {
    if phase.is_empty() { "(no stack)".to_owned() } else { format!("(no stack) in `{}`", plain(phase)) }
}

/// The innermost frames on a line; says how many there are beyond.
pub(crate) fn stack(frames: &[SiteFrame], n_frames: usize) -> String {
    let shown: Vec<String> = frames.iter().take(n_frames).map(frame).collect();
    let n_more = frames.len().saturating_sub(n_frames);
    let more = if n_more > 0 { format!(" < {n_more} more") } else { String::new() };
    shown.join(" < ") + &more
}

/// `forward (model.py:12)`; of a path, the last two parts.
fn frame(frame: &SiteFrame) -> String {
    let name = plain(&frame.name);
    if frame.filename.is_empty() {
        return name;
    }
    let start = frame.filename.rmatch_indices('/').nth(1).map_or(0, |(idx, _)| idx + 1);
    let file = plain(&frame.filename[start..]);
    let place = if frame.line == 0 { file } else { format!("{file}:{}", frame.line) };
    if name.is_empty() { place } else { format!("{name} ({place})") }
}

/// A name from a file, harmless on a terminal: no control characters, no turned writing, cut.
pub(crate) fn plain(name: &str) -> String {
    let is_harmful = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut text: String =
        name.chars().take(MAX_NAME + 1).map(|letter| if is_harmful(letter) { '?' } else { letter }).collect();
    if text.chars().count() > MAX_NAME {
        text.pop();
        text.push('…');
    }
    text
}
