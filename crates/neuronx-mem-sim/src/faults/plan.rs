//! The plan of all faults of a run, as data. Injects nothing itself.

use std::ops::RangeInclusive;

use neuronx_mem_runtime::{DeviceId, Operation, Status};

use super::failures::CallFailure;
use super::growth::RuntimeGrowth;
use super::neighbour::NoisyNeighbour;
use super::pattern::{CallPattern, FaultSpan};
use super::placement::Pinholes;
use super::work::{SimulatedWork, Stall};

/// Faults for a [`SimulatedRuntime`](crate::SimulatedRuntime): none unless set.
///
/// The plan and the sequence of calls fix every answer. What is random is drawn from one seed,
/// so that the same plan gives the same run, bit for bit, on every machine. A plan is printed as
/// one line and read back from it:
///
/// ```
/// use neuronx_mem_runtime::{Operation, Status};
/// use neuronx_mem_sim::{CallPattern, FaultPlan, FaultSpan};
///
/// let plan = FaultPlan::new(7)
///     .fail(Operation::AllocateSegment, CallPattern::Once(3), Status::RESOURCE)
///     .slow_frees(FaultSpan::Calls(2));
/// assert_eq!(plan.to_string(), "seed=7 fail=allocate:once(3):4 slow=calls(2)");
/// assert_eq!("seed=7 fail=allocate:once(3):4 slow=calls(2)".parse(), Ok(plan));
/// ```
///
/// Except for failures limited to one device, each fault strikes every device of the runtime,
/// counts its calls alone and draws its own numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    pub(super) seed: u64,
    pub(super) failures: Vec<CallFailure>,
    pub(super) neighbour: Option<NoisyNeighbour>,
    pub(super) growths: Vec<RuntimeGrowth>,
    pub(super) slow_frees: Option<FaultSpan>,
    pub(super) is_start_random: bool,
    pub(super) pinholes: Option<Pinholes>,
    pub(super) has_overflow: bool,
    pub(super) is_uninitialized: bool,
    pub(super) work_delay_ns: Option<RangeInclusive<u64>>,
    pub(super) stalls: Vec<Stall>,
}

impl FaultPlan {
    /// Makes a plan without any fault.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// The seed that everything random is drawn from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether no fault is set, of the runtime or of the work.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::new(self.seed)
    }

    /// Makes calls of `operation` fail with `status`, on every device. May be used repeatedly: the
    /// first rule that hits a call decides.
    ///
    /// A failed call changes nothing: what it was to return stays held. The rule never hits when
    /// `status` is [`SUCCESS`](Status::SUCCESS).
    #[must_use]
    pub fn fail(self, operation: Operation, pattern: CallPattern, status: Status) -> Self {
        self.with_failure(CallFailure { operation, pattern, status, device: None })
    }

    /// As [`fail`](Self::fail), on one device only.
    #[must_use]
    pub fn fail_on(
        self,
        device: DeviceId,
        operation: Operation,
        pattern: CallPattern,
        status: Status,
    ) -> Self {
        self.with_failure(CallFailure { operation, pattern, status, device: Some(device) })
    }

    /// Adds a noisy neighbour on the same HBM stack, as at LNC 1.
    ///
    /// After each `period` it wants an amount of memory drawn from `level_bytes`, nothing before
    /// the first one is over. It moves at the start of a runtime call, takes addresses from the
    /// top of the device down as far as they are free, and takes the rest when more gets free.
    #[must_use]
    pub fn noisy_neighbour(mut self, period: FaultSpan, level_bytes: RangeInclusive<u64>) -> Self {
        self.neighbour = Some(NoisyNeighbour { period, level_bytes: ordered(level_bytes) });
        self
    }

    /// Lets the runtime take `bytes` for itself (collectives, a model) just before it serves the
    /// call of that number, any kind of call on the device counted from 1.
    ///
    /// It takes from the top down as far as memory is free, and keeps it. May be used repeatedly.
    #[must_use]
    pub fn grow_runtime(mut self, at_call: u64, bytes: u64) -> Self {
        self.growths.push(RuntimeGrowth { at_call, bytes });
        self
    }

    /// Lets the memory of a freed segment come back only after `delay`: the k-th further call on
    /// the device still misses it, a call at that many nanoseconds after the free does not.
    #[must_use]
    pub fn slow_frees(mut self, delay: FaultSpan) -> Self {
        self.slow_frees = Some(delay);
        self
    }

    /// Lets the first-fit search of each segment start at a random address. It wraps around, so
    /// a segment is refused only where plain first fit would refuse it.
    #[must_use]
    pub fn random_start(mut self) -> Self {
        self.is_start_random = true;
        self
    }

    /// Reserves `bytes` at every multiple of `every_mib` MiB of the device, so that no segment
    /// larger than the distance fits although the sum is free. Nothing when either is 0; a
    /// pinhole is at most as large as the distance.
    #[must_use]
    pub fn pinholes(mut self, every_mib: u32, bytes: u64) -> Self {
        self.pinholes = Some(Pinholes { every_mib, bytes }).filter(|_| every_mib > 0 && bytes > 0);
        self
    }

    /// Refuses requests of 4 GiB and more with [`INVALID`](Status::INVALID), as runtimes up to
    /// 2.29 cannot serve them.
    #[must_use]
    pub fn four_gib_overflow(mut self) -> Self {
        self.has_overflow = true;
        self
    }

    /// Starts uninitialised: every call fails with [`UNINITIALIZED`](Status::UNINITIALIZED) until
    /// [`SimulatedRuntime::initialize`](crate::SimulatedRuntime::initialize).
    #[must_use]
    pub fn uninitialized(mut self) -> Self {
        self.is_uninitialized = true;
        self
    }

    /// Gives each piece of [`work`](Self::work) a duration drawn from this range; none unless set.
    #[must_use]
    pub fn work_delay_ns(mut self, delay_ns: RangeInclusive<u64>) -> Self {
        self.work_delay_ns = Some(ordered(delay_ns));
        self
    }

    /// Stalls a stream of [`work`](Self::work) from its n-th piece on, until it is released. Of
    /// several stalls of one stream the first holds until the release, which ends all.
    #[must_use]
    pub fn stall_stream(mut self, stream: u32, from_ticket: u64) -> Self {
        self.stalls.push(Stall { stream, from_ticket });
        self
    }

    /// The schedule of work by this plan; standing at time 0, with nothing submitted.
    #[must_use]
    pub fn work(&self) -> SimulatedWork {
        SimulatedWork::new(self.seed, self.work_delay_ns.clone().unwrap_or(0..=0), &self.stalls)
    }

    pub(crate) fn starts_uninitialized(&self) -> bool {
        self.is_uninitialized
    }

    pub(super) fn with_failure(mut self, failure: CallFailure) -> Self {
        self.failures.push(failure);
        self
    }
}

/// An empty range stands for its start.
fn ordered(range: RangeInclusive<u64>) -> RangeInclusive<u64> {
    let start = *range.start();
    start..=start.max(*range.end())
}
