//! `/proc/pagetypeinfo`: free blocks by what they may be used for, and who holds the page blocks.

use std::fmt;

use super::blocks::FreeBlocks;
use super::lines::{node_and_zone, numbers, whole_lines};
use crate::HostError;

pub(super) const FILE: &str = "/proc/pagetypeinfo";

/// The content of `/proc/pagetypeinfo`, which only root can read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageTypeInfo {
    /// The order of a page block, the unit in which memory is given a use.
    pub page_block_order: u8,
    /// Free blocks by zone and use.
    pub free: Vec<TypeBlocks>,
    /// Page blocks by zone and use.
    pub page_blocks: Vec<PageBlocks>,
}

/// The free blocks of one zone for one use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeBlocks {
    /// The node.
    pub node: u32,
    /// The zone.
    pub zone: String,
    /// The use.
    pub migrate_type: MigrateType,
    /// Its free blocks; a count that the kernel did not finish is the number where it stopped.
    pub blocks: FreeBlocks,
}

/// The page blocks of one zone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageBlocks {
    /// The node.
    pub node: u32,
    /// The zone.
    pub zone: String,
    /// How many there are of each use.
    pub counts: Vec<(MigrateType, u64)>,
}

/// What a page block is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MigrateType {
    /// Pages that stay where they are.
    Unmovable,
    /// Pages that compaction can move.
    Movable,
    /// Caches of the kernel that can be dropped and not moved.
    Reclaimable,
    /// Kept for requests that cannot wait.
    HighAtomic,
    /// Kept for contiguous memory of devices that ask for it by name.
    Cma,
    /// Being taken out of use.
    Isolate,
    /// A use of a later kernel.
    Other(String),
}

impl MigrateType {
    /// Returns whether a request of the kernel itself can be served from it. O(1).
    #[must_use]
    pub const fn serves_the_kernel(&self) -> bool {
        !matches!(self, Self::HighAtomic | Self::Cma | Self::Isolate)
    }

    fn named(name: &str) -> Self {
        match name {
            "Unmovable" => Self::Unmovable,
            "Movable" => Self::Movable,
            "Reclaimable" => Self::Reclaimable,
            "HighAtomic" => Self::HighAtomic,
            "CMA" => Self::Cma,
            "Isolate" => Self::Isolate,
            _ => Self::Other(name.to_owned()),
        }
    }
}

impl fmt::Display for MigrateType {
    /// Prints the name that the kernel uses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unmovable => "Unmovable",
            Self::Movable => "Movable",
            Self::Reclaimable => "Reclaimable",
            Self::HighAtomic => "HighAtomic",
            Self::Cma => "CMA",
            Self::Isolate => "Isolate",
            Self::Other(name) => name,
        })
    }
}

impl PageTypeInfo {
    /// Reads the text of the file. O(bytes).
    ///
    /// # Errors
    ///
    /// [`HostError::Format`] with the line where something else stands than the kernel writes, and behind
    /// the last line when a part is missing.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let mut info = Self::default();
        let mut columns: Option<Vec<MigrateType>> = None;
        let mut n_lines = 0;
        for (number, line) in whole_lines(FILE, text)? {
            n_lines = number;
            let fail = |reason: &str| HostError::format(FILE, number, reason);
            if let Some(order) = line.strip_prefix("Page block order:") {
                info.page_block_order =
                    order.trim().parse().ok().filter(|order| *order < 52).ok_or_else(|| fail("no order"))?;
            } else if line.starts_with("Number of blocks type") {
                columns = Some(line.split_whitespace().skip(4).map(MigrateType::named).collect());
            } else if line.starts_with("Node") {
                let row = info.row(line, columns.as_deref());
                row.ok_or_else(|| fail("not a zone with its counts"))?;
            }
        }
        let missing = |what: &str| HostError::format(FILE, n_lines + 1, format!("{what} are missing"));
        if info.free.is_empty() {
            return Err(missing("free blocks by use"));
        }
        if info.page_blocks.is_empty() {
            return Err(missing("page blocks by use"));
        }
        Ok(info)
    }

    /// Returns the free blocks of a zone that no request of the kernel may take. O(rows).
    #[must_use]
    pub fn out_of_reach(&self, node: u32, zone: &str) -> FreeBlocks {
        let mut sum = FreeBlocks::default();
        let of_zone = self.free.iter().filter(|row| row.node == node && row.zone == zone);
        of_zone.filter(|row| !row.migrate_type.serves_the_kernel()).for_each(|row| sum.add(&row.blocks));
        sum
    }

    /// Returns the page blocks that compaction can empty. O(rows).
    #[must_use]
    pub fn movable_page_blocks(&self) -> u64 {
        let counts = self.page_blocks.iter().flat_map(|row| &row.counts);
        counts.filter(|(kind, _)| *kind == MigrateType::Movable).map(|(_, count)| count).sum()
    }

    fn row(&mut self, line: &str, columns: Option<&[MigrateType]>) -> Option<()> {
        let (node, zone, rest) = node_and_zone(line)?;
        let zone = zone.to_owned();
        if let Some(columns) = columns {
            let counts =
                numbers(rest).filter(|counts| counts.len() == columns.len() && !counts.is_empty())?;
            let counts = columns.iter().cloned().zip(counts).collect();
            self.page_blocks.push(PageBlocks { node, zone, counts });
            return Some(());
        }
        let mut words =
            rest.trim_start().strip_prefix(',')?.trim_start().strip_prefix("type")?.split_whitespace();
        let migrate_type = MigrateType::named(words.next()?);
        let counts = numbers(&words.collect::<Vec<_>>().join(" "))?;
        let expected = self.free.first().map_or(counts.len(), |first| first.blocks.counts().len());
        if counts.is_empty() || counts.len() != expected {
            return None;
        }
        self.free.push(TypeBlocks { node, zone, migrate_type, blocks: FreeBlocks::new(counts) });
        Some(())
    }
}
