//! `segment_pool_analysis_summary()`: the analysis for people, in the look of the memory summary.
//! Sizes in whole units and, where it matters, exact.

use std::fmt::Write;

use neuronx_mem_snapshot::StackTable;
use neuronx_mem_stats::{format_count, format_size};

use crate::{Analysis, BlockUse, Capacity, Histogram, PinningBlock, SegmentOccupancy};

const WIDTH: usize = 75;
/// The segments and blocks that are listed one by one.
const MOST_SEGMENTS: usize = 5;
const MOST_BLOCKS: usize = 4;

impl Analysis {
    /// The text report. No trailing newline. Lists the five segments with the most free bytes
    /// behind live blocks, four of these blocks each.
    ///
    /// `stacks` is the table of the snapshot that the layout came from; without it, blocks are
    /// listed by address and size only.
    #[must_use]
    pub fn summary(&self, stacks: Option<&StackTable>) -> String {
        let double = "=".repeat(WIDTH);
        let single = "-".repeat(WIDTH);
        let mut lines = vec![
            double.clone(),
            format!("  Neuron Segment Pool Analysis, Device {}", self.device),
            double.clone(),
            size_row("Total Memory", self.total_bytes),
            size_row("Reserved Memory", self.reserved_bytes),
            size_row("Allocated Memory", self.allocated_bytes),
            size_row("Active Memory", self.active_bytes),
            size_row("Pending Frees", self.pending_bytes),
            size_row("Cached Free Memory", self.cached_free_bytes),
            size_row("Free Memory", self.free_bytes),
            size_row("Largest Free Region", self.largest_free_bytes),
            single.clone(),
            size_row("Internal Fragmentation", self.internal_fragmentation_bytes),
            size_row("External Fragmentation", self.external_fragmentation_bytes),
            ratio_row("Fragmentation Index", self.fragmentation_index),
            ratio_row("Memory Density", self.memory_density),
            count_row("Segments", self.segments.len() as u64, self.reserved_bytes),
            count_row("Fully Free Segments", self.free_segments, self.free_segment_bytes),
            count_row("Holes Between Live Blocks", self.holes, self.hole_bytes),
            single.clone(),
            format!(
                "  {:<26} | {:>10} | {:>14} | {:>13}",
                "Largest Request Served", "Now", "Pending Freed", "Cache Emptied"
            ),
            capacity_row("Small Pool", &self.small_pool),
            capacity_row("Large Pool", &self.large_pool),
        ];
        lines.extend(histogram_rows(&single, "Small Pool Free Blocks", &self.small_pool_free_blocks));
        lines.extend(histogram_rows(&single, "Large Pool Free Blocks", &self.large_pool_free_blocks));
        lines.extend(self.pinned_rows(&single, stacks));
        if self.assumed_contiguous {
            lines.push(single);
            lines.push("  The device's address range is unknown: memory outside the segments".to_owned());
            lines.push("  counts as one region.".to_owned());
        }
        lines.push(double);
        lines.join("\n")
    }

    fn pinned_rows(&self, single: &str, stacks: Option<&StackTable>) -> Vec<String> {
        let segments = self.most_pinned();
        if segments.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![single.to_owned(), "  Segments That Live Blocks Hold Open".to_owned()];
        for segment in segments.iter().take(MOST_SEGMENTS) {
            lines.extend(segment_rows(segment, stacks));
        }
        if segments.len() > MOST_SEGMENTS {
            lines.push(format!("  and {} more segments", segments.len() - MOST_SEGMENTS));
        }
        lines
    }
}

fn size_row(name: &str, bytes: u64) -> String {
    format!("  {name:<26} | {:>10} | {:>29} B", format_size(bytes), format_count(bytes))
}

fn ratio_row(name: &str, ratio: f64) -> String {
    format!("  {name:<26} | {ratio:>10.4} |")
}

fn count_row(name: &str, count: u64, bytes: u64) -> String {
    format!("  {name:<26} | {:>10} | {:>29} B", format_count(count), format_count(bytes))
}

fn capacity_row(name: &str, capacity: &Capacity) -> String {
    let Capacity { now, after_pending_frees, after_empty_cache } = capacity;
    let [now, pending, emptied] =
        [now, after_pending_frees, after_empty_cache].map(|servable| format_size(servable.largest_bytes));
    format!("  {name:<26} | {now:>10} | {pending:>14} | {emptied:>13}")
}

fn histogram_rows(single: &str, name: &str, histogram: &Histogram) -> Vec<String> {
    if histogram.classes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![single.to_owned(), format!("  {name:<26} | {:>10} | {:>10}", "Blocks", "Bytes")];
    lines.extend(histogram.classes.iter().map(|class| {
        let floor = format!("from {}", format_size(class.floor_bytes));
        format!("    {floor:<24} | {:>10} | {:>10}", format_count(class.blocks), format_size(class.bytes))
    }));
    lines
}

fn segment_rows(segment: &SegmentOccupancy, stacks: Option<&StackTable>) -> Vec<String> {
    let mut lines = vec![format!(
        "  {:#x} {}, {}: {} free behind {} blocks of {}",
        segment.address,
        segment.pool.name(),
        format_size(segment.bytes),
        format_size(segment.cached_free_bytes),
        format_count(segment.pinning.len() as u64),
        format_size(segment.pinned_by_bytes()),
    )];
    lines.extend(segment.pinning.iter().take(MOST_BLOCKS).map(|block| block_row(block, stacks)));
    if segment.pinning.len() > MOST_BLOCKS {
        lines.push(format!(
            "    and {} more blocks",
            format_count((segment.pinning.len() - MOST_BLOCKS) as u64)
        ));
    }
    lines
}

fn block_row(block: &PinningBlock, stacks: Option<&StackTable>) -> String {
    let mut line = format!("    {:#x} {}", block.address, format_size(block.extent_bytes));
    if block.state == BlockUse::PendingFree {
        line.push_str(", pending free");
    }
    let top = stacks.zip(block.stack).and_then(|(stacks, stack)| stacks.frames(stack).next());
    if let Some(frame) = top {
        // Writing to a String cannot fail.
        let _ = write!(line, ", {} ({}:{})", frame.name(), frame.filename(), frame.line());
    }
    line
}
