//! The failures of a log, each with all that is known of it.

use std::collections::BTreeMap;

use super::event::{EventKind, LogEvent, MemoryKind};
use super::incident::Incident;
use crate::PageOrder;

/// What a log says in sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The failures, in the order of their first line.
    pub incidents: Vec<Incident>,
    /// Requests that the kernel refused, by order.
    pub kernel_failures: BTreeMap<PageOrder, u64>,
    /// Requests that the driver's reserve served, by bytes.
    pub reserve_served: BTreeMap<u64, u64>,
    /// Times that the driver had nothing either.
    pub driver_failures: u64,
}

/// What is being put together.
#[derive(Debug, Default)]
struct Builder {
    explanation: Explanation,
    /// The incident that lines are about now, and which kinds of lines it has had.
    current: Option<(usize, Seen)>,
    /// Cores that share a stack, named before the failure itself.
    sharing_cores: Vec<u32>,
}

/// Lines of one failure come once each; a second one starts another.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    allocation: bool,
    tensor: bool,
    usage: bool,
    table: bool,
}

#[derive(Clone, Copy, Debug)]
enum Line {
    Allocation,
    Tensor,
    Usage,
}

impl Explanation {
    /// Puts together what belongs to one failure: the runtime reports it in up to three lines, around
    /// which files and tables stand. The same failure again is counted. O(events × failures).
    #[must_use]
    pub fn of(events: &[LogEvent]) -> Self {
        let mut builder = Builder::default();
        events.iter().for_each(|event| builder.push(event));
        builder.explanation
    }
}

impl Builder {
    fn push(&mut self, event: &LogEvent) {
        let explanation = &mut self.explanation;
        match &event.kind {
            EventKind::AllocationFailed { memory, bytes } => {
                self.incident(event.line, *memory, *bytes, Line::Allocation);
            }
            EventKind::TensorFailed { memory, bytes, tensor } => {
                let incident = self.incident(event.line, *memory, *bytes, Line::Tensor);
                incident.tensors.extend(tensor.clone());
            }
            EventKind::UsageFailed { about_bytes, usage, place, .. } => {
                let cores = std::mem::take(&mut self.sharing_cores);
                let incident = self.incident(event.line, MemoryKind::Device, *about_bytes, Line::Usage);
                incident.usage = Some(usage.clone());
                incident.place = Some(*place);
                incident.sharing_cores = cores;
            }
            EventKind::SharedStack { cores, .. } => self.sharing_cores.clone_from(cores),
            EventKind::FileWritten { path, .. } => {
                if let Some(incident) = self.current() {
                    incident.files.insert(path.clone());
                }
            }
            EventKind::Usage(table) => {
                // The first one after a failure is about it; later ones may be about a load that went well.
                let Some((idx, seen)) = self.current.as_mut().filter(|(_, seen)| !seen.table) else { return };
                let incident = &mut explanation.incidents[*idx];
                if incident.memory == MemoryKind::Device {
                    incident.table = Some(table.clone());
                    seen.table = true;
                }
            }
            EventKind::KernelFailed { order, .. } => {
                *explanation.kernel_failures.entry(*order).or_default() += 1;
            }
            EventKind::ReserveServed { bytes } => {
                *explanation.reserve_served.entry(*bytes).or_default() += 1;
            }
            EventKind::DriverFailed { .. } => explanation.driver_failures += 1,
            EventKind::Status { .. } | EventKind::KernelBlocks { .. } => {}
        }
    }

    fn current(&mut self) -> Option<&mut Incident> {
        let (idx, _) = self.current?;
        self.explanation.incidents.get_mut(idx)
    }

    /// The incident of a line: the current one where the line completes it, else one of this kind that
    /// happens again, else a new one.
    fn incident(&mut self, number: usize, memory: MemoryKind, bytes: u64, line: Line) -> &mut Incident {
        let is_exact = !matches!(line, Line::Usage);
        let incidents = &mut self.explanation.incidents;
        let completes = self
            .current
            .filter(|(idx, seen)| incidents[*idx].is_about(memory, bytes, is_exact) && !seen.has(line));
        let (idx, mut seen) = completes.unwrap_or_else(|| {
            let known = incidents.iter().position(|one| one.is_about(memory, bytes, is_exact));
            let idx = known.unwrap_or(incidents.len());
            match known {
                Some(idx) => incidents[idx].times += 1,
                None => incidents.push(Incident::new(number, memory, bytes, is_exact)),
            }
            (idx, Seen::default())
        });
        seen.set(line);
        self.current = Some((idx, seen));
        let incident = &mut incidents[idx];
        if is_exact && !incident.is_exact {
            (incident.bytes, incident.is_exact) = (bytes, true);
        }
        incident
    }
}

impl Seen {
    const fn has(self, line: Line) -> bool {
        match line {
            Line::Allocation => self.allocation,
            Line::Tensor => self.tensor,
            Line::Usage => self.usage,
        }
    }

    const fn set(&mut self, line: Line) {
        match line {
            Line::Allocation => self.allocation = true,
            Line::Tensor => self.tensor = true,
            Line::Usage => self.usage = true,
        }
    }
}
