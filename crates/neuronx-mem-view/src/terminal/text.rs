//! Texts for cells of a terminal: sizes, places, and names from a file made inert. Knows nothing of
//! where they are put.

use bytesize::ByteSize;
use neuronx_mem_replay::{SiteFrame, SiteId, Sites};
use ratatui::text::Span;

/// Most characters of one name; no screen is wider.
const MAX_LETTERS: usize = 1000;

/// Most marks without a width that one letter may carry.
const MAX_COMBINING: usize = 2;

/// A text of a file, harmless on a terminal: no control characters, no turned or hidden writing, no
/// towers of combining marks, cut. What is taken out leaves a `?`.
pub(super) fn inert(text: &str) -> String {
    let mut out = String::new();
    let mut n_combining = 0;
    for (idx, letter) in text.chars().enumerate() {
        if idx == MAX_LETTERS {
            out.push('…');
            break;
        }
        let is_combining = !letter.is_ascii() && Span::raw(letter.to_string()).width() == 0;
        n_combining = if is_combining { n_combining + 1 } else { 0 };
        let is_bad = is_harmful(letter) || n_combining > MAX_COMBINING || (is_combining && out.is_empty());
        out.push(if is_bad { '?' } else { letter });
    }
    out
}

fn is_harmful(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// `76.0 MiB`.
pub(super) fn size(bytes: u64) -> String {
    if bytes < 1024 { format!("{bytes} B") } else { ByteSize(bytes).display().iec().to_string() }
}

/// `1,234,567`.
pub(super) fn count(number: u64) -> String {
    neuronx_mem::stats::format_count(number)
}

/// `1 event`, `2 events`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A percentage of a whole; empty when there is no whole.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1}%", part as f64 / whole as f64 * 100.0) }
}

/// A span of time in the unit that suits it: `12 us`, `3.400 ms`, `61.250 s`.
pub(super) fn duration(us: u64) -> String {
    match us {
        0..1000 => format!("{us} us"),
        1000..1_000_000 => format!("{}.{:03} ms", us / 1000, us % 1000),
        _ => format!("{}.{:03} s", count(us / 1_000_000), us % 1_000_000 / 1000),
    }
}

/// A site on a line: its innermost frames first, or its phase. A short one names files without folders.
pub(super) fn site(sites: &Sites, site: SiteId, is_short: bool) -> String {
    const FRAMES_ON_A_LINE: usize = 6;
    if !sites.has_stack(site) {
        let phase = inert(sites.phase(site).unwrap_or_default());
        return match (phase.is_empty(), is_short) {
            (true, _) => "(no stack)".to_owned(),
            (false, true) => format!("in `{phase}`"),
            (false, false) => format!("(no stack) in `{phase}`"),
        };
    }
    let frames = sites.frames(site);
    let shown: Vec<String> = frames.iter().take(FRAMES_ON_A_LINE).map(|it| frame(it, is_short)).collect();
    shown.join(" < ")
}

/// `forward (nn/model.py:12)`; of a path, the last two parts or the last.
fn frame(frame: &SiteFrame, is_short: bool) -> String {
    let n_folders = usize::from(!is_short);
    let start = frame.filename.rmatch_indices('/').nth(n_folders).map_or(0, |(idx, _)| idx + 1);
    placed(frame, &frame.filename[start..])
}

/// `forward (/src/nn/model.py:12)`.
pub(super) fn whole_frame(frame: &SiteFrame) -> String {
    placed(frame, &frame.filename)
}

fn placed(frame: &SiteFrame, file: &str) -> String {
    let (name, file) = (inert(&frame.name), inert(file));
    let place = if frame.line == 0 { file } else { format!("{file}:{}", frame.line) };
    match (name.is_empty(), frame.filename.is_empty()) {
        (_, true) => name,
        (true, false) => place,
        (false, false) => format!("{name} ({place})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_moves_the_cursor_or_turns_the_writing() {
        assert_eq!(inert("a\u{1b}[2Jb\r\n\u{9b}c\u{7f}"), "a?[2Jb???c?");
        assert_eq!(inert("\u{202e}gpj.exe\u{2066}\u{200f}\u{feff}\u{200b}"), "?gpj.exe????");
        assert_eq!(inert("naïve e\u{301} 模型"), "naïve e\u{301} 模型");
        assert_eq!(inert(&format!("e{}", "\u{301}".repeat(5))), "e\u{301}\u{301}???");
        assert_eq!(inert("\u{301}"), "?");
    }

    #[test]
    fn a_name_of_a_megabyte_is_cut() {
        let text = inert(&"x".repeat(1 << 20));
        assert_eq!(text.chars().count(), MAX_LETTERS + 1);
        assert!(text.ends_with("x…"));
    }

    #[test]
    fn units_suit_the_figure() {
        assert_eq!([size(1023), size(1536), size(79_691_776)], ["1023 B", "1.5 KiB", "76.0 MiB"]);
        assert_eq!([duration(12), duration(3400), duration(61_250_000)], ["12 us", "3.400 ms", "61.250 s"]);
        assert_eq!([percent(1, 3), percent(1, 0)], ["33.3%", ""]);
        assert_eq!([counted(1, "event"), counted(1200, "event")], ["1 event", "1,200 events"]);
    }
}
