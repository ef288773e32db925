//! `host explain`: the memory failures of a log, with what was behind them and what helps.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use neuronx_mem::stats::format_count;
use neuronx_mem_host::{Explanation, Incident, Remedy, UsageRow, UsageTable, read_log};
use serde::Serialize;

use super::arguments::ExplainArguments;
use super::remedies::{self, RemedyObject};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{json, units};

pub(super) fn run(arguments: &ExplainArguments) -> Result<Answer, Failure> {
    let bytes = read(&arguments.log);
    let bytes = bytes.map_err(|source| Failure::Log { path: arguments.log.clone(), source })?;
    // Logs of several programs may hold anything; what is no text cannot be a line that is looked for.
    let explanation = Explanation::of(&read_log(&String::from_utf8_lossy(&bytes)));
    output::print(&if arguments.json {
        json::line(&Explained::of(&explanation))?
    } else {
        text(&explanation)
    })?;
    Ok(Answer::Yes)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    fs::read(path)
}

fn text(explanation: &Explanation) -> String {
    let mut text: String = explanation.incidents.iter().map(paragraph).collect();
    let kernel = kernel(explanation);
    if !kernel.is_empty() {
        text += &format!("Kernel and driver\n{kernel}\n");
    }
    let remedies = all_remedies(explanation);
    if !remedies.is_empty() {
        text += "What helps against fragmented host memory, the gentlest first\n";
        text += &remedies::text(&remedies);
    }
    if text.is_empty() { "No memory failures found\n".to_owned() } else { text }
}

fn paragraph(incident: &Incident) -> String {
    let about = if incident.is_exact { "" } else { "about " };
    let mut text = format!("Line {}: no {} memory for {about}", incident.line, incident.memory);
    text += &units::bytes(incident.bytes);
    // Writing to a String does not fail.
    if incident.times > 1 {
        let _ = write!(text, ", {}", times(incident.times));
    }
    text.push('\n');
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<8} {value}");
    };
    if let Some(place) = incident.place {
        row("where", &place.to_string());
    }
    if let Some(usage) = &incident.usage {
        row("for", usage);
    }
    incident.tensors.iter().for_each(|tensor| row("tensor", tensor));
    incident.files.iter().for_each(|file| row("details", file));
    incident.reasons().iter().for_each(|reason| row("why", reason));
    incident.advice().iter().for_each(|advice| row("helps", advice));
    text + "\n"
}

fn kernel(explanation: &Explanation) -> String {
    let mut text = String::new();
    for (order, n_times) in &explanation.kernel_failures {
        let bytes = units::bytes(order.bytes());
        let _ = writeln!(text, "  no block of order {order}, {bytes}: {}", times(*n_times));
    }
    for (bytes, n_times) in &explanation.reserve_served {
        let _ = writeln!(text, "  the driver's reserve served {}: {}", units::bytes(*bytes), times(*n_times));
    }
    if explanation.driver_failures > 0 {
        let _ = writeln!(text, "  the driver had no host memory: {}", times(explanation.driver_failures));
    }
    text
}

fn times(n_times: u64) -> String {
    if n_times == 1 { "once".to_owned() } else { format!("{} times", format_count(n_times)) }
}

/// Each remedy once, in the order of the first failure that it helps against.
fn all_remedies(explanation: &Explanation) -> Vec<Remedy> {
    let mut found: Vec<Remedy> = Vec::new();
    for remedy in explanation.incidents.iter().flat_map(Incident::remedies) {
        if found.iter().all(|known| known.kind != remedy.kind) {
            found.push(remedy);
        }
    }
    found
}

/// The object of `host explain --json`.
#[derive(Serialize)]
struct Explained {
    schema: u32,
    incidents: Vec<IncidentObject>,
    kernel_failures: BTreeMap<u8, u64>,
    reserve_served: BTreeMap<u64, u64>,
    driver_failures: u64,
    remedies: Vec<RemedyObject>,
}

#[derive(Serialize)]
struct IncidentObject {
    line: usize,
    memory: String,
    bytes: u64,
    exact: bool,
    times: u64,
    device: Option<u32>,
    core: Option<u32>,
    usage: Option<String>,
    tensors: Vec<String>,
    files: Vec<String>,
    sharing_cores: Vec<u32>,
    /// Bytes by use, from the row that sums up; null without a table.
    usage_bytes: Option<BTreeMap<String, u64>>,
    reasons: Vec<String>,
    advice: Vec<&'static str>,
}

impl Explained {
    fn of(explanation: &Explanation) -> Self {
        Self {
            schema: json::SCHEMA,
            incidents: explanation.incidents.iter().map(IncidentObject::of).collect(),
            kernel_failures: explanation
                .kernel_failures
                .iter()
                .map(|(order, times)| (order.get(), *times))
                .collect(),
            reserve_served: explanation.reserve_served.clone(),
            driver_failures: explanation.driver_failures,
            remedies: all_remedies(explanation).iter().map(RemedyObject::of).collect(),
        }
    }
}

impl IncidentObject {
    fn of(incident: &Incident) -> Self {
        let uses = |row: &UsageRow| {
            row.usage.iter().map(|(category, bytes)| (category.to_string(), *bytes)).collect()
        };
        Self {
            line: incident.line,
            memory: incident.memory.to_string(),
            bytes: incident.bytes,
            exact: incident.is_exact,
            times: incident.times,
            device: incident.place.map(|place| place.device),
            core: incident.place.and_then(|place| place.core),
            usage: incident.usage.clone(),
            tensors: incident.tensors.iter().cloned().collect(),
            files: incident.files.iter().cloned().collect(),
            sharing_cores: incident.sharing_cores.clone(),
            usage_bytes: incident.table.as_ref().and_then(UsageTable::overall).map(uses),
            reasons: incident.reasons(),
            advice: incident.advice(),
        }
    }
}
