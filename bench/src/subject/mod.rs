//! The allocators under comparison, each behind the same two calls. Slots and handles are kept
//! here, the same way for all, so that the row "null" shows what that costs.

mod ordered_set;
pub mod ours;
mod peers;
mod simple;

use crate::workload::Workload;

/// Something that hands out address ranges.
pub trait Subject {
    type Handle: Copy + Default;

    fn allocate(&mut self, bytes: u64) -> Self::Handle;
    fn free(&mut self, handle: Self::Handle);
}

/// A subject with its slots, ready to run a workload's steps.
pub trait Runner {
    fn run(&mut self, workload: &Workload, repeats: usize);
}

/// All rows, floor first.
pub const NAMES: [&str; 11] = [
    "null",
    "class freelist",
    "mimalloc (sizes/256)",
    "jemalloc (sizes/256)",
    "BTreeSet best fit + map",
    "offset-allocator",
    "buddy_system_allocator",
    "pool",
    "facade handle",
    "facade block",
    "facade, history on",
];

pub fn make(name: &str, workload: &Workload) -> Box<dyn Runner> {
    match name {
        "null" => runner(simple::Null, workload),
        "class freelist" => runner(simple::ClassFreelist::new(), workload),
        "mimalloc (sizes/256)" => runner(peers::Mimalloc, workload),
        "jemalloc (sizes/256)" => runner(peers::Jemalloc, workload),
        "BTreeSet best fit + map" => runner(ordered_set::OrderedSet::new(), workload),
        "offset-allocator" => runner(peers::Offset::new(), workload),
        "buddy_system_allocator" => runner(peers::Buddy::new(), workload),
        "pool" => runner(ours::Pool::new(), workload),
        "facade block" => Box::new(ours::Blocks::new(workload)),
        "facade, history on" => runner(ours::Handles::recording(), workload),
        "facade, history on, no clock" => runner(ours::Handles::recording_without_clock(), workload),
        _ => runner(ours::Handles::new(), workload),
    }
}

fn runner<S: Subject + 'static>(subject: S, workload: &Workload) -> Box<dyn Runner> {
    let mut slots = Slots { subject, handles: vec![S::Handle::default(); workload.n_slots] };
    slots.steps(&workload.setup);
    Box::new(slots)
}

struct Slots<S: Subject> {
    subject: S,
    handles: Vec<S::Handle>,
}

impl<S: Subject> Slots<S> {
    fn steps(&mut self, steps: &[crate::workload::Step]) {
        for step in steps {
            let handle = &mut self.handles[step.slot as usize];
            if step.bytes == 0 {
                self.subject.free(*handle);
            } else {
                *handle = self.subject.allocate(step.bytes);
            }
        }
    }
}

impl<S: Subject> Runner for Slots<S> {
    fn run(&mut self, workload: &Workload, repeats: usize) {
        for _ in 0..repeats {
            self.steps(&workload.steps);
        }
    }
}
