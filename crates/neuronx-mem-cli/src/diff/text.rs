//! The report of `diff` for people.

use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::stats::format_count;
use neuronx_mem_explain::{Diff, DiffRow};

use crate::explain::{count, more};
use crate::{site, units};

const COLUMNS: [&str; 7] =
    ["Size", "Lifetime", "A at peak", "B at peak", "Change", "Allocations", "Bytes in all"];

/// The columns with numbers.
const NUMBERS: std::ops::Range<usize> = 2..7;

pub(super) fn text(names: [&str; 2], diff: &Diff, n_sites: usize, n_frames: usize) -> String {
    let mut text = ["A", "B"]
        .iter()
        .enumerate()
        .map(|(idx, side)| head(side, names[idx], diff, idx))
        .collect::<String>();
    if diff.is_empty() {
        return text
            + "\nThe same: every site allocates the same sizes as often, and holds the same at the peak.\n";
    }
    text += &format!(
        "\nPeak: {}; {}.\n",
        change(diff.peak_change()),
        count(diff.groups.len(), "site") + if diff.groups.len() == 1 { " differs" } else { " differ" },
    );
    for (number, group) in (1..).zip(diff.groups.iter().take(n_sites)) {
        let site = site::site(&diff.sites, group.site, n_frames);
        text += &format!(
            "\n{number}. {site}\n   {} at the peak, {} in all\n\n",
            change(group.at_peak_change()),
            change(group.bytes_change())
        );
        text += &table(&group.rows);
    }
    text + &more(diff.groups.len(), n_sites, "site")
}

fn head(side: &str, name: &str, diff: &Diff, idx: usize) -> String {
    let phase = &diff.peak_phase[idx];
    let phase = if phase.is_empty() { String::new() } else { format!(" in `{}`", site::plain(phase)) };
    format!(
        "{side}: {name}\n   peak of live bytes {} at event {}{phase}, {}\n",
        units::bytes(diff.peak_bytes[idx]),
        format_count(diff.peak_event[idx]),
        count(usize::try_from(diff.n_allocations[idx]).unwrap_or(usize::MAX), "allocation"),
    )
}

fn table(rows: &[DiffRow]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(COLUMNS);
    for row in rows {
        let [a, b] = row.amounts;
        table.add_row([
            row.size.to_string(),
            row.lifetime.name().to_owned(),
            units::short(a.at_peak_bytes),
            units::short(b.at_peak_bytes),
            change(row.at_peak_change()),
            format!("{} → {}", format_count(a.n_allocations), format_count(b.n_allocations)),
            format!("{} → {}", units::short(a.bytes), units::short(b.bytes)),
        ]);
    }
    for idx in NUMBERS {
        if let Some(column) = table.column_mut(idx) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

/// A signed size: `+1.0 MiB`.
pub(crate) fn change(bytes: i128) -> String {
    let size = units::short(u64::try_from(bytes.unsigned_abs()).unwrap_or(u64::MAX));
    match bytes {
        0 => "no change".to_owned(),
        1.. => format!("+{size}"),
        _ => format!("-{size}"),
    }
}
