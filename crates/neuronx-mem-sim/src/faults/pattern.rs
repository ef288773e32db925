//! Which calls a fault hits, and how long it lasts. Counts and time only; knows no call by name.

use super::seed::{Purpose, number};

/// Numbers of the calls that a fault hits, counted from 1.
///
/// Calls are counted by device and by [`Operation`](neuronx_mem_runtime::Operation), failed ones
/// included.
///
/// ```
/// use neuronx_mem_runtime::{DeviceId, DeviceRuntime, Operation, Status};
/// use neuronx_mem_sim::{CallPattern, FaultPlan, SimulatedRuntime};
///
/// let plan = FaultPlan::new(0).fail(Operation::AllocateSegment, CallPattern::Every(2), Status::RESOURCE);
/// let runtime = SimulatedRuntime::builder().faults(plan).build();
/// let is_served = || runtime.allocate_segment(DeviceId(0), 1 << 20).is_ok();
/// assert_eq!([is_served(), is_served(), is_served(), is_served()], [true, false, true, false]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallPattern {
    /// This call only.
    Once(u64),
    /// This call and all after it.
    From(u64),
    /// Every call whose number is a multiple; none for 0.
    Every(u64),
    /// These calls, in any order.
    List(Vec<u64>),
    /// Each call with this probability in millionths, drawn from the plan's seed.
    Chance {
        /// Millionths; from 1,000,000 on every call is hit.
        per_million: u32,
    },
}

impl CallPattern {
    /// `place` tells rules and devices apart, so that they draw different numbers.
    pub(crate) fn hits(&self, call: u64, seed: u64, place: u64) -> bool {
        match self {
            Self::Once(wanted) => call == *wanted,
            Self::From(first) => call >= *first,
            Self::Every(step) => *step > 0 && call.is_multiple_of(*step),
            Self::List(wanted) => wanted.contains(&call),
            Self::Chance { per_million } => {
                number(seed, Purpose::Failure, place, call) % 1_000_000 < u64::from(*per_million)
            }
        }
    }
}

/// A length measured in runtime calls on the device, or in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultSpan {
    /// Calls of any kind on the same device; only those that the runtime's state lets through.
    Calls(u64),
    /// Nanoseconds of the runtime's [`VirtualClock`](crate::VirtualClock).
    Nanoseconds(u64),
}

/// Where a device stands: calls so far, the current one included, and the time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment {
    pub(crate) call: u64,
    pub(crate) now_ns: u64,
}

impl FaultSpan {
    /// How many whole spans have passed since the beginning. A span of 0 counts as 1.
    pub(crate) fn elapsed(self, now: Moment) -> u64 {
        match self {
            Self::Calls(calls) => now.call / calls.max(1),
            Self::Nanoseconds(ns) => now.now_ns / ns.max(1),
        }
    }

    /// Whether it is over at `now` when it began with the call at `start`.
    ///
    /// After k further calls means that the k-th further call still sees it.
    pub(crate) fn is_over(self, start: Moment, now: Moment) -> bool {
        match self {
            Self::Calls(calls) => start.call.saturating_add(calls) < now.call,
            Self::Nanoseconds(ns) => start.now_ns.saturating_add(ns) <= now.now_ns,
        }
    }
}
