//! Plans drawn from a seed. Every choice ends up in the plan, so that its text tells all.

use neuronx_mem_runtime::{Operation, Status};

use super::failures::OPERATIONS;
use super::pattern::{CallPattern, FaultSpan};
use super::plan::FaultPlan;
use super::seed::{Purpose, between, number};

const MIB: u64 = 1 << 20;

impl FaultPlan {
    /// Draws a plan: each mechanism is part of it with a probability of `intensity_percent`
    /// (above 100 counts as 100), and strikes the more often the higher that is.
    ///
    /// At 0 there is no fault. A random plan never starts uninitialised.
    ///
    /// ```
    /// use neuronx_mem_sim::FaultPlan;
    ///
    /// let plan = FaultPlan::random(3, 60);
    /// assert_eq!(plan, FaultPlan::random(3, 60));
    /// assert_eq!(plan.to_string().parse(), Ok(plan));
    /// ```
    #[must_use]
    pub fn random(seed: u64, intensity_percent: u8) -> Self {
        let intensity = u64::from(intensity_percent.min(100));
        let mut draw = Draw { seed, intensity, n_drawn: 0 };
        let mut plan = Self::new(seed);
        for (operation, _) in OPERATIONS {
            if draw.is_chosen() {
                let pattern = draw.pattern();
                plan = plan.fail(operation, pattern, draw.status(operation));
            }
        }
        if draw.is_chosen() {
            let (period, max) = (draw.span(2, 16), draw.bytes());
            plan = plan.noisy_neighbour(period, 0..=max);
        }
        if draw.is_chosen() {
            for _ in 0..draw.between(1, 3) {
                plan = plan.grow_runtime(draw.between(1, 150), draw.bytes());
            }
        }
        if draw.is_chosen() {
            plan = plan.slow_frees(draw.span(0, 8));
        }
        if draw.is_chosen() {
            plan = plan.random_start();
        }
        if draw.is_chosen() {
            let every_mib = u32::try_from(draw.between(1, 512)).unwrap_or(u32::MAX);
            plan = plan.pinholes(every_mib, draw.between(1, 4096));
        }
        if draw.is_chosen() {
            plan = plan.four_gib_overflow();
        }
        if draw.is_chosen() {
            plan = plan.work_delay_ns(0..=draw.between(1, 10_000));
        }
        if draw.is_chosen() {
            let stream = u32::try_from(draw.between(0, 3)).unwrap_or(0);
            plan = plan.stall_stream(stream, draw.between(1, 50));
        }
        plan
    }
}

/// One sequence of random numbers.
struct Draw {
    seed: u64,
    intensity: u64,
    n_drawn: u64,
}

impl Draw {
    fn between(&mut self, min: u64, max: u64) -> u64 {
        self.n_drawn += 1;
        between(number(self.seed, Purpose::Plan, 0, self.n_drawn), min, max)
    }

    fn is_chosen(&mut self) -> bool {
        self.between(0, 99) < self.intensity
    }

    /// 1 MiB to 1 GiB, small amounts as likely as large ones.
    fn bytes(&mut self) -> u64 {
        MIB << self.between(0, 10)
    }

    fn span(&mut self, min_calls: u64, max_calls: u64) -> FaultSpan {
        match self.between(0, 1) {
            0 => FaultSpan::Calls(self.between(min_calls, max_calls)),
            _ => FaultSpan::Nanoseconds(self.between(1, 20_000)),
        }
    }

    fn pattern(&mut self) -> CallPattern {
        match self.between(0, 7) {
            0 => CallPattern::Once(self.between(1, 40)),
            1 => CallPattern::From(self.between(40, 200)),
            2 => CallPattern::Every(self.between(3, 30)),
            3 => CallPattern::List((0..3).map(|_| self.between(1, 60)).collect()),
            _ => {
                let highest = self.intensity * 3_000;
                CallPattern::Chance { per_million: u32::try_from(self.between(1, highest)).unwrap_or(1) }
            }
        }
    }

    /// Mostly what an allocator recovers from, where it recovers at all.
    fn status(&mut self, operation: Operation) -> Status {
        const OTHERS: [Status; 4] =
            [Status::FAILURE, Status::TIMEOUT, Status::HW_ERROR, Status::FAIL_HOST_MEM_ALLOC];
        if operation == Operation::AllocateSegment && self.between(0, 2) > 0 {
            return Status::RESOURCE;
        }
        let idx = usize::try_from(self.between(0, 3)).unwrap_or(0);
        OTHERS.get(idx).copied().unwrap_or(Status::FAILURE)
    }
}
