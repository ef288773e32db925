//! What a request needs: bytes of a block, of a new segment, and which segments may serve it. Knows
//! the rules of this allocator and of PyTorch's caching allocator.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey;
use neuronx_mem::fragmentation::Pool;
use neuronx_mem::pool::{PlacementPolicy, PoolKind};
use neuronx_mem_snapshot::{Snapshot, keys};

use crate::ExplainError;
use crate::heap::HeapSegment;

const MIB: u64 = 1 << 20;

/// Whose rules hold.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Rules {
    /// This allocator's, under a configuration (allocator semantics §2 and §3).
    Neuron(AllocatorConfig),
    /// PyTorch's caching allocator with its defaults: blocks of 512 bytes, pools divided at 1 MiB, one
    /// pool a stream.
    PyTorch,
}

/// A request, worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Need {
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Bytes of the block that it takes.
    pub block_bytes: u64,
    /// Bytes of the segment that is taken from the runtime for it, when no block fits.
    pub segment_bytes: u64,
    /// The pool that serves it.
    pub pool: Pool,
    /// The stream that asks.
    pub stream: u64,
    max_split_bytes: u64,
    max_non_split_rounding_bytes: u64,
}

impl Rules {
    /// The rules of the allocator that wrote a snapshot: ours where it carries our settings.
    #[must_use]
    pub fn of_snapshot(snapshot: &Snapshot) -> Self {
        if snapshot.setting(keys::CONFIG_HASH).is_none() {
            return Self::PyTorch;
        }
        let setting = |key: &ConfigKey| {
            let value = snapshot.setting(key.name())?.as_int()?;
            Some(format!("{}={value}", key.name()))
        };
        let settings: Vec<String> = ConfigKey::ALL.iter().filter_map(setting).collect();
        Self::Neuron(AllocatorConfig::parse(&settings.join(",")).config)
    }

    /// Works a request out. O(1).
    ///
    /// # Errors
    ///
    /// [`ExplainError::Need`] for no bytes, and for more than fit 64 bits.
    pub fn plan(&self, need_bytes: u64, stream: u64) -> Result<Need, ExplainError> {
        let refused = ExplainError::Need { need_bytes };
        match self {
            Self::Neuron(config) => {
                let policy = PlacementPolicy::new(config);
                let Ok(request) = policy.plan(need_bytes) else { return Err(refused) };
                let Ok(segment_bytes) = policy.segment_bytes(&request) else { return Err(refused) };
                Ok(Need {
                    requested_bytes: need_bytes,
                    block_bytes: request.extent_bytes(),
                    segment_bytes,
                    pool: match request.kind() {
                        PoolKind::Small => Pool::Small,
                        PoolKind::Large => Pool::Large,
                    },
                    stream,
                    max_split_bytes: policy.max_split_bytes(),
                    max_non_split_rounding_bytes: policy.max_non_split_rounding_bytes(),
                })
            }
            Self::PyTorch => pytorch(need_bytes, stream).ok_or(refused),
        }
    }
}

impl Need {
    /// Whether blocks of a segment may serve the request at all.
    #[must_use]
    pub fn is_served_by(&self, segment: &HeapSegment) -> bool {
        segment.pool == self.pool
            && !segment.is_private
            && segment.stream.is_none_or(|stream| stream == self.stream)
    }

    /// Whether a free block of this size serves it: large enough, and not too large to stay whole.
    #[must_use]
    pub fn admits(&self, free_bytes: u64) -> bool {
        free_bytes >= self.block_bytes
            && (free_bytes <= self.max_split_bytes
                || free_bytes - self.block_bytes <= self.max_non_split_rounding_bytes)
    }
}

fn pytorch(need_bytes: u64, stream: u64) -> Option<Need> {
    let block_bytes = need_bytes.checked_next_multiple_of(512).filter(|bytes| *bytes > 0)?;
    let (pool, segment_bytes) = match block_bytes {
        bytes if bytes <= MIB => (Pool::Small, 2 * MIB),
        bytes if bytes < 10 * MIB => (Pool::Large, 20 * MIB),
        bytes => (Pool::Large, bytes.checked_next_multiple_of(2 * MIB)?),
    };
    Some(Need {
        requested_bytes: need_bytes,
        block_bytes,
        segment_bytes,
        pool,
        stream,
        max_split_bytes: u64::MAX,
        max_non_split_rounding_bytes: u64::MAX,
    })
}
