//! The floor: nothing at all, and a freelist a size class that never splits or merges.

use std::hint::black_box;

use neuronx_mem::rounding::RoundingScheme;

use super::Subject;

pub struct Null;

impl Subject for Null {
    type Handle = u64;

    fn allocate(&mut self, bytes: u64) -> u64 {
        black_box(bytes)
    }

    fn free(&mut self, handle: u64) {
        black_box(handle);
    }
}

/// One list of freed addresses for each size class; larger sizes by power of two.
pub struct ClassFreelist {
    scheme: RoundingScheme,
    free: Vec<Vec<u64>>,
    next_address: u64,
}

impl ClassFreelist {
    pub fn new() -> Self {
        Self { scheme: RoundingScheme::DEFAULT, free: vec![Vec::new(); 65 + 64], next_address: 0 }
    }

    fn class(&self, bytes: u64) -> usize {
        let large = || 65 + u64::from(bytes.ilog2());
        usize::try_from(self.scheme.class_index(bytes).unwrap_or_else(large)).unwrap_or(0)
    }
}

impl Subject for ClassFreelist {
    type Handle = (u64, u32);

    fn allocate(&mut self, bytes: u64) -> (u64, u32) {
        let class = self.class(bytes);
        let address = self.free[class].pop().unwrap_or_else(|| {
            self.next_address += bytes.next_power_of_two();
            self.next_address
        });
        (address, class as u32)
    }

    fn free(&mut self, handle: (u64, u32)) {
        self.free[handle.1 as usize].push(handle.0);
    }
}
