//! A page over HTTP for this host only. One connection at a time, and nothing but the page.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::request::{Request, head_end};
use crate::failure::Failure;
use crate::output::{self, Answer};

/// A connection has so long for its request.
const REQUEST_LIMIT: Duration = Duration::from_secs(2);

/// And so long for every part of the answer that it takes.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The longest head, bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// What is read of a client that says more than its request.
const MAX_DRAINED_BYTES: usize = 1 << 16;

/// Serves until the process is interrupted.
pub(super) fn serve(port: u16, page: &[u8]) -> Result<Answer, Failure> {
    let refused = |source| Failure::Serve { port, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
    let port = listener.local_addr().map_err(refused)?.port();
    output::print(&format!("http://127.0.0.1:{port}/\n"))?;
    loop {
        match listener.accept() {
            // A client that fails has only itself to tell.
            Ok((stream, _)) => drop(answer(stream, page, port)),
            Err(error) if is_of_one_connection(&error) => {}
            Err(source) => return Err(refused(source)),
        }
    }
}

fn answer(mut stream: TcpStream, page: &[u8], port: u16) -> io::Result<()> {
    let (status, kind, body) = match read(&mut stream, port)? {
        Request::Page => ("200 OK", "text/html; charset=utf-8", page),
        Request::OtherPath => ("404 Not Found", "text/plain", &b"the page is at /\n"[..]),
        Request::OtherMethod => ("405 Method Not Allowed", "text/plain", &b"only GET is served\n"[..]),
        Request::OtherHost => (
            "421 Misdirected Request",
            "text/plain",
            &b"only http://127.0.0.1 and localhost are served\n"[..],
        ),
        Request::Malformed => ("400 Bad Request", "text/plain", &b"this is no HTTP request\n"[..]),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nAllow: GET\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.set_write_timeout(Some(ANSWER_LIMIT))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.shutdown(Shutdown::Write)?;
    drain(&mut stream)
}

/// Reads a head, in two seconds at the longest. A client that goes before the end is an error.
fn read(stream: &mut TcpStream, port: u16) -> io::Result<Request> {
    let deadline = Instant::now() + REQUEST_LIMIT;
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n_bytes) => head.extend_from_slice(&chunk[..n_bytes]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if let Some(end) = head_end(&head) {
            return Ok(Request::of(&head[..end], port));
        }
        if head.len() > MAX_HEAD_BYTES {
            return Ok(Request::Malformed);
        }
    }
}

/// Reads what the client still says: closing on unread bytes would take the answer away from it.
fn drain(stream: &mut TcpStream) -> io::Result<()> {
    let mut chunk = [0; 4096];
    let mut n_drained = 0;
    stream.set_read_timeout(Some(REQUEST_LIMIT))?;
    while n_drained < MAX_DRAINED_BYTES {
        match stream.read(&mut chunk)? {
            0 => break,
            n_bytes => n_drained += n_bytes,
        }
    }
    Ok(())
}

/// Whether a failed `accept` says something about one client only.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}
