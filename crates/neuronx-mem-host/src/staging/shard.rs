//! One cache of one class: addresses of free blocks, and counters beside them.

/// Counters and blocks are changed under one lock, so that the statistics cost no atomic operation.
#[derive(Debug, Default)]
pub(super) struct Shard {
    free: Vec<u64>,
    pub(super) allocations: u64,
    pub(super) hits: u64,
    pub(super) frees: u64,
    pub(super) failures: u64,
    /// Bytes asked for, less those given back; may wrap, because another shard may see the return.
    pub(super) live_bytes: u64,
}

impl Shard {
    #[inline]
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        self.allocations += 1;
        self.live_bytes = self.live_bytes.wrapping_add(bytes);
        let address = self.free.pop()?;
        self.hits += 1;
        Some(address)
    }

    #[inline]
    pub(super) fn note_return(&mut self, bytes: u64) {
        self.frees += 1;
        self.live_bytes = self.live_bytes.wrapping_sub(bytes);
    }

    #[inline]
    pub(super) fn put(&mut self, address: u64) {
        self.free.push(address);
    }

    /// A block for a thread whose own shard is empty.
    pub(super) fn steal(&mut self) -> Option<u64> {
        self.free.pop()
    }

    pub(super) const fn len(&self) -> usize {
        self.free.len()
    }

    /// The blocks beyond `n_kept`, the coldest ones.
    pub(super) fn drain_to(&mut self, n_kept: usize) -> Vec<u64> {
        let n_surplus = self.free.len().saturating_sub(n_kept);
        self.free.drain(..n_surplus).collect()
    }

    pub(super) fn note_failure(&mut self, bytes: u64) {
        self.allocations -= 1;
        self.failures += 1;
        self.live_bytes = self.live_bytes.wrapping_sub(bytes);
    }
}
