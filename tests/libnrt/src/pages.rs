//! Bytes of one allocation, zero where nothing was written. Checks no bounds: its caller has.

use std::collections::BTreeMap;

const PAGE_BYTES: usize = 4096;

/// Pages that were written, by number.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    written: BTreeMap<usize, Box<[u8; PAGE_BYTES]>>,
}

impl Pages {
    pub(crate) fn read(&self, mut offset: usize, mut into: &mut [u8]) {
        while !into.is_empty() {
            let (page, start) = (offset / PAGE_BYTES, offset % PAGE_BYTES);
            let n = into.len().min(PAGE_BYTES - start);
            let (part, rest) = into.split_at_mut(n);
            match self.written.get(&page) {
                Some(bytes) => part.copy_from_slice(&bytes[start..start + n]),
                None => part.fill(0),
            }
            (into, offset) = (rest, offset + n);
        }
    }

    pub(crate) fn write(&mut self, mut offset: usize, mut from: &[u8]) {
        while !from.is_empty() {
            let (page, start) = (offset / PAGE_BYTES, offset % PAGE_BYTES);
            let n = from.len().min(PAGE_BYTES - start);
            let bytes = self.written.entry(page).or_insert_with(|| Box::new([0; PAGE_BYTES]));
            bytes[start..start + n].copy_from_slice(&from[..n]);
            (from, offset) = (&from[n..], offset + n);
        }
    }
}
