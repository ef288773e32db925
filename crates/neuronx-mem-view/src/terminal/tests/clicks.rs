//! What clicks do to the state: the same places that drawing shows.

use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::super::layout::Panel;
use super::{app, keys, screen, steps};
use crate::AllocationId;

fn mouse(kind: MouseEventKind, column: u16, row: u16) -> MouseEvent {
    MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }
}

fn click(column: u16, row: u16) -> MouseEvent {
    mouse(MouseEventKind::Down(MouseButton::Left), column, row)
}

/// Where a text begins on a screen.
fn place(screen: &str, text: &str) -> (u16, u16) {
    let found = screen.lines().enumerate().find_map(|(row, line)| {
        let start = line.find(text)?;
        Some((line[..start].chars().count(), row))
    });
    let (column, row) = found.unwrap();
    (u16::try_from(column).unwrap(), u16::try_from(row).unwrap())
}

#[test]
fn a_click_on_the_chart_looks_there() {
    let recording = steps();
    let mut app = app(&recording);
    app.on_resize(80, 24);
    for (column, want) in [(11, 0), (79, 11), (45, 5), (0, 0)] {
        app.on_mouse(click(column, 5));
        assert_eq!((app.focus, app.cursor()), (Panel::Timeline, want), "column {column}");
    }
    app.on_mouse(mouse(MouseEventKind::Drag(MouseButton::Left), 79, 5));
    assert_eq!(app.cursor(), 11);
    // Beyond the screen, and on the lines above and below the panels, nothing happens.
    for (column, row) in [(200, 5), (10, 0), (10, 23)] {
        app.on_mouse(click(column, row));
        assert_eq!(app.cursor(), 11);
    }
}

#[test]
fn a_click_on_a_block_selects_it() {
    let recording = steps();
    let mut app = app(&recording);
    keys(&mut app, "g....");
    let shown = screen(&mut app, 80, 24);
    // 4 MiB of a segment of 64 MiB are less than two of its cells, the 32 MiB after it half.
    let (_, row) = place(&shown, "  64.0 MiB l  56%");
    for (column, want) in [(19, 0), (25, 1), (43, 1)] {
        app.on_mouse(click(column, row));
        assert_eq!(app.selected(), Some(AllocationId(want)), "column {column}");
        assert_eq!(app.focus, Panel::Map);
    }
    let at = screen(&mut app, 80, 24);
    let line = at.lines().nth(usize::from(row)).unwrap();
    assert!(line.starts_with(">  64.0 MiB l  56% █") && line.contains("@@@@@@@@@@@@"), "{line}");
}

#[test]
fn a_click_on_a_stack_works_at_it_and_the_wheel_moves() {
    let recording = steps();
    let mut app = app(&recording);
    let shown = screen(&mut app, 80, 24);
    let (column, row) = place(&shown, "in `step #`");
    app.on_mouse(click(column, row));
    assert_eq!((app.focus, app.stack_row), (Panel::Stacks, 0));
    app.on_mouse(mouse(MouseEventKind::ScrollUp, 40, 5));
    assert!(app.window.n_shown() < recording.n_events() + 2, "{:?}", app.window);
    app.on_mouse(mouse(MouseEventKind::ScrollDown, 40, 5));
    assert_eq!(app.window.n_shown(), recording.n_events() + 1);
    keys(&mut app, "?");
    app.on_mouse(click(40, 5));
    assert!(!app.is_help);
    // A screen that is too small has no places.
    app.on_resize(10, 10);
    app.on_mouse(click(5, 5));
    assert_eq!(app.cursor(), 7);
}
