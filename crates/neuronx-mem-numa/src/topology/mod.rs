//! What is there: devices with their logical cores and nodes, CPUs and what this process may use.
//!
//! Knows the output of `neuron-ls` and the files of `/sys` and `/proc`. Refuses tables of instance
//! types: a machine says itself what it has.

mod bdf;
mod device;
mod element;
mod host;
mod layout;

pub use bdf::Bdf;
pub use device::{Device, LogicalCore, NodeSource};
pub use host::Host;
pub(crate) use host::list_of;
pub use layout::{CpuLayout, CpuPlace};

use std::collections::BTreeSet;

use serde_json::Value;

use crate::error::ElementProblem;
use crate::{Lnc, LocalRank, NeuronLs, NumaError, SystemRoot};

/// More devices than any machine has; a list of their cores is made.
const MAX_DEVICES: usize = 4096;

/// The Neuron devices that this process sees (guidelines for memory management, "Pin host memory").
///
/// In a container that is a part of the machine's devices, numbered anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// In ascending order of their numbers; not empty.
    devices: Vec<Device>,
    instance_type: Option<String>,
    /// In ascending order of their ids; the order of ranks.
    cores: Vec<LogicalCore>,
}

impl Topology {
    /// Asks `neuron-ls`, and `/sys` for what it does not say. Cost: one process, a few files a device.
    ///
    /// # Errors
    ///
    /// A `Tool…` variant of [`NumaError`] when the tool does not answer; see
    /// [`from_json`](Self::from_json) for an answer that cannot be used.
    pub fn discover(tool: &NeuronLs, root: &SystemRoot) -> Result<Self, NumaError> {
        Self::from_json(&tool.json()?, root)
    }

    /// Reads what `neuron-ls --json-output` printed, and looks in `/sys` for what it does not say.
    ///
    /// Unknown fields and the list of processes are passed over. A field that is missing, or whose text
    /// cannot be read, is looked up elsewhere; a device whose node nobody knows stays in the list.
    ///
    /// # Errors
    ///
    /// [`NumaError::Json`], [`NumaError::NotAList`] and [`NumaError::Element`] for texts that are no
    /// list of devices, [`NumaError::NoDevices`] for an empty one, [`NumaError::ManyDevices`] for one of
    /// more than 4096.
    pub fn from_json(json: &[u8], root: &SystemRoot) -> Result<Self, NumaError> {
        let value: Value = serde_json::from_slice(json).map_err(|source| NumaError::Json { source })?;
        let Value::Array(elements) = value else {
            return Err(NumaError::NotAList { found: element::kind(&value) });
        };
        if elements.len() > MAX_DEVICES {
            return Err(NumaError::ManyDevices { n_devices: elements.len(), maximum: MAX_DEVICES });
        }
        let mut devices = Vec::with_capacity(elements.len());
        let mut seen = BTreeSet::new();
        for (element_idx, value) in elements.iter().enumerate() {
            let refused = |problem| NumaError::Element { element_idx, problem };
            let device = element::device(value, root).map_err(refused)?;
            if !seen.insert(device.index) {
                return Err(refused(ElementProblem::Twice { device: device.index }));
            }
            devices.push(device);
        }
        if devices.is_empty() {
            return Err(NumaError::NoDevices);
        }
        devices.sort_by_key(|device| device.index);
        let instance_type = elements.iter().find_map(element::instance_type);
        let cores = cores(&devices);
        Ok(Self { devices, instance_type, cores })
    }

    /// Returns the devices in ascending order of their numbers; at least one.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the name of the instance type, which newer tools say. Nothing here depends on it.
    pub fn instance_type(&self) -> Option<&str> {
        self.instance_type.as_deref()
    }

    /// Returns the logical cores in the order of their ids, which is the order of the ranks.
    pub fn cores(&self) -> &[LogicalCore] {
        &self.cores
    }

    /// Returns the logical core of a rank and its device; none when there are fewer cores. Cost: O(1).
    pub fn core_of(&self, rank: LocalRank) -> Option<(LogicalCore, &Device)> {
        let core = *self.cores.get(rank.0 as usize)?;
        Some((core, &self.devices[core.device_idx]))
    }

    /// Returns the topology as a process sees it that sets `NEURON_LOGICAL_NC_CONFIG`.
    ///
    /// Devices of which the tool does not say how many physical cores make a logical one stay as they
    /// are. Where the number changes, cores are numbered from 0 again, device by device.
    #[must_use]
    pub fn with_lnc(mut self, lnc: Lnc) -> Self {
        let mut is_changed = false;
        for device in &mut self.devices {
            let Some(old) = device.lnc.filter(|old| *old != lnc) else { continue };
            device.n_cores = (device.n_cores * old.number() / lnc.number()).max(1);
            device.lnc = Some(lnc);
            is_changed = true;
        }
        if is_changed {
            self.devices.iter_mut().for_each(|device| device.core_ids.clear());
            self.cores = cores(&self.devices);
        }
        self
    }
}

/// All cores in the order of their ids. A device without ids gets the next free ones.
fn cores(devices: &[Device]) -> Vec<LogicalCore> {
    let mut cores = Vec::new();
    let mut next: u32 = 0;
    for (device_idx, device) in devices.iter().enumerate() {
        let numbered = next..next.saturating_add(device.n_cores);
        let ids = if device.core_ids.is_empty() { numbered.collect() } else { device.core_ids.clone() };
        next = ids.iter().copied().max().map_or(next, |last| last.saturating_add(1).max(next));
        cores.extend(ids.into_iter().map(|id| LogicalCore { id, device_idx }));
    }
    cores.sort();
    cores
}
