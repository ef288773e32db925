//! Unit tests and laws of sets and lists.

use proptest::collection::btree_set;
use proptest::prelude::*;

use super::{CpuSet, ListError, ListProblem, NodeSet, SetIndex};
use crate::ids::{CpuId, NodeId};

fn cpus(numbers: impl IntoIterator<Item = u32>) -> CpuSet {
    numbers.into_iter().map(CpuId).collect()
}

#[track_caller]
fn check(text: &str, printed: &str, len: usize) {
    let set: CpuSet = text.parse().unwrap();
    assert_eq!((set.to_string().as_str(), set.len()), (printed, len), "{text}");
}

#[track_caller]
fn check_bad(text: &str, message: &str) {
    let error = text.parse::<CpuSet>().unwrap_err();
    assert_eq!(error.to_string(), message, "{text}");
}

#[test]
fn lists_are_read_in_any_order_and_printed_shortest() {
    check("", "", 0);
    check(" \n", "", 0);
    check("0", "0", 1);
    check("0-2,4,6-7", "0-2,4,6-7", 6);
    check("48-95,144-191\n", "48-95,144-191", 96);
    check("7, 3 ,4 - 5,6", "3-7", 5);
    check("63-64", "63-64", 2);
    check("1-1", "1", 1);
    check("0008", "8", 1);
    check("0-4095", "0-4095", 4096);
    check("8191", "8191", 1);
}

#[test]
fn bad_lists_name_the_item() {
    check_bad("3-1", "cpu list: `3-1` is a range from high to low");
    check_bad("0-3,2-5", "cpu list: `2-5` repeats 2, which an earlier item has");
    check_bad("4-9,0-4", "cpu list: `0-4` repeats 4, which an earlier item has");
    check_bad("5,5", "cpu list: `5` repeats 5, which an earlier item has");
    check_bad("1,,2", "cpu list: `` is an empty item");
    check_bad("1,", "cpu list: `` is an empty item");
    check_bad("x", "cpu list: `x` is not a number or a range in decimal digits");
    check_bad("-1", "cpu list: `-1` is not a number or a range in decimal digits");
    check_bad("+1", "cpu list: `+1` is not a number or a range in decimal digits");
    check_bad("1-2-3", "cpu list: `1-2-3` is not a number or a range in decimal digits");
    check_bad("0-31:2/4", "cpu list: `0-31:2/4` is not a number or a range in decimal digits");
    check_bad("8192", "cpu list: `8192` is above 8191");
    check_bad("0-99999999999999999999", "cpu list: `0-99999999999999999999` is above 8191");
    check_bad("a\nb", "cpu list: `a\\nb` is not a number or a range in decimal digits");
    let long = format!("cpu list: `{}…` is above 8191", "9".repeat(40));
    check_bad(&"9".repeat(1000), &long);
}

#[test]
fn nodes_have_a_range_and_a_name_of_their_own() {
    let error = "1024".parse::<NodeSet>().unwrap_err();
    let expected =
        ListError { noun: "node", item: "1024".to_owned(), problem: ListProblem::TooLarge { maximum: 1023 } };
    assert_eq!(error, expected);
    assert_eq!((NodeId::new(1023), NodeId::new(1024)), (Some(NodeId(1023)), None));
}

#[test]
fn four_thousand_cpus_in_any_pattern_come_back() {
    let even = cpus((0..4096).step_by(2));
    assert_eq!(even.len(), 2048);
    assert_eq!(even.to_string().parse(), Ok(even.clone()));
    let all = cpus(0..4096);
    assert_eq!(all.difference(&even), cpus((1..4096).step_by(2)));
    assert!(even.is_subset(&all) && !all.is_subset(&even));
}

#[test]
fn sets_that_shrink_are_equal_to_those_that_never_grew() {
    let [large, small] = [cpus([1, 500]), cpus([1, 2])];
    assert_eq!(large.intersection(&small), cpus([1]));
    assert_eq!(large.difference(&cpus([500])), cpus([1]));
    assert_eq!(small.difference(&small), CpuSet::new());
    assert!(small.difference(&small).is_empty());
    assert!(!large.intersects(&cpus([2, 499])));
    assert_eq!(format!("{large:?}"), "{1,500}");
}

fn any_set() -> impl Strategy<Value = std::collections::BTreeSet<u32>> {
    prop_oneof![btree_set(0..200u32, 0..200), btree_set(0..=CpuId::MAX, 0..64)]
}

proptest! {
    #[test]
    fn printing_and_reading_is_the_identity(numbers in any_set()) {
        let set = cpus(numbers.iter().copied());
        let text = set.to_string();
        prop_assert_eq!(text.parse::<CpuSet>().unwrap(), set.clone());
        prop_assert_eq!(set.iter().map(CpuId::get).collect::<Vec<_>>(), numbers.iter().copied().collect::<Vec<_>>());
        // Shortest: no two neighbouring items could be one.
        let bounds: Vec<(u32, u32)> = text.split(',').filter(|item| !item.is_empty()).map(|item| {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            (first.parse().unwrap(), last.parse().unwrap())
        }).collect();
        prop_assert!(bounds.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
    }

    #[test]
    fn operations_are_those_of_sets(a in any_set(), b in any_set()) {
        let [ours, theirs] = [&a, &b].map(|numbers| cpus(numbers.iter().copied()));
        prop_assert_eq!(ours.intersection(&theirs), cpus(a.intersection(&b).copied()));
        prop_assert_eq!(ours.difference(&theirs), cpus(a.difference(&b).copied()));
        prop_assert_eq!(ours.is_subset(&theirs), a.is_subset(&b));
        prop_assert_eq!(ours.intersects(&theirs), !a.is_disjoint(&b));
        let mut both = ours.clone();
        both.extend_from(&theirs);
        prop_assert_eq!(both, cpus(a.union(&b).copied()));
        prop_assert_eq!(ours.first().map(CpuId::get), a.first().copied());
    }

    #[test]
    fn no_text_is_a_panic(text in "[0-9, -]{0,12}|.{0,12}") {
        if let Ok(set) = text.parse::<CpuSet>() {
            prop_assert_eq!(set.to_string().parse::<CpuSet>(), Ok(set));
        }
    }
}
