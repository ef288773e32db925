//! Ranks side by side: outliers and the first difference, from files of three kinds.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use std::fs;
use std::path::Path;

use neuronx_mem_explain::{ExplainError, Merged, ReadOptions, StepRule, rank_files};

fn merged(directory: &Path) -> Merged {
    let files = rank_files(directory).unwrap();
    Merged::of(&files, &ReadOptions::default(), StepRule::Marks).unwrap()
}

fn write_ranks(directory: &Path, n_ranks: u64, edit: impl Fn(u64, String) -> String) {
    let lines = common::lines("traces/gpt2_bf16.csv.zst");
    for rank in 0..n_ranks {
        let text: String = lines.iter().map(|line| edit(rank, line.clone()) + "\n").collect();
        fs::write(directory.join(format!("rank_{rank}.csv")), text).unwrap();
    }
}

#[test]
fn equal_ranks_have_no_outlier_and_never_part() {
    let directory = tempfile::tempdir().unwrap();
    write_ranks(directory.path(), 3, |_, line| line);
    let merged = merged(directory.path());
    assert_eq!(merged.ranks.len(), 3);
    assert_eq!((merged.outliers.as_slice(), merged.divergence), ([].as_slice(), None));
    let rank = &merged.ranks[0];
    assert_eq!(rank.at_peak_bytes.iter().sum::<u64>(), rank.peak_bytes, "categories reconcile");
    assert_eq!(rank.peak_bytes, 10_103_844_648);
}

#[test]
fn the_rank_that_holds_more_is_named_with_its_first_allocation() {
    let directory = tempfile::tempdir().unwrap();
    let edit = |rank: u64, line: String| {
        // The embedding table of rank 2 is ten times as large.
        if rank == 2 && line == "a,1,77194752,0" { "a,1,771947520,0".to_owned() } else { line }
    };
    write_ranks(directory.path(), 4, edit);
    let merged = merged(directory.path());
    let outliers: Vec<_> = merged.outliers.iter().map(|it| (it.rank, it.category)).collect();
    assert_eq!(outliers, [(2, "peak"), (2, "initial")]);
    assert_eq!(merged.outliers[0].bytes - merged.outliers[0].median_bytes, 694_752_768);
    let divergence = merged.divergence.unwrap();
    assert_eq!(divergence.allocation, 1);
    let variants: Vec<_> = divergence
        .variants
        .iter()
        .map(|it| (it.ranks.as_slice(), it.allocation.map(|(bytes, ..)| bytes)))
        .collect();
    assert_eq!(variants, [([0, 1, 3].as_slice(), Some(77_194_752)), ([2].as_slice(), Some(771_947_520))]);
}

#[test]
fn a_rank_that_stops_early_parts_at_its_end() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("r0.csv"), "a,1,64,0\na,2,64,0\n").unwrap();
    fs::write(directory.path().join("r1.csv"), "a,1,64,0\n").unwrap();
    let divergence = merged(directory.path()).divergence.unwrap();
    assert_eq!(divergence.allocation, 2);
    assert_eq!(divergence.variants[1].allocation, None);
}

#[test]
fn snapshots_are_ranks_too_and_other_files_are_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    for rank in 0..2 {
        let name = format!("snapshot_rank{rank}.pickle");
        fs::copy(common::data("snapshots/small_history.pickle"), directory.path().join(name)).unwrap();
    }
    fs::write(directory.path().join("README.md"), "no rank").unwrap();
    let merged = merged(directory.path());
    assert_eq!(merged.ranks.len(), 2);
    assert_eq!(merged.ranks[0].reserved_bytes, Some(123_731_968));
    assert_eq!(merged.divergence, None);
}

#[test]
fn one_file_is_no_job() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("r0.csv"), "a,1,64,0\n").unwrap();
    assert!(matches!(rank_files(directory.path()), Err(ExplainError::TooFewRanks { n_found: 1, .. })));
    let missing = directory.path().join("missing");
    assert!(matches!(rank_files(&missing), Err(ExplainError::Directory { .. })));
}
