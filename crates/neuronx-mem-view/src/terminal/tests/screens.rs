//! Whole screens, pinned.

use neuronx_mem_replay::ReplayOptions;
use ratatui::crossterm::event::KeyCode;

use super::super::{App, Options, still};
use super::{app, keys, line, of_text, press, sample, screen, steps};

#[test]
fn a_small_trace() {
    let recording = steps();
    let mut app = app(&recording);
    insta::assert_snapshot!("small_80x24", screen(&mut app, 80, 24));
    insta::assert_snapshot!("small_120x40", screen(&mut app, 120, 40));
    assert_eq!(still(&recording, 80, 24), screen(&mut app, 80, 24), "the still is the first screen");
}

#[test]
fn out_of_memory() {
    let recording = sample("snapshots/oom.pickle");
    let mut app = app(&recording);
    keys(&mut app, "go");
    insta::assert_snapshot!("oom_80x24", screen(&mut app, 80, 24));
    insta::assert_snapshot!("oom_120x40", screen(&mut app, 120, 40));
}

#[test]
fn out_of_memory_of_a_replay_says_what_the_allocator_said() {
    let text = "a,1,67108864,0\na,2,67108864,0\na,3,134217728,0\n";
    let recording =
        of_text(text, &ReplayOptions { memory_bytes: Some(160 << 20), ..ReplayOptions::default() });
    let mut app = app(&recording);
    keys(&mut app, "o");
    press(&mut app, KeyCode::BackTab);
    keys(&mut app, "z");
    insta::assert_snapshot!("oom_message_80x24", screen(&mut app, 80, 24));
}

#[test]
fn many_streams() {
    let recording = sample("snapshots/multi_stream.pickle");
    let mut app = app(&recording);
    insta::assert_snapshot!("streams_80x24", screen(&mut app, 80, 24));
    let stream = recording.allocations.streams.last().unwrap();
    line(&mut app, &format!("fstream={stream}"));
    press(&mut app, KeyCode::Tab);
    keys(&mut app, "s");
    insta::assert_snapshot!("streams_filtered_120x40", screen(&mut app, 120, 40));
}

#[test]
fn blocks_that_wait_for_a_stream_are_told_apart() {
    let text = "a,1,16777216,0\na,2,33554432,0\nf,1\na,3,1048576,0\nf,3\n";
    let options = ReplayOptions { in_flight: 4, ..ReplayOptions::default() };
    let recording = of_text(text, &options);
    let mut app = app(&recording);
    keys(&mut app, "g....");
    insta::assert_snapshot!("pending_80x24", screen(&mut app, 80, 24));
}

#[test]
fn help_prompts_and_a_screen_too_small() {
    let recording = steps();
    let mut app = app(&recording);
    keys(&mut app, "?");
    insta::assert_snapshot!("help_80x24", screen(&mut app, 80, 24));
    keys(&mut app, "?/att");
    let last = |text: String| text.lines().last().unwrap().to_owned();
    insta::assert_snapshot!(last(screen(&mut app, 80, 24)), @" /att_  (a mark, stack, 0x address or trace id)");
    press(&mut app, KeyCode::Esc);
    keys(&mut app, "f>1M");
    insta::assert_snapshot!(last(screen(&mut app, 80, 24)), @" filter: >1M_  (words of the stack, >1MiB, <=2GiB, stream=3)");
    press(&mut app, KeyCode::Esc);
    insta::assert_snapshot!(screen(&mut app, 40, 1), @"60x15 needed, 40x1 here; q quits");
}

#[test]
fn without_colours_no_cell_has_one() {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::style::Color;

    let recording = sample("snapshots/oom.pickle");
    let n_coloured = |is_coloured| {
        let app = App::new(&recording, Options { is_coloured });
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
        terminal.draw(|frame| super::super::draw(frame, &app)).unwrap();
        let cells = &terminal.backend().buffer().content;
        cells.iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(n_coloured(false), 0);
    assert!(n_coloured(true) > 1000);
}
