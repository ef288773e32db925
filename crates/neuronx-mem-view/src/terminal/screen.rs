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
    /// Until it is given back.
    is_ours: Arc<AtomicBool>,
    was_signalled: Arc<AtomicBool>,
    signals: Vec<SigId>,
    old_hook: Arc<Mutex<Option<Hook>>>,
}

impl Screen {
    /// Takes the terminal over. What was done is undone when it fails.
    pub(super) fn take() -> io::Result<Self> {
        let was_signalled = Arc::new(AtomicBool::new(false));
        let is_ours = Arc::new(AtomicBool::new(false));
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        // From here on dropping it undoes the rest.
        let mut screen = Self {
            terminal,
            old_hook: hook_panics(Arc::clone(&is_ours)),
            is_ours,
            was_signalled,
            signals: Vec::new(),
        };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // A second signal ends the process at once, whatever it is doing.
            let second = signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                Arc::clone(&screen.was_signalled),
            )?;
            screen.signals.push(second);
            let id = signal_hook::flag::register(signal, Arc::clone(&screen.was_signalled))?;
            screen.signals.push(id);
        }
        enable_raw_mode()?;
        screen.is_ours.store(true, Ordering::Relaxed);
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
        give_back(&self.is_ours);
        for signal in self.signals.drain(..) {
            signal_hook::low_level::unregister(signal);
        }
        // A thread that panics must not touch the hook; what it leaves in place does no harm later.
        if !std::thread::panicking() {
            let old = self.old_hook.lock().ok().and_then(|mut hook| hook.take());
            if let Some(old) = old {
                panic::set_hook(old);
            }
        }
    }
}

/// Gives the terminal back before a panic is reported, so that the report can be read.
fn hook_panics(is_ours: Arc<AtomicBool>) -> Arc<Mutex<Option<Hook>>> {
    let old_hook = Arc::new(Mutex::new(Some(panic::take_hook())));
    let shared = Arc::clone(&old_hook);
    panic::set_hook(Box::new(move |info| {
        give_back(&is_ours);
        if let Ok(hook) = shared.lock()
            && let Some(hook) = hook.as_ref()
        {
            hook(info);
        }
    }));
    old_hook
}

/// Gives the terminal back, once: to leave twice would move the cursor over what was printed in
/// between. A terminal that has gone cannot be put right.
fn give_back(is_ours: &AtomicBool) {
    if !is_ours.swap(false, Ordering::Relaxed) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(out, DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}
