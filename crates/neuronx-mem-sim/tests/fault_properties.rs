//! Random plans and random calls: what must hold under every fault, and that a seed fixes a run.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeMap;
use std::fmt;

use neuronx_mem_runtime::{DeviceId, DeviceRuntime, SegmentHandle, SliceHandle};
use neuronx_mem_sim::{CostModel, FaultPlan, ModelHandle, SimulatedCounters, SimulatedRuntime};
use proptest::prelude::*;

const DEVICE: DeviceId = DeviceId(0);
const MEMORY: u64 = 2 << 30;

#[derive(Clone, Debug)]
enum Call {
    Allocate(u64),
    Free(u64),
    Slice(u64, u64),
    FreeSlice(u64),
    MemoryInfo,
    Load(u64),
    Unload(u64),
    Wait(u64),
    Settle,
}

/// A failing case prints the plan's line, which is all that is needed to run it again.
struct Printed(FaultPlan);

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

fn plans() -> impl Strategy<Value = Printed> {
    (any::<u64>(), 0u8..=100).prop_map(|(seed, intensity)| Printed(FaultPlan::random(seed, intensity)))
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let index = any::<u64>;
    let call = prop_oneof![
        // In 64 bytes, so that bytes held and bytes taken agree.
        8 => (1u64..(1 << 22)).prop_map(|lines| Call::Allocate(lines * 64)),
        1 => Just(Call::Allocate(1 << 32)),
        5 => index().prop_map(Call::Free),
        2 => (index(), 0u64..1000).prop_map(|(pick, offset)| Call::Slice(pick, offset)),
        2 => index().prop_map(Call::FreeSlice),
        1 => Just(Call::MemoryInfo),
        1 => (1u64..(1 << 20)).prop_map(|lines| Call::Load(lines * 64)),
        1 => index().prop_map(Call::Unload),
        1 => (0u64..5000).prop_map(Call::Wait),
        1 => Just(Call::Settle),
    ];
    prop::collection::vec(call, 1..150)
}

/// What the caller holds by its own books.
#[derive(Default)]
struct Books {
    segments: Vec<SegmentHandle>,
    slices: Vec<SliceHandle>,
    models: Vec<ModelHandle>,
    /// Extent of each segment, until it is freed and its last slice dropped.
    extents: BTreeMap<SegmentHandle, (u64, u64)>,
    slices_of: BTreeMap<SliceHandle, SegmentHandle>,
    expected: SimulatedCounters,
    n_refused: u64,
}

/// The item that a call's number stands for.
fn pick<T: Copy>(items: &[T], number: u64) -> Option<(usize, T)> {
    let idx = usize::try_from(number.checked_rem(items.len() as u64)?).unwrap();
    Some((idx, items[idx]))
}

impl Books {
    /// One call, its answer as text.
    fn make(&mut self, runtime: &SimulatedRuntime, call: &Call) -> String {
        match call {
            Call::Allocate(bytes) => {
                let answer = runtime.allocate_segment(DEVICE, *bytes);
                if let Ok(segment) = answer {
                    let range = (segment.address, segment.address + bytes);
                    assert!(self.extents.values().all(|(start, end)| range.1 <= *start || *end <= range.0));
                    self.extents.insert(segment.handle, range);
                    self.segments.push(segment.handle);
                    self.expected.segments_allocated += 1;
                } else {
                    self.n_refused += 1;
                }
                format!("{answer:?}")
            }
            Call::Free(index) => {
                let Some((idx, segment)) = pick(&self.segments, *index) else { return String::new() };
                let answer = runtime.free_segment(DEVICE, segment);
                if answer.is_ok() {
                    self.segments.swap_remove(idx);
                    self.expected.segments_freed += 1;
                    self.forget(segment);
                }
                format!("{answer:?}")
            }
            Call::Slice(index, offset) => {
                let Some((_, segment)) = pick(&self.segments, *index) else { return String::new() };
                let answer = runtime.slice(DEVICE, segment, *offset, 64);
                if let Ok(slice) = answer {
                    self.slices.push(slice);
                    self.slices_of.insert(slice, segment);
                    self.expected.slices_made += 1;
                }
                format!("{answer:?}")
            }
            Call::FreeSlice(index) => {
                let Some((idx, slice)) = pick(&self.slices, *index) else { return String::new() };
                let answer = runtime.free_slice(DEVICE, slice);
                if answer.is_ok() {
                    self.slices.swap_remove(idx);
                    self.expected.slices_freed += 1;
                    let segment = self.slices_of.remove(&slice).unwrap();
                    self.forget(segment);
                }
                format!("{answer:?}")
            }
            Call::MemoryInfo => format!("{:?}", runtime.memory_info(DEVICE)),
            Call::Load(bytes) => {
                let answer = runtime.load_model(DEVICE, *bytes);
                self.models.extend(answer.clone());
                format!("{answer:?}")
            }
            Call::Unload(index) => {
                let Some((idx, model)) = pick(&self.models, *index) else { return String::new() };
                self.models.swap_remove(idx);
                format!("{:?}", runtime.unload_model(DEVICE, model))
            }
            Call::Wait(ns) => {
                runtime.clock().advance_ns(*ns);
                String::new()
            }
            Call::Settle => {
                runtime.settle();
                String::new()
            }
        }
    }

    /// A segment's bytes may have another holder once it is freed and nothing views it.
    fn forget(&mut self, segment: SegmentHandle) {
        if !self.segments.contains(&segment) && !self.slices_of.values().any(|of| *of == segment) {
            self.extents.remove(&segment);
        }
    }

    fn check(&self, runtime: &SimulatedRuntime) {
        let c = runtime.counters(DEVICE);
        let f = c.faults;
        let owned: u64 = self.extents.values().map(|(start, end)| end - start).sum();
        assert_eq!(c.held_bytes, owned + f.slow_bytes);
        let foreign = f.neighbour_bytes + f.growth_bytes + f.model_bytes + f.pinhole_bytes;
        assert_eq!(runtime.free_bytes(DEVICE) + c.held_bytes + foreign, MEMORY);
        let e = self.expected;
        assert_eq!(
            (c.segments_allocated, c.segments_freed, c.slices_made, c.slices_freed),
            (e.segments_allocated, e.segments_freed, e.slices_made, e.slices_freed)
        );
        assert_eq!(c.segments_refused + f.allocations_failed + f.overflows_refused, self.n_refused);
        assert!(c.held_peak_bytes >= c.held_bytes);
    }
}

fn runtime(plan: &FaultPlan) -> SimulatedRuntime {
    let cost = CostModel { allocate_ns: 900, allocate_ns_per_mib: 3, free_ns: 200, slice_ns: 20 };
    SimulatedRuntime::builder().memory_bytes(MEMORY).cost(cost).faults(plan.clone()).build()
}

fn run(plan: &FaultPlan, calls: &[Call]) -> (Vec<String>, SimulatedCounters) {
    let runtime = runtime(plan);
    let mut books = Books::default();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(books.make(&runtime, call));
        books.check(&runtime);
    }
    let counters = runtime.counters(DEVICE);
    // The end: no more faults, everything given back, the address space whole again.
    runtime.stop_faults();
    books.slices.iter().for_each(|slice| runtime.free_slice(DEVICE, *slice).unwrap());
    books.segments.iter().for_each(|segment| runtime.free_segment(DEVICE, *segment).unwrap());
    books.models.iter().for_each(|model| runtime.unload_model(DEVICE, *model).unwrap());
    assert_eq!(runtime.counters(DEVICE).held_bytes, 0);
    assert_eq!(runtime.largest_gap_bytes(DEVICE), MEMORY);
    (answers, counters)
}

#[test]
fn random_plans_reach_every_fault() {
    let mut sum = [0u64; 15];
    for seed in 0..40 {
        let calls: Vec<Call> = (0..400u64)
            .map(|n| match n % 10 {
                0..=2 => Call::Allocate((n * 7 % 250 + 1) << 20),
                3 => Call::Slice(n, 64),
                4 => Call::FreeSlice(n),
                5 => Call::MemoryInfo,
                6 if n % 20 == 6 => Call::Load((n % 60 + 1) << 20),
                6 => Call::Unload(n),
                7 if n % 50 == 7 => Call::Allocate(1 << 32),
                _ => Call::Free(n),
            })
            .collect();
        let (_, c) = run(&FaultPlan::random(seed, 100), &calls);
        let f = c.faults;
        let strikes = [
            f.allocations_failed,
            f.frees_failed,
            f.slices_failed,
            f.slice_frees_failed,
            f.memory_infos_failed,
            f.overflows_refused,
            f.neighbour_moves,
            f.neighbour_bytes,
            f.growths,
            f.growth_bytes,
            f.models_loaded,
            f.slow_frees,
            f.slow_bytes,
            f.pinhole_bytes,
            c.segments_allocated,
        ];
        sum.iter_mut().zip(strikes).for_each(|(sum, strike)| *sum += strike);
    }
    assert!(sum.iter().all(|strikes| *strikes > 0), "{sum:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn invariants_hold_under_every_plan_and_a_seed_fixes_the_run(plan in plans(), calls in calls()) {
        let first = run(&plan.0, &calls);
        let again: FaultPlan = plan.0.to_string().parse().unwrap();
        prop_assert_eq!(first, run(&again, &calls));
    }

    #[test]
    fn closing_at_any_time_leaves_nothing_behind(plan in plans(), calls in calls()) {
        let runtime = runtime(&plan.0);
        let mut books = Books::default();
        calls.iter().for_each(|call| drop(books.make(&runtime, call)));
        runtime.close();
        let c = runtime.counters(DEVICE);
        prop_assert_eq!(c.held_bytes, 0);
        prop_assert_eq!(c.faults.segments_closed, books.segments.len() as u64);
        runtime.stop_faults();
        prop_assert_eq!(runtime.largest_gap_bytes(DEVICE), MEMORY);
    }
}
