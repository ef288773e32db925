//! The viewer for a terminal: timeline, segments and stacks at a moment, one allocation in detail.
//!
//! State, drawing and the terminal are three things. An [`App`] is the state: keys and clicks change
//! it, [`draw`] puts it on a screen, [`run`] does both on a real terminal until the user quits.
//! [`still`] draws one screen as text, for pipes and files. Figures are those of the recording
//! (allocator semantics §1, §9); names from a file are made inert before they are drawn.

mod app;
mod axis;
mod draw;
mod filter;
mod keyboard;
mod layout;
mod map_bar;
mod moment;
mod pending;
mod run;
mod screen;
mod search;
mod still;
mod text;
mod theme;
mod tiles;

#[cfg(test)]
mod tests;

pub use app::App;
pub use draw::draw;
pub use run::{is_usable, run};
pub use still::still;

/// How the viewer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether there are colours. Without, shapes alone tell things apart; bold and inverse letters
    /// stay.
    pub is_coloured: bool,
}

impl Default for Options {
    /// With colours.
    fn default() -> Self {
        Self { is_coloured: true }
    }
}

impl Options {
    /// What the environment asks for: no colours where [`NO_COLOR`](https://no-color.org) is set and
    /// not empty.
    #[must_use]
    pub fn from_environment() -> Self {
        Self { is_coloured: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }
}
