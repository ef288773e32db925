//! What a setting does, in one sentence for people.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey as Key;

/// Says in one sentence what differs from the defaults, and why that saves memory.
///
/// ```
/// use neuronx_mem::AllocatorConfig;
///
/// let config = AllocatorConfig::parse("kRoundupPower2Divisions=64").config;
/// assert_eq!(
///     neuronx_mem_tune::explain(&config, 1 << 30),
///     "Rounds requests up by at most 1/64 instead of 1/4."
/// );
/// ```
#[must_use]
pub fn explain(config: &AllocatorConfig, live_peak_bytes: u64) -> String {
    let default = AllocatorConfig::default();
    let is_changed = |key: Key| config.get(key) != default.get(key);
    let mut clauses = Vec::new();
    if is_changed(Key::MediumSegmentSize) || is_changed(Key::MediumThreshold) {
        clauses.push(shared(config, live_peak_bytes));
    }
    if is_changed(Key::RoundupPower2Divisions) {
        let (now, before) = (config.roundup_power2_divisions(), default.roundup_power2_divisions());
        clauses.push(format!("rounds requests up by at most 1/{now} instead of 1/{before}"));
    }
    if is_changed(Key::MinRoundedSize) {
        clauses.push(format!("makes no block smaller than {}", format_size(config.min_rounded_bytes())));
    }
    if is_changed(Key::LargeSplitThreshold) || is_changed(Key::SmallSplitThreshold) {
        clauses.push(split(config, &default));
    }
    if is_changed(Key::PoolBoundary) {
        clauses.push(match config.pool_boundary_bytes() {
            0 | 1 => "gives small tensors no pool of their own".to_owned(),
            boundary => format!("keeps a pool of its own for requests below {}", format_size(boundary)),
        });
    }
    if is_changed(Key::SmallSegmentSize) {
        let segment = format_size(config.small_segment_bytes());
        clauses.push(format!("takes segments of {segment} for that of small requests"));
    }
    if is_changed(Key::SegmentAlignment) {
        let alignment = format_size(config.segment_alignment_bytes());
        clauses.push(format!("rounds a segment made for one request up to {alignment}"));
    }
    if is_changed(Key::MaxSplitSizeBytes) {
        let (limit, waste) = (config.max_split_bytes(), config.max_non_split_rounding_bytes());
        let (limit, waste) = (format_size(limit), format_size(waste));
        clauses.push(format!("keeps free blocks above {limit} whole for requests within {waste} of them"));
    }
    if clauses.is_empty() {
        return "Changes nothing: the defaults are as good as anything that was tried.".to_owned();
    }
    capitalized(&clauses.join(", ")) + "."
}

fn shared(config: &AllocatorConfig, live_peak_bytes: u64) -> String {
    let segment = config.medium_segment_bytes();
    if segment >= live_peak_bytes / 2 {
        let segment = format_size(segment);
        return format!(
            "takes segments of {segment} and serves everything from them, so that any freed memory fits any later request"
        );
    }
    let (segment, threshold) = (format_size(segment), format_size(config.medium_threshold_bytes()));
    format!(
        "lets all requests below {threshold} share segments of {segment}, so that what one frees serves another"
    )
}

fn split(config: &AllocatorConfig, default: &AllocatorConfig) -> String {
    let (now, before) = (config.large_split_threshold_bytes(), default.large_split_threshold_bytes());
    if now < before && now <= 256 {
        return "keeps every rest usable".to_owned();
    }
    if now < before {
        return format!("keeps rests down to {} usable", format_size(now));
    }
    if now > before {
        return format!("hands blocks out whole when the rest is below {}", format_size(now));
    }
    format!("keeps rests of small blocks from {} on", format_size(config.small_split_threshold_bytes()))
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// One decimal, except where the number is whole.
fn format_size(bytes: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let Some((name, unit)) = units.into_iter().find(|(_, unit)| bytes >= *unit) else {
        return format!("{bytes} B");
    };
    if bytes.is_multiple_of(unit) {
        return format!("{} {name}", bytes / unit);
    }
    format!("{:.1} {name}", bytes as f64 / unit as f64)
}
