//! A plan's text: one line that names everything, read back exactly; bad text is a typed error.

use neuronx_mem_runtime::{DeviceId, Operation, Status};
use neuronx_mem_sim::{CallPattern, FaultPlan, FaultSpan, SimulatorError};
use proptest::prelude::*;

#[track_caller]
fn check(plan: FaultPlan, text: &str) {
    assert_eq!(plan.to_string(), text);
    assert_eq!(text.parse(), Ok(plan));
}

#[test]
fn each_fault_has_its_item() {
    check(FaultPlan::default(), "seed=0");
    check(FaultPlan::new(u64::MAX), "seed=18446744073709551615");
    let allocate = |pattern| FaultPlan::new(1).fail(Operation::AllocateSegment, pattern, Status(4));
    check(allocate(CallPattern::Once(3)), "seed=1 fail=allocate:once(3):4");
    check(allocate(CallPattern::From(3)), "seed=1 fail=allocate:from(3):4");
    check(allocate(CallPattern::Every(3)), "seed=1 fail=allocate:every(3):4");
    check(allocate(CallPattern::List(vec![3, 1, 2])), "seed=1 fail=allocate:list(3+1+2):4");
    check(allocate(CallPattern::List(vec![])), "seed=1 fail=allocate:list():4");
    check(allocate(CallPattern::Chance { per_million: 5 }), "seed=1 fail=allocate:chance(5):4");
    let on = |operation, device| {
        FaultPlan::new(2).fail_on(DeviceId(device), operation, CallPattern::Once(1), Status(1005))
    };
    check(on(Operation::FreeSegment, 0), "seed=2 fail=free:once(1):1005@0");
    check(on(Operation::Slice, 1), "seed=2 fail=slice:once(1):1005@1");
    check(on(Operation::FreeSlice, 2), "seed=2 fail=free-slice:once(1):1005@2");
    check(on(Operation::MemoryInfo, 3), "seed=2 fail=memory-info:once(1):1005@3");
    let neighbour = |period| FaultPlan::new(3).noisy_neighbour(period, 1..=9);
    check(neighbour(FaultSpan::Calls(5)), "seed=3 neighbour=calls(5):1..9");
    check(neighbour(FaultSpan::Nanoseconds(5)), "seed=3 neighbour=ns(5):1..9");
    check(FaultPlan::new(4).grow_runtime(6, 7).grow_runtime(1, 2), "seed=4 grow=6:7 grow=1:2");
    check(FaultPlan::new(5).slow_frees(FaultSpan::Calls(2)), "seed=5 slow=calls(2)");
    check(FaultPlan::new(6).random_start(), "seed=6 start=random");
    check(FaultPlan::new(7).pinholes(64, 4096), "seed=7 pinholes=64:4096");
    check(FaultPlan::new(7).pinholes(0, 4096), "seed=7");
    check(FaultPlan::new(8).four_gib_overflow(), "seed=8 overflow=4gib");
    check(FaultPlan::new(9).uninitialized(), "seed=9 state=uninitialized");
    check(FaultPlan::new(10).work_delay_ns(3..=4).stall_stream(2, 8), "seed=10 work=3..4 stall=2:8");
    #[expect(clippy::reversed_empty_ranges, reason = "an empty range stands for its start")]
    check(FaultPlan::new(11).work_delay_ns(4..=3), "seed=11 work=4..4");
}

#[test]
fn items_may_come_in_any_order_and_without_a_seed() {
    let plan: FaultPlan = "  start=random\tslow=ns(3) ".parse().unwrap();
    assert_eq!(plan, FaultPlan::new(0).slow_frees(FaultSpan::Nanoseconds(3)).random_start());
    assert_eq!("".parse(), Ok(FaultPlan::default()));
}

#[test]
fn bad_text_names_the_item() {
    let error = |text: &str| text.parse::<FaultPlan>().unwrap_err();
    assert_eq!(error("seed=1 frob=2"), SimulatorError::UnknownFault { item: "frob=2".to_owned() });
    assert_eq!(error("seed=1 seed=2"), SimulatorError::RepeatedFault { item: "seed=2".to_owned() });
    assert_eq!(error("seed=1 frob=2").to_string(), r#"fault "frob=2" is unknown"#);
    let invalid = [
        "seed=",
        "seed=-1",
        "seed",
        "fail=allocate",
        "fail=allocate:once(1)",
        "fail=allocate:once(1):x",
        "fail=allocate:once(1):4@",
        "fail=frob:once(1):4",
        "fail=allocate:often(1):4",
        "fail=allocate:once(1:4",
        "fail=allocate:list(1+):4",
        "fail=allocate:once(1):4:5",
        "neighbour=calls(1)",
        "neighbour=calls(1):5",
        "neighbour=weeks(1):1..2",
        "grow=1",
        "grow=1:x",
        "slow=calls",
        "slow=calls()",
        "start=anywhere",
        "pinholes=1",
        "pinholes=4294967296:1",
        "overflow=5gib",
        "state=closed",
        "work=1",
        "stall=1",
        "stall=x:1",
        "fail=allocate:chance(99999999999):4",
    ];
    for item in invalid {
        assert_eq!(error(item), SimulatorError::InvalidFault { item: item.to_owned() });
    }
}

#[test]
fn random_plans_depend_on_the_seed_and_grow_with_the_intensity() {
    let n_items = |seed, intensity| FaultPlan::random(seed, intensity).to_string().split(' ').count();
    let sum = |intensity| (0..100).map(|seed| n_items(seed, intensity)).sum::<usize>();
    assert_eq!(sum(0), 100);
    assert!(FaultPlan::random(8, 0).is_empty());
    assert!(sum(10) < sum(40) && sum(40) < sum(80) && sum(80) < sum(100));
    // At 100 every mechanism is there: 5 failing operations and 8 more, growth once to thrice.
    assert!((0..100).all(|seed| (14..=16).contains(&n_items(seed, 100))));
    assert_eq!(FaultPlan::random(4, 100), FaultPlan::random(4, 255));
    assert_ne!(FaultPlan::random(4, 100), FaultPlan::random(5, 100));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_plans_survive_their_text(seed in any::<u64>(), intensity in 0u8..=100) {
        let plan = FaultPlan::random(seed, intensity);
        prop_assert_eq!(plan.seed(), seed);
        prop_assert_eq!(plan.to_string().parse::<FaultPlan>(), Ok(plan));
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9=:@().+ -]{0,60}") {
        let _ = text.parse::<FaultPlan>();
    }
}
