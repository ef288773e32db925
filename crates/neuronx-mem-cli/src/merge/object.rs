//! The object of `merge --json`.

use std::collections::BTreeMap;

use neuronx_mem_explain::{Lifetime, Merged, Rank, Variant};
use serde::Serialize;

use crate::failure::Failure;
use crate::json;
use crate::site::{JsonFrame, json_frames};

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    ranks: Vec<Row<'a>>,
    outliers: Vec<Outlier>,
    /// `null` when all ranks allocate the same.
    divergence: Option<Divergence<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    rank: u64,
    input: &'a str,
    events: u64,
    allocations: u64,
    peak: u64,
    peak_event: u64,
    /// The peak by lifetime.
    at_peak: BTreeMap<&'static str, u64>,
    reserved: Option<u64>,
}

#[derive(Serialize)]
struct Outlier {
    rank: u64,
    category: &'static str,
    bytes: u64,
    median: u64,
}

#[derive(Serialize)]
struct Divergence<'a> {
    /// Number of the allocation, from 1.
    allocation: u64,
    variants: Vec<Side<'a>>,
}

#[derive(Serialize)]
struct Side<'a> {
    ranks: &'a [u64],
    /// `null` where there is no allocation any more.
    bytes: Option<u64>,
    stream: Option<u64>,
    stack: Vec<JsonFrame>,
    phase: Option<&'a str>,
}

pub(super) fn line(merged: &Merged) -> Result<String, Failure> {
    let outliers = merged.outliers.iter().map(|outlier| Outlier {
        rank: outlier.rank,
        category: outlier.category,
        bytes: outlier.bytes,
        median: outlier.median_bytes,
    });
    let divergence = merged.divergence.as_ref().map(|divergence| Divergence {
        allocation: divergence.allocation,
        variants: divergence.variants.iter().map(|variant| Side::of(merged, variant)).collect(),
    });
    json::line(&Object {
        schema: json::SCHEMA,
        ranks: merged.ranks.iter().map(Row::of).collect(),
        outliers: outliers.collect(),
        divergence,
    })
}

impl<'a> Row<'a> {
    fn of(rank: &'a Rank) -> Self {
        Self {
            rank: rank.rank,
            input: &rank.input,
            events: rank.n_events,
            allocations: rank.n_allocations,
            peak: rank.peak_bytes,
            peak_event: rank.peak_event,
            at_peak: Lifetime::ALL.iter().map(|each| each.name()).zip(rank.at_peak_bytes).collect(),
            reserved: rank.reserved_bytes,
        }
    }
}

impl<'a> Side<'a> {
    fn of(merged: &'a Merged, variant: &'a Variant) -> Self {
        let site = variant.allocation.map(|(_, _, site)| site);
        Self {
            ranks: &variant.ranks,
            bytes: variant.allocation.map(|(bytes, ..)| bytes),
            stream: variant.allocation.map(|(_, stream, _)| stream),
            stack: json_frames(site.map(|site| merged.sites.frames(site)).unwrap_or_default()),
            phase: site.and_then(|site| merged.sites.phase(site)),
        }
    }
}
