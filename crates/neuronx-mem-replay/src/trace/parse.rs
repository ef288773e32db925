//! One line to one event, byte by byte. Knows nothing of other lines, and allocates only for the
//! label of a mark.

use super::fault::excerpt;
use crate::{Event, Fault};

/// What a line holds.
pub(super) enum Line<'a> {
    /// Nothing.
    Blank,
    /// What follows a `#`.
    Comment(&'a str),
    Event(Event),
}

/// Reads a line without its `\n`; each `\r` at the end belongs to the line end. O(bytes).
#[inline]
pub(super) fn parse_line(line: &[u8]) -> Result<Line<'_>, Fault> {
    let line = without_line_end(line);
    let parsed = match line {
        [b'a', b',', rest @ ..] => allocate(rest),
        [b'f', b',', rest @ ..] => free(rest),
        [b's'] => Ok(Line::Event(Event::Synchronize)),
        _ => return parse_rare(line),
    };
    parsed.map_err(|fault| not_utf8(line).unwrap_or(fault))
}

/// Two conversions to CRLF leave two of them, and no label ends in one.
#[inline]
fn without_line_end(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_suffix(b"\r") {
        line = rest;
    }
    line
}

/// All lines but the three that traces are made of.
#[cold]
fn parse_rare(line: &[u8]) -> Result<Line<'_>, Fault> {
    let text = str::from_utf8(line).map_err(|error| Fault::NotUtf8 { column: error.valid_up_to() + 1 })?;
    match line {
        [b'#', ..] => Ok(Line::Comment(&text[1..])),
        [b'm', b',', ..] => Ok(Line::Event(Event::Mark(text[2..].into()))),
        [b'r', b',', rest @ ..] => record(rest),
        [b's', b',', rest @ ..] => Err(Fault::ExtraField { event: 's', text: excerpt(rest) }),
        [b'a'] | [b'f'] | [b'r'] => Err(Fault::MissingField { event: line[0].into(), field: ID }),
        [b'm'] => Err(Fault::MissingField { event: 'm', field: "label" }),
        _ if line.trim_ascii().is_empty() => Ok(Line::Blank),
        _ => {
            let first = line.split(|byte| *byte == b',').next().unwrap_or_default();
            Err(Fault::UnknownEvent { text: excerpt(first) })
        }
    }
}

const ID: &str = "id";
const BYTES: &str = "bytes";
const STREAM: &str = "stream";

#[inline]
fn allocate(rest: &[u8]) -> Result<Line<'_>, Fault> {
    let mut fields = Fields { event: 'a', rest: Some(rest) };
    let (id, bytes, stream) = (fields.number(ID)?, fields.number(BYTES)?, fields.number(STREAM)?);
    fields.end()?;
    Ok(Line::Event(Event::Allocate { id, bytes, stream }))
}

#[inline]
fn free(rest: &[u8]) -> Result<Line<'_>, Fault> {
    let mut fields = Fields { event: 'f', rest: Some(rest) };
    let id = fields.number(ID)?;
    fields.end()?;
    Ok(Line::Event(Event::Free { id }))
}

fn record(rest: &[u8]) -> Result<Line<'_>, Fault> {
    let mut fields = Fields { event: 'r', rest: Some(rest) };
    let (id, stream) = (fields.number(ID)?, fields.number(STREAM)?);
    fields.end()?;
    Ok(Line::Event(Event::RecordStream { id, stream }))
}

/// The fields of an event that have not been read yet.
struct Fields<'a> {
    event: char,
    rest: Option<&'a [u8]>,
}

impl Fields<'_> {
    #[inline]
    fn number(&mut self, field: &'static str) -> Result<u64, Fault> {
        let missing = Fault::MissingField { event: self.event, field };
        let Some(rest) = self.rest else { return Err(missing) };
        let comma = rest.iter().position(|byte| *byte == b',');
        let text = &rest[..comma.unwrap_or(rest.len())];
        self.rest = comma.map(|comma| &rest[comma + 1..]);
        if text.is_empty() { Err(missing) } else { number(text, field) }
    }

    #[inline]
    fn end(&self) -> Result<(), Fault> {
        match self.rest {
            None => Ok(()),
            Some(text) => Err(Fault::ExtraField { event: self.event, text: excerpt(text) }),
        }
    }
}

#[inline]
fn number(text: &[u8], field: &'static str) -> Result<u64, Fault> {
    let mut value = Some(0u64);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(Fault::NotANumber { field, text: excerpt(text) });
        }
        value = value.and_then(|value| value.checked_mul(10)?.checked_add(u64::from(digit)));
    }
    value.ok_or_else(|| Fault::NumberOverflow { field, text: excerpt(text) })
}

/// A line of wrong encoding is reported as such, not by the field that it shows in.
#[cold]
fn not_utf8(line: &[u8]) -> Option<Fault> {
    str::from_utf8(line).err().map(|error| Fault::NotUtf8 { column: error.valid_up_to() + 1 })
}
