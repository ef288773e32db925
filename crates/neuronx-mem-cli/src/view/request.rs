//! One HTTP request, as much of it as decides the answer. Refuses all but `GET /` asked of this host
//! by its own name: a page of another site that has its name point here must not read this one.

/// What a head came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Page,
    OtherPath,
    OtherMethod,
    OtherHost,
    Malformed,
}

/// The length of a head with the empty line that ends it.
pub(super) fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|end| end + 4)
}

impl Request {
    /// Reads a head that was asked of this port.
    pub(super) fn of(head: &[u8], port: u16) -> Self {
        let Ok(head) = std::str::from_utf8(head) else { return Self::Malformed };
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Self::Malformed;
        };
        if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
            return Self::Malformed;
        }
        let mut hosts = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then(|| value.trim())
        });
        let is_here = |host: &str| {
            ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
                host.strip_prefix(name)
                    .is_some_and(|rest| rest == format!(":{port}") || (rest.is_empty() && port == 80))
            })
        };
        match (hosts.next(), hosts.next()) {
            (Some(host), None) if is_here(host) => {}
            _ => return Self::OtherHost,
        }
        match (method, target) {
            ("GET", "/") => Self::Page,
            ("GET", _) => Self::OtherPath,
            _ => Self::OtherMethod,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Request::{self, Malformed, OtherHost, OtherMethod, OtherPath, Page};

    #[track_caller]
    fn check(head: &str, expected: Request) {
        assert_eq!(Request::of(head.as_bytes(), 8080), expected);
    }

    #[test]
    fn only_this_host_by_its_own_name_is_answered() {
        check("GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", Page);
        check("GET / HTTP/1.1\r\nAccept: */*\r\nhost:127.0.0.1:8080\r\n\r\n", Page);
        check("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", Page);
        check("GET / HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n", OtherHost);
        check("GET / HTTP/1.1\r\nHost: localhost.evil.example:8080\r\n\r\n", OtherHost);
        check("GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n", OtherHost);
        check("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", OtherHost);
        check("GET / HTTP/1.0\r\n\r\n", OtherHost);
        check("GET / HTTP/1.1\r\nHost: localhost:8080\r\nHost: evil.example\r\n\r\n", OtherHost);
    }

    #[test]
    fn everything_but_the_page_is_refused() {
        check("GET /favicon.ico HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", OtherPath);
        check("GET /../etc/passwd HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", OtherPath);
        check("POST / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", OtherMethod);
        check("GET http://localhost:8080/ HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", Malformed);
        check("GET / SPDY\r\n\r\n", Malformed);
        check("GET /  HTTP/1.1\r\n\r\n", Malformed);
        check("", Malformed);
    }
}
