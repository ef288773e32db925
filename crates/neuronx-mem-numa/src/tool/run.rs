//! One run of a program with a limit on its time and on what it writes.
//!
//! Knows pipes, process groups and deadlines, and starts no thread. Refuses to retry.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::NumaError;

/// The most that is read: a device takes some 600 bytes.
const MAX_BYTES: usize = 4 << 20;

/// The longest message of the program that is repeated, in characters.
const MAX_MESSAGE: usize = 200;

/// The longest pause between two looks at a process that has closed its output.
const MAX_PAUSE: Duration = Duration::from_millis(20);

/// Standard output of `path --json-output`.
pub(super) fn output(path: &Path, limit: Duration) -> Result<Vec<u8>, NumaError> {
    // A limit that the clock cannot add is none that anybody waits for.
    let deadline = Instant::now().checked_add(limit).unwrap_or_else(|| Instant::now() + super::TOOL_LIMIT);
    let mut command = Command::new(path);
    command.arg("--json-output").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that all of it can be ended.
    command.process_group(0);
    let child = command.spawn().map_err(|source| NumaError::ToolStart { path: path.to_owned(), source })?;
    let mut running = Running(Some(child));
    let outcome = running.finish(deadline);
    running.end();
    match outcome.map_err(|source| NumaError::ToolRead { path: path.to_owned(), source })? {
        Ended::Late => {
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            Err(NumaError::ToolTimeout { path: path.to_owned(), limit_ms })
        }
        Ended::Long => Err(NumaError::ToolOutput { path: path.to_owned(), limit_bytes: MAX_BYTES }),
        Ended::Status(status, [stdout, _]) if status.success() => Ok(stdout),
        Ended::Status(status, [_, stderr]) => {
            Err(NumaError::ToolFailed { path: path.to_owned(), status, message: first_line(&stderr) })
        }
    }
}

/// How a run came to its end.
enum Ended {
    /// By itself, with what it wrote to standard output and standard error.
    Status(ExitStatus, [Vec<u8>; 2]),
    /// Not before the deadline.
    Late,
    /// With too much output.
    Long,
}

/// A process that is ended and waited for, whatever happens.
struct Running(Option<Child>);

impl Running {
    fn finish(&mut self, deadline: Instant) -> io::Result<Ended> {
        let Some(child) = &mut self.0 else { return Ok(Ended::Late) };
        let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("the pipes are missing"));
        };
        let (mut out, mut err) = (Stream::new(&mut stdout), Stream::new(&mut stderr));
        while out.is_open || err.is_open {
            let Some(left) = remaining(deadline) else { return Ok(Ended::Late) };
            let open = [&mut out, &mut err].into_iter().filter(|stream| stream.is_open);
            read_ready(&mut open.collect::<Vec<_>>(), &left)?;
            if out.bytes.len().max(err.bytes.len()) > MAX_BYTES {
                return Ok(Ended::Long);
            }
        }
        let texts = [out.bytes, err.bytes];
        let Some(status) = wait(child, deadline)? else { return Ok(Ended::Late) };
        self.0 = None;
        Ok(Ended::Status(status, texts))
    }

    /// Kills the whole group and reaps the process; nothing happens once that was waited for.
    fn end(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        // The process has not been reaped, so its id still names this group, even when it has ended and
        // left others behind.
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let killed = group.is_some_and(|group| kill_process_group(group, Signal::KILL).is_ok());
        // Both fail only for what has ended meanwhile.
        let _ = if killed { Ok(()) } else { child.kill() };
        let _ = child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits for the process without holding more than its status; none at the deadline.
///
/// Its pipes are closed, so it has all but ended: as a rule the first look finds it. A process cannot be
/// waited for with a time limit otherwise: a descriptor for it (`pidfd_open`) is refused in older containers.
fn wait(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

fn remaining(deadline: Instant) -> Option<Timespec> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { None } else { Timespec::try_from(left).ok() }
}

/// What came out of one pipe so far.
struct Stream<'a> {
    pipe: &'a mut dyn Pipe,
    bytes: Vec<u8>,
    is_open: bool,
}

trait Pipe: Read + AsFd {}

impl<P: Read + AsFd> Pipe for P {}

impl<'a> Stream<'a> {
    fn new(pipe: &'a mut dyn Pipe) -> Self {
        Self { pipe, bytes: Vec::new(), is_open: true }
    }

    /// Reads what is there, once.
    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        match self.pipe.read(&mut buffer) {
            Ok(0) => self.is_open = false,
            Ok(n_bytes) => self.bytes.extend_from_slice(&buffer[..n_bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Waits until one of the streams has something or has ended, but no longer than this.
fn read_ready(streams: &mut [&mut Stream<'_>], left: &Timespec) -> io::Result<()> {
    let mut fds: Vec<_> =
        streams.iter().map(|stream| PollFd::from_borrowed_fd(stream.pipe.as_fd(), PollFlags::IN)).collect();
    match poll(&mut fds, Some(left)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
    streams.iter_mut().zip(ready).filter(|(_, is_ready)| *is_ready).try_for_each(|(stream, _)| stream.read())
}

/// The first line with something in it, without control characters and not too long.
fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|letter| !letter.is_control()).take(MAX_MESSAGE).collect()
}
