//! What the detector may cost. Every limit is a number, so that a run is the same everywhere.

/// The byte that freed memory is filled with: no small integer, and a huge negative number as bf16.
pub const POISON: u8 = 0xFB;

/// Limits of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetectorOptions {
    /// Device memory kept back from reuse, bytes; 0 unless set.
    ///
    /// A freed block waits until that many bytes were freed after it, so that a late use still finds it
    /// freed and not somebody else's. It counts as allocated meanwhile. With 0 every address and every
    /// statistic is what it would be without the detector.
    pub quarantine_bytes: u64,
    /// Freed blocks remembered, 65,536 unless set: some 300 bytes of host memory each.
    pub max_freed_blocks: usize,
    /// Findings kept, 100 unless set. Those that differ in nothing but time count as one.
    pub max_findings: usize,
    /// Fill freed memory and check it before it is used again, where the runtime lets the host write
    /// device memory; on unless set.
    pub is_poisoning: bool,
}

impl Default for DetectorOptions {
    fn default() -> Self {
        Self { quarantine_bytes: 0, max_freed_blocks: 65_536, max_findings: 100, is_poisoning: true }
    }
}

impl DetectorOptions {
    /// Sets [`quarantine_bytes`](Self::quarantine_bytes).
    #[must_use]
    pub fn with_quarantine_bytes(self, quarantine_bytes: u64) -> Self {
        Self { quarantine_bytes, ..self }
    }

    /// Sets [`max_freed_blocks`](Self::max_freed_blocks).
    #[must_use]
    pub fn with_max_freed_blocks(self, max_freed_blocks: usize) -> Self {
        Self { max_freed_blocks, ..self }
    }

    /// Sets [`max_findings`](Self::max_findings).
    #[must_use]
    pub fn with_max_findings(self, max_findings: usize) -> Self {
        Self { max_findings, ..self }
    }

    /// Sets [`is_poisoning`](Self::is_poisoning).
    #[must_use]
    pub fn with_poisoning(self, is_poisoning: bool) -> Self {
        Self { is_poisoning, ..self }
    }
}
