//! The audit: every call of a program, and how each mode would run it.
//!
//! Takes calls one after the other and keeps one row for each operator. Reads no file.

mod call;
mod dtype;
mod report;

use std::collections::BTreeMap;

pub use call::{OperatorCall, TensorInfo};
pub use dtype::Dtype;
pub use report::{AuditReport, AuditRow, ModeTotals, RouteSummary};

use self::call::Concern;
use crate::{
    Float64Use, Int64Mode, Int64Policy, OperatorClass, OperatorFacts, OperatorName, OperatorTable, Route,
    Values, route_float64,
};

/// Collects calls and says how each operator runs in each mode.
///
/// ```
/// use neuronx_mem_int64::{Audit, Dtype, Int64Mode, OperatorCall, OperatorTable, Path, TensorInfo};
///
/// let mut audit = Audit::new(OperatorTable::built_in(), Int64Mode::Native.into());
/// let ids = TensorInfo::new(Dtype::Int64, [8, 1024]);
/// let call = OperatorCall::new("aten.cumsum.default", [ids.clone()]).with_operands([ids]);
/// audit.add(&call, 4);
///
/// let report = audit.finish();
/// let [row] = &report.rows[..] else { panic!("one operator") };
/// assert_eq!((row.operator.as_str(), row.calls), ("aten.cumsum", 4));
/// let on_cpu = row.route(Int64Mode::CpuFallback);
/// assert_eq!((on_cpu.path, on_cpu.bounced.total_bytes()), (Path::Cpu, 4 * 2 * 8 * 8192));
/// ```
#[derive(Clone, Debug)]
pub struct Audit<'a> {
    table: &'a OperatorTable,
    policy: Int64Policy,
    rows: BTreeMap<(OperatorName, Dtype), AuditRow>,
    n_calls: u64,
    n_undecided_calls: u64,
}

impl<'a> Audit<'a> {
    /// Starts an audit; the policy's mode is the one by which rows are sorted.
    #[must_use]
    pub const fn new(table: &'a OperatorTable, policy: Int64Policy) -> Self {
        Self { table, policy, rows: BTreeMap::new(), n_calls: 0, n_undecided_calls: 0 }
    }

    /// Counts a call `n_calls` times. Calls without a 64-bit tensor have no row.
    pub fn add(&mut self, call: &OperatorCall, n_calls: u64) {
        let name = OperatorName::fold(call.operator());
        let facts = self.table.find(&name);
        self.n_calls = self.n_calls.saturating_add(n_calls);
        let dtype = match call.concern(facts) {
            Concern::None => return,
            Concern::Undecided => {
                self.n_undecided_calls = self.n_undecided_calls.saturating_add(n_calls);
                return;
            }
            Concern::Wide(dtype) => dtype,
        };
        let check = self.policy.check_overflow;
        let routes = Int64Mode::ALL.map(|mode| match dtype {
            Dtype::Float64 => route_float64(float64_use(facts)),
            _ => Route::of(facts, Int64Policy::new(mode, check)),
        });
        let row = self.rows.entry((name, dtype)).or_insert_with_key(|(name, dtype)| {
            AuditRow::new(name.qualified(), facts.map(|facts| facts.class), *dtype, &routes)
        });
        row.add(call, facts, dtype, &routes, n_calls);
    }

    /// Ends the audit: rows with the most bytes bounced in the policy's mode first, then those
    /// in which values can change without an error, then those with the most calls, then by name.
    #[must_use]
    pub fn finish(self) -> AuditReport {
        AuditReport::new(self.policy, self.rows.into_values().collect(), self.n_calls, self.n_undecided_calls)
    }
}

fn float64_use(facts: Option<&OperatorFacts>) -> Float64Use {
    match facts {
        Some(facts) if facts.class == OperatorClass::Cast => Float64Use::Conversion,
        Some(facts) if matches!(facts.values, Values::View | Values::Moved) => Float64Use::Movement,
        _ => Float64Use::Operator,
    }
}
