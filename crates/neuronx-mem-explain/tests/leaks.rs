//! Leaks: the planted are found, and none where there is none.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use neuronx_mem_explain::{ExplainError, Input, LeakOptions, Leaks, Run, StepRule};
use neuronx_mem_replay::TraceReader;
use neuronx_mem_snapshot::{Action, Snapshot, TraceEntry};

const MIB: u64 = 1 << 20;

fn leaks(run: &Run) -> Leaks {
    Leaks::of(run, &LeakOptions::default()).unwrap()
}

#[test]
fn the_clean_corpus_has_none() {
    let names = [
        "gpt2_bf16.csv.zst",
        "gpt2_bf16.jsonl.gz",
        "llama1b_ckpt.csv.zst",
        "resnet50.csv.zst",
        "llama7b_decode.csv.zst",
        "moe_train.csv.zst",
        "int64_small.csv.zst",
        "fsdp_llama1b.csv.zst",
        "varlen_ft.csv.zst",
    ];
    let mut n_conclusive = 0;
    for name in names {
        let run = Run::of(&common::read(&format!("traces/{name}"))).unwrap();
        let found = leaks(&run);
        assert_eq!(found.leaks, [], "{name}");
        n_conclusive += usize::from(found.is_conclusive);
    }
    assert_eq!(n_conclusive, 3, "those with six steps or more");
}

#[test]
fn a_planted_leak_of_one_mib_a_step_is_found() {
    let mut text = String::new();
    for (number, line) in (9_000_000..).zip(common::lines("traces/moe_train.csv.zst")) {
        text += &line;
        text.push('\n');
        if line.starts_with("m,step") && line.ends_with("backward") {
            text += &format!("a,{number},1048576,0\n");
        }
    }
    let events = TraceReader::new(text.as_bytes(), "moe_train with a leak");
    let run = Run::of(&Input::from_events(events).unwrap()).unwrap();
    let found = leaks(&run);
    let [leak] = found.leaks.as_slice() else { panic!("{:?}", found.leaks) };
    assert_eq!(run.sites.phase(leak.site), Some("step # backward"));
    assert_eq!(leak.trend.bytes_per_step, MIB as f64);
    assert_eq!((leak.first_step, leak.n_steps, leak.n_kept), (1, 8, 8));
    assert_eq!((leak.kept_bytes, leak.usual_bytes), (8 * MIB, MIB));
    assert!(leak.trend.chance < 0.001);
}

/// Ten steps, each of which runs `step` with its number.
fn steps(step: impl Fn(u64) -> String) -> Run {
    let text: String = (0..10).map(|n| format!("m,step {n}\na,{n}99,4096,0\nf,{n}99\n{}", step(n))).collect();
    common::run(&text)
}

#[test]
fn a_cache_that_is_replaced_by_a_larger_one_is_no_leak() {
    let run = steps(|n| {
        let free = if n > 0 { format!("f,{}\n", 1000 + n - 1) } else { String::new() };
        format!("a,{},{},0\n{free}", 1000 + n, (n + 1) * MIB)
    });
    let found = leaks(&run);
    assert_eq!(found.leaks, []);
    assert_eq!(found.total.bytes_per_step, MIB as f64, "it does grow");
}

#[test]
fn state_of_the_first_step_is_no_leak() {
    assert_eq!(
        leaks(&steps(|n| if n == 0 { "a,1000,1048576,0\n".to_owned() } else { String::new() })).leaks,
        []
    );
}

#[test]
fn what_every_step_frees_of_the_one_before_is_no_leak() {
    let run = steps(|n| {
        let free = if n > 0 { format!("f,{}\n", 1000 + n - 1) } else { String::new() };
        format!("{free}a,{},1048576,0\n", 1000 + n)
    });
    assert_eq!(leaks(&run).leaks, []);
}

#[test]
fn a_leak_of_every_other_step_has_half_the_slope() {
    let run = steps(|n| if n % 2 == 1 { format!("a,{},2097152,0\n", 1000 + n) } else { String::new() });
    let found = leaks(&run);
    assert_eq!(found.leaks.len(), 1);
    assert_eq!(found.leaks[0].trend.bytes_per_step, MIB as f64);
    assert_eq!(found.leaks[0].first_step, 1);
}

#[test]
fn tensors_that_live_long_by_chance_are_no_leak() {
    // Each tensor lives 30 steps of 200, and the number of them rises once.
    let text: String = (0..200_u64)
        .map(|n| {
            let n_tensors = if n < 100 { 1 } else { 2 };
            let births: String = (0..n_tensors).map(|k| format!("a,{},4096,0\n", n * 10 + k)).collect();
            let dead = n.checked_sub(30);
            let n_dead = dead.map_or(0, |dead| if dead < 100 { 1 } else { 2 });
            let deaths: String = (0..n_dead).map(|k| format!("f,{}\n", (n - 30) * 10 + k)).collect();
            format!("m,step {n}\n{births}{deaths}")
        })
        .collect();
    let found = leaks(&common::run(&text));
    assert!(found.total.bytes_per_step >= 0.0 && found.total.chance < 0.01, "{:?}", found.total);
    assert_eq!(found.leaks, []);
}

#[test]
fn the_steepest_leak_comes_first() {
    let run = steps(|n| format!("a,{},512,0\na,{},8192,0\n", 1000 + n, 2000 + n));
    let slopes: Vec<f64> = leaks(&run).leaks.iter().map(|leak| leak.trend.bytes_per_step).collect();
    assert_eq!(slopes, [8192.0, 512.0]);
}

#[test]
fn steps_can_be_a_number_of_events_or_synchronisations() {
    let text: String = (0..10).map(|n| format!("a,{n},4096,0\na,{n}99,64,0\nf,{n}99\ns\n")).collect();
    let run = common::run(&text);
    assert_eq!(leaks(&run).steps.rule(), "by synchronisations");
    let mut options = LeakOptions::default();
    options.steps = StepRule::Every(4.try_into().unwrap());
    let found = Leaks::of(&run, &options).unwrap();
    assert_eq!((found.steps.rule(), found.steps.len()), ("of 4 events", 10));
    assert_eq!(found.leaks[0].trend.bytes_per_step, 4096.0);
}

#[test]
fn layers_that_are_counted_anew_in_every_step_are_no_steps() {
    let text: String = (0..6)
        .map(|step| {
            let layers: String =
                (0..20).map(|layer| format!("m,layer {layer}\na,{step}0{layer},64,0\n")).collect();
            format!("m,step {step}\n{layers}")
        })
        .collect();
    let found = leaks(&common::run(&text));
    assert_eq!((found.steps.rule(), found.steps.len()), ("by marks `step N`", 6));
}

#[test]
fn few_steps_and_no_steps_are_said() {
    let found = leaks(&common::run("m,step 0\na,1,64,0\nm,step 1\na,2,64,0\nm,step 2\na,3,64,0\n"));
    assert!(!found.is_conclusive && found.leaks.is_empty());
    let error = Leaks::of(&common::run("a,1,64,0\n"), &LeakOptions::default()).unwrap_err();
    assert!(matches!(error, ExplainError::NoSteps { .. }), "{error}");
}

#[test]
fn a_call_stack_that_leaks_in_a_snapshot_is_named() {
    let mut snapshot = Snapshot::new();
    let frame = snapshot.stacks_mut().intern_frame("append_loss", "train.py", 42);
    let leaky = snapshot.stacks_mut().intern_stack(&[frame]);
    for step in 0..12_u64 {
        let kept =
            TraceEntry::new(Action::Alloc).with_addr(0x10_0000 + step * 4096).with_size_bytes(512 + step);
        snapshot.push_entry(0, kept.with_stack(leaky));
        for action in [Action::Alloc, Action::FreeRequested, Action::FreeCompleted] {
            snapshot.push_entry(0, TraceEntry::new(action).with_addr(0x1000).with_size_bytes(4096));
        }
    }
    let run = Run::of(&Input::from_snapshot(Box::new(snapshot), None, "made").unwrap()).unwrap();
    let mut options = LeakOptions::default();
    options.steps = StepRule::Every(3.try_into().unwrap());
    let found = Leaks::of(&run, &options).unwrap();
    assert_eq!(found.leaks.len(), 1);
    assert_eq!(run.sites.frames(found.leaks[0].site)[0].name, "append_loss");
}

#[test]
fn a_snapshot_without_a_history_has_no_steps_to_look_at() {
    let mut snapshot = Snapshot::new();
    let block =
        neuronx_mem_snapshot::Block::new(0x1000, 512, neuronx_mem_snapshot::BlockState::ActiveAllocated);
    snapshot.segments.push(neuronx_mem_snapshot::Segment::from_blocks(0, 0x1000, true, vec![block]));
    let run = Run::of(&Input::from_snapshot(Box::new(snapshot), None, "state").unwrap()).unwrap();
    let error = Leaks::of(&run, &LeakOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "state: holds no history, only the memory at one moment");
}
