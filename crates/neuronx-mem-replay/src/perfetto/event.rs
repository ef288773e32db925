//! One event of the trace-event format. Knows its spelling; decides nothing about what is shown.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// What kind of event it is, by the letters of the format.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// Names a process or a thread.
    Metadata,
    Counter,
    Instant,
    /// A slice of a thread: they nest.
    Begin,
    End,
    /// A slice with an id of its own: they overlap freely.
    BeginAsync,
    EndAsync,
}

/// An event; parts that its phase does not need are absent.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Event<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cat: Option<&'static str>,
    pub(super) ph: Phase,
    pub(super) ts: u64,
    pub(super) pid: u64,
    pub(super) tid: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) s: Option<&'static str>,
    #[serde(skip_serializing_if = "Arguments::is_empty")]
    pub(super) args: Arguments,
}

/// Names and values in a fixed order.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments(pub(super) Vec<(&'static str, Argument)>);

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Argument {
    Number(u64),
    Text(String),
}

/// Writes events one after the other, as the items of a JSON list.
pub(super) struct Events<'w> {
    out: &'w mut dyn Write,
    is_first: bool,
}

impl Phase {
    const fn letter(self) -> &'static str {
        match self {
            Self::Metadata => "M",
            Self::Counter => "C",
            Self::Instant => "i",
            Self::Begin => "B",
            Self::End => "E",
            Self::BeginAsync => "b",
            Self::EndAsync => "e",
        }
    }
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.letter())
    }
}

impl Arguments {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'w> Events<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self { out, is_first: true }
    }

    pub(super) fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }
}
