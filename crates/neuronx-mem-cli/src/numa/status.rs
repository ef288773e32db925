//! `numa status`: what `get_numa_status` returns for a process, why, and where its memory is.

use std::collections::BTreeMap;
use std::fmt::Write;

use neuronx_mem::stats::format_count;
use neuronx_mem_numa::{
    LocalRank, NodeId, NumaStatus, PageReport, Pages, ProcessRef, StatusInputs, StatusReport,
};
use serde::Serialize;

use super::arguments::StatusArguments;
use super::source::{Source, Variables};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{json, units};

pub(super) fn run(arguments: &StatusArguments) -> Result<Answer, Failure> {
    let process = arguments.pid.map_or(ProcessRef::Own, ProcessRef::Pid);
    let variables = Variables::of(&arguments.source.root, process)?;
    let source = Source::read(&arguments.source, &variables.environment)?;
    let rank = arguments.rank.or_else(|| variables.rank());
    let report = StatusReport::read(&StatusInputs {
        root: &source.root,
        process,
        is_enabled: variables.is_pin_enabled(),
        rank: rank.map(LocalRank),
        topology: source.topology.as_ref(),
    });
    let shown = Shown {
        pid: arguments.pid,
        rank,
        launched_node: variables.launched_node(),
        source: &source.name,
        report: &report,
    };
    output::print(&if arguments.source.json { json::line(&Status::of(&shown))? } else { text(&shown) })?;
    Ok(if report.status.numa_pinned { Answer::Yes } else { Answer::No })
}

/// All that is said of a process.
struct Shown<'a> {
    pid: Option<u32>,
    rank: Option<u32>,
    launched_node: Option<u32>,
    source: &'a str,
    report: &'a StatusReport,
}

fn text(shown: &Shown<'_>) -> String {
    let Shown { pid, rank, launched_node, source, report } = shown;
    let status = &report.status;
    let process = pid.map_or("this process".to_owned(), |pid| format!("process {pid}"));
    let rank = rank.map_or("no local rank".to_owned(), |rank| format!("local rank {rank}"));
    let mut text = format!("NUMA status of {process}, {rank}\n");
    let mut row = |name: &str, value: String| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "  {name:<18} {value}");
    };
    row("pinning enabled", if status.numa_pin_enabled { "yes" } else { "no" }.to_owned());
    row("pinned", report.reason.as_ref().map_or("yes".to_owned(), |reason| format!("no: {reason}")));
    row("current affinity", format!("CPUs {}", status.current_affinity));
    let n_outside = report.n_threads_outside;
    let outside =
        if n_outside == 0 { String::new() } else { format!(", {n_outside} may run outside the node") };
    row("threads", format!("{}{outside}", report.n_threads));
    if status.topology_available {
        let (n_devices, s) = (status.num_devices, if status.num_devices == 1 { "" } else { "s" });
        row("topology", format!("{n_devices} Neuron device{s}, from {source}"));
    } else {
        row("topology", "not available".to_owned());
    }
    if let Some(binding) = &report.binding {
        let (device, core, node) = (binding.device, binding.core, binding.node);
        row("belongs to", format!("device {device}, logical core {core}, NUMA node {node}"));
    }
    if let Some(node) = launched_node {
        row("launched", format!("by neuron-numa-launch, on NUMA node {node}"));
    }
    let Some(pages) = &report.pages else {
        row("memory", "the kernel does not say where it is".to_owned());
        return text;
    };
    row("own memory", memory(&pages.own));
    row("pages of files", memory(&pages.files));
    if let Some(Pages { count, bytes }) = pages.on_wrong_node {
        row("on the wrong node", format!("{} pages, {}", format_count(count), units::bytes(bytes)));
    }
    text
}

fn memory(nodes: &BTreeMap<NodeId, Pages>) -> String {
    let node = |(node, pages): (&NodeId, &Pages)| format!("node {node}: {}", units::bytes(pages.bytes));
    let nodes: Vec<String> = nodes.iter().map(node).collect();
    if nodes.is_empty() { "none".to_owned() } else { nodes.join("; ") }
}

/// The object of `numa status --json`: the keys of `get_numa_status`, and more.
#[derive(Serialize)]
struct Status<'a> {
    schema: u32,
    #[serde(flatten)]
    status: &'a NumaStatus,
    /// One word, null when pinned.
    reason: Option<&'static str>,
    message: Option<String>,
    /// Null for the command itself.
    pid: Option<u32>,
    rank: Option<u32>,
    /// Where `neuron-numa-launch` started it.
    launched_node: Option<u32>,
    device: Option<u32>,
    core: Option<u32>,
    node: Option<u32>,
    threads: usize,
    threads_outside: usize,
    pages: Option<Memory>,
}

#[derive(Serialize)]
struct Memory {
    own: Vec<NodeMemory>,
    files: Vec<NodeMemory>,
    /// Null while the right node is not known.
    wrong: Option<Amount>,
}

#[derive(Serialize)]
struct NodeMemory {
    node: u32,
    #[serde(flatten)]
    amount: Amount,
}

#[derive(Serialize)]
struct Amount {
    pages: u64,
    bytes: u64,
}

impl<'a> Status<'a> {
    fn of(shown: &Shown<'a>) -> Self {
        let Shown { pid, rank, launched_node, report, .. } = *shown;
        let binding = report.binding.as_ref();
        Self {
            schema: json::SCHEMA,
            status: &report.status,
            reason: report.reason.as_ref().map(|reason| reason.name()),
            message: report.reason.as_ref().map(ToString::to_string),
            pid,
            rank,
            launched_node,
            device: binding.map(|binding| binding.device),
            core: binding.map(|binding| binding.core),
            node: binding.map(|binding| binding.node.get()),
            threads: report.n_threads,
            threads_outside: report.n_threads_outside,
            pages: report.pages.as_ref().map(Memory::of),
        }
    }
}

impl Memory {
    fn of(report: &PageReport) -> Self {
        let nodes = |nodes: &BTreeMap<NodeId, Pages>| {
            let node =
                |(node, pages): (&NodeId, &Pages)| NodeMemory { node: node.get(), amount: Amount::of(pages) };
            nodes.iter().map(node).collect()
        };
        let wrong = report.on_wrong_node.as_ref().map(Amount::of);
        Self { own: nodes(&report.own), files: nodes(&report.files), wrong }
    }
}

impl Amount {
    fn of(pages: &Pages) -> Self {
        Self { pages: pages.count, bytes: pages.bytes }
    }
}
