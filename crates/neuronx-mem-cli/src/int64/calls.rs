//! From records to calls: allocations that one call made belong together.

use neuronx_mem_int64::{Audit, OperatorCall, OperatorTable, TensorInfo};

use super::record::Record;

/// Puts calls together and hands them to an audit.
pub(super) struct Calls<'a, 'b> {
    table: &'a OperatorTable,
    audit: &'a mut Audit<'b>,
    pending: Option<Pending>,
    n_records: u64,
}

/// A call whose results may not all have been read.
struct Pending {
    operator: String,
    stack_id: Option<u64>,
    results: Vec<TensorInfo>,
    n_results: usize,
}

impl<'a, 'b> Calls<'a, 'b> {
    pub(super) fn new(table: &'a OperatorTable, audit: &'a mut Audit<'b>) -> Self {
        Self { table, audit, pending: None, n_records: 0 }
    }

    /// A name from a list.
    pub(super) fn named(&mut self, name: &str, n_calls: u64) {
        self.n_records += 1;
        self.audit.add(&OperatorCall::of_int64(name), n_calls);
    }

    /// A whole call, or an allocation: with the one before it when that is of the same operator and
    /// place, and the operator returns so many tensors.
    pub(super) fn record(&mut self, record: Record) -> Result<(), String> {
        self.n_records += 1;
        let results = record.results()?;
        if record.is_call() || record.n_calls() != 1 {
            self.flush();
            let call = OperatorCall::new(&record.op, results);
            let call = match record.operands() {
                Some(operands) => call.with_operands(operands),
                None => call,
            };
            self.audit.add(&call, record.n_calls());
            return Ok(());
        }
        match &mut self.pending {
            Some(pending) if pending.takes(&record) => pending.results.extend(results),
            _ => {
                self.flush();
                let n_results = self.table.get(&record.op).map_or(1, |facts| facts.n_results);
                let Record { op: operator, stack_id, .. } = record;
                self.pending = Some(Pending { operator, stack_id, results, n_results });
            }
        }
        Ok(())
    }

    /// Ends the last call, and says how many records there were.
    pub(super) fn finish(mut self) -> u64 {
        self.flush();
        self.n_records
    }

    fn flush(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.audit.add(&OperatorCall::new(pending.operator, pending.results), 1);
        }
    }
}

impl Pending {
    fn takes(&self, record: &Record) -> bool {
        self.results.len() < self.n_results && self.operator == record.op && self.stack_id == record.stack_id
    }
}
