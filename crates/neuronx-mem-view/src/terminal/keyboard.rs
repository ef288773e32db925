//! Waits for the terminal that keys come from. Reads nothing: whether it is still there is the question.
//!
//! The reader of events must not be asked once a terminal has gone: it would read nothing for ever,
//! deaf to signals.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The terminal that the reader of events reads: standard input, or the process's own where that is
/// something else.
pub(super) struct Keyboard(Option<File>);

/// What a wait came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// There may be events.
    MayHaveEvents,
    /// The terminal has gone.
    HasGone,
}

impl Keyboard {
    pub(super) fn find() -> io::Result<Self> {
        let is_stdin = io::stdin().is_terminal();
        Ok(Self(if is_stdin { None } else { Some(File::open("/dev/tty")?) }))
    }

    /// Waits for a key, a signal or a tenth of a second: a new size of the window comes as a signal too.
    pub(super) fn wait(&self) -> io::Result<Waited> {
        match &self.0 {
            Some(terminal) => wait(terminal.as_fd()),
            None => wait(io::stdin().as_fd()),
        }
    }
}

fn wait(terminal: BorrowedFd<'_>) -> io::Result<Waited> {
    const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let mut watched = [PollFd::new(&terminal, PollFlags::IN)];
    match poll(&mut watched, Some(&PATIENCE)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(if watched[0].revents().intersects(gone) { Waited::HasGone } else { Waited::MayHaveEvents })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_was_closed_has_gone() {
        let (reader, writer) = io::pipe().unwrap();
        assert_eq!(wait(reader.as_fd()).unwrap(), Waited::MayHaveEvents);
        drop(writer);
        assert_eq!(wait(reader.as_fd()).unwrap(), Waited::HasGone);
    }
}
