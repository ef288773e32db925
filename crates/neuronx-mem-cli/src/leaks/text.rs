//! The report of `leaks` for people.

use neuronx_mem::stats::format_count;
use neuronx_mem_explain::{LEAST_STEPS, Leak, Leaks, Run, Trend};

use super::LeaksArguments;
use crate::explain::{count, more};
use crate::{site, units};

pub(super) fn text(run: &Run, leaks: &Leaks, arguments: &LeaksArguments) -> String {
    let mut text = format!(
        "{}: {} {}, {} of them warm-up\n",
        run.name,
        count(leaks.steps.len(), "step"),
        leaks.steps.rule(),
        format_count(arguments.warm_up as u64),
    );
    let rises = leaks.total.bytes_per_step > 0.0 && leaks.total.chance <= arguments.max_chance;
    let rise =
        if rises { format!(", {} a step", per_step(leaks.total.bytes_per_step)) } else { String::new() };
    text += &format!("Live bytes at the end of a step: {}{rise}\n", series(&leaks.total));
    if !leaks.is_conclusive {
        return text
            + &format!(
                "\nToo few steps to tell a leak from chance: {LEAST_STEPS} after warm-up are needed.\n"
            );
    }
    if leaks.leaks.is_empty() {
        text += "\nNo leak: no site piles up tensors step after step.\n";
        if rises {
            text += "Live bytes do rise: tensors are replaced by larger ones, as in a growing cache, or pile up \
                     too rarely to tell.\n";
        }
        return text;
    }
    for (number, leak) in (1..).zip(leaks.leaks.iter().take(arguments.top)) {
        text += &format!("\n{number}. {}\n{}", place(run, leak, arguments.frames), figures(leak));
    }
    text + &more(leaks.leaks.len(), arguments.top, "leak")
}

fn place(run: &Run, leak: &Leak, n_frames: usize) -> String {
    let site = site::site(&run.sites, leak.site, n_frames);
    match leak.kind {
        Some((stream, size)) => format!("{site}, stream {stream}, sizes {size}"),
        None => site,
    }
}

fn figures(leak: &Leak) -> String {
    let rows = [
        (
            "Growth",
            format!("{} a step (chance {})", per_step(leak.trend.bytes_per_step), chance(leak.trend.chance)),
        ),
        ("Live", series(&leak.trend)),
        (
            "Never freed",
            format!(
                "{} of {} from {}, the first in step {}",
                count(usize::try_from(leak.n_kept).unwrap_or(usize::MAX), "tensor"),
                units::short(leak.kept_bytes),
                count(leak.n_steps, "step"),
                format_count(leak.first_step as u64),
            ),
        ),
        ("Usual size", format!("{} bytes", format_count(leak.usual_bytes))),
    ];
    rows.iter().map(|(name, value)| format!("   {:<13} {value}\n", format!("{name}:"))).collect()
}

fn series(trend: &Trend) -> String {
    format!("{} → {}", units::short(trend.first_bytes), units::short(trend.last_bytes))
}

fn per_step(bytes: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and is positive here"
    )]
    let whole = bytes.max(0.0).round() as u64;
    format!("{} bytes ({})", format_count(whole), units::short(whole))
}

fn chance(chance: f64) -> String {
    if chance < 1e-6 { "below 0.000001".to_owned() } else { format!("{chance:.6}") }
}
