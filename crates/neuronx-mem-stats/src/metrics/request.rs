//! One HTTP request, as much of it as decides the answer.
//!
//! Knows the request line and where the head ends. Refuses everything but `GET /metrics`, and heads
//! that are long or slow.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head, in bytes.
const MAX_HEAD_BYTES: usize = 8192;

/// What a head came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// `GET /metrics`, with or without a query.
    Metrics,
    /// Another path.
    OtherPath,
    /// Another method.
    OtherMethod,
    /// No HTTP.
    Malformed,
    /// More than [`MAX_HEAD_BYTES`].
    TooLong,
}

/// Reads a head, until `deadline` at the longest. A client that goes before the end is an error.
pub(super) fn read(stream: &mut TcpStream, deadline: Instant) -> io::Result<Request> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(deadline)?))?;
        let n_bytes = match stream.read(&mut chunk) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n_bytes) => n_bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        head.extend_from_slice(&chunk[..n_bytes]);
        if let Some(end) = head_end(&head) {
            return Ok(Request::of(&head[..end]));
        }
        if head.len() >= MAX_HEAD_BYTES {
            return Ok(Request::TooLong);
        }
    }
}

/// The time until the deadline, never zero, which a socket would take for "no limit".
pub(super) fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// The length of the head without the empty line that ends it.
fn head_end(bytes: &[u8]) -> Option<usize> {
    let with_returns = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let without = bytes.windows(2).position(|window| window == b"\n\n");
    [with_returns, without].into_iter().flatten().min().filter(|end| *end <= MAX_HEAD_BYTES)
}

impl Request {
    /// Reads the request line: a method, a target and `HTTP/1.x`.
    pub(super) fn of(head: &[u8]) -> Self {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut words = line.split(|byte| *byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Self::Malformed;
        };
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        match (method, path) {
            _ if !version.starts_with(b"HTTP/1.") || !path.starts_with(b"/") => Self::Malformed,
            (b"GET", b"/metrics") => Self::Metrics,
            (b"GET", _) => Self::OtherPath,
            _ => Self::OtherMethod,
        }
    }
}

#[cfg(test)]
mod tests;
