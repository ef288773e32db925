//! `Device`: numbers, texts and switches of one device, of the process's world or of an allocator.
//!
//! Knows no arguments as people give them: `neuronx_mem.memory` turns those into a device. Everything
//! that may wait lets other Python threads run meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;

use neuronx_mem::Device;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::raised;
use crate::stream::PyStream;

/// One device.
#[pyclass(name = "Device", module = "neuronx_mem", frozen)]
#[derive(Debug)]
pub(crate) struct PyDevice {
    pub(crate) device: Device,
    pub(crate) facts: Arc<Facts>,
}

/// What is known of an allocator's devices beside their memory.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// `trn2`, or `libnrt`.
    pub(crate) name: String,
    /// Physical cores a logical one; `None` where libnrt decides.
    pub(crate) lnc: Option<u64>,
    /// What one logical core may use; `None` where libnrt decides.
    pub(crate) core_bytes: Option<u64>,
    pub(crate) is_simulated: bool,
}

#[pymethods]
impl PyDevice {
    /// Its ordinal.
    #[getter]
    fn index(&self) -> u32 {
        self.device.id().0
    }

    /// Block bytes that live tensors hold.
    fn memory_allocated(&self) -> u64 {
        self.device.memory_allocated()
    }

    /// Most of them at once since the last reset of peaks.
    fn max_memory_allocated(&self) -> u64 {
        self.device.max_memory_allocated()
    }

    /// Bytes of the segments held from the runtime.
    fn memory_reserved(&self) -> u64 {
        self.device.memory_reserved()
    }

    /// Most of them at once since the last reset of peaks.
    fn max_memory_reserved(&self) -> u64 {
        self.device.max_memory_reserved()
    }

    /// All statistics as a flat dict.
    fn memory_stats(&self) -> BTreeMap<String, i64> {
        self.device.memory_stats().to_map()
    }

    /// The table of the memory profiling guide.
    fn memory_summary(&self) -> String {
        self.device.memory_summary()
    }

    /// Sets every peak to its current value.
    fn reset_peak_memory_stats(&self, py: Python<'_>) {
        py.detach(|| self.device.reset_peak_memory_stats());
    }

    /// Zeroes the counters and every `allocated` and `freed`.
    fn reset_accumulated_memory_stats(&self, py: Python<'_>) {
        py.detach(|| self.device.reset_accumulated_memory_stats());
    }

    /// Says that all work of the device is done.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.device.try_synchronize()).map_err(|error| raised(py, &error))
    }

    /// Gives fully free segments back to the runtime; segments and bytes.
    fn empty_cache(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let released = py.detach(|| self.device.empty_cache()).map_err(|error| raised(py, &error))?;
        Ok((released.segments, released.bytes))
    }

    /// Free and total bytes, as the runtime sees them.
    fn mem_get_info(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let info = py.detach(|| self.device.memory_info()).map_err(|error| raised(py, &error))?;
        Ok((info.free_bytes(), info.limit_bytes))
    }

    /// Caps what is reserved at a part of the device's memory.
    fn set_memory_fraction(&self, py: Python<'_>, fraction: f64) -> PyResult<()> {
        py.detach(|| self.device.set_memory_fraction(fraction)).map_err(|error| raised(py, &error))
    }

    /// The cap in force below the device's memory, bytes.
    fn memory_cap(&self) -> Option<u64> {
        self.device.memory_cap_bytes()
    }

    /// The analysis as a dict of plain numbers; names as in its dataclass.
    fn segment_pool_analysis<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let analysis = py.detach(|| self.device.segment_pool_analysis());
        let numbers = PyDict::new(py);
        numbers.set_item("device", analysis.device)?;
        numbers.set_item("total_bytes", analysis.total_bytes)?;
        numbers.set_item("reserved_bytes", analysis.reserved_bytes)?;
        numbers.set_item("allocated_bytes", analysis.allocated_bytes)?;
        numbers.set_item("active_bytes", analysis.active_bytes)?;
        numbers.set_item("pending_bytes", analysis.pending_bytes)?;
        numbers.set_item("cached_free_bytes", analysis.cached_free_bytes)?;
        numbers.set_item("free_bytes", analysis.free_bytes)?;
        numbers.set_item("largest_free_bytes", analysis.largest_free_bytes)?;
        numbers.set_item("internal_fragmentation_bytes", analysis.internal_fragmentation_bytes)?;
        numbers.set_item("external_fragmentation_bytes", analysis.external_fragmentation_bytes)?;
        numbers.set_item("fragmentation_index", analysis.fragmentation_index)?;
        numbers.set_item("memory_density", analysis.memory_density)?;
        numbers.set_item("n_segments", analysis.segments.len())?;
        numbers.set_item("free_segments", analysis.free_segments)?;
        numbers.set_item("free_segment_bytes", analysis.free_segment_bytes)?;
        numbers.set_item("holes", analysis.holes)?;
        numbers.set_item("hole_bytes", analysis.hole_bytes)?;
        Ok(numbers)
    }

    /// The analysis as a text report.
    fn segment_pool_analysis_summary(&self, py: Python<'_>) -> String {
        py.detach(|| self.device.segment_pool_analysis_summary())
    }

    /// Name, logical-core configuration, bytes of one logical core, whether simulated.
    fn facts(&self) -> (String, Option<u64>, Option<u64>, bool) {
        (self.facts.name.clone(), self.facts.lnc, self.facts.core_bytes, self.facts.is_simulated)
    }

    /// The stream that every device has.
    fn default_stream(&self) -> PyStream {
        PyStream { stream: self.device.default_stream() }
    }

    /// Another one; the default one where streams are switched off.
    fn new_stream(&self, py: Python<'_>) -> PyResult<PyStream> {
        let stream = py.detach(|| self.device.new_stream()).map_err(|error| raised(py, &error))?;
        Ok(PyStream { stream })
    }

    fn __repr__(&self) -> String {
        format!(
            "<neuronx_mem Device {} ({}): reserved {}, allocated {}>",
            self.device.id().0,
            self.facts.name,
            self.device.memory_reserved(),
            self.device.memory_allocated(),
        )
    }
}
