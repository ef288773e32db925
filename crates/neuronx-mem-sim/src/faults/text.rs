//! A plan as one line of text, both ways. Knows the form; what an item means is the plan's.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use neuronx_mem_runtime::{DeviceId, Operation, Status};

use super::failures::{CallFailure, OPERATIONS};
use super::pattern::{CallPattern, FaultSpan};
use super::plan::FaultPlan;
use crate::SimulatorError;

/// Items that may be there any number of times.
const REPEATABLE: [&str; 3] = ["fail", "grow", "stall"];

impl fmt::Display for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed={}", self.seed)?;
        for failure in &self.failures {
            let CallFailure { operation, pattern, status, device } = failure;
            write!(f, " fail={}:{pattern}:{}", name_of(*operation), status.0)?;
            device.map_or(Ok(()), |device| write!(f, "@{device}"))?;
        }
        if let Some(neighbour) = &self.neighbour {
            write!(f, " neighbour={}:{}", neighbour.period, Bounds(&neighbour.level_bytes))?;
        }
        for growth in &self.growths {
            write!(f, " grow={}:{}", growth.at_call, growth.bytes)?;
        }
        if let Some(delay) = self.slow_frees {
            write!(f, " slow={delay}")?;
        }
        if self.is_start_random {
            f.write_str(" start=random")?;
        }
        if let Some(pinholes) = self.pinholes {
            write!(f, " pinholes={}:{}", pinholes.every_mib, pinholes.bytes)?;
        }
        if self.has_overflow {
            f.write_str(" overflow=4gib")?;
        }
        if self.is_uninitialized {
            f.write_str(" state=uninitialized")?;
        }
        if let Some(delay_ns) = &self.work_delay_ns {
            write!(f, " work={}", Bounds(delay_ns))?;
        }
        self.stalls.iter().try_for_each(|stall| write!(f, " stall={}:{}", stall.stream, stall.from_ticket))
    }
}

impl FromStr for FaultPlan {
    type Err = SimulatorError;

    /// Reads what [`Display`](fmt::Display) wrote; the items may come in any order.
    ///
    /// # Errors
    ///
    /// [`SimulatorError::UnknownFault`], [`SimulatorError::InvalidFault`],
    /// [`SimulatorError::RepeatedFault`].
    fn from_str(text: &str) -> Result<Self, SimulatorError> {
        let mut plan = Self::default();
        let mut seen = Vec::new();
        for item in text.split_whitespace() {
            let (key, value) = item.split_once('=').unwrap_or((item, ""));
            if !is_known(key) {
                return Err(SimulatorError::UnknownFault { item: item.to_owned() });
            }
            if seen.contains(&key) && !REPEATABLE.contains(&key) {
                return Err(SimulatorError::RepeatedFault { item: item.to_owned() });
            }
            seen.push(key);
            plan = with_item(plan, key, value)
                .ok_or_else(|| SimulatorError::InvalidFault { item: item.to_owned() })?;
        }
        Ok(plan)
    }
}

impl fmt::Display for CallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(call) => write!(f, "once({call})"),
            Self::From(call) => write!(f, "from({call})"),
            Self::Every(step) => write!(f, "every({step})"),
            Self::List(calls) => {
                let calls: Vec<String> = calls.iter().map(u64::to_string).collect();
                write!(f, "list({})", calls.join("+"))
            }
            Self::Chance { per_million } => write!(f, "chance({per_million})"),
        }
    }
}

impl fmt::Display for FaultSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls(calls) => write!(f, "calls({calls})"),
            Self::Nanoseconds(ns) => write!(f, "ns({ns})"),
        }
    }
}

struct Bounds<'a>(&'a RangeInclusive<u64>);

impl fmt::Display for Bounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.0.start(), self.0.end())
    }
}

fn is_known(key: &str) -> bool {
    const KEYS: [&str; 8] = ["seed", "neighbour", "slow", "start", "pinholes", "overflow", "state", "work"];
    KEYS.contains(&key) || REPEATABLE.contains(&key)
}

/// The plan with one more item; `None` when the value cannot be read.
fn with_item(mut plan: FaultPlan, key: &str, value: &str) -> Option<FaultPlan> {
    match (key, value) {
        ("start", "random") => Some(plan.random_start()),
        ("overflow", "4gib") => Some(plan.four_gib_overflow()),
        ("state", "uninitialized") => Some(plan.uninitialized()),
        ("seed", _) => {
            plan.seed = value.parse().ok()?;
            Some(plan)
        }
        ("fail", _) => Some(plan.with_failure(failure(value)?)),
        ("slow", _) => Some(plan.slow_frees(span(value)?)),
        ("work", _) => Some(plan.work_delay_ns(bounds(value)?)),
        ("neighbour", _) => {
            let (period, level_bytes) = value.split_once(':')?;
            Some(plan.noisy_neighbour(span(period)?, bounds(level_bytes)?))
        }
        ("grow", _) => {
            let (at_call, bytes) = value.split_once(':')?;
            Some(plan.grow_runtime(at_call.parse().ok()?, bytes.parse().ok()?))
        }
        ("pinholes", _) => {
            let (every_mib, bytes) = value.split_once(':')?;
            Some(plan.pinholes(every_mib.parse().ok()?, bytes.parse().ok()?))
        }
        ("stall", _) => {
            let (stream, from_ticket) = value.split_once(':')?;
            Some(plan.stall_stream(stream.parse().ok()?, from_ticket.parse().ok()?))
        }
        _ => None,
    }
}

fn failure(text: &str) -> Option<CallFailure> {
    let (name, rest) = text.split_once(':')?;
    let (pattern_text, rest) = rest.split_once(':')?;
    let (operation, _) = OPERATIONS.into_iter().find(|(_, known)| *known == name)?;
    let pattern = pattern(pattern_text)?;
    let (status, device) = match rest.split_once('@') {
        Some((status, device)) => (status, Some(DeviceId(device.parse().ok()?))),
        None => (rest, None),
    };
    Some(CallFailure { operation, pattern, status: Status(status.parse().ok()?), device })
}

fn pattern(text: &str) -> Option<CallPattern> {
    let (name, value) = call(text)?;
    match name {
        "once" => Some(CallPattern::Once(value.parse().ok()?)),
        "from" => Some(CallPattern::From(value.parse().ok()?)),
        "every" => Some(CallPattern::Every(value.parse().ok()?)),
        "chance" => Some(CallPattern::Chance { per_million: value.parse().ok()? }),
        "list" if value.is_empty() => Some(CallPattern::List(Vec::new())),
        "list" => {
            value.split('+').map(|call| call.parse().ok()).collect::<Option<_>>().map(CallPattern::List)
        }
        _ => None,
    }
}

fn span(text: &str) -> Option<FaultSpan> {
    let (name, value) = call(text)?;
    match name {
        "calls" => Some(FaultSpan::Calls(value.parse().ok()?)),
        "ns" => Some(FaultSpan::Nanoseconds(value.parse().ok()?)),
        _ => None,
    }
}

fn bounds(text: &str) -> Option<RangeInclusive<u64>> {
    let (start, end) = text.split_once("..")?;
    Some(start.parse().ok()?..=end.parse().ok()?)
}

/// Splits `name(value)`.
fn call(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix(')')?.split_once('(')
}

fn name_of(operation: Operation) -> &'static str {
    OPERATIONS.iter().find(|(known, _)| *known == operation).map_or("unknown", |(_, name)| name)
}
