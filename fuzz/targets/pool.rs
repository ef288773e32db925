//! Any bytes as operations on a pool: every call is an answer or a typed error, the sums agree with a
//! list of what is live, and `validate` finds nothing.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use neuronx_mem_config::{AllocatorConfig, ConfigKey};
use neuronx_mem_pool::{BlockId, Placement, PoolKind, SegmentPool};

/// Between checks of the whole pool, which are slower than everything else.
const CHECK_EVERY: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let mut model = Model::new(&bytes.config());
    for step in 0.. {
        let Some(operation) = bytes.byte() else { break };
        model.apply(operation, &mut bytes);
        if step % CHECK_EVERY == 0 {
            model.check();
        }
    }
    model.check();
    model.pool.release_all_segments();
    assert_eq!(model.pool.usage().reserved_bytes, 0);
    model.pool.validate().expect("an empty pool is consistent");
});

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Small and large numbers alike: a shift and two bytes.
    fn number(&mut self) -> u64 {
        let mut byte = || self.byte().map_or(0, u64::from);
        let (shift, high, low) = (byte(), byte(), byte());
        (high << 8 | low) << (shift % 50)
    }

    /// The defaults, with some keys changed to what they allow.
    fn config(&mut self) -> AllocatorConfig {
        let mut config = AllocatorConfig::default();
        for _ in 0..self.byte().unwrap_or(0) % 4 {
            let key = ConfigKey::ALL[usize::from(self.byte().unwrap_or(0)) % ConfigKey::ALL.len()];
            config = config.with(key, self.number()).unwrap_or(config);
        }
        config
    }
}

struct Model {
    pool: SegmentPool,
    live: BTreeMap<u64, (BlockId, u64, bool)>,
    stale: Option<BlockId>,
    next_address: u64,
}

impl Model {
    fn new(config: &AllocatorConfig) -> Self {
        Self { pool: SegmentPool::new(config), live: BTreeMap::new(), stale: None, next_address: 1 << 30 }
    }

    fn apply(&mut self, operation: u8, bytes: &mut Bytes<'_>) {
        match operation % 8 {
            0..=2 => self.allocate(bytes.number()),
            3 | 4 => self.free(bytes.number()),
            5 => self.mark(bytes.number()),
            6 => {
                self.pool.release_free_segments();
            }
            _ => self.insert(bytes.number(), bytes.number()),
        }
    }

    fn allocate(&mut self, requested_bytes: u64) {
        let Ok(request) = self.pool.policy().plan(requested_bytes) else { return };
        let placement = match self.pool.allocate(&request) {
            Some(placement) => placement,
            None => {
                let segment_bytes = request.segment_bytes();
                let address = self.segment_address(segment_bytes);
                match address.and_then(|address| self.pool.grow(&request, address, segment_bytes, 0).ok()) {
                    Some(placement) => placement,
                    None => return,
                }
            }
        };
        self.add(&placement, requested_bytes);
    }

    fn add(&mut self, placement: &Placement, requested_bytes: u64) {
        assert!(placement.block_bytes >= requested_bytes);
        let end = placement.address + placement.block_bytes;
        if let Some((address, (id, ..))) = self.live.range(..end).next_back() {
            let (_, extent_bytes) = self.pool.slice_of(*id).map_or((0, 0), |_| {
                let view = self.pool.block(*id).expect("a live block is there");
                (view.address, view.extent_bytes)
            });
            assert!(address + extent_bytes <= placement.address, "two blocks overlap");
        }
        let before = self.live.insert(placement.address, (placement.id, requested_bytes, false));
        assert!(before.is_none());
    }

    fn free(&mut self, choice: u64) {
        if let Some(stale) = self.stale {
            assert!(self.pool.free(stale).is_err(), "a stale handle frees nothing");
        }
        let Some(address) = self.choose(choice) else { return };
        let Some((id, requested_bytes, is_pending)) = self.live.remove(&address) else { return };
        let freed = if is_pending { self.pool.free_pending(id) } else { self.pool.free(id) };
        assert_eq!(freed.expect("a live block can be freed").requested_bytes, requested_bytes);
        self.stale = Some(id);
    }

    fn mark(&mut self, choice: u64) {
        let Some(address) = self.choose(choice) else { return };
        if let Some((id, _, is_pending)) = self.live.get_mut(&address) {
            assert_eq!(self.pool.mark_pending(*id).is_ok(), !*is_pending);
            *is_pending = true;
        }
    }

    fn insert(&mut self, bytes: u64, gap: u64) {
        let kind = if gap % 2 == 0 { PoolKind::Small } else { PoolKind::Large };
        // Aligned or not, free or not: what is wrong is an error.
        let address = if gap % 5 == 0 { Some(gap) } else { self.segment_address(bytes) };
        if let Some(address) = address {
            let _ = self.pool.insert_segment(kind, address, bytes, 7);
        }
    }

    fn choose(&self, choice: u64) -> Option<u64> {
        let n_live = self.live.len().max(1) as u64;
        let idx = usize::try_from(choice % n_live).unwrap_or(0);
        self.live.keys().nth(idx).copied()
    }

    fn segment_address(&mut self, bytes: u64) -> Option<u64> {
        let address = self.next_address;
        self.next_address = address.checked_add(bytes)?.checked_next_multiple_of(4096)?;
        Some(address)
    }

    fn check(&self) {
        self.pool.validate().expect("the pool is consistent");
        let requested: u64 = self.live.values().map(|(_, requested_bytes, _)| requested_bytes).sum();
        assert_eq!(self.pool.usage().active_bytes, requested);
    }
}
