//! Takes bytes off the input. Knows where it is and which instruction is running, for errors;
//! refuses to read past the end or to believe a length.

use super::super::opcodes;
use crate::Error;

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Where the running instruction starts.
    start: usize,
    opcode: u8,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, start: 0, opcode: opcodes::STOP }
    }

    /// Offset of the running instruction.
    pub(super) fn offset(&self) -> u64 {
        self.start as u64
    }

    /// Name of the running instruction.
    pub(super) fn name(&self) -> &'static str {
        opcodes::name(self.opcode).unwrap_or("?")
    }

    /// Bytes not yet taken.
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Starts the next instruction.
    #[inline]
    pub(super) fn next_opcode(&mut self) -> Result<u8, Error> {
        self.start = self.position;
        let Some(&opcode) = self.bytes.get(self.position) else {
            self.opcode = opcodes::STOP;
            return Err(self.truncated(1));
        };
        self.position += 1;
        self.opcode = opcode;
        Ok(opcode)
    }

    /// Takes a fixed number of bytes.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let Some(bytes) = self.bytes[self.position..].first_chunk::<N>() else {
            return Err(self.truncated(N as u64));
        };
        self.position += N;
        Ok(*bytes)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes as many bytes as the file claims, if there are so many.
    #[inline]
    pub(super) fn take(&mut self, n_bytes: u64) -> Result<&'a [u8], Error> {
        let taken = usize::try_from(n_bytes).ok().and_then(|n| self.bytes[self.position..].get(..n));
        let Some(taken) = taken else { return Err(self.truncated(n_bytes)) };
        self.position += taken.len();
        Ok(taken)
    }

    #[cold]
    pub(super) fn truncated(&self, wanted_bytes: u64) -> Error {
        Error::Truncated {
            offset: self.offset(),
            opcode: self.name(),
            wanted_bytes,
            available_bytes: self.remaining() as u64,
        }
    }

    #[cold]
    pub(super) fn wrong_operand(&self, expected: &'static str, found: &'static str) -> Error {
        Error::WrongOperand { offset: self.offset(), opcode: self.name(), expected, found }
    }

    #[cold]
    pub(super) fn underflow(&self) -> Error {
        Error::StackUnderflow { offset: self.offset(), opcode: self.name() }
    }

    /// Adds the offset to a limit error that has none.
    #[cold]
    pub(super) fn locate(&self, error: Error) -> Error {
        match error {
            Error::LimitExceeded { kind, limit, offset: None } => {
                Error::LimitExceeded { kind, limit, offset: Some(self.offset()) }
            }
            other => other,
        }
    }
}
