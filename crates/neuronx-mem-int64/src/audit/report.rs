//! What an audit found: a row for each operator, totals for each mode.

use std::cmp::Reverse;

use serde::Serialize;

use super::{Dtype, OperatorCall};
use crate::{Basis, Bounce, Int64Mode, Int64Policy, OperatorClass, OperatorFacts, Path, Reason, Risk, Route};

/// What an audit found. Sizes are bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// The policy asked for.
    pub policy: Int64Policy,
    /// One row for each operator that has to do with a 64-bit type.
    pub rows: Vec<AuditRow>,
    /// The totals of every mode, in the order of [`Int64Mode::ALL`].
    pub totals: [ModeTotals; Int64Mode::ALL.len()],
    /// Calls of all operators. A trace of allocations tells calls apart only for operators of the
    /// table; each allocation of another one counts.
    pub calls: u64,
    /// Calls with a 64-bit tensor: those of the rows.
    pub wide_calls: u64,
    /// Calls whose operands are not known, and whose results do not tell.
    pub undecided_calls: u64,
}

/// One operator on one 64-bit type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditRow {
    /// Its name without overload, such as `aten.add`.
    pub operator: String,
    /// Its class; `None` for one that is in no table.
    pub class: Option<OperatorClass>,
    /// Which 64-bit type.
    pub dtype: Dtype,
    /// How often it was called.
    pub calls: u64,
    /// Bytes of 64-bit tensors, as far as they are known.
    pub wide_bytes: u64,
    /// Whether the size of no tensor is known, so that all bytes are 0.
    pub is_unsized: bool,
    /// Whether bytes are at least these, because some operands are not known.
    pub is_lower_bound: bool,
    /// How well it is known whether the device runs it in 64 bits.
    pub basis: Basis,
    /// One for each mode, in the order of [`Int64Mode::ALL`].
    pub routes: [RouteSummary; Int64Mode::ALL.len()],
}

/// How the calls of an operator run in one mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RouteSummary {
    /// The mode.
    pub mode: Int64Mode,
    /// Where its arithmetic runs.
    pub path: Path,
    /// Why there.
    pub reason: Reason,
    /// Bytes bounced by all calls together.
    pub bounced: Bounce,
    /// What can go wrong, the mildest first.
    pub risks: Vec<Risk>,
}

/// All rows together in one mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ModeTotals {
    /// The mode.
    pub mode: Int64Mode,
    /// Calls in 64 bits on the device.
    pub device64_calls: u64,
    /// Calls by the packed view.
    pub packed_calls: u64,
    /// Calls as `int32` with a round trip to the CPU.
    pub int32_calls: u64,
    /// Calls on the CPU.
    pub cpu_calls: u64,
    /// Bytes bounced.
    pub bounced: Bounce,
    /// Calls in which a value can change without an error.
    pub silent_calls: u64,
}

impl AuditReport {
    pub(super) fn new(
        policy: Int64Policy,
        mut rows: Vec<AuditRow>,
        calls: u64,
        undecided_calls: u64,
    ) -> Self {
        rows.sort_by_cached_key(|row| {
            let bounced = row.route(policy.mode).bounced.total_bytes();
            let is_silent = row.route(policy.mode).is_silent();
            (Reverse(bounced), Reverse(is_silent), Reverse(row.calls), row.operator.clone(), row.dtype)
        });
        let totals = Int64Mode::ALL.map(|mode| ModeTotals::of(mode, &rows));
        let wide_calls = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.calls));
        Self { policy, rows, totals, calls, wide_calls, undecided_calls }
    }

    /// Returns the totals of a mode.
    #[must_use]
    pub fn total(&self, mode: Int64Mode) -> &ModeTotals {
        &self.totals[position(mode)]
    }
}

impl AuditRow {
    pub(super) fn new(
        operator: String,
        class: Option<OperatorClass>,
        dtype: Dtype,
        routes: &[Route; Int64Mode::ALL.len()],
    ) -> Self {
        let summary = |mode| {
            let Route { path, reason, .. } = routes[position(mode)];
            RouteSummary { mode, path, reason, bounced: Bounce::default(), risks: Vec::new() }
        };
        Self {
            operator,
            class,
            dtype,
            calls: 0,
            wide_bytes: 0,
            is_unsized: true,
            is_lower_bound: false,
            basis: routes[0].basis,
            routes: Int64Mode::ALL.map(summary),
        }
    }

    pub(super) fn add(
        &mut self,
        call: &OperatorCall,
        facts: Option<&OperatorFacts>,
        dtype: Dtype,
        routes: &[Route; Int64Mode::ALL.len()],
        n_calls: u64,
    ) {
        let traffic = call.traffic(facts);
        let wide_bytes = traffic.wide_operand_bytes.saturating_add(traffic.wide_result_bytes);
        self.calls = self.calls.saturating_add(n_calls);
        self.wide_bytes = self.wide_bytes.saturating_add(wide_bytes.saturating_mul(n_calls));
        self.is_unsized &= !call.has_sizes();
        self.is_lower_bound |= !call.is_complete(facts);
        for (summary, route) in self.routes.iter_mut().zip(routes) {
            summary.bounced = summary.bounced.plus(route.bounced(traffic).times(n_calls));
            let is_data_wide = dtype != Dtype::Int64 || call.is_data_wide(facts);
            let risks = if is_data_wide { route.risks() } else { route.risks_of_index() };
            summary.risks.extend(risks);
            summary.risks.sort_unstable();
            summary.risks.dedup();
        }
    }

    /// Returns how it runs in a mode.
    #[must_use]
    pub fn route(&self, mode: Int64Mode) -> &RouteSummary {
        &self.routes[position(mode)]
    }
}

impl RouteSummary {
    /// Says whether a value can change without an error.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.risks.iter().any(|risk| risk.is_silent())
    }
}

impl ModeTotals {
    fn of(mode: Int64Mode, rows: &[AuditRow]) -> Self {
        let calls = |is_counted: &dyn Fn(&RouteSummary) -> bool| {
            let counted = rows.iter().filter(|row| is_counted(row.route(mode)));
            counted.fold(0_u64, |sum, row| sum.saturating_add(row.calls))
        };
        let on = |path| calls(&|route: &RouteSummary| route.path == path);
        Self {
            mode,
            device64_calls: on(Path::Device64),
            packed_calls: on(Path::DevicePacked),
            int32_calls: on(Path::DeviceInt32),
            cpu_calls: on(Path::Cpu),
            bounced: rows.iter().fold(Bounce::default(), |sum, row| sum.plus(row.route(mode).bounced)),
            silent_calls: calls(&RouteSummary::is_silent),
        }
    }
}

/// Where a mode is among all of them.
const fn position(mode: Int64Mode) -> usize {
    match mode {
        Int64Mode::Native => 0,
        Int64Mode::Packed => 1,
        Int64Mode::NativeStrict => 2,
        Int64Mode::CpuBounce => 3,
        Int64Mode::CpuFallback => 4,
    }
}
