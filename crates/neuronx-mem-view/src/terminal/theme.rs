//! Colours, and what stands for them where there are none. Sixteen colours only, so that the theme of
//! the terminal decides how they look.

use ratatui::style::{Color, Modifier, Style};

use super::map_bar::CellShape;

/// The styles of one screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    is_coloured: bool,
}

impl Theme {
    pub(super) fn new(is_coloured: bool) -> Self {
        Self { is_coloured }
    }

    fn colour(self, colour: Color) -> Style {
        if self.is_coloured { Style::new().fg(colour) } else { Style::new() }
    }

    pub(super) fn active(self) -> Style {
        self.colour(Color::Green)
    }

    pub(super) fn allocated(self) -> Style {
        self.colour(Color::Cyan)
    }

    pub(super) fn reserved(self) -> Style {
        self.colour(Color::Blue)
    }

    pub(super) fn peak(self) -> Style {
        self.colour(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(super) fn alarm(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn mark(self) -> Style {
        self.colour(Color::Magenta)
    }

    pub(super) fn quiet(self) -> Style {
        self.colour(Color::DarkGray)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Of the title line of a panel.
    pub(super) fn title(self, is_focused: bool) -> Style {
        if is_focused { self.colour(Color::Yellow).add_modifier(Modifier::BOLD) } else { self.quiet() }
    }

    pub(super) fn cell(self, shape: CellShape) -> Style {
        match shape {
            CellShape::Free | CellShape::Other => self.quiet(),
            CellShape::Sparse | CellShape::Half | CellShape::Full => self.active(),
            CellShape::Pending => self.colour(Color::Magenta),
            CellShape::Selected => self.peak().add_modifier(Modifier::REVERSED),
        }
    }
}
