//! A page of metrics over HTTP, for Prometheus to scrape.
//!
//! Knows one thread, one connection at a time and `GET /metrics`. Refuses to be a web server: no
//! encryption, no names and passwords, no other page. The caller chooses who can reach the address.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

use super::error::MetricsError;
use super::exposition::{DeviceMetrics, prometheus_text};
use super::request::{self, Request};

/// A connection has so long for its request and as long for its answer.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// How long to wait when the system has no connection to give, such as without free descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// What is read of a client that says more than its request, so that it gets to see the answer.
const MAX_DRAINED_BYTES: usize = 1 << 16;

/// A running server; dropping it ends it, at once and whatever a client is doing.
#[derive(Debug)]
#[must_use = "the server ends when this is dropped"]
pub struct MetricsServer {
    address: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

/// What the owner and the thread share.
#[derive(Debug, Default)]
struct State {
    is_stopping: AtomicBool,
    /// The connection that is being served, so that the owner can cut it.
    current: Mutex<Option<TcpStream>>,
}

/// Serves `GET /metrics` at an address, on a thread of its own, until the result is dropped.
///
/// `source` is called for each request and gives the figures of that moment. Port 0 is a free port,
/// which [`MetricsServer::address`] tells. One connection is served at a time, two seconds for the
/// request and two for the answer at the longest; a head has at most 8 KiB. Everybody who can reach the
/// address can read the figures: `127.0.0.1` is this host only.
///
/// # Errors
///
/// [`MetricsError::Server`] when the address cannot be listened on or no thread can be started.
///
/// ```
/// use std::io::{Read, Write};
/// use std::net::TcpStream;
///
/// use neuronx_mem_stats::serve_metrics;
///
/// let server = serve_metrics("127.0.0.1:0", Vec::new)?;
/// let mut client = TcpStream::connect(server.address())?;
/// client.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer)?;
/// assert!(answer.starts_with("HTTP/1.0 200 OK\r\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serve_metrics(
    address: impl ToSocketAddrs,
    source: impl Fn() -> Vec<DeviceMetrics> + Send + 'static,
) -> Result<MetricsServer, MetricsError> {
    let failed = |action| move |source| MetricsError::Server { action, source };
    let listener = TcpListener::bind(address).map_err(failed("listen"))?;
    let address = listener.local_addr().map_err(failed("listen"))?;
    let state = Arc::new(State::default());
    let shared = Arc::clone(&state);
    let thread = thread::Builder::new().name("neuronx-metrics".to_owned());
    let thread = thread.spawn(move || shared.serve(&listener, &source)).map_err(failed("start a thread"))?;
    Ok(MetricsServer { address, state, thread: Some(thread) })
}

impl MetricsServer {
    /// Returns the address at which the server listens, with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    /// Cuts a connection that is being served and waits for the thread.
    fn drop(&mut self) {
        self.state.is_stopping.store(true, Ordering::SeqCst);
        self.state.cut();
        let Some(thread) = self.thread.take() else { return };
        thread.thread().unpark();
        // A connection ends the wait for one. Without it the thread would stay until the next client
        // comes, and is left to itself.
        let is_woken = TcpStream::connect_timeout(&reachable(self.address), TIME_LIMIT).is_ok();
        if is_woken || thread.is_finished() {
            // A panic in the caller's source has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl State {
    fn serve(&self, listener: &TcpListener, source: &dyn Fn() -> Vec<DeviceMetrics>) {
        while !self.is_stopping.load(Ordering::SeqCst) {
            match listener.accept() {
                // A client that fails has only itself to tell.
                Ok((stream, _)) => drop(self.serve_one(stream, source)),
                Err(error) if is_of_one_connection(&error) => {}
                Err(_) => thread::park_timeout(PAUSE),
            }
        }
    }

    fn serve_one(&self, mut stream: TcpStream, source: &dyn Fn() -> Vec<DeviceMetrics>) -> io::Result<()> {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream.try_clone()?);
        // The owner either sees the connection above, or has said before that it is stopping.
        let result =
            if self.is_stopping.load(Ordering::SeqCst) { Ok(()) } else { answer(&mut stream, source) };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
        result
    }

    fn cut(&self) {
        if let Some(stream) = self.current.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn answer(stream: &mut TcpStream, source: &dyn Fn() -> Vec<DeviceMetrics>) -> io::Result<()> {
    let request = request::read(stream, Instant::now() + TIME_LIMIT)?;
    let (status, body) = match request {
        Request::Metrics => match prometheus_text(source()) {
            Ok(text) => ("200 OK", text),
            Err(error) => ("500 Internal Server Error", format!("{error}\n")),
        },
        Request::OtherPath => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        Request::OtherMethod => ("405 Method Not Allowed", "only GET is served\n".to_owned()),
        Request::Malformed => ("400 Bad Request", "this is no HTTP request\n".to_owned()),
        Request::TooLong => ("431 Request Header Fields Too Large", "the request is too long\n".to_owned()),
    };
    let allow = if request == Request::OtherMethod { "Allow: GET\r\n" } else { "" };
    let length = body.len();
    let head = format!(
        "HTTP/1.0 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {length}\r\n{allow}\
         Connection: close\r\n\r\n"
    );
    let deadline = Instant::now() + TIME_LIMIT;
    write_until(stream, (head + &body).as_bytes(), deadline)?;
    stream.shutdown(Shutdown::Write)?;
    drain(stream, deadline)
}

/// As `write_all`, but a client that takes byte after byte does not hold the thread for long.
fn write_until(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(request::left(deadline)?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n_bytes) => bytes = &bytes[n_bytes..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads what the client still says: closing on unread bytes would take the answer away from it.
fn drain(stream: &mut TcpStream, deadline: Instant) -> io::Result<()> {
    let mut chunk = [0; 4096];
    let mut n_drained = 0;
    while n_drained < MAX_DRAINED_BYTES {
        stream.set_read_timeout(Some(request::left(deadline)?))?;
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

/// An address that reaches the listener from this host: the unspecified one is no destination.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}
