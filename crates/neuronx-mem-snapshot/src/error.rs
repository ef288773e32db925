//! The one error type of the crate. Knows every way in which reading, writing or recording can
//! fail, with the numbers that say where; refuses prose that a caller would have to parse.

use crate::limits::LimitKind;

/// Everything that can go wrong in this crate.
///
/// `offset` is a byte offset in the input, `opcode` the name of a pickle instruction as Python's
/// `pickletools` prints it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input ends in the middle of an instruction, or claims more bytes than there are.
    #[error("truncated pickle: {opcode} at byte {offset} needs {wanted_bytes} bytes, {available_bytes} left")]
    Truncated {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction, `"STOP"` when the input ended before it.
        opcode: &'static str,
        /// Bytes that the instruction asked for.
        wanted_bytes: u64,
        /// Bytes that were left.
        available_bytes: u64,
    },
    /// The pickle holds an instruction that a snapshot never needs (code, bytes, sets, text forms).
    #[error("refused pickle opcode {opcode} at byte {offset}")]
    RefusedOpcode {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction.
        opcode: &'static str,
    },
    /// A byte that is no pickle instruction.
    #[error("unknown pickle opcode {byte:#04x} at byte {offset}")]
    UnknownOpcode {
        /// Where the byte is.
        offset: u64,
        /// The byte.
        byte: u8,
    },
    /// A pickle protocol outside 2 to 5.
    #[error("pickle protocol {version} is not supported (2 to 5 are)")]
    UnsupportedProtocol {
        /// The protocol that the file names.
        version: u8,
    },
    /// An instruction found too few operands.
    #[error("{opcode} at byte {offset} finds too few operands")]
    StackUnderflow {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction.
        opcode: &'static str,
    },
    /// An instruction that collects items found no MARK.
    #[error("{opcode} at byte {offset} finds no mark")]
    MissingMark {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction.
        opcode: &'static str,
    },
    /// A reference to an object that was never stored.
    #[error("{opcode} at byte {offset} refers to object {index}, which was not stored")]
    MissingMemo {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction.
        opcode: &'static str,
        /// The memo index asked for.
        index: u64,
    },
    /// An operand of the wrong type (append to an int, a list as a key, ...).
    #[error("{opcode} at byte {offset} wants {expected}, found {found}")]
    WrongOperand {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction.
        opcode: &'static str,
        /// What it needs.
        expected: &'static str,
        /// What it found.
        found: &'static str,
    },
    /// A string that is not UTF-8 (lone surrogates included).
    #[error("{opcode} at byte {offset} holds a string that is not utf-8")]
    InvalidUtf8 {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction.
        opcode: &'static str,
    },
    /// An integer outside `i64::MIN..=u64::MAX`.
    #[error("{opcode} at byte {offset} holds an integer of {n_bytes} bytes, outside 64 bits")]
    IntegerTooLarge {
        /// Where the instruction starts.
        offset: u64,
        /// The instruction.
        opcode: &'static str,
        /// Length of the integer in bytes.
        n_bytes: u64,
    },
    /// A limit of [`Limits`](crate::Limits) was reached.
    #[error("limit on {kind} reached: {limit}")]
    LimitExceeded {
        /// Which limit.
        kind: LimitKind,
        /// Its value.
        limit: u64,
        /// Where in the input, when that is known.
        offset: Option<u64>,
    },
    /// A list or dict contains itself.
    #[error("a container contains itself")]
    Cycle,
    /// The file is well formed, but is no memory snapshot.
    #[error("not a memory snapshot: expected a dict or a list of segments, found {found}")]
    NotASnapshot {
        /// Type of the top-level object.
        found: &'static str,
    },
    /// A dict lacks a key without which it means nothing.
    #[error("{record} has no key `{key}`")]
    MissingKey {
        /// Kind of dict.
        record: &'static str,
        /// The key.
        key: &'static str,
    },
    /// A known key has a value of an unexpected type.
    #[error("{record}: `{key}` should be {expected}, found {found}")]
    WrongType {
        /// Kind of dict.
        record: &'static str,
        /// The key.
        key: String,
        /// Expected type.
        expected: &'static str,
        /// Type found.
        found: &'static str,
    },
    /// The JSON text is malformed or ends early.
    #[error("malformed json at line {line}, column {column}: {message}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// A value that the output format cannot carry (a float that is not finite in JSON, a string
    /// above 4 GiB in a pickle).
    #[error("{format} cannot represent {what}")]
    NotRepresentable {
        /// The format.
        format: &'static str,
        /// The value.
        what: &'static str,
    },
    /// The content is neither a pickle nor JSON.
    #[error("neither a pickle nor json: the first byte is {first_byte:?}")]
    UnknownFormat {
        /// The first byte, `None` for an empty input.
        first_byte: Option<u8>,
    },
    /// The operating system refused.
    #[error("{operation} failed")]
    Io {
        /// What was being done.
        operation: &'static str,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
    /// `skip_actions` names an action that does not exist.
    #[error("Unknown TraceEntry action: {name}")]
    UnknownAction {
        /// The name given.
        name: String,
    },
    /// A recording option has a value that does not exist.
    #[error("invalid {option}: expected {expected}, found `{found}`")]
    InvalidOption {
        /// The option.
        option: &'static str,
        /// What it accepts.
        expected: &'static str,
        /// The value given.
        found: String,
    },
}

impl Error {
    /// Whether a limit stopped the operation; a caller who trusts the file may raise it.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        matches!(self, Self::LimitExceeded { .. })
    }

    /// Whether the input ended too early.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        matches!(self, Self::Truncated { .. })
    }

    pub(crate) const fn io(operation: &'static str, source: std::io::Error) -> Self {
        Self::Io { operation, source }
    }
}
