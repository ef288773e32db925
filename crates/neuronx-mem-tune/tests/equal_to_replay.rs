//! The fast path of a sweep and a replay through the whole allocator give the same figures, on random
//! traces and settings, with and without enough memory; and so do jobs.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey;
use neuronx_mem_replay::{Replay, Trace, TraceReader};
use neuronx_mem_tune::{Evaluation, JobRound, Machine, Variant, Workload, evaluate};
use proptest::prelude::*;

fn text(moves: &[(u64, bool)]) -> String {
    let (mut text, mut live, mut next) = (String::new(), Vec::new(), 1u64);
    for (n, is_free) in moves {
        if *is_free && !live.is_empty() {
            let idx = usize::try_from(*n).unwrap() % live.len();
            text += &format!("f,{}\n", live.swap_remove(idx));
        } else {
            text += &format!("a,{next},{n},0\n");
            live.push(next);
            next += 1;
        }
    }
    text + "s\n"
}

fn settings() -> impl Strategy<Value = AllocatorConfig> {
    let power = |low: u32, high: u32| (low..high).prop_map(|power| 1u64 << power);
    (power(8, 24), power(12, 28), power(12, 28), 1u64..65, power(6, 22), power(6, 22), power(20, 28))
        .prop_map(|(boundary, segment, threshold, divisions, split, alignment, max_split)| {
            let set = [
                (ConfigKey::PoolBoundary, boundary),
                (ConfigKey::MediumSegmentSize, segment),
                (ConfigKey::MediumThreshold, threshold),
                (ConfigKey::RoundupPower2Divisions, divisions),
                (ConfigKey::LargeSplitThreshold, split),
                (ConfigKey::SegmentAlignment, alignment),
                (ConfigKey::MaxSplitSizeBytes, max_split),
            ];
            set.iter()
                .fold(AllocatorConfig::default(), |config, (key, value)| config.with(*key, *value).unwrap())
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn figures_are_those_of_a_replay(
        moves in prop::collection::vec((1u64..64 << 20, any::<bool>()), 1..300),
        config in settings(),
        memory_mib in prop::sample::select(vec![64u64, 256, 1024, 24 << 10]),
    ) {
        let text = text(&moves);
        let trace = Trace::read(TraceReader::new(text.as_bytes(), "random")).unwrap();
        let Ok(workload) = Workload::of_trace(&trace) else { return Ok(()) };
        let machine = Machine { memory_bytes: Some(memory_mib << 20), ..Machine::default() };
        let report = Replay::new(machine.replay_options(config)).run(trace.events()).unwrap().report;
        let figures = evaluate(&workload, &config, &machine, u64::MAX);
        prop_assert!(figures.agree_with(&report), "{figures:?} {report:?}");
    }
}

#[test]
fn jobs_survive_json_and_give_the_same_figures() {
    let trace =
        Trace::read(TraceReader::new("a,1,4194304,0\na,2,70000000,0\nf,1\ns\n".as_bytes(), "two")).unwrap();
    let workloads = [Workload::of_trace(&trace).unwrap()];
    let machine = Machine::default();
    let config = AllocatorConfig::parse("kMediumSegmentSize=16777216").config;
    let larger = Variant { thousandths: 2000, ..Variant::default() };
    let ask = |variant: &Variant, config| Evaluation {
        input_idx: 0,
        variant: variant.clone(),
        memory_bytes: None,
        config,
        bound_bytes: u64::MAX,
    };
    let whole = Variant::default();
    let round = [ask(&whole, config), ask(&larger, config), ask(&whole, AllocatorConfig::default())];
    let round = JobRound::new(&round, &workloads, false, &machine);
    let json = serde_json::to_string(round.jobs()).unwrap();
    let jobs: Vec<neuronx_mem_tune::Job> = serde_json::from_str(&json).unwrap();
    assert_eq!(jobs, round.jobs());
    assert_eq!(jobs.iter().map(|job| job.trials.len()).collect::<Vec<_>>(), [2, 1]);
    let results: Vec<_> = jobs.iter().map(|job| job.run(&workloads[0]).unwrap()).collect();
    let reserved: Vec<u64> =
        round.figures(&results).unwrap().iter().map(|figures| figures.reserved_peak_bytes).collect();
    assert_eq!(reserved, [(16 << 20) + 71_303_168, (16 << 20) + 140_509_184, (64 << 20) + 71_303_168]);
    assert!(round.figures(&results[..1]).is_err());
}
