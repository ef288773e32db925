//! The report of `merge` for people.

use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::stats::format_count;
use neuronx_mem_explain::{Lifetime, Merged, Outlier, Rank, Variant};

use crate::diff::change;
use crate::{site, units};

pub(super) fn text(merged: &Merged, n_frames: usize) -> String {
    format!("{}\n{}\n{}", table(merged), outliers(&merged.outliers), divergence(merged, n_frames))
}

fn table(merged: &Merged) -> String {
    let has_reserved = merged.ranks.iter().any(|rank| rank.reserved_bytes.is_some());
    let mut header = vec!["Rank".to_owned(), "File".to_owned(), "Peak".to_owned(), "At event".to_owned()];
    header.extend(Lifetime::ALL.iter().map(|lifetime| lifetime.name().to_owned()));
    header.extend(has_reserved.then(|| "Reserved".to_owned()));
    let n_columns = header.len();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    for rank in &merged.ranks {
        table.add_row(cells(rank, &merged.outliers, has_reserved));
    }
    for idx in (0..n_columns).filter(|idx| *idx != 1) {
        if let Some(column) = table.column_mut(idx) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

/// A `!` marks what is out of line.
fn cells(rank: &Rank, outliers: &[Outlier], has_reserved: bool) -> Vec<String> {
    let size = |category: &str, bytes: u64| {
        let is_outlier =
            outliers.iter().any(|outlier| outlier.rank == rank.rank && outlier.category == category);
        format!("{}{}", if is_outlier { "! " } else { "" }, units::short(bytes))
    };
    let mut cells = vec![
        rank.rank.to_string(),
        site::plain(&file_name(&rank.input)),
        size("peak", rank.peak_bytes),
        format_count(rank.peak_event),
    ];
    let by_lifetime = Lifetime::ALL.iter().zip(rank.at_peak_bytes);
    cells.extend(by_lifetime.map(|(lifetime, bytes)| size(lifetime.name(), bytes)));
    cells.extend(
        has_reserved.then(|| rank.reserved_bytes.map_or_else(String::new, |bytes| size("reserved", bytes))),
    );
    cells
}

/// The directory is known: it was given.
fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn outliers(outliers: &[Outlier]) -> String {
    if outliers.is_empty() {
        return "No rank is out of line.\n".to_owned();
    }
    let line = |outlier: &Outlier| {
        let off = i128::from(outlier.bytes) - i128::from(outlier.median_bytes);
        format!(
            "Rank {} is out of line in `{}`: {}, {} against the median of {}\n",
            outlier.rank,
            outlier.category,
            units::short(outlier.bytes),
            change(off),
            units::short(outlier.median_bytes),
        )
    };
    outliers.iter().map(line).collect()
}

fn divergence(merged: &Merged, n_frames: usize) -> String {
    let Some(divergence) = &merged.divergence else {
        return "All ranks make the same allocations in the same order.\n".to_owned();
    };
    let variants =
        divergence.variants.iter().map(|variant| format!("  {}\n", side(merged, variant, n_frames)));
    format!(
        "The ranks part at allocation {}; all before it are the same:\n{}",
        format_count(divergence.allocation),
        variants.collect::<String>()
    )
}

fn side(merged: &Merged, variant: &Variant, n_frames: usize) -> String {
    let ranks: Vec<String> = variant.ranks.iter().map(u64::to_string).collect();
    let name = if ranks.len() == 1 { "rank" } else { "ranks" };
    let what = match variant.allocation {
        None => "nothing more".to_owned(),
        Some((bytes, stream, site)) => format!(
            "{} bytes on stream {stream} by {}",
            format_count(bytes),
            site::site(&merged.sites, site, n_frames)
        ),
    };
    format!("{name} {}: {what}", ranks.join(", "))
}
