//! What only the inside can stage: the end of the number line.

use neuronx_mem_config::AllocatorConfig;

use crate::{PoolKind, SegmentPool};

#[test]
fn the_number_line_renumbers_without_changing_the_layout() {
    let run = |next_origin: u64| {
        let mut pool = SegmentPool::new(&AllocatorConfig::default());
        pool.segments.set_next_origin(next_origin);
        let mut addresses = Vec::new();
        let mut held = Vec::new();
        for i in 0..40u64 {
            let request = pool.policy().plan(1 + (i * 7919) % 900_000).unwrap();
            // Falling addresses: age and address disagree.
            let address = (1 << 40) - (i + 1) * (4 << 20);
            let placement = match pool.allocate(&request) {
                Some(placement) => placement,
                None => {
                    let bytes = pool.policy().segment_bytes(&request).unwrap();
                    pool.grow(&request, address, bytes, 0).unwrap()
                }
            };
            addresses.push(placement.address);
            held.push(placement.id);
            if i % 3 == 0 {
                pool.free(held.remove(held.len() / 2)).unwrap();
                pool.release_free_segments();
            }
            pool.validate().unwrap();
        }
        assert!(pool.largest_free_bytes(PoolKind::Small) > 0);
        addresses
    };
    let plain = run(0);
    for room in [0, 3 << 20, 9 << 20] {
        assert_eq!(run(u64::MAX - room), plain);
    }
}
