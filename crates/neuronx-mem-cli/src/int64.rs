//! The verb `int64`: how operators on 64-bit tensors would run in each mode.

mod arguments;
mod calls;
mod error;
mod input;
mod list;
mod record;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use arguments::Int64Arguments;
use arguments::{AuditArguments, Int64Verb};
pub(crate) use error::AuditError;
use neuronx_mem_config::{Environment, Int64Settings, Severity};
use neuronx_mem_int64::{Audit, AuditReport, Int64Policy, OperatorTable, Risk};
use serde::Serialize;

use crate::failure::Failure;
use crate::json;
use crate::output::{self, Answer};

pub(crate) fn run(arguments: &Int64Arguments) -> Result<Answer, Failure> {
    match &arguments.action {
        Int64Verb::Audit(arguments) => audit(arguments),
    }
}

fn audit(arguments: &AuditArguments) -> Result<Answer, Failure> {
    let table = operator_table(arguments)?;
    let mut audit = Audit::new(&table, policy(arguments));
    let name = input::read(&arguments.input, &table, &mut audit)?;
    let report = audit.finish();
    output::print(&if arguments.json {
        json::line(&Object { schema: json::SCHEMA, input: &name, report: &report })?
    } else {
        table::text(&name, &report, output::width())
    })?;
    Ok(if arguments.check && is_at_risk(&report) { Answer::No } else { Answer::Yes })
}

/// The object of `int64 audit --json`.
#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    input: &'a str,
    #[serde(flatten)]
    report: &'a AuditReport,
}

/// The built-in table, and what the user adds to it.
fn operator_table(arguments: &AuditArguments) -> Result<OperatorTable, Failure> {
    let mut table = OperatorTable::built_in().clone();
    for path in &arguments.operators {
        let unreadable = |source| AuditError::Operators { path: path.clone(), source };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        table.extend(&text).map_err(|source| AuditError::Table { path: path.clone(), source })?;
    }
    Ok(table)
}

/// What the options say, else what the two variables say.
fn policy(arguments: &AuditArguments) -> Int64Policy {
    let (settings, findings) = Int64Settings::from_environment(Environment::process());
    let problems = findings.iter().filter(|finding| finding.severity() >= Severity::Warning);
    // A variable that is not asked for needs no warning.
    for finding in problems.filter(|_| arguments.mode.is_none()) {
        tracing::warn!("{finding}");
    }
    let (set, _) = Int64Policy::from_values(Some(settings.mode.name()), settings.check_overflow);
    Int64Policy::new(arguments.mode.unwrap_or(set.mode), arguments.check_overflow || set.check_overflow)
}

/// Whether a call of the mode asked for can change a value without an error, will not compile, or is
/// of an operator that nobody knows.
fn is_at_risk(report: &AuditReport) -> bool {
    let is_bad = |risk: &Risk| risk.is_silent() || matches!(risk, Risk::Unknown | Risk::Refused);
    report.rows.iter().any(|row| row.route(report.policy.mode).risks.iter().any(is_bad))
}
