//! A finished plan: where each tensor lies, and how far that is from perfect.

use std::io::{self, Write};

use super::place::Packing;
use super::tensors::Tensor;
use crate::Workload;

/// A tensor and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlacedTensor {
    /// Bytes asked for.
    pub bytes: u64,
    /// First byte, from the start of the range.
    pub offset_bytes: u64,
    /// Event of its allocation, from 1.
    pub birth_event: u64,
    /// Event of its free, from 1; `None` when it outlives the trace.
    pub death_event: Option<u64>,
}

/// A packing of all tensors of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Most bytes that tensors ask for at once.
    pub live_peak_bytes: u64,
    /// No layout with 64-byte alignment can do with less: most bytes of whole 64-byte granules at once.
    pub lower_bound_bytes: u64,
    /// What this packing needs.
    pub planned_peak_bytes: u64,
    /// All tensors of at least one byte, in order of allocation.
    pub tensors: Vec<PlacedTensor>,
}

impl Plan {
    pub(super) fn new(workload: &Workload, tensors: &[Tensor], packing: Packing, bound: u64) -> Self {
        let n_events = workload.n_events();
        let place = |(tensor, offset): (&Tensor, &u64)| PlacedTensor {
            bytes: tensor.bytes,
            offset_bytes: *offset,
            birth_event: tensor.birth as u64 + 1,
            death_event: (tensor.death < n_events).then_some(tensor.death as u64 + 1),
        };
        Self {
            live_peak_bytes: workload.live_peak_bytes(),
            lower_bound_bytes: bound,
            planned_peak_bytes: packing.peak,
            tensors: tensors.iter().zip(&packing.offsets).map(place).collect(),
        }
    }

    /// By how much the packing exceeds the lower bound, percent.
    #[must_use]
    pub fn gap_percent(&self) -> f64 {
        let bound = self.lower_bound_bytes.max(1) as f64;
        (self.planned_peak_bytes as f64 - self.lower_bound_bytes as f64) / bound * 100.0
    }

    /// Writes the layout as lines `birth_event,death_event,bytes,offset_bytes` under a header; the
    /// death is empty for a tensor that outlives the trace.
    ///
    /// # Errors
    ///
    /// What the writer fails with.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "birth_event,death_event,bytes,offset_bytes")?;
        for tensor in &self.tensors {
            let death = tensor.death_event.map_or(String::new(), |event| event.to_string());
            writeln!(out, "{},{death},{},{}", tensor.birth_event, tensor.bytes, tensor.offset_bytes)?;
        }
        Ok(())
    }
}
