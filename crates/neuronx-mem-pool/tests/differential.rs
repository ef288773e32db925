//! Random requests under random configurations: the pool and the plain oracle must agree on
//! every address, every size and every sum.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod oracle;

use neuronx_mem_pool::{BlockId, PoolKind, SegmentPool};
use oracle::{Oracle, Rules, config, rules};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Allocate(u64),
    Free(prop::sample::Index),
    FreeQueued(prop::sample::Index),
    Release,
}

/// Sizes around the rules' edges rather than spread evenly.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1u64..2000,
        3 => 1u64..40_000,
        2 => 1u64..400_000,
        1 => (0u32..18, -2i64..=2).prop_map(|(shift, by)| (1i64 << shift).saturating_add(by).max(1).unsigned_abs()),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => size().prop_map(Step::Allocate),
        4 => any::<prop::sample::Index>().prop_map(Step::Free),
        1 => any::<prop::sample::Index>().prop_map(Step::FreeQueued),
        1 => Just(Step::Release),
    ];
    prop::collection::vec(step, 1..160)
}

/// Both allocators, the handles of what is live, and the sums kept from the pool's answers.
struct Pair {
    pool: SegmentPool,
    oracle: Oracle,
    live: Vec<(BlockId, (usize, u64))>,
    /// Segments arrive at falling addresses, so that age and address disagree.
    next_address: u64,
    split: (i64, i64),
}

impl Pair {
    fn new(rules: Rules) -> Self {
        let pool = SegmentPool::new(&config(&rules));
        Self { pool, oracle: Oracle::new(rules), live: Vec::new(), next_address: 1 << 40, split: (0, 0) }
    }

    fn allocate(&mut self, n: u64) {
        let request = self.pool.policy().plan(n).unwrap();
        let mut address = self.next_address;
        let nearest_extent = self.oracle.nearest_extent(n);
        let placed = self.oracle.allocate(n, |bytes| {
            address = (address - bytes) / 64 * 64;
            address
        });
        let miss = self.pool.nearest_miss(&request);
        let got = match self.pool.allocate(&request) {
            Some(placement) => {
                assert_eq!(miss, None, "a served request has no miss");
                placement
            }
            None => {
                assert_ne!(address, self.next_address, "the oracle found a cached block for {n}");
                assert_eq!(miss.map(|m| m.extent_bytes), nearest_extent);
                self.next_address = address;
                let bytes = self.pool.policy().segment_bytes(&request).unwrap();
                self.pool.grow(&request, address, bytes, 7).unwrap()
            }
        };
        assert_eq!(
            (got.address, got.block_bytes, got.extent_bytes),
            (placed.address, placed.block_bytes, placed.extent)
        );
        self.split.0 += got.split.blocks;
        self.split.1 += got.split.bytes;
        self.live.push((got.id, placed.name));
    }

    fn free(&mut self, pick: prop::sample::Index, is_queued: bool) {
        if self.live.is_empty() {
            return;
        }
        let (id, name) = self.live.swap_remove(pick.index(self.live.len()));
        let freed = if is_queued {
            self.pool.mark_pending(id).unwrap();
            self.pool.free_pending(id).unwrap()
        } else {
            self.pool.free(id).unwrap()
        };
        self.oracle.free(name);
        self.split.0 += freed.split.blocks;
        self.split.1 += freed.split.bytes;
        assert!(self.pool.free(id).is_err(), "a handle works once");
    }

    fn release(&mut self) {
        let released = self.pool.release_free_segments();
        assert!(released.iter().all(|segment| segment.tag == 7));
        let addresses: Vec<u64> = released.iter().map(|segment| segment.address).collect();
        assert_eq!(addresses, self.oracle.release());
    }

    fn compare(&self) {
        self.pool.validate().unwrap();
        let usage = self.pool.usage();
        let sums = self.oracle.sums();
        assert_eq!(usage.reserved_bytes, sums.reserved);
        assert_eq!(usage.allocated_bytes, sums.allocated);
        assert_eq!(usage.active_bytes, sums.active);
        assert_eq!(usage.cached_free_bytes, sums.cached_free);
        assert_eq!(usage.padding_bytes, sums.padding);
        assert_eq!(self.split, (sums.inactive_split_blocks, sums.inactive_split_bytes));
        assert_eq!(
            usage.reserved_bytes,
            usage.allocated_bytes + usage.padding_bytes + usage.cached_free_bytes
        );
        for (kind, is_small) in [(PoolKind::Small, true), (PoolKind::Large, false)] {
            assert_eq!(self.pool.largest_free_bytes(kind), self.oracle.largest_free(is_small));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn pool_and_oracle_agree(rules in rules(), steps in steps()) {
        let mut pair = Pair::new(rules);
        for step in steps {
            match step {
                Step::Allocate(n) => pair.allocate(n),
                Step::Free(pick) => pair.free(pick, false),
                Step::FreeQueued(pick) => pair.free(pick, true),
                Step::Release => pair.release(),
            }
            pair.compare();
        }
        while let Some((id, name)) = pair.live.pop() {
            pair.pool.free(id).unwrap();
            pair.oracle.free(name);
        }
        pair.release();
        prop_assert_eq!(pair.pool.n_segments(), 0);
        prop_assert_eq!(pair.pool.usage(), neuronx_mem_pool::Usage::default());
    }
}
