//! `numa topology`: devices, nodes, what is allowed, and the CPUs of each rank.

use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem_config::Environment;
use neuronx_mem_numa::{AffinityMode, Binding, Device, Host, PlanError, Planner, ProcessRef, Topology};
use serde::Serialize;

use super::arguments::TopologyArguments;
use super::source::Source;
use crate::failure::Failure;
use crate::json;
use crate::output::{self, Answer};

/// One rank after the other.
type Plan = Vec<Result<Binding, PlanError>>;

pub(super) fn run(arguments: &TopologyArguments) -> Result<Answer, Failure> {
    let source = Source::read(&arguments.source, &Environment::capture())?;
    let needs_layout = arguments.plan.is_some_and(AffinityMode::needs_layout);
    let read = if needs_layout { Host::read_with_layout } else { Host::read };
    let host = read(&source.root, ProcessRef::Own);
    let plan: Option<(AffinityMode, Plan)> = arguments.plan.and_then(|mode| {
        let topology = source.topology.as_ref().ok()?;
        Some((mode, Planner::new(topology, &host, mode).bindings().collect()))
    });
    output::print(&if arguments.source.json {
        json::line(&Shown::of(&source, &host, plan.as_ref()))?
    } else {
        text(&source, &host, plan.as_ref())
    })?;
    let has_place = plan.is_none_or(|(_, ranks)| ranks.iter().all(Result::is_ok));
    Ok(if source.topology.is_ok() && has_place { Answer::Yes } else { Answer::No })
}

fn text(source: &Source, host: &Host, plan: Option<&(AffinityMode, Plan)>) -> String {
    let devices = match &source.topology {
        Ok(topology) => devices(topology, &source.name),
        Err(error) => format!("Neuron devices are not known: {error}\n\n"),
    };
    let plan = plan.map_or(String::new(), |(mode, ranks)| ranks_table(*mode, ranks));
    devices + &nodes(host) + &plan
}

fn devices(topology: &Topology, source: &str) -> String {
    let kind = topology.instance_type().map_or(String::new(), |name| format!(" of {name}"));
    let mut table = table(&["Device", "PCI", "Node", "Node from", "Near CPUs", "Cores", "LNC", "Memory"]);
    for device in topology.devices() {
        table.add_row([
            device.index.to_string(),
            device.bdf.map_or("-".to_owned(), |bdf| bdf.to_string()),
            device.node.map_or("-".to_owned(), |node| node.to_string()),
            device.node_source.name().to_owned(),
            or_dash(device.cpus.to_string()),
            cores(topology, device),
            device.lnc.map_or("-".to_owned(), |lnc| lnc.to_string()),
            device.memory_bytes.map_or("-".to_owned(), memory),
        ]);
    }
    align_right(&mut table, &[0, 2, 6, 7]);
    format!("Neuron devices{kind}, from {source}\n{}\n\n", table.trim_fmt())
}

/// The ids, as a range where they are one.
fn cores(topology: &Topology, device: &Device) -> String {
    let is_own = |idx: usize| topology.devices()[idx].index == device.index;
    let ids: Vec<u32> =
        topology.cores().iter().filter(|core| is_own(core.device_idx)).map(|core| core.id).collect();
    match (ids.first(), ids.last()) {
        (Some(first), Some(last)) if ids.len() > 1 && (last - first) as usize == ids.len() - 1 => {
            format!("{first}-{last}")
        }
        _ => ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    }
}

fn memory(bytes: u64) -> String {
    bytesize::ByteSize(bytes).display().iec().to_string()
}

fn nodes(host: &Host) -> String {
    let mut text = String::from("NUMA nodes\n");
    if host.nodes.is_empty() {
        text += "  the kernel shows none\n";
    } else {
        let mut table = table(&["Node", "CPUs", "Allowed CPUs", "Memory"]);
        for (node, cpus) in &host.nodes {
            let is_allowed = host.memory_nodes.is_empty() || host.memory_nodes.contains(*node);
            table.add_row([
                node.to_string(),
                or_dash(cpus.to_string()),
                or_dash(cpus.intersection(&host.allowed).to_string()),
                if is_allowed { "allowed" } else { "not allowed" }.to_owned(),
            ]);
        }
        align_right(&mut table, &[0]);
        text += &(table.trim_fmt() + "\n");
    }
    text
}

fn ranks_table(mode: AffinityMode, ranks: &Plan) -> String {
    let mut table = table(&["Local ranks", "Device", "Node", "CPUs"]);
    let mut rows: Vec<(usize, usize, [String; 3])> = Vec::new();
    for (rank, place) in ranks.iter().enumerate() {
        let cells = match place {
            Ok(Binding { device, node, cpus, .. }) => {
                [device.to_string(), node.to_string(), cpus.to_string()]
            }
            Err(error) => ["-".to_owned(), "-".to_owned(), error.to_string()],
        };
        match rows.last_mut() {
            Some((_, last, same)) if *same == cells => *last = rank,
            _ => rows.push((rank, rank, cells)),
        }
    }
    for (first, last, [device, node, cpus]) in rows {
        let ranks = if first == last { first.to_string() } else { format!("{first}-{last}") };
        table.add_row([ranks, device, node, cpus]);
    }
    align_right(&mut table, &[1, 2]);
    format!("\nPlan, mode {mode}\n{}\n", table.trim_fmt())
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    table
}

fn align_right(table: &mut Table, columns: &[usize]) {
    for column in columns {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// The object of `numa topology --json`.
#[derive(Serialize)]
struct Shown<'a> {
    schema: u32,
    source: &'a str,
    /// Null when the devices are known.
    error: Option<String>,
    instance_type: Option<&'a str>,
    devices: Vec<ShownDevice<'a>>,
    nodes: Vec<ShownNode>,
    allowed_cpus: String,
    memory_nodes: String,
    plan: Option<ShownPlan>,
}

#[derive(Serialize)]
struct ShownDevice<'a> {
    device: u32,
    pci: Option<String>,
    node: Option<u32>,
    node_source: &'static str,
    cpus: String,
    cores: u32,
    core_ids: &'a [u32],
    lnc: Option<u32>,
    memory: Option<u64>,
}

#[derive(Serialize)]
struct ShownNode {
    node: u32,
    cpus: String,
}

#[derive(Serialize)]
struct ShownPlan {
    mode: &'static str,
    ranks: Vec<ShownRank>,
}

#[derive(Default, Serialize)]
struct ShownRank {
    rank: usize,
    core: Option<u32>,
    device: Option<u32>,
    node: Option<u32>,
    cpus: Option<String>,
    error: Option<String>,
}

impl<'a> Shown<'a> {
    fn of(source: &'a Source, host: &Host, plan: Option<&(AffinityMode, Plan)>) -> Self {
        let topology = source.topology.as_ref();
        let devices = topology.map(Topology::devices).unwrap_or_default();
        let node = |(node, cpus): (&neuronx_mem_numa::NodeId, &neuronx_mem_numa::CpuSet)| ShownNode {
            node: node.get(),
            cpus: cpus.to_string(),
        };
        Self {
            schema: json::SCHEMA,
            source: &source.name,
            error: topology.err().map(ToString::to_string),
            instance_type: topology.ok().and_then(Topology::instance_type),
            devices: devices.iter().map(ShownDevice::of).collect(),
            nodes: host.nodes.iter().map(node).collect(),
            allowed_cpus: host.allowed.to_string(),
            memory_nodes: host.memory_nodes.to_string(),
            plan: plan.map(|(mode, ranks)| ShownPlan {
                mode: mode.name(),
                ranks: ranks.iter().enumerate().map(ShownRank::of).collect(),
            }),
        }
    }
}

impl<'a> ShownDevice<'a> {
    fn of(device: &'a Device) -> Self {
        Self {
            device: device.index,
            pci: device.bdf.map(|bdf| bdf.to_string()),
            node: device.node.map(|node| node.get()),
            node_source: device.node_source.name(),
            cpus: device.cpus.to_string(),
            cores: device.n_cores,
            core_ids: &device.core_ids,
            lnc: device.lnc.map(|lnc| lnc.number()),
            memory: device.memory_bytes,
        }
    }
}

impl ShownRank {
    fn of((rank, place): (usize, &Result<Binding, PlanError>)) -> Self {
        match place {
            Ok(Binding { core, device, node, cpus, .. }) => Self {
                rank,
                core: Some(*core),
                device: Some(*device),
                node: Some(node.get()),
                cpus: Some(cpus.to_string()),
                error: None,
            },
            Err(error) => Self { rank, error: Some(error.to_string()), ..Self::default() },
        }
    }
}
