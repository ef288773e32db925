//! Calls that fail by number. Decides which; what the call would have done is not known here.

use neuronx_mem_runtime::{DeviceId, Operation, Status};

use super::pattern::CallPattern;

/// Operations that can be made to fail, with their names in a plan's text.
pub(crate) const OPERATIONS: [(Operation, &str); 5] = [
    (Operation::AllocateSegment, "allocate"),
    (Operation::FreeSegment, "free"),
    (Operation::Slice, "slice"),
    (Operation::FreeSlice, "free-slice"),
    (Operation::MemoryInfo, "memory-info"),
];

/// One rule of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallFailure {
    pub(crate) operation: Operation,
    pub(crate) pattern: CallPattern,
    pub(crate) status: Status,
    /// All devices if unset.
    pub(crate) device: Option<DeviceId>,
}

/// The rules of one device and the calls they have seen.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// With the rule's place in the random sequences.
    rules: Vec<(u64, CallFailure)>,
    seed: u64,
    calls: [u64; OPERATIONS.len()],
}

impl Failures {
    pub(crate) fn new(rules: &[CallFailure], seed: u64, device: DeviceId) -> Self {
        let place = |idx| (u64::from(device.0) << 32) | idx;
        let rules = (0..)
            .zip(rules)
            .filter(|(_, rule)| rule.device.is_none_or(|only| only == device))
            .map(|(idx, rule)| (place(idx), rule.clone()))
            .collect();
        Self { rules, seed, calls: [0; OPERATIONS.len()] }
    }

    /// Counts one call; the status of the first rule that hits it. O(rules).
    pub(crate) fn status_of_next(&mut self, operation: Operation) -> Option<Status> {
        let idx = OPERATIONS.iter().position(|(known, _)| *known == operation)?;
        self.calls[idx] += 1;
        let call = self.calls[idx];
        let hit = |(place, rule): &&(u64, CallFailure)| {
            rule.operation == operation
                && rule.status != Status::SUCCESS
                && rule.pattern.hits(call, self.seed, *place)
        };
        self.rules.iter().find(hit).map(|(_, rule)| rule.status)
    }
}
