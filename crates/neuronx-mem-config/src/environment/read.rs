//! Typed access to the variables of an environment.
//!
//! Knows how a text, a default and the facts behind a default make one value. Refuses to fail: a bad
//! text leaves the default in force, with a finding.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::default::{DefaultValue, Dependence};
use super::finding::EnvFinding;
use super::kind::{BoolRule, Kind};
use super::parse::{Accepted, parse};
use super::reading::{Origin, Reading};
use super::snapshot::Environment;
use super::value::Value;
use super::variable::Variable;
use crate::AllocatorConfig;
use crate::allocator::quote;

/// Complex numbers are taken apart by default from this version of PyTorch on.
const DECOMPOSING_PYTORCH: (u32, u32) = (2, 13);

impl Environment {
    /// Returns the effective value of a variable of any type. Cost: O(length of the text).
    pub fn read(&self, variable: Variable) -> Reading<Value> {
        match self.raw(variable) {
            None => self.default_reading(variable),
            Some(text) if text.is_empty() && !means_something_empty(variable) => {
                let mut reading = self.default_reading(variable);
                reading.findings.push(EnvFinding::Empty { variable: variable.name() });
                reading
            }
            Some(text) => self.set_reading(variable, text),
        }
    }

    /// Returns whether a switch is on; `false` for a variable of another type.
    ///
    /// While a fact is not known, this is the value for PyTorch before 2.13 and the default stream.
    pub fn bool(&self, variable: Variable) -> Reading<bool> {
        self.read(variable).map(|value| value == Value::Bool(true))
    }

    /// Returns a number in the unit of the variable; 0 where none is known and for other types.
    pub fn int(&self, variable: Variable) -> Reading<u64> {
        self.read(variable).map(|value| match value {
            Value::Int(number) => number,
            _ => 0,
        })
    }

    /// Returns the text of a variable; other types are printed, and an unknown value is empty.
    pub fn text(&self, variable: Variable) -> Reading<String> {
        self.read(variable).map(|value| match value {
            Value::Text(text) => text,
            other => other.to_string(),
        })
    }

    /// Returns a path; empty where none is known and for other types.
    pub fn path(&self, variable: Variable) -> Reading<PathBuf> {
        self.read(variable).map(|value| match value {
            Value::Path(path) => path,
            _ => PathBuf::new(),
        })
    }

    /// Returns the accepted items of a list, trimmed and in order; none for other types.
    pub fn list(&self, variable: Variable) -> Reading<Vec<String>> {
        self.read(variable).map(|value| match value {
            Value::List(items) => items,
            _ => Vec::new(),
        })
    }

    fn set_reading(&self, variable: Variable, text: &OsStr) -> Reading<Value> {
        match parse(variable.kind(), text) {
            Ok(accepted) => {
                let mut findings = item_findings(variable, &accepted);
                findings.extend(text_findings(variable, text));
                Reading { value: accepted.value, origin: Origin::Set, findings }
            }
            Err(problem) => {
                let fallback = self.default_reading(variable);
                let finding = EnvFinding::BadValue {
                    variable: variable.name(),
                    text: quote(&text.to_string_lossy()),
                    problem,
                    used: fallback.value.to_string(),
                };
                Reading { value: fallback.value, origin: Origin::Invalid, findings: vec![finding] }
            }
        }
    }

    fn default_reading(&self, variable: Variable) -> Reading<Value> {
        let (text, origin) = match variable.default_value() {
            DefaultValue::NotStated => (None, Origin::Unset),
            DefaultValue::Plain(text) => (Some(text.to_owned()), Origin::Default),
            DefaultValue::Depends { on, assumed, .. } => {
                let known = self.resolve(on);
                let assumed = (!assumed.is_empty()).then(|| assumed.to_owned());
                (known.or(assumed), Origin::Depends(on))
            }
        };
        let value = text.map_or(Value::Unknown, |text| default_value(variable.kind(), &text));
        Reading { value, origin, findings: Vec::new() }
    }

    /// Returns the default that a fact decides, as text, when the fact is known.
    fn resolve(&self, fact: Dependence) -> Option<String> {
        match fact {
            Dependence::PytorchVersion => {
                let decomposes = self.pytorch_version()? >= DECOMPOSING_PYTORCH;
                Some(if decomposes { "1" } else { "0" }.to_owned())
            }
            Dependence::UserName => Some(format!("/tmp/torchinductor_{}/", self.user_name()?)),
            Dependence::Stream | Dependence::UserId | Dependence::LiveInstance | Dependence::Architecture => {
                None
            }
        }
    }
}

/// Whether the pages give an empty text a meaning of its own, or the default is empty anyway.
fn means_something_empty(variable: Variable) -> bool {
    variable.kind() == Kind::Bool(BoolRule::OnlyOneEnables)
        || variable.default_value() == DefaultValue::Plain("")
}

fn default_value(kind: Kind, text: &str) -> Value {
    parse(kind, OsStr::new(text)).map_or(Value::Unknown, |accepted| accepted.value)
}

fn item_findings(variable: Variable, accepted: &Accepted) -> Vec<EnvFinding> {
    let variable = variable.name();
    let items = accepted.items.iter().map(|item| EnvFinding::BadItem {
        variable,
        text: item.text.clone(),
        problem: item.problem,
        is_kept: item.is_kept,
    });
    let mut findings: Vec<_> = items.collect();
    if accepted.more > 0 {
        findings.push(EnvFinding::MoreItems { variable, count: accepted.more });
    }
    findings
}

/// Findings about a text that is in force as a whole.
fn text_findings(variable: Variable, text: &OsStr) -> Vec<EnvFinding> {
    match variable.kind() {
        Kind::AllocatorKeys => {
            let findings = AllocatorConfig::parse_os(text).findings;
            findings.into_iter().map(EnvFinding::Allocator).collect()
        }
        Kind::Bool(BoolRule::OnlyOneEnables) if text != "0" && text != "1" => {
            vec![EnvFinding::Disables { variable: variable.name(), text: quote(&text.to_string_lossy()) }]
        }
        _ => Vec::new(),
    }
}
