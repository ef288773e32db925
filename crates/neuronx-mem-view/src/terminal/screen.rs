//! A terminal taken over, and given back as it was: at the end, on a panic, on a signal. Draws nothing.

use std::io::{self, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

type Hook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync>;

/// The terminal while it is ours.
pub(super) struct Screen {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
    was_signalled: Arc<AtomicBool>,
    signals: Vec<SigId>,
    old_hook: Arc<Mutex<Option<Hook>>>,
}

impl Screen {
    /// Takes the terminal over. What was done is undone when it fails.
    pub(super) fn take() -> io::Result<Self> {
        let was_signalled = Arc::new(AtomicBool::new(false));
        let mut signals = Vec::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signals.push(signal_hook::flag::register(signal, Arc::clone(&was_signalled))?);
        }
        // From here on dropping it gives the terminal back.
        let screen = Self {
            terminal: Terminal::new(CrosstermBackend::new(io::stdout()))?,
            was_signalled,
            signals,
            old_hook: hook_panics(),
        };
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)?;
        Ok(screen)
    }

    /// Whether someone asked the process to end.
    pub(super) fn was_signalled(&self) -> bool {
        self.was_signalled.load(Ordering::Relaxed)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        for signal in self.signals.drain(..) {
            signal_hook::low_level::unregister(signal);
        }
        // While it panics the hook must not be touched; then the process is about to end anyway.
        if !std::thread::panicking() {
            let old = self.old_hook.lock().ok().and_then(|mut hook| hook.take());
            if let Some(old) = old {
                panic::set_hook(old);
            }
        }
    }
}

/// Gives the terminal back before a panic is reported, so that the report can be read.
fn hook_panics() -> Arc<Mutex<Option<Hook>>> {
    let old_hook = Arc::new(Mutex::new(Some(panic::take_hook())));
    let shared = Arc::clone(&old_hook);
    panic::set_hook(Box::new(move |info| {
        give_back();
        if let Ok(hook) = shared.lock()
            && let Some(hook) = hook.as_ref()
        {
            hook(info);
        }
    }));
    old_hook
}

/// Does no harm when it is done twice. A terminal that has gone cannot be put right.
fn give_back() {
    let mut out = io::stdout();
    let _ = execute!(out, DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}
