//! Where the ranks' sequences of allocations part. Compares; does not align what comes after.

use super::Sequence;
use crate::SiteId;

/// The first allocation that is not the same on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// Its number among the allocations, from 1: all before it are the same everywhere.
    pub allocation: u64,
    /// What the ranks allocate there, the most common first.
    pub variants: Vec<Variant>,
}

/// What some ranks do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// The ranks, ascending.
    pub ranks: Vec<u64>,
    /// Bytes, stream and site of the allocation; `None` where there is none any more.
    pub allocation: Option<(u64, u64, SiteId)>,
}

impl Divergence {
    /// Looks for it; `None` when all are the same. O(ranks · allocations before it).
    pub(super) fn first(ranks: &[u64], sequences: &[Sequence]) -> Option<Self> {
        let longest = sequences.iter().map(Vec::len).max()?;
        let is_different = |idx: &usize| {
            let mut all = sequences.iter().map(|sequence| sequence.get(*idx));
            let first = all.next();
            all.any(|other| Some(other) != first)
        };
        let idx = (0..longest).find(is_different)?;
        let mut variants: Vec<Variant> = Vec::new();
        for (rank, sequence) in ranks.iter().zip(sequences) {
            let allocation = sequence.get(idx).copied();
            match variants.iter_mut().find(|variant| variant.allocation == allocation) {
                Some(variant) => variant.ranks.push(*rank),
                None => variants.push(Variant { ranks: vec![*rank], allocation }),
            }
        }
        variants.sort_by_key(|variant| (std::cmp::Reverse(variant.ranks.len()), variant.ranks[0]));
        Some(Self { allocation: idx as u64 + 1, variants })
    }
}
