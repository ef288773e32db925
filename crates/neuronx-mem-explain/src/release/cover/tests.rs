//! Covers against every subset, and against their own bound.

use proptest::prelude::*;

use super::super::cost::{Cost, Least};
use super::{Cover, Item, cheapest_of, greedy};
use crate::heap::HeapBlock;
use neuronx_mem::fragmentation::BlockUse;
use neuronx_mem_snapshot::StackId;

fn cost(bytes: u64) -> Cost {
    let block = HeapBlock {
        address: 0,
        bytes,
        requested_bytes: bytes,
        state: if bytes == 0 { BlockUse::Free } else { BlockUse::Live },
        stream: 0,
        stack: StackId::EMPTY,
        birth: None,
    };
    Cost::of_block(&block, Least::Bytes)
}

fn item((bytes, live): (u64, u64)) -> Item {
    Item { bytes, cost: cost(live.min(bytes)) }
}

fn sum(items: &[Item], chosen: &[usize]) -> (u64, u64) {
    let chosen = chosen.iter().map(|idx| &items[*idx]);
    chosen.fold((0, 0), |(bytes, cost), item| (bytes + item.bytes, cost + item.cost.first))
}

proptest! {
    #[test]
    fn a_cover_is_the_cheapest_of_all_subsets(
        sizes in prop::collection::vec((1_u64..200, 0_u64..200), 0..12),
        missing in 0_u64..1500,
    ) {
        let items: Vec<Item> = sizes.into_iter().map(item).collect();
        let subsets = (0_u32..1 << items.len()).map(|set| {
            let chosen: Vec<usize> = (0..items.len()).filter(|idx| set >> idx & 1 == 1).collect();
            sum(&items, &chosen)
        });
        let best = subsets.filter(|(bytes, _)| *bytes >= missing).map(|(_, cost)| cost).min();
        let cover = Cover::cheapest(&items, missing);
        prop_assert_eq!(cover.as_ref().map(|cover| sum(&items, &cover.items).1), best);
        if let Some(cover) = cover {
            prop_assert!(sum(&items, &cover.items).0 >= missing);
            prop_assert_eq!(Some(cover.bound), best);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_cover_of_sizes_without_a_common_unit_stays_within_five_percent_of_its_bound(
        seeds in prop::collection::vec((1_u64 << 20..1 << 30, 1_u64..100), 60..200),
        share in 20_u64..80,
    ) {
        // Odd bytes: the exact table would need a cell a byte.
        let items: Vec<Item> = seeds.iter().map(|(bytes, part)| item((bytes | 1, bytes / 100 * part))).collect();
        let all: u64 = items.iter().map(|item| item.bytes).sum();
        let missing = all / 100 * share;
        let cover = Cover::cheapest_within(&items, missing, 1 << 20).unwrap();
        let (bytes, cost) = sum(&items, &cover.items);
        prop_assert!(bytes >= missing);
        prop_assert!(cover.bound <= cost);
        prop_assert!(cost as f64 <= cover.bound as f64 * 1.05, "{} over {}", cost, cover.bound);
    }
}

#[test]
fn what_is_free_is_taken_first_and_for_nothing() {
    let items = [item((10, 0)), item((10, 5)), item((10, 7))];
    assert_eq!(Cover::cheapest(&items, 0), Some(Cover { items: vec![], bound: 0 }));
    assert_eq!(Cover::cheapest(&items, 10), Some(Cover { items: vec![0], bound: 0 }));
    assert_eq!(Cover::cheapest(&items, 11), Some(Cover { items: vec![0, 1], bound: 5 }));
    assert_eq!(Cover::cheapest(&items, 30), Some(Cover { items: vec![0, 1, 2], bound: 12 }));
    assert_eq!(Cover::cheapest(&items, 31), None);
}

#[test]
fn a_table_that_is_too_small_still_gives_a_cover_and_a_bound() {
    let items = [item((1001, 400)), item((1003, 200)), item((1007, 300))];
    let costly = [0, 1, 2];
    assert_eq!(cheapest_of(&items, &costly, 2005, 1 << 20), (vec![2, 1], 500));
    // Units of hundreds of bytes.
    let (taken, bound) = cheapest_of(&items, &costly, 2005, 12);
    let (bytes, cost) = sum(&items, &taken);
    assert!(bytes >= 2005 && bound <= 500 && bound <= cost, "{taken:?} {bound}");
}

#[test]
fn greedy_drops_what_turns_out_superfluous_and_its_bound_takes_a_part() {
    // By rate: 2 a 10 bytes, then 4 of 10, then 30 of 40. Of 55 bytes the first two are not needed for 40.
    let items = [item((10, 4)), item((10, 2)), item((40, 30))];
    assert_eq!(greedy(&items, &[0, 1, 2], 15), (vec![1, 0], 2 + 2));
    assert_eq!(greedy(&items, &[0, 1, 2], 41), (vec![1, 2], 2 + 4 + 15));
}
