//! One reading: all values of a device at one moment, by name or as the flat dict. Plain data.

use std::collections::BTreeMap;

use crate::keys::Tracked;
use crate::{Family, Metric, Scope, summary};

/// The four values of one family and scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Now.
    pub current: u64,
    /// Most at once since the last reset of peaks.
    pub peak: u64,
    /// Sum of all increases since the last reset of accumulated values.
    pub allocated: u64,
    /// Sum of all decreases since then.
    pub freed: u64,
}

impl Values {
    /// One of the four.
    #[must_use]
    pub const fn get(&self, metric: Metric) -> u64 {
        match metric {
            Metric::Current => self.current,
            Metric::Peak => self.peak,
            Metric::Allocated => self.allocated,
            Metric::Freed => self.freed,
        }
    }
}

/// The counts that are no family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Retries during recovery (`num_alloc_retries`).
    pub alloc_retries: u64,
    /// Out-of-memory errors returned (`num_ooms`).
    pub ooms: u64,
    /// Deallocations that have run (`num_tensor_frees`).
    pub tensor_frees: u64,
    /// Allocations asked for, those of no bytes and failed ones included
    /// (`allocation_requests`).
    pub allocation_requests: u64,
    /// Waits for all streams of the device (`num_sync_all_streams`).
    pub device_synchronizations: u64,
    /// Segments taken from the runtime (`num_device_alloc`).
    pub device_allocations: u64,
    /// Segments given back (`num_device_free`).
    pub device_frees: u64,
}

/// A consistent reading of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    families: [[Values; 3]; Tracked::ALL.len()],
    oversize_blocks: Values,
    oversize_segments: Values,
    counters: Counters,
    is_settled: bool,
    max_split_bytes: Option<u64>,
}

impl MemoryStats {
    pub(crate) fn from_parts(
        families: [[Values; 3]; Tracked::ALL.len()],
        oversize: [Values; 2],
        counters: Counters,
        is_settled: bool,
        max_split_bytes: Option<u64>,
    ) -> Self {
        let [oversize_blocks, oversize_segments] = oversize;
        Self { families, oversize_blocks, oversize_segments, counters, is_settled, max_split_bytes }
    }

    /// The values of a family over a scope.
    #[must_use]
    pub fn values(&self, family: Family, scope: Scope) -> Values {
        self.families[family.tracked() as usize][scope as usize]
    }

    /// The counts that are no family.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Live blocks above `kMaxSplitSizeBytes`.
    #[must_use]
    pub fn oversize_allocations(&self) -> Values {
        self.oversize_blocks
    }

    /// Segments above `kMaxSplitSizeBytes`.
    #[must_use]
    pub fn oversize_segments(&self) -> Values {
        self.oversize_segments
    }

    /// Whether no deallocation was queued that had not run: otherwise the figures show only
    /// what the device has completed (allocator semantics §5).
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The flat dict of `memory_stats()`: sorted keys, 64-bit integers.
    ///
    /// `max_split_size` is -1 when unlimited, as in PyTorch. 124 keys.
    #[must_use]
    pub fn to_map(&self) -> BTreeMap<String, i64> {
        let mut map = BTreeMap::new();
        for family in Family::ALL {
            for scope in Scope::ALL {
                let prefix = format!("{}.{}", family.name(), scope.name());
                insert_values(&mut map, &prefix, &self.values(family, scope));
            }
        }
        insert_values(&mut map, "oversize_allocations", &self.oversize_blocks);
        insert_values(&mut map, "oversize_segments", &self.oversize_segments);
        for (key, value) in self.scalars() {
            map.insert(key.to_owned(), value);
        }
        map
    }

    /// The table of `memory_summary()` for a device ordinal, byte for byte as the memory
    /// profiling guide prints it. No trailing newline.
    #[must_use]
    pub fn summary(&self, device: u32) -> String {
        summary::table(self, device)
    }

    fn scalars(&self) -> [(&'static str, i64); 8] {
        let Counters {
            alloc_retries,
            ooms,
            tensor_frees,
            allocation_requests,
            device_synchronizations,
            device_allocations,
            device_frees,
        } = self.counters;
        [
            ("num_alloc_retries", signed(alloc_retries)),
            ("num_ooms", signed(ooms)),
            ("num_tensor_frees", signed(tensor_frees)),
            ("allocation_requests", signed(allocation_requests)),
            ("num_sync_all_streams", signed(device_synchronizations)),
            ("num_device_alloc", signed(device_allocations)),
            ("num_device_free", signed(device_frees)),
            ("max_split_size", self.max_split_bytes.map_or(-1, signed)),
        ]
    }
}

fn insert_values(map: &mut BTreeMap<String, i64>, prefix: &str, values: &Values) {
    for metric in Metric::ALL {
        map.insert(format!("{prefix}.{}", metric.name()), signed(values.get(metric)));
    }
}

/// Counts beyond `i64` are shown as the most it holds.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
