//! One element of `neuron-ls --json-output`, with `/sys` for what is missing.
//!
//! Knows the field names, and that each tool version has some of them. Refuses to guess a node.

use serde_json::{Map, Value};

use super::bdf::Bdf;
use super::device::{Device, NodeSource};
use super::host::nodes;
use crate::error::ElementProblem;
use crate::{CpuSet, Lnc, NodeId, SystemRoot};

/// No device has so many logical cores; a list of them is made.
const MAX_CORES: u32 = 1024;

/// What a JSON value is, for a message.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads one device.
pub(super) fn device(value: &Value, root: &SystemRoot) -> Result<Device, ElementProblem> {
    let Value::Object(fields) = value else { return Err(ElementProblem::NotAnObject) };
    let index = whole(fields, "neuron_device").and_then(|number| u32::try_from(number).ok());
    let index = index.ok_or(ElementProblem::Field { field: "neuron_device" })?;
    let bdf = text(fields, "bdf").and_then(|text| read::<Bdf>(index, "bdf", text));
    let mut cpus = text(fields, "cpu_affinity")
        .and_then(|text| read::<CpuSet>(index, "cpu_affinity", text))
        .unwrap_or_default();
    let folder = bdf.map(|bdf| format!("sys/bus/pci/devices/{bdf}"));
    if cpus.is_empty()
        && let Some(folder) = &folder
    {
        cpus = root.parsed(format!("{folder}/local_cpulist")).unwrap_or_default();
    }
    let (node, node_source) = node(fields, index, folder.as_deref(), &cpus, root);
    let (n_cores, core_ids) = cores(fields, index)?;
    Ok(Device {
        index,
        bdf,
        node,
        node_source,
        cpus,
        n_cores,
        lnc: whole(fields, "logical_neuroncore_config").and_then(Lnc::of_number),
        core_ids,
        memory_bytes: whole(fields, "memory_size"),
    })
}

/// The name of the instance type, when the element has it.
pub(super) fn instance_type(value: &Value) -> Option<String> {
    value.get("instance_type")?.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The node: from the tool, else from `/sys`, else the one that has all CPUs near the device.
fn node(
    fields: &Map<String, Value>,
    index: u32,
    folder: Option<&str>,
    cpus: &CpuSet,
    root: &SystemRoot,
) -> (Option<NodeId>, NodeSource) {
    // A text in all known versions; a number would mean the same.
    let said = match fields.get("numa_node") {
        Some(Value::String(text)) if !text.trim().is_empty() => read::<i64>(index, "numa_node", text.trim()),
        Some(Value::Number(number)) => number.as_i64(),
        _ => None,
    };
    let in_sysfs = || root.parsed::<i64>(format!("{}/numa_node", folder?));
    let of = |number: i64, source| match u32::try_from(number).map(NodeId::new) {
        Ok(node) => node.map(|node| (Some(node), source)),
        Err(_) => (number == -1).then_some((NodeId::new(0), NodeSource::SingleNode)),
    };
    said.and_then(|number| of(number, NodeSource::Tool))
        .or_else(|| in_sysfs().and_then(|number| of(number, NodeSource::Sysfs)))
        .or_else(|| near(cpus, root).map(|node| (Some(node), NodeSource::NearCpus)))
        .unwrap_or((None, NodeSource::Unknown))
}

/// The node that has all of these CPUs.
fn near(cpus: &CpuSet, root: &SystemRoot) -> Option<NodeId> {
    let has_all = |(node, own): (NodeId, CpuSet)| (!cpus.is_empty() && cpus.is_subset(&own)).then_some(node);
    nodes(root).into_iter().find_map(has_all)
}

/// Number and ids of the logical cores; the ids win when both are there.
fn cores(fields: &Map<String, Value>, device: u32) -> Result<(u32, Vec<u32>), ElementProblem> {
    let ids = fields.get("neuroncore_ids").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read: Option<Vec<u32>> =
        ids.iter().map(|id| id.as_u64().and_then(|id| u32::try_from(id).ok())).collect();
    let mut ids = read.unwrap_or_default();
    ids.sort_unstable();
    ids.dedup();
    let n_cores = if ids.is_empty() { whole(fields, "nc_count").unwrap_or(0) } else { ids.len() as u64 };
    match u32::try_from(n_cores) {
        Ok(0) => Err(ElementProblem::NoCores { device }),
        Ok(n_cores) if n_cores <= MAX_CORES => Ok((n_cores, ids)),
        _ => Err(ElementProblem::ManyCores { device, n_cores, maximum: MAX_CORES }),
    }
}

fn whole(fields: &Map<String, Value>, name: &str) -> Option<u64> {
    fields.get(name)?.as_u64()
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

/// A text that cannot be read counts as missing, and is reported.
fn read<T>(device: u32, field: &str, text: &str) -> Option<T>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::warn!("neuron-ls, device {device}: `{field}` is passed over: {error}");
            None
        }
    }
}
