//! What every allocator under the contract can do, in words that none of them uses.

use std::collections::BTreeMap;

/// How it is set up: one simulated trn2 core unless told otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) memory_bytes: u64,
    pub(crate) devices: u32,
    pub(crate) config: &'static str,
    pub(crate) faults: &'static str,
    pub(crate) has_recovery: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self { memory_bytes: 24 << 30, devices: 1, config: "", faults: "", has_recovery: true }
    }
}

/// A block as its owner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) id: u64,
    pub(crate) address: u64,
    pub(crate) requested_bytes: u64,
    pub(crate) block_bytes: u64,
    pub(crate) extent_bytes: u64,
}

/// Why something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    OutOfMemory,
    /// With this status.
    Runtime(u32),
    SizeOverflow,
    UnknownStream,
    InvalidBlock,
    Other,
}

/// Streams are numbers, of which 0 is the default one. Device 0 unless said.
pub(crate) trait Subject: Sync {
    fn name(&self) -> &'static str;
    /// Whether the faults of the setup strike.
    fn has_faults(&self) -> bool;
    fn allocate(&self, bytes: u64, stream: u32) -> Result<Held, Outcome>;
    fn free(&self, held: &Held) -> Result<(), Outcome>;
    fn record_stream(&self, held: &Held, stream: u32) -> Result<(), Outcome>;
    fn new_stream(&self) -> u32;
    fn submit(&self, stream: u32) -> u64;
    fn complete(&self, stream: u32, ticket: u64) -> Result<(), Outcome>;
    fn synchronize(&self);
    /// Segments and bytes given back.
    fn empty_cache(&self) -> (u64, u64);
    fn stats_of(&self, device: u32) -> BTreeMap<String, i64>;
    fn summary(&self) -> String;
    fn analysis_summary(&self) -> String;
    fn reset_peak(&self);
    fn reset_accumulated(&self);
    fn set_cap(&self, bytes: u64);
    /// Used and total.
    fn memory_info(&self) -> (u64, u64);
    fn on_release(&self, callback: Box<dyn Fn() + Send + Sync>) -> u64;
    /// Whether there was one.
    fn forget_release(&self, id: u64) -> bool;
    fn snapshot_json(&self) -> String;
    /// Ends it, and asserts that the runtime has everything back.
    fn end(self: Box<Self>);
}

impl dyn Subject + '_ {
    #[track_caller]
    pub(crate) fn stat(&self, key: &str) -> u64 {
        let stats = self.stats_of(0);
        u64::try_from(*stats.get(key).unwrap_or_else(|| panic!("no key {key}"))).unwrap()
    }

    #[track_caller]
    pub(crate) fn hold(&self, bytes: u64) -> Held {
        self.allocate(bytes, 0).unwrap_or_else(|outcome| panic!("{}: {outcome:?}", self.name()))
    }
}
