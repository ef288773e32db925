//! Free blocks by size: one class a power of two. Counts, judges nothing.

use std::collections::BTreeMap;

use crate::{DeviceLayout, Pool};

/// The free blocks of one pool by size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Histogram {
    /// Classes that hold any block, smallest first.
    pub classes: Vec<SizeClass>,
}

/// Free blocks of at least `floor_bytes` and less than twice that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeClass {
    /// A power of two.
    pub floor_bytes: u64,
    /// How many blocks.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Histogram {
    pub(crate) fn of(layout: &DeviceLayout, pool: Pool) -> Self {
        let mut classes: BTreeMap<u64, SizeClass> = BTreeMap::new();
        let segments = layout.segments.iter().filter(|segment| segment.pool == pool);
        for block in segments.flat_map(|segment| &segment.blocks).filter(|block| block.is_free()) {
            let Some(octave) = block.extent_bytes.checked_ilog2() else { continue };
            let floor_bytes = 1u64 << octave;
            let class = classes.entry(floor_bytes).or_insert(SizeClass { floor_bytes, ..Default::default() });
            class.blocks += 1;
            class.bytes = class.bytes.saturating_add(block.extent_bytes);
        }
        Self { classes: classes.into_values().collect() }
    }
}
