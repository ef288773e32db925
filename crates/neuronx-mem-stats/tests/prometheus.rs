//! The text for Prometheus, and the page that serves it.

#![cfg(feature = "serve")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use neuronx_mem_stats::{
    AllocationEvent, DeviceMetrics, FreeEvent, LastOom, MemoryStats, MetricsError, MetricsServer, OomRow,
    SegmentRow, StatsPool, StreamRow, device_stats, prometheus_text, serve_metrics,
};

const MIB: u64 = 1 << 20;

fn memory() -> MemoryStats {
    let (mut writer, reader) = device_stats(Some(8 * MIB));
    writer.segment_allocated(StatsPool::Small, 2 * MIB);
    writer.segment_allocated(StatsPool::Large, 64 * MIB);
    for (pool, block_bytes) in [(StatsPool::Small, 1024), (StatsPool::Large, 10 * MIB)] {
        let requested_bytes = block_bytes - 24;
        writer.block_allocated(&AllocationEvent { pool, block_bytes, requested_bytes, ..Default::default() });
    }
    writer.block_freed(&FreeEvent { block_bytes: 1024, requested_bytes: 1000, ..Default::default() });
    writer.out_of_memory();
    reader.read()
}

fn devices() -> Vec<DeviceMetrics> {
    let small = SegmentRow {
        segment_bytes: 2 * MIB,
        cached_free_bytes: 2 * MIB,
        largest_free_bytes: 2 * MIB,
        ..Default::default()
    };
    let large = SegmentRow {
        segment_bytes: 64 * MIB,
        pool: StatsPool::Large,
        n_blocks: 1,
        pending_bytes: 512,
        cached_free_bytes: 54 * MIB,
        largest_free_bytes: 50 * MIB,
        ..Default::default()
    };
    let oom = OomRow { requested_bytes: u64::MAX, config_hash: 3, n_steps: 2, ..Default::default() };
    let first = DeviceMetrics {
        device: 0,
        memory: memory(),
        segments: Some(vec![small, large]),
        last_oom: Some(LastOom { timestamp_us: 1_755_000_000_000_001, row: oom }),
        streams: vec![
            StreamRow { stream: 0, pending_blocks: 1, pending_bytes: 512, submitted: 9, completed: 7 },
            StreamRow { stream: 4, ..Default::default() },
        ],
    };
    let second =
        DeviceMetrics { device: 1, segments: None, last_oom: None, streams: Vec::new(), ..first.clone() };
    vec![first, second]
}

#[test]
fn all_tables_as_text() {
    insta::assert_snapshot!("prometheus", prometheus_text(devices()).unwrap());
}

#[test]
fn no_device_is_no_text() {
    assert_eq!(prometheus_text(Vec::new()).unwrap(), "");
}

/// Sends bytes and returns all of the answer, head and body.
fn talk(server: &MetricsServer, request: &[u8]) -> (String, String) {
    let mut client = TcpStream::connect(server.address()).unwrap();
    client.write_all(request).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[test]
fn a_scrape_gets_the_text() {
    let server = serve_metrics("127.0.0.1:0", devices).unwrap();
    let expected = prometheus_text(devices()).unwrap();
    for request in [
        "GET /metrics HTTP/1.0\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n",
    ] {
        let (head, body) = talk(&server, request.as_bytes());
        let length = expected.len();
        let expected_head = format!(
            "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
             Content-Length: {length}\r\nConnection: close"
        );
        assert_eq!((head, body), (expected_head, expected.clone()));
    }
}

#[test]
fn each_scrape_asks_anew() {
    let (mut writer, reader) = device_stats(None);
    let source = move || {
        let memory = reader.read();
        vec![DeviceMetrics { device: 5, memory, segments: None, last_oom: None, streams: Vec::new() }]
    };
    let server = serve_metrics("127.0.0.1:0", source).unwrap();
    for n_segments in 0..3 {
        let (_, body) = talk(&server, b"GET /metrics HTTP/1.0\r\n\r\n");
        let line = format!("\nneuronx_mem_segments{{device=\"5\",pool=\"all\"}} {n_segments}\n");
        assert!(body.contains(&line), "{body}");
        writer.segment_allocated(StatsPool::Small, MIB);
    }
}

#[test]
fn everything_else_is_refused() {
    let server = serve_metrics("127.0.0.1:0", devices).unwrap();
    let check = |request: &[u8], status: &str| {
        let (head, body) = talk(&server, request);
        assert_eq!(head.lines().next(), Some(format!("HTTP/1.0 {status}").as_str()));
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
    };
    check(b"GET / HTTP/1.0\r\n\r\n", "404 Not Found");
    check(b"POST /metrics HTTP/1.0\r\nContent-Length: 4\r\n\r\nbody", "405 Method Not Allowed");
    check(b"hello\r\n\r\n", "400 Bad Request");
    check(b"\x16\x03\x01\x02\x00\x01\x00\n\n", "400 Bad Request");
    let long = [b"GET /metrics HTTP/1.0\r\nX: ".to_vec(), vec![b'x'; 20_000]].concat();
    check(&long, "431 Request Header Fields Too Large");
    // The server has survived all of them.
    check(b"GET /metrics HTTP/1.0\r\n\r\n", "200 OK");
}

#[test]
fn a_client_that_leaves_early_harms_nobody() {
    let server = serve_metrics("127.0.0.1:0", devices).unwrap();
    for request in [b"".as_slice(), b"GET /met"] {
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.write_all(request).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, b"");
    }
    drop(TcpStream::connect(server.address()).unwrap());
    assert!(talk(&server, b"GET /metrics HTTP/1.0\r\n\r\n").0.starts_with("HTTP/1.0 200 OK\r\n"));
}

#[test]
fn dropping_the_server_ends_it_even_while_a_client_says_nothing() {
    let server = serve_metrics("127.0.0.1:0", devices).unwrap();
    let mut silent = TcpStream::connect(server.address()).unwrap();
    silent.write_all(b"GET /metrics HTTP/1.0\r\n").unwrap();
    drop(server);
    // The thread has ended; the silent client is told so, with an end or a reset.
    let mut answer = Vec::new();
    let _ = silent.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    drop(serve_metrics("0.0.0.0:0", devices).unwrap());
}

#[test]
fn an_address_in_use_is_an_error() {
    let server = serve_metrics("127.0.0.1:0", devices).unwrap();
    let error = serve_metrics(server.address(), devices).unwrap_err();
    assert!(matches!(error, MetricsError::Server { action: "listen", .. }));
    assert!(error.to_string().starts_with("metrics server: cannot listen: "), "{error}");
}
