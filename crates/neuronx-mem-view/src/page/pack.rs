//! Columns of numbers in one piece of memory, as typed arrays of JavaScript read them. Little-endian,
//! every column on a multiple of eight bytes.

use std::collections::BTreeMap;

use serde::Serialize;

/// Where a column stands.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Place {
    /// Kind of its numbers: `f64`, `u64`, `u32` or `u16`.
    kind: &'static str,
    /// Bytes from the start of the columns.
    start: usize,
    /// Numbers.
    length: usize,
}

/// The columns, and where each stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub(super) bytes: Vec<u8>,
    pub(super) places: BTreeMap<&'static str, Place>,
}

impl Columns {
    pub(super) fn f64(&mut self, name: &'static str, numbers: impl IntoIterator<Item = f64>) {
        self.add(name, "f64", numbers.into_iter().map(f64::to_le_bytes));
    }

    pub(super) fn u64(&mut self, name: &'static str, numbers: impl IntoIterator<Item = u64>) {
        self.add(name, "u64", numbers.into_iter().map(u64::to_le_bytes));
    }

    pub(super) fn u32(&mut self, name: &'static str, numbers: impl IntoIterator<Item = u32>) {
        self.add(name, "u32", numbers.into_iter().map(u32::to_le_bytes));
    }

    pub(super) fn u16(&mut self, name: &'static str, numbers: impl IntoIterator<Item = u16>) {
        self.add(name, "u16", numbers.into_iter().map(u16::to_le_bytes));
    }

    fn add<const N: usize>(
        &mut self,
        name: &'static str,
        kind: &'static str,
        numbers: impl Iterator<Item = [u8; N]>,
    ) {
        let start = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(start, 0);
        let mut length = 0;
        for number in numbers {
            self.bytes.extend_from_slice(&number);
            length += 1;
        }
        self.places.insert(name, Place { kind, start, length });
    }
}
