//! The table of `memory_summary()`: a documented format, byte for byte. Formats, reads nothing.

use crate::{Family, MemoryStats, Scope, Values, format_count, format_size};

const WIDTH: usize = 75;

/// Lays out the table for a device ordinal (memory profiling guide, step 2).
pub(crate) fn table(stats: &MemoryStats, device: u32) -> String {
    let double = "=".repeat(WIDTH);
    let counters = stats.counters();
    let count = |value: u64| format_count(value);
    let row = |name: &str, family: Family| row(name, &stats.values(family, Scope::All));
    let lines = [
        double.clone(),
        format!("  Neuron Memory Summary, Device {device}"),
        double.clone(),
        format!(
            "  Allocations: {}  |  Frees: {}",
            count(counters.allocation_requests),
            count(counters.tensor_frees)
        ),
        format!("  OOMs: {}  |  Alloc Retries: {}", count(counters.ooms), count(counters.alloc_retries)),
        double.clone(),
        "  Metric              | Current    | Peak       | Allocated  | Freed".to_owned(),
        "-".repeat(WIDTH),
        row("Allocated Memory", Family::AllocatedBytes),
        row("Reserved Memory", Family::ReservedBytes),
        row("Active Memory", Family::ActiveBytes),
        double,
    ];
    lines.join("\n")
}

fn row(name: &str, values: &Values) -> String {
    let Values { current, peak, allocated, freed } = *values;
    let [current, peak, allocated, freed] = [current, peak, allocated, freed].map(format_size);
    format!("  {name:<18} | {current:>10} | {peak:>10} | {allocated:>10} | {freed:>10}")
}
