//! Random programs: the same answers, the same layout, the same statistics from all of them.

use std::cell::RefCell;

use proptest::prelude::*;

use super::{Held, MIB, Outcome, Setup, Subject, all};

#[derive(Clone, Copy, Debug)]
enum Step {
    Allocate { bytes: u64, stream: u32 },
    Free { idx: usize },
    Record { idx: usize, stream: u32 },
    Submit { stream: u32 },
    Complete { stream: u32 },
    Synchronize,
    EmptyCache,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop_oneof![1u64..5000, 1u64..4 * MIB, (16 * MIB)..(40 * MIB)];
    let stream = 0u32..3;
    let step = prop_oneof![
        6 => (bytes, stream.clone()).prop_map(|(bytes, stream)| Step::Allocate { bytes, stream }),
        4 => any::<usize>().prop_map(|idx| Step::Free { idx }),
        1 => (any::<usize>(), stream.clone()).prop_map(|(idx, stream)| Step::Record { idx, stream }),
        2 => stream.clone().prop_map(|stream| Step::Submit { stream }),
        2 => stream.prop_map(|stream| Step::Complete { stream }),
        1 => Just(Step::Synchronize),
        1 => Just(Step::EmptyCache),
    ];
    prop::collection::vec(step, 1..120)
}

/// What each step came to, and the statistics at the end.
fn run(subject: &dyn Subject, steps: &[Step]) -> Vec<String> {
    let mut held: Vec<Held> = Vec::new();
    let mut submitted = [0; 3];
    assert_eq!([subject.new_stream(), subject.new_stream()], [1, 2]);
    let mut log = Vec::new();
    for step in steps {
        match *step {
            Step::Allocate { bytes, stream } => {
                let outcome: Result<Held, Outcome> = subject.allocate(bytes, stream);
                log.push(format!("{outcome:?}"));
                held.extend(outcome.ok());
            }
            Step::Free { idx } if !held.is_empty() => {
                let held = held.swap_remove(idx % held.len());
                log.push(format!("{:?}", subject.free(&held)));
            }
            Step::Record { idx, stream } if !held.is_empty() => {
                log.push(format!("{:?}", subject.record_stream(&held[idx % held.len()], stream)));
            }
            Step::Submit { stream } => submitted[stream as usize] = subject.submit(stream),
            Step::Complete { stream } => {
                let ticket = submitted[stream as usize];
                log.push(format!("{:?}", subject.complete(stream, ticket)));
            }
            Step::Synchronize => subject.synchronize(),
            Step::EmptyCache => log.push(format!("{:?}", subject.empty_cache())),
            _ => {}
        }
    }
    log.push(format!("{:?}", subject.stats_of(0)));
    log
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn all_of_them_answer_alike(steps in steps()) {
        let setup = Setup { memory_bytes: 256 * MIB, ..Setup::default() };
        let logs: RefCell<Vec<(&'static str, Vec<String>)>> = RefCell::default();
        all(&setup, |subject| logs.borrow_mut().push((subject.name(), run(subject, &steps))));
        let logs = logs.into_inner();
        for (name, log) in &logs[1..] {
            prop_assert_eq!(log, &logs[0].1, "{}", name);
        }
    }
}
