//! Tuning, planning and shrinking the trace corpus: the figures that are known to be reachable, and
//! an independent look at every layout.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use neuronx_mem::AllocatorConfig;
use neuronx_mem_config::combinations;
use neuronx_mem_replay::{Replay, Trace, TraceInput, TraceReader, TraceWriter};
use neuronx_mem_tune::{
    Effect, LocalSweep, Machine, PlanOptions, Sizes, TuneOptions, Tuning, Workload, follow, plan, shrink,
    tune,
};

fn read(name: &str) -> Trace {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/traces");
    Trace::read_input(&TraceInput::File(folder.join(format!("{name}.csv.zst"))), false).unwrap()
}

fn tuned(traces: &[Trace], machine: Machine) -> Tuning {
    let workloads: Vec<Workload> = traces.iter().map(|trace| Workload::of_trace(trace).unwrap()).collect();
    let mut options = TuneOptions::new(machine);
    options.is_cross_validated = false;
    tune(&workloads, &options, &mut LocalSweep::new(&workloads, machine), &mut |_| {}).unwrap()
}

/// At most so many ten-thousandths of the live peak, and exactly what a replay gives.
#[track_caller]
fn check_tuned(name: &str, most: u64) {
    let trace = read(name);
    let machine = Machine::default();
    let tuning = tuned(std::slice::from_ref(&trace), machine);
    let input = &tuning.inputs[0];
    assert!(tuning.is_complete);
    for (pick, figures) in [(tuning.best, input.best), (tuning.robust, input.robust)] {
        assert!(combinations(&pick.config).is_empty());
        let config = AllocatorConfig::parse(&pick.config.to_env_string()).config;
        let report = Replay::new(machine.replay_options(config)).run(trace.events()).unwrap().report;
        assert!(figures.agree_with(&report), "{name}: {figures:?} {report:?}");
        assert!(figures.reserved_peak_bytes <= input.default.reserved_peak_bytes);
    }
    let ratio = input.best.reserved_peak_bytes * 10_000 / input.live_peak_bytes;
    assert!(ratio <= most, "{name}: {ratio}");
}

#[test]
fn known_figures_are_reached() {
    check_tuned("gpt2_bf16", 10_500);
    check_tuned("llama1b_ckpt", 11_700);
    check_tuned("resnet50", 10_050);
    check_tuned("int64_small", 10_300);
    check_tuned("fsdp_llama1b", 10_800);
    check_tuned("moe_train", 10_500);
}

#[test]
fn what_runs_out_of_memory_fits_when_tuned() {
    let machine = Machine { memory_bytes: Some(10 << 30), ..Machine::default() };
    let tuning = tuned(&[read("varlen_ft")], machine);
    let input = &tuning.inputs[0];
    assert_eq!((input.default.num_ooms(), input.best.num_ooms(), input.robust.num_ooms()), (1, 0, 0));
    assert!(input.best.reserved_peak_bytes * 100 <= input.live_peak_bytes * 108);
}

#[test]
fn the_same_answer_every_time() {
    let traces = [read("gpt2_bf16"), read("resnet50")];
    let (one, two) = (tuned(&traces, Machine::default()), tuned(&traces, Machine::default()));
    assert_eq!(
        (one.best, one.robust, one.inputs, one.evaluated),
        (two.best, two.robust, two.inputs, two.evaluated)
    );
}

/// No two tensors that live at once overlap: a sweep over the events with an ordered map, which shares
/// nothing with the packer.
#[track_caller]
fn check_plan(name: &str) {
    let trace = read(name);
    let workload = Workload::of_trace(&trace).unwrap();
    let mut options = PlanOptions::default();
    options.rounds = 2;
    let plan = plan(&workload, &options);
    assert!(plan.gap_percent() <= 3.0, "{name}: {}", plan.gap_percent());
    let mut events: BTreeMap<u64, (bool, u64, u64)> = BTreeMap::new();
    for tensor in &plan.tensors {
        events.insert(tensor.birth_event, (true, tensor.offset_bytes, tensor.bytes));
        tensor.death_event.map(|event| events.insert(event, (false, tensor.offset_bytes, tensor.bytes)));
    }
    let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
    for (event, (is_birth, offset, bytes)) in events {
        if !is_birth {
            assert_eq!(taken.remove(&offset), Some(offset + bytes));
            continue;
        }
        let below = taken.range(..offset + bytes).next_back();
        assert!(below.is_none_or(|(_, end)| *end <= offset), "{name} event {event}");
        assert!(offset % 64 == 0 && offset + bytes <= plan.planned_peak_bytes);
        taken.insert(offset, offset + bytes);
    }
    let followed = follow(&plan, &workload, None).unwrap();
    assert_eq!((followed.n_fallback, followed.reserved_peak_bytes), (0, plan.planned_peak_bytes));
}

#[test]
fn plans_are_sound_and_close_to_the_bound() {
    for name in ["gpt2_bf16", "llama1b_ckpt", "resnet50", "int64_small", "moe_train", "fsdp_llama1b"] {
        check_plan(name);
    }
}

#[test]
fn plan_of_varlen_ft() {
    check_plan("varlen_ft");
}

#[test]
fn a_hundred_thousand_events_shrink_to_two_hundred() {
    let trace = read("varlen_ft");
    let machine = Machine { memory_bytes: Some(10 << 30), ..Machine::default() };
    let config = AllocatorConfig::default();
    assert!(trace.n_events() > 100_000);
    // 4 and 199 today.
    for (sizes, most) in [(Sizes::Merged, 20), (Sizes::Kept, 200)] {
        let shrunk = shrink(&trace, &config, &machine, &Effect::OutOfMemory, sizes).unwrap();
        assert!(shrunk.events.len() <= most, "{sizes:?}: {}", shrunk.events.len());
        let mut writer = TraceWriter::new(Vec::new());
        shrunk.events.iter().for_each(|event| writer.event(event).unwrap());
        let text = writer.finish().unwrap();
        let reader = TraceReader::new(text.as_slice(), "shrunk");
        let report = Replay::new(machine.replay_options(config)).run(reader).unwrap().report;
        assert!(shrunk.after.agree_with(&report));
        assert_eq!(report.num_ooms, 1);
    }
}

/// Each trace once left out: what is robust for the others is no more than 1 % worse than the defaults
/// there. Without the longest trace, which takes as long as all others together.
#[test]
fn the_robust_pick_carries_over() {
    let names =
        ["gpt2_bf16", "llama1b_ckpt", "resnet50", "int64_small", "varlen_ft", "moe_train", "fsdp_llama1b"];
    let workloads: Vec<Workload> =
        names.iter().map(|name| Workload::of_trace(&read(name)).unwrap()).collect();
    let mut options = TuneOptions::default();
    options.patience = 2;
    let mut sweep = LocalSweep::new(&workloads, options.machine);
    let validation = tune(&workloads, &options, &mut sweep, &mut |_| {}).unwrap().validation.unwrap();
    assert!(validation.is_complete && validation.held_out.len() == names.len());
    assert!(validation.worst_percent().unwrap() <= 1.0, "{validation:?}");
}
