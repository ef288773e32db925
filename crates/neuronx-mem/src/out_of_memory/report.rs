//! The long form of the error: every number, the steps that were taken, what was in the way and what
//! would help. For people; programs read the fields.

use neuronx_mem_pool::{BlockState, MissReason};
use neuronx_mem_stats::format_count;

use super::{OutOfMemory, PinnedSegment, StepKind};

/// Blocks of the best segment that are listed one by one.
const MOST_BLOCKS: usize = 8;

impl OutOfMemory {
    /// The report, several lines without a trailing newline.
    #[must_use]
    pub fn report(&self) -> String {
        let mut lines = vec![self.to_string(), String::new()];
        lines.extend(self.numbers().iter().map(|(name, bytes)| row(name, *bytes)));
        lines.extend(
            self.pending.iter().map(|(stream, bytes)| row(&format!("pending on stream {stream}"), *bytes)),
        );
        let keys = self.config.to_env_string();
        let config = if keys.is_empty() { "default".to_owned() } else { keys };
        lines.push(format!("  {:<24} {config} ({:016x})", "configuration", self.config_hash));
        lines.push(String::new());
        lines.extend(self.step_lines());
        lines.extend(self.miss_line());
        lines.extend(self.best_segment.iter().flat_map(segment_lines));
        lines.push("What would help:".to_owned());
        lines.extend(self.advice().iter().map(|advice| format!("  - {advice}")));
        lines.join("\n")
    }

    fn numbers(&self) -> Vec<(&'static str, u64)> {
        let mut numbers = vec![
            ("requested", self.requested_bytes),
            ("rounded", self.rounded_bytes),
            ("segment asked for", self.segment_bytes),
            ("device total", self.total_bytes),
        ];
        numbers.extend(self.cap_bytes.map(|bytes| ("cap in force", bytes)));
        numbers.extend([
            ("reserved", self.reserved_bytes),
            ("allocated", self.allocated_bytes),
            ("active", self.active_bytes),
            ("cached free", self.cached_free_bytes),
            ("largest free block", self.largest_free_bytes),
        ]);
        numbers.extend(self.largest_gap_bytes.map(|bytes| ("largest device gap", bytes)));
        numbers.push(("used by others", self.used_by_others_bytes));
        numbers
    }

    fn step_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .steps
            .iter()
            .map(|step| {
                format!("Tried: {}, gained {} bytes", step.kind.text(), format_count(step.gained_bytes))
            })
            .collect();
        if !self.is_recovery_enabled {
            lines.push("Not tried: releasing cached segments (recovery is switched off)".to_owned());
        }
        lines
    }

    fn miss_line(&self) -> Option<String> {
        let miss = self.nearest_miss?;
        let reason = match miss.reason {
            MissReason::NotSplittable { excess_bytes, tolerance_bytes } => format!(
                "it may not be split, and {} bytes too many exceed the tolerance of {}",
                format_count(excess_bytes),
                format_count(tolerance_bytes)
            ),
            MissReason::OtherPool { pool } => format!("it belongs to the {} pool", pool.name()),
            MissReason::TooSmall { short_bytes } => {
                format!("it is {} bytes too small", format_count(short_bytes))
            }
            _ => "another rule refused it".to_owned(),
        };
        let (address, bytes) = (miss.address, format_count(miss.extent_bytes));
        Some(format!("Nearest miss: the free block at {address:#x} of {bytes} bytes: {reason}"))
    }
}

impl StepKind {
    /// The step in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::WaitForStream => "waiting for the request's own stream",
            Self::RunCallbacks => "running release callbacks",
            Self::WaitForOtherStreams => "waiting for the other streams",
            Self::ReleaseSegments => "releasing fully free segments",
        }
    }
}

fn row(name: &str, bytes: u64) -> String {
    format!("  {name:<24} {:>22} bytes", format_count(bytes))
}

fn segment_lines(segment: &PinnedSegment) -> Vec<String> {
    let mut lines = vec![format!(
        "Closest segment: {:#x} of {} bytes, if {} bytes in {} were freed:",
        segment.address,
        format_count(segment.bytes),
        format_count(segment.pinned_bytes),
        match segment.blocks.len() {
            1 => "1 block".to_owned(),
            n => format!("{} blocks", format_count(n as u64)),
        },
    )];
    lines.extend(segment.blocks.iter().take(MOST_BLOCKS).map(|block| {
        let pending = if block.state == BlockState::PendingFree { ", deallocation queued" } else { "" };
        format!("  {:#x} {} bytes{pending}", block.address, format_count(block.extent_bytes))
    }));
    if segment.blocks.len() > MOST_BLOCKS {
        lines.push(format!("  and {} more", format_count((segment.blocks.len() - MOST_BLOCKS) as u64)));
    }
    lines
}
