//! Filter and search.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{app, keys, line, press, sample, steps};
use crate::AllocationId;

/// What passes a filter after event 7: 4 MiB of step 1, 1000 bytes of step 1, 100 MiB of step 2.
#[track_caller]
fn check(filter: &str, want: &[u64]) {
    let recording = steps();
    let mut app = app(&recording);
    line(&mut app, &format!("f{filter}"));
    let live = recording.live_at(app.cursor()).filter(|id| app.filter.passes(&recording, *id));
    let bytes: Vec<u64> = live.map(|id| recording.allocations.bytes[id.0 as usize]).collect();
    assert_eq!(bytes, want, "{filter}: {}", app.message);
    let top = app.top();
    assert_eq!(top.n_allocations, want.len() as u64);
}

#[test]
fn a_filter_has_words_sizes_and_a_stream() {
    check("", &[4_194_304, 1000, 104_857_600]);
    check(">1MiB", &[4_194_304, 104_857_600]);
    check(">4MiB", &[104_857_600]);
    check(">=4MiB", &[4_194_304, 104_857_600]);
    check("<1000", &[]);
    check("<=1000", &[1000]);
    check(">1k <100MiB", &[4_194_304]);
    check("stream=7", &[1000, 104_857_600]);
    check("stream=7 >1MiB", &[104_857_600]);
    check("STEP", &[4_194_304, 1000, 104_857_600]);
    check("step nowhere", &[]);
}

#[test]
fn a_wrong_filter_changes_nothing() {
    let recording = steps();
    let mut app = app(&recording);
    line(&mut app, "f>1MiB");
    for (typed, want) in [
        (">much", "`>much` is no size such as >1MiB"),
        ("stream=x\u{202e}", "`stream=x?` is no stream"),
        ("<0", "nothing has less than 0 bytes"),
    ] {
        keys(&mut app, "f");
        app.on_key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        line(&mut app, typed);
        assert_eq!((app.message.as_str(), app.filter.text()), (want, ">1MiB"));
    }
    press(&mut app, KeyCode::Esc);
    assert!(app.filter.is_all());
}

#[test]
fn a_typed_line_can_be_taken_back() {
    let recording = steps();
    let mut app = app(&recording);
    keys(&mut app, "/ab");
    press(&mut app, KeyCode::Backspace);
    assert_eq!(app.prompt.as_ref().unwrap().text, "a");
    press(&mut app, KeyCode::Backspace);
    press(&mut app, KeyCode::Backspace);
    assert_eq!(app.prompt, None);
    keys(&mut app, "f");
    keys(&mut app, &"x".repeat(500));
    assert_eq!(app.prompt.as_ref().unwrap().text.len(), 200);
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.prompt, None);
    assert!(app.filter.is_all());
}

#[test]
fn a_search_finds_marks_and_allocations_in_order() {
    let recording = steps();
    let mut app = app(&recording);
    keys(&mut app, "g");
    line(&mut app, "/step");
    // The marks, and what was allocated in the two steps.
    let mut found = vec![(app.cursor(), app.selected())];
    for _ in 0..6 {
        keys(&mut app, "n");
        found.push((app.cursor(), app.selected()));
    }
    let id = |id| Some(AllocationId(id));
    let want = [(1, None), (2, id(0)), (3, id(1)), (4, id(2)), (6, None), (7, id(3)), (1, None)];
    assert_eq!(found, want);
    assert_eq!(app.message, "`step`: from the start again");
    keys(&mut app, "N");
    assert_eq!((app.cursor(), app.message.as_str()), (7, "`step`: from the end again"));
    keys(&mut app, "N");
    assert_eq!((app.cursor(), app.selected()), (6, None));
    line(&mut app, "/nowhere");
    assert_eq!((app.cursor(), app.message.as_str()), (6, "`nowhere` is nowhere"));
}

#[test]
fn an_address_finds_the_allocation_around_it() {
    let recording = steps();
    let address = recording.allocations.addresses[3];
    let mut app = app(&recording);
    keys(&mut app, "G");
    line(&mut app, &format!("/{:#x}", address + 12_345_678));
    assert_eq!((app.cursor(), app.selected()), (7, Some(AllocationId(3))));
    keys(&mut app, "n");
    assert_eq!((app.cursor(), app.selected()), (7, Some(AllocationId(3))), "there is only one");
}

#[test]
fn words_of_a_stack_are_found_and_counted() {
    let recording = sample("snapshots/train_transformer.pickle");
    let mut app = app(&recording);
    keys(&mut app, "g");
    line(&mut app, "/adam.py");
    let id = app.selected().unwrap();
    let frames = recording.sites.frames(recording.allocations.sites[id.0 as usize]);
    assert!(frames.iter().any(|frame| frame.filename.ends_with("adam.py")), "{frames:?}");
    line(&mut app, "fADAM.py step");
    keys(&mut app, "a");
    let sum: u64 = recording
        .live_at(recording.totals.peak_event)
        .filter(|id| {
            let frames = recording.sites.frames(recording.allocations.sites[id.0 as usize]);
            frames.iter().any(|frame| frame.filename.contains("adam.py"))
        })
        .map(|id| recording.allocations.block_bytes[id.0 as usize])
        .sum();
    assert!(sum > 0);
    assert_eq!(app.top().block_bytes, sum);
}
