//! What keys do to the state.

use neuronx_mem_replay::ReplayOptions;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::layout::Panel;
use super::{app, keys, of_text, press, sample, screen, steps};
use crate::AllocationId;

/// The cursor after keys, from the peak.
#[track_caller]
fn check(letters: &str, want: u64) {
    let recording = steps();
    let mut app = app(&recording);
    keys(&mut app, letters);
    assert_eq!(app.cursor(), want, "{letters}: {}", app.message);
}

#[test]
fn the_cursor_moves_by_events_and_columns() {
    check("", 7); // the peak
    check(",", 6);
    check(",,,.", 5);
    check("j", 8);
    check("kk", 5);
    // Eleven events and the moment before them on 69 columns: a column is less than an event.
    check("h", 6);
    check("ll", 9);
    check("lllllllllll", 11);
    check("g", 0);
    check("gh", 0);
    check("G", 11);
    check("Gp", 7);
    let recording = steps();
    let mut app = app(&recording);
    for (key, want) in [
        (KeyCode::Home, 0),
        (KeyCode::Up, 0),
        (KeyCode::Right, 1),
        (KeyCode::Down, 2),
        (KeyCode::End, 11),
        (KeyCode::Down, 11),
        (KeyCode::Left, 10),
    ] {
        press(&mut app, key);
        assert_eq!(app.cursor(), want, "{key:?}");
    }
}

#[test]
fn columns_of_many_events_are_walked_end_to_end() {
    let recording = sample("traces/resnet50.csv.zst");
    let mut app = app(&recording);
    let last = recording.n_events();
    for (start, key, end) in [(KeyCode::Home, KeyCode::Right, last), (KeyCode::End, KeyCode::Left, 0)] {
        press(&mut app, start);
        let mut n_steps = 0;
        while app.cursor() != end {
            let before = app.cursor();
            press(&mut app, key);
            assert!(app.cursor().abs_diff(end) < before.abs_diff(end), "{key:?} at {before}");
            n_steps += 1;
        }
        // From the first of 69 columns to the last, and then what remains.
        assert!((68..=72).contains(&n_steps), "{n_steps}");
    }
    press(&mut app, KeyCode::PageUp);
    assert_eq!(app.cursor(), 0);
    press(&mut app, KeyCode::PageDown);
    assert_eq!(app.cursor(), app.scale(69).events(10).0);
}

#[test]
fn marks_and_errors_are_visited_round_and_round() {
    check("gm", 1);
    check("gmm", 6);
    check("gmmm", 10);
    check("gmmmm", 1);
    check("M", 6);
    check("gM", 10);
    check("o", 7);
    let text = "a,1,67108864,0\na,2,67108864,0\na,3,134217728,0\n";
    let recording =
        of_text(text, &ReplayOptions { memory_bytes: Some(160 << 20), ..ReplayOptions::default() });
    let mut app = app(&recording);
    keys(&mut app, "go");
    assert_eq!((app.cursor(), app.message.as_str()), (3, "out of memory: 134,217,728 bytes asked for"));
    keys(&mut app, "gO");
    assert_eq!(app.cursor(), 3);
}

#[test]
fn a_closer_look_keeps_the_cursor_in_sight_and_moves_along() {
    let recording = sample("traces/resnet50.csv.zst");
    let mut app = app(&recording);
    let last = recording.n_events();
    keys(&mut app, "++++");
    assert_eq!(app.window.n_shown(), (last + 1).div_ceil(16));
    for letters in ["p", "G", "h", "g", "l", "m", "."] {
        keys(&mut app, letters);
        let window = app.window;
        assert!((window.from..=window.to).contains(&app.cursor()), "{letters}: {window:?}");
    }
    keys(&mut app, "----");
    assert_eq!(app.window.n_shown(), last + 1);
    keys(&mut app, "+0");
    assert_eq!((app.window.from, app.window.to), (0, last));
}

#[test]
fn tab_goes_round_the_panels() {
    let recording = steps();
    let mut app = app(&recording);
    for want in [Panel::Map, Panel::Stacks, Panel::Details, Panel::Timeline] {
        press(&mut app, KeyCode::Tab);
        assert_eq!(app.focus, want);
    }
    press(&mut app, KeyCode::BackTab);
    assert_eq!(app.focus, Panel::Details);
    keys(&mut app, "z");
    assert!(app.is_alone);
    press(&mut app, KeyCode::Esc);
    assert!(!app.is_alone);
}

#[test]
fn blocks_are_selected_in_the_map() {
    let recording = steps();
    let mut app = app(&recording);
    // After event 4: 4 MiB and 32 MiB in one segment, 1000 bytes in a small one.
    keys(&mut app, "g....");
    assert_eq!(app.moment().map.len(), 2);
    press(&mut app, KeyCode::Tab);
    keys(&mut app, "g");
    assert_eq!(app.map_row(), 0);
    let small_or_large = app.selected().unwrap();
    keys(&mut app, "G");
    assert_eq!(app.map_row(), 1);
    assert_ne!(app.selected().unwrap(), small_or_large);
    let row = app.moment().map.iter().position(|held| held.blocks.len() == 2).unwrap();
    keys(&mut app, if row == 0 { "gh" } else { "Gh" });
    let first = app.selected();
    keys(&mut app, "l");
    assert_eq!([first, app.selected()], [Some(AllocationId(0)), Some(AllocationId(1))]);
    keys(&mut app, "l");
    assert_eq!(app.message, "no further block here: this is the last");
    // Its birth and death.
    keys(&mut app, "d");
    assert_eq!(app.cursor(), 5);
    keys(&mut app, "b");
    assert_eq!(app.cursor(), 3);
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.selected(), None);
    assert_eq!(app.shown_allocation(), Some(AllocationId(1)), "the allocation of event 3");
}

#[test]
fn a_stack_leads_to_its_largest_allocation() {
    let recording = steps();
    let mut app = app(&recording);
    keys(&mut app, "g");
    press(&mut app, KeyCode::Tab);
    press(&mut app, KeyCode::Tab);
    press(&mut app, KeyCode::Enter);
    assert_eq!(app.message, "no stack is shown", "nothing is allocated before the first event");
    keys(&mut app, "a");
    press(&mut app, KeyCode::Enter);
    assert_eq!((app.cursor(), app.selected()), (7, Some(AllocationId(3))), "at the peak");
}

#[test]
fn an_axis_of_time_needs_times() {
    let recording = steps();
    let mut app = app(&recording);
    keys(&mut app, "t");
    assert_eq!(app.message, "this input has no times");
    let recording = sample("snapshots/small_history.pickle");
    let mut app = super::app(&recording);
    keys(&mut app, "t");
    assert!(screen(&mut app, 80, 24).contains("Timeline by time"));
    for key in [KeyCode::Home, KeyCode::Right, KeyCode::Right] {
        press(&mut app, key);
    }
    assert!(app.cursor() >= 2, "{}", app.cursor());
    keys(&mut app, "t");
    assert!(screen(&mut app, 80, 24).contains("Timeline by event"));
}

#[test]
fn q_and_control_c_quit() {
    let recording = steps();
    for key in [KeyCode::Char('q'), KeyCode::Char('c')] {
        let mut app = app(&recording);
        let modifiers = if key == KeyCode::Char('c') { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        let mut event = KeyEvent::new(key, modifiers);
        event.kind = KeyEventKind::Release;
        app.on_key(event);
        assert!(!app.is_done(), "letting go of a key is none");
        event.kind = KeyEventKind::Press;
        app.on_key(event);
        assert!(app.is_done());
    }
    // In a line that is typed, q is a letter; control and c end it all the same.
    let mut app = app(&recording);
    keys(&mut app, "/q");
    assert!(!app.is_done());
    app.on_key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(app.is_done());
}
