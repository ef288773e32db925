//! The loop between a terminal and the state. Decides nothing itself.

use std::io::{self, IsTerminal};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};

use super::Options;
use super::app::App;
use super::draw::draw;
use super::keyboard::{Keyboard, Waited};
use super::screen::Screen;
use crate::{Recording, ViewError};

/// Whether [`run`] can do its work: standard output is a terminal, and not one that only prints
/// (`TERM=dumb`).
#[must_use]
pub fn is_usable() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Shows a recording on the terminal of standard output until the user quits, or the process is asked
/// to end by SIGINT, SIGTERM or SIGHUP. The terminal is given back as it was, after a panic too.
///
/// Where [`is_usable`] is false, use [`still`](super::still). O(events) to open; to move the cursor
/// O(allocations born before it).
///
/// # Errors
///
/// [`ViewError::NoTerminal`], [`ViewError::Terminal`].
pub fn run(recording: &Recording, options: Options) -> Result<(), ViewError> {
    if !is_usable() {
        return Err(ViewError::NoTerminal);
    }
    let mut app = App::new(recording, options);
    let mut screen = Screen::take().map_err(ViewError::Terminal)?;
    show(&mut screen, &mut app).map_err(ViewError::Terminal)
}

fn show(screen: &mut Screen, app: &mut App<'_>) -> io::Result<()> {
    let keyboard = Keyboard::find()?;
    let size = screen.terminal.size()?;
    app.on_resize(size.width, size.height);
    while !app.is_done() {
        screen.terminal.draw(|frame| draw(frame, app))?;
        // Waits for something to happen; then takes all that has, so that a key held down is never
        // behind the screen.
        loop {
            let waited = keyboard.wait()?;
            if screen.was_signalled() {
                return Ok(());
            }
            if waited == Waited::HasGone {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal has gone"));
            }
            if event::poll(Duration::ZERO)? {
                break;
            }
        }
        while !app.is_done() && event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) => app.on_key(key),
                Event::Mouse(mouse) => app.on_mouse(mouse),
                Event::Resize(width, height) => app.on_resize(width, height),
                _ => {}
            }
        }
        if screen.was_signalled() {
            return Ok(());
        }
    }
    Ok(())
}
