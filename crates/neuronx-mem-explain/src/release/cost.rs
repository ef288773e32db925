//! What giving blocks up costs. Orders sets; chooses none.

use super::{Release, is_held};
use crate::heap::HeapBlock;

/// What the smallest set has the least of; the other decides between equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Least {
    /// Bytes of live blocks.
    #[default]
    Bytes,
    /// Live blocks.
    Blocks,
}

/// Cost of a set, in the order of [`Least`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    pub(super) first: u64,
    second: u64,
}

impl Cost {
    /// A block whose deallocation is queued costs nothing: its owner has given it up.
    pub(super) fn of_block(block: &HeapBlock, least: Least) -> Self {
        if !is_held(block) {
            return Self::default();
        }
        Self::new(block.bytes, 1, least)
    }

    pub(super) fn of_blocks<'a>(blocks: impl IntoIterator<Item = &'a HeapBlock>, least: Least) -> Self {
        blocks.into_iter().fold(Self::default(), |sum, block| sum.plus(Self::of_block(block, least)))
    }

    pub(super) fn of(release: &Release, least: Least) -> Self {
        Self::new(release.bytes, release.blocks.len() as u64, least)
    }

    fn new(bytes: u64, n_blocks: u64, least: Least) -> Self {
        match least {
            Least::Bytes => Self { first: bytes, second: n_blocks },
            Least::Blocks => Self { first: n_blocks, second: bytes },
        }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            first: self.first.saturating_add(other.first),
            second: self.second.saturating_add(other.second),
        }
    }

    /// What is left when a part goes that was added before.
    pub(super) const fn minus(self, part: Self) -> Self {
        Self { first: self.first.saturating_sub(part.first), second: self.second.saturating_sub(part.second) }
    }
}
