//! Request lines as clients and strangers send them.

use super::{MAX_HEAD_BYTES, Request, head_end};

#[track_caller]
fn check(head: &str, expected: Request) {
    assert_eq!(Request::of(head.as_bytes()), expected, "{head:?}");
}

#[test]
fn the_request_line_decides() {
    check("GET /metrics HTTP/1.0", Request::Metrics);
    check("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*", Request::Metrics);
    check("GET /metrics?name[]=up HTTP/1.1\nHost: a", Request::Metrics);
    check("GET / HTTP/1.1", Request::OtherPath);
    check("GET /metrics/ HTTP/1.1", Request::OtherPath);
    check("GET /../metrics HTTP/1.1", Request::OtherPath);
    check("POST /metrics HTTP/1.1", Request::OtherMethod);
    check("get /metrics HTTP/1.1", Request::OtherMethod);
    check("HEAD / HTTP/1.0", Request::OtherMethod);
}

#[test]
fn what_is_no_http_is_refused() {
    for line in [
        "",
        "GET",
        "GET /metrics",
        "GET  /metrics HTTP/1.0",
        "GET /metrics HTTP/1.0 ",
        "GET metrics HTTP/1.0",
        "GET http://host/metrics HTTP/1.0",
        "GET /metrics HTTP/2",
        "\u{16}\u{3}\u{1}\0",
    ] {
        check(line, Request::Malformed);
    }
    assert_eq!(Request::of(b"GET /\xff HTTP/1.0"), Request::OtherPath);
}

#[test]
fn a_head_ends_at_the_first_empty_line() {
    assert_eq!(head_end(b"GET / HTTP/1.0\r\n\r\nbody\n\n"), Some(14));
    assert_eq!(head_end(b"GET / HTTP/1.0\n\nbody\r\n\r\n"), Some(14));
    assert_eq!(head_end(b"GET / HTTP/1.0\r\n"), None);
    let long = [vec![b'a'; MAX_HEAD_BYTES], b"\n\n".to_vec()].concat();
    assert_eq!((head_end(&long), head_end(&long[1..])), (Some(MAX_HEAD_BYTES), Some(MAX_HEAD_BYTES - 1)));
    assert_eq!(head_end(&[b"a", long.as_slice()].concat()), None);
}
