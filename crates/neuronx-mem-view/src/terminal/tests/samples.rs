//! Every sample on screens of all sizes, and what must not be on any screen.

use neuronx_mem_replay::{Input, ReadOptions, Replay, ReplayOptions, TraceInput};
use neuronx_mem_snapshot::Snapshot;
use ratatui::crossterm::event::KeyCode;

use super::super::still;
use super::super::text::count;
use super::{app, files, keys, line, of_text, press, read, screen};

/// Sizes from nothing to more than a screen.
const SIZES: [(u16, u16); 8] = [(1, 1), (7, 2), (59, 15), (60, 14), (60, 15), (80, 24), (133, 37), (200, 60)];

#[test]
fn every_sample_draws_at_every_size_and_moment() {
    let all = files("snapshots").into_iter().chain(files("traces"));
    let mut n_files = 0;
    for path in all {
        let recording = read(&path);
        let mut app = app(&recording);
        n_files += 1;
        for (width, height) in SIZES {
            app.on_resize(width, height);
            for letters in ["", "g", "G", "p", "o", "m", "t", "+", "s", "a"] {
                keys(&mut app, letters);
                let text = screen(&mut app, width, height);
                assert_eq!(text.lines().count(), usize::from(height));
            }
            for _ in 0..4 {
                press(&mut app, KeyCode::Tab);
                keys(&mut app, "zgGjklh");
                press(&mut app, KeyCode::Enter);
                screen(&mut app, width, height);
                keys(&mut app, "z?");
                screen(&mut app, width, height);
                keys(&mut app, "?");
            }
            line(&mut app, "f>1MiB");
            line(&mut app, "/0");
        }
    }
    assert_eq!(n_files, 16);
}

#[test]
fn a_run_without_allocations_draws() {
    let recording = of_text("m,nothing\n", &ReplayOptions::default());
    let mut app = app(&recording);
    for (width, height) in SIZES {
        keys(&mut app, "glhG+-tpomabdn");
        screen(&mut app, width, height);
    }
    assert!(screen(&mut app, 80, 24).contains("nothing is reserved here"));
}

#[test]
fn the_peak_on_the_screen_is_the_one_of_replay() {
    for path in files("traces") {
        let input = Input::read(&TraceInput::File(path.clone()), &ReadOptions::default()).unwrap();
        let report = Replay::new(ReplayOptions::default()).run(input.trace().events()).unwrap().report;
        let recording = read(&path);
        let peak = report.peak_event.unwrap();
        let want = format!("peak {} bytes at event {}", count(report.allocated_peak_bytes), count(peak));
        let shown = still(&recording, 100, 30);
        assert!(shown.contains(&want), "{want} is not in\n{shown}");
        assert_eq!(app(&recording).cursor(), peak);
        // The table adds up to it.
        assert_eq!(app(&recording).top().block_bytes, report.allocated_peak_bytes);
    }
}

#[test]
fn names_that_would_do_harm_are_inert() {
    let evil = format!("\u{1b}]0;owned\u{7}\u{202e}{}\u{9b}31m", "A".repeat(1 << 20));
    let text = format!("m,{}\na,1,4096,0\nm,b\u{2028}\u{200b}c\n", &evil[..60_000]);
    let recording = of_text(&text, &ReplayOptions::default());
    let mut app = app(&recording);
    keys(&mut app, "gmm");
    let mut shown = screen(&mut app, 120, 40);
    keys(&mut app, "m");
    shown += &screen(&mut app, 120, 40);
    line(&mut app, &format!("/\u{1b}\u{202e}{}", "z".repeat(3)));
    shown += &screen(&mut app, 120, 40);
    let is_bad = |letter: &char| {
        (letter.is_control() && *letter != '\n')
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(shown.chars().filter(is_bad).count(), 0);
    assert!(shown.contains("?]0;owned??AAAA"), "{shown}");
}

#[test]
fn names_of_a_megabyte_in_a_snapshot_are_inert() {
    let mut snapshot = Snapshot::new();
    let huge = format!("<script>\u{202e}\u{1b}[2J{}", "字e\u{301}\u{301}\u{301}\u{301}".repeat(100_000));
    let frame = snapshot.stacks_mut().intern_frame(&huge, &huge, 3);
    let stack = snapshot.stacks_mut().intern_stack(&[frame, frame]);
    let entry = neuronx_mem_snapshot::TraceEntry::new(neuronx_mem_snapshot::Action::Alloc)
        .with_addr(4096)
        .with_size_bytes(2048)
        .with_stack(stack);
    snapshot.push_entry(0, entry);
    let input = Input::from_snapshot(Box::new(snapshot), None, &huge).unwrap();
    let recording = crate::Recording::of(&input, &ReplayOptions::default()).unwrap();
    let mut app = app(&recording);
    line(&mut app, "/<script>");
    let shown = screen(&mut app, 120, 40);
    assert!(shown.contains("<script>??[2J字e\u{301}\u{301}??字"), "{shown}");
    assert_eq!(shown.chars().filter(|letter| letter.is_control() && *letter != '\n').count(), 0);
    assert!(shown.len() < 40 * 120 * 4, "{}", shown.len());
}
