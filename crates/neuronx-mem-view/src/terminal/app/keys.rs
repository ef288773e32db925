//! What each key does. The help page lists the same.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::axis::Window;
use super::super::filter::Filter;
use super::super::layout::Panel;
use super::super::search::Search;
use super::super::text::inert;
use super::{App, Prompt, PromptKind};

/// Rows and columns of a page.
const PAGE: i64 = 10;

/// Most letters of a typed line.
const MAX_TYPED: usize = 200;

impl App<'_> {
    /// Does what a key stands for; one that stands for nothing changes nothing.
    pub fn on_key(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c' | 'q')) {
            self.is_done = true;
            return;
        }
        self.message.clear();
        if self.prompt.is_some() {
            self.on_typed(key, is_control);
        } else if self.is_help {
            self.on_help_key(key.code);
        } else if !is_control {
            self.on_command(key.code);
        }
    }

    fn on_help_key(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char('q') => self.is_done = true,
            _ => self.is_help = false,
        }
    }

    fn on_command(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char('q') => self.is_done = true,
            KeyCode::Char('?') | KeyCode::F(1) => self.is_help = true,
            KeyCode::Tab => self.focus = self.focus.plus(1),
            KeyCode::BackTab => self.focus = self.focus.plus(3),
            KeyCode::Char('z') => self.is_alone = !self.is_alone,
            KeyCode::Left | KeyCode::Char('h') => self.aside(false),
            KeyCode::Right | KeyCode::Char('l') => self.aside(true),
            KeyCode::Up | KeyCode::Char('k') => self.step_rows(self.focus, -1),
            KeyCode::Down | KeyCode::Char('j') => self.step_rows(self.focus, 1),
            KeyCode::PageUp => self.page(-PAGE),
            KeyCode::PageDown => self.page(PAGE),
            KeyCode::Char('g') => self.far(false),
            KeyCode::Char('G') => self.far(true),
            KeyCode::Char(',') => self.step_events(-1),
            KeyCode::Char('.') => self.step_events(1),
            KeyCode::Home => self.go_to(0),
            KeyCode::End => self.go_to(u64::MAX),
            KeyCode::Char('p') => self.go_to_peak(),
            KeyCode::Char('o') => self.go_to_oom(true),
            KeyCode::Char('O') => self.go_to_oom(false),
            KeyCode::Char('m') => self.go_to_mark(true),
            KeyCode::Char('M') => self.go_to_mark(false),
            KeyCode::Char('b') => self.go_to_end_of_life(true),
            KeyCode::Char('d') => self.go_to_end_of_life(false),
            KeyCode::Char('n') => self.find(true),
            KeyCode::Char('N') => self.find(false),
            KeyCode::Char('t') => self.turn_axis(),
            KeyCode::Char('+' | '=') => self.zoom(true),
            KeyCode::Char('-') => self.zoom(false),
            KeyCode::Char('0') => self.window = Window::whole(self.last()),
            KeyCode::Char('a') => self.is_at_peak = !self.is_at_peak,
            KeyCode::Char('s') => self.is_to_scale = !self.is_to_scale,
            KeyCode::Char('/') => self.ask(PromptKind::Search, String::new()),
            KeyCode::Char('f') => self.ask(PromptKind::Filter, self.filter.text().to_owned()),
            KeyCode::Enter if self.focus == Panel::Stacks => self.select_largest(),
            KeyCode::Esc => self.let_go(),
            _ => {}
        }
    }

    /// Left and right: blocks in the map, columns of the chart elsewhere.
    fn aside(&mut self, is_right: bool) {
        match self.focus {
            Panel::Map => self.step_blocks(is_right),
            _ => self.step_columns(if is_right { 1 } else { -1 }),
        }
    }

    fn page(&mut self, by: i64) {
        match self.focus {
            Panel::Timeline => self.step_columns(by),
            panel => self.step_rows(panel, by),
        }
    }

    /// To the first row or the last.
    fn far(&mut self, is_last: bool) {
        match self.focus {
            Panel::Timeline => self.go_to(if is_last { u64::MAX } else { 0 }),
            panel => self.step_rows(panel, if is_last { i64::MAX } else { i64::MIN }),
        }
    }

    /// Gives up one thing: the selection first, then the filter, then a panel alone.
    fn let_go(&mut self) {
        if self.selected().is_some() {
            self.select(None);
        } else if !self.filter.is_all() {
            self.set_filter("");
        } else {
            self.is_alone = false;
        }
    }

    fn ask(&mut self, kind: PromptKind, text: String) {
        self.prompt = Some(Prompt { kind, text });
    }

    fn on_typed(&mut self, key: KeyEvent, is_control: bool) {
        let Some(prompt) = &mut self.prompt else { return };
        match key.code {
            KeyCode::Esc => self.prompt = None,
            KeyCode::Char('u') if is_control => prompt.text.clear(),
            KeyCode::Char(letter) if !is_control && prompt.text.chars().count() < MAX_TYPED => {
                prompt.text.push(letter);
            }
            KeyCode::Backspace if prompt.text.pop().is_none() => self.prompt = None,
            KeyCode::Enter => {
                if let Some(prompt) = self.prompt.take() {
                    self.answer(&prompt);
                }
            }
            _ => {}
        }
    }

    fn answer(&mut self, prompt: &Prompt) {
        match prompt.kind {
            PromptKind::Filter => self.set_filter(&prompt.text),
            PromptKind::Search if prompt.text.trim().is_empty() => self.search = None,
            PromptKind::Search => {
                self.search = Some(Search::new(&prompt.text, self.recording));
                self.find(true);
            }
        }
    }

    fn set_filter(&mut self, text: &str) {
        match Filter::parse(text, self.recording) {
            Err(reason) => self.message = reason,
            Ok(filter) => {
                self.message = match filter.is_all() {
                    true => "all allocations are shown".to_owned(),
                    false => format!("only `{}` is shown; Esc shows all", inert(filter.text())),
                };
                self.filter = filter;
                self.moment.take();
                self.top_at_peak.take();
            }
        }
    }
}
