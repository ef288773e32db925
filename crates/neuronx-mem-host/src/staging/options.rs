//! How much the staging allocator may have, and keep.

use crate::{ClassPolicy, HostError, HostPoolPolicy, Preference, SplitPolicy};

/// Options of a [`super::StagingAllocator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StagingOptions {
    /// The most that is taken from the source.
    pub limit_bytes: u64,
    /// The most that the caches keep of blocks above 1 MiB. Those of smaller blocks are bounded by their
    /// number and keep less than 320 MiB in all.
    pub max_cached_bytes: u64,
}

impl Default for StagingOptions {
    /// No limit, and 1 GiB in the caches.
    fn default() -> Self {
        Self { limit_bytes: u64::MAX, max_cached_bytes: 1 << 30 }
    }
}

impl StagingOptions {
    /// Sets the most that is taken from the source. O(1).
    #[must_use]
    pub const fn with_limit_bytes(mut self, bytes: u64) -> Self {
        self.limit_bytes = bytes;
        self
    }

    /// Sets the most that the caches keep of blocks above 1 MiB. O(1).
    #[must_use]
    pub const fn with_max_cached_bytes(mut self, bytes: u64) -> Self {
        self.max_cached_bytes = bytes;
        self
    }

    /// Small blocks in units of 64 bytes, those from 32 KiB on in pages, those above 16 MiB as runs of
    /// their own, which are whole huge pages by then.
    pub(super) fn policy(&self) -> Result<HostPoolPolicy, HostError> {
        if self.limit_bytes == 0 {
            return Err(HostError::InvalidPolicy { name: "limit_bytes", value: 0, reason: "at least 1" });
        }
        let classes = [
            ClassPolicy::new(2 << 20).serving_up_to_bytes(30 << 10).with_granule_bytes(64),
            ClassPolicy::new(4 << 20).serving_up_to_bytes(512 << 10),
            ClassPolicy::new(32 << 20).serving_up_to_bytes(16 << 20),
        ];
        let policy = HostPoolPolicy::new(classes).with_limit_bytes(self.limit_bytes);
        Ok(policy.with_split(SplitPolicy::Never).with_preference(Preference::Growth))
    }
}
