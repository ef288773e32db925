//! The metric tables that the environment enables, as files. Appends when told to: it has no timer
//! and no thread.

use neuronx_mem_config::{MetricTable, MetricsSettings};
use neuronx_mem_stats::{
    MemoryStats, MetricsError, OomRow, Sample, SegmentRow, StreamRow, TableFile, TablePlace,
};

use crate::{Device, OutOfMemory};

/// Open files of the enabled tables (`TORCH_NEURONX_ENABLED_METRIC_TABLES`,
/// `TORCH_NEURONX_METRICS_DIR`), one a table and process.
///
/// ```
/// use neuronx_mem::config::{Environment, MetricsSettings};
/// use neuronx_mem::{Allocator, MetricTables, sim::SimulatedRuntime};
///
/// let environment = Environment::from_pairs([("TORCH_NEURONX_ENABLED_METRIC_TABLES", "")]);
/// let (settings, _) = MetricsSettings::from_environment(&environment);
/// let mut tables = MetricTables::open(&settings, 0, std::process::id())?;
/// let allocator = Allocator::builder().runtime(SimulatedRuntime::default()).build()?;
/// tables.sample(&allocator.devices()[0], 1_700_000_000_000_000)?; // nothing is enabled
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MetricTables {
    memory: Option<TableFile<MemoryStats>>,
    segments: Option<TableFile<SegmentRow>>,
    oom: Option<TableFile<OomRow>>,
    streams: Option<TableFile<StreamRow>>,
}

impl MetricTables {
    /// Opens a file for each enabled table, with its header if it is new.
    ///
    /// # Errors
    ///
    /// [`MetricsError`] of the file system, or for a file with other columns.
    pub fn open(settings: &MetricsSettings, rank: u32, pid: u32) -> Result<Self, MetricsError> {
        let place = TablePlace { dir: settings.dir.clone(), rank, pid };
        let is_on = |table| settings.is_enabled(table);
        Ok(Self {
            memory: is_on(MetricTable::Memory).then(|| TableFile::open(&place)).transpose()?,
            segments: is_on(MetricTable::Segments).then(|| TableFile::open(&place)).transpose()?,
            oom: is_on(MetricTable::Oom).then(|| TableFile::open(&place)).transpose()?,
            streams: is_on(MetricTable::Streams).then(|| TableFile::open(&place)).transpose()?,
        })
    }

    /// Appends what a device holds now to the tables `memory`, `segments` and `streams`.
    ///
    /// # Errors
    ///
    /// [`MetricsError`] of the file system; tables before it are written.
    pub fn sample(&mut self, device: &Device, timestamp_us: u64) -> Result<(), MetricsError> {
        let sample = Sample { timestamp_us, device: device.id().0 };
        if let Some(table) = &mut self.memory {
            table.append(sample, &[device.memory_stats()])?;
        }
        if let Some(table) = &mut self.segments {
            table.append(sample, &device.segment_rows())?;
        }
        if let Some(table) = &mut self.streams {
            table.append(sample, &device.stream_rows())?;
        }
        Ok(())
    }

    /// Appends an out-of-memory error to the table `oom`.
    ///
    /// # Errors
    ///
    /// [`MetricsError`] of the file system.
    pub fn out_of_memory(&mut self, error: &OutOfMemory, timestamp_us: u64) -> Result<(), MetricsError> {
        let sample = Sample { timestamp_us, device: error.device.0 };
        match &mut self.oom {
            Some(table) => table.append(sample, &[error.metric_row()]),
            None => Ok(()),
        }
    }
}
