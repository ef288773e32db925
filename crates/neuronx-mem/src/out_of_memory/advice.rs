//! What a reader of the error can do. Each piece looks at the configuration in force: a knob that
//! is already set is never advised as new.

use std::fmt;

use neuronx_mem_config::{AllocatorConfig, ConfigKey};
use neuronx_mem_pool::MissReason;
use neuronx_mem_rounding::RoundingScheme;

use super::{OutOfMemory, Size};

/// One thing that would help, with its numbers in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// The request alone is larger than the device or its cap.
    LargerThanDevice {
        /// The device's memory or the cap.
        total_bytes: u64,
    },
    /// The block would fit where its segment does not.
    SmallerSegments {
        /// Bytes of the segment that the configuration asks for.
        segment_bytes: u64,
        /// The largest run of addresses that nobody holds.
        available_bytes: u64,
        /// The key that asks for that much.
        key: ConfigKey,
    },
    /// The cap is in the way; the device has more.
    RaiseCap {
        /// The cap.
        cap_bytes: u64,
        /// What the device has.
        total_bytes: u64,
    },
    /// Fully free segments stay cached because recovery is switched off.
    EnableRecovery {
        /// Their bytes.
        cached_bytes: u64,
    },
    /// A free block was refused because it may not be split.
    RaiseNonSplitRounding {
        /// The tolerance in force.
        current_bytes: u64,
        /// The tolerance that would have let it serve.
        needed_bytes: u64,
    },
    /// Enough is free inside segments, but in pieces, and large blocks may be carved freely.
    LimitSplitting {
        /// Free inside segments.
        cached_free_bytes: u64,
    },
    /// Enough is free inside segments, but in pieces, although splitting is limited already.
    LowerSplitLimit {
        /// Free inside segments.
        cached_free_bytes: u64,
        /// The limit in force.
        current_bytes: u64,
    },
    /// Rounding costs as much as the request needs.
    FinerRounding {
        /// What rounding costs now.
        waste_bytes: u64,
        /// Divisions in force.
        current_divisions: u32,
    },
    /// Others hold as much of the device as the request needs.
    UsedByOthers {
        /// What they hold.
        bytes: u64,
    },
    /// The program simply holds too much.
    HoldLess {
        /// What live tensors hold.
        allocated_bytes: u64,
        /// The device's memory or the cap.
        total_bytes: u64,
    },
}

impl OutOfMemory {
    /// What would help, most direct first. Never empty.
    #[must_use]
    pub fn advice(&self) -> Vec<Advice> {
        let total_bytes = self.effective_total_bytes();
        if total_bytes > 0 && self.rounded_bytes > total_bytes {
            return vec![self.cap_advice().unwrap_or(Advice::LargerThanDevice { total_bytes })];
        }
        let mut advice: Vec<Advice> = [
            self.cap_advice(),
            self.recovery_advice(),
            self.segment_advice(),
            self.refused_block_advice(),
            self.pieces_advice(),
            self.rounding_advice(),
            self.others_advice(),
        ]
        .into_iter()
        .flatten()
        .collect();
        if advice.is_empty() {
            advice.push(Advice::HoldLess { allocated_bytes: self.allocated_bytes, total_bytes });
        }
        advice
    }

    fn cap_advice(&self) -> Option<Advice> {
        let cap_bytes = self.cap_bytes?;
        let would_fit = self.reserved_bytes.saturating_add(self.segment_bytes) <= self.total_bytes;
        would_fit.then_some(Advice::RaiseCap { cap_bytes, total_bytes: self.total_bytes })
    }

    fn segment_advice(&self) -> Option<Advice> {
        let left = self.effective_total_bytes().saturating_sub(self.reserved_bytes);
        let available_bytes = self.largest_gap_bytes?.min(left);
        let segment_bytes = self.segment_bytes;
        (self.rounded_bytes <= available_bytes && available_bytes < segment_bytes)
            .then_some(Advice::SmallerSegments { segment_bytes, available_bytes, key: self.segment_key() })
    }

    /// The key that decided how large the segment would have been (allocator semantics §3).
    fn segment_key(&self) -> ConfigKey {
        let config = &self.config;
        let (requested, segment) = (self.requested_bytes, self.segment_bytes);
        if requested < config.pool_boundary_bytes() && segment == config.small_segment_bytes() {
            return ConfigKey::SmallSegmentSize;
        }
        let is_shared = requested < config.medium_threshold_bytes();
        if is_shared && segment == config.medium_segment_bytes() {
            return ConfigKey::MediumSegmentSize;
        }
        ConfigKey::SegmentAlignment
    }

    fn recovery_advice(&self) -> Option<Advice> {
        let cached_bytes = self.free_segment_bytes;
        (!self.is_recovery_enabled && cached_bytes > 0).then_some(Advice::EnableRecovery { cached_bytes })
    }

    fn refused_block_advice(&self) -> Option<Advice> {
        let MissReason::NotSplittable { excess_bytes, tolerance_bytes } = self.nearest_miss?.reason else {
            return None;
        };
        Some(Advice::RaiseNonSplitRounding { current_bytes: tolerance_bytes, needed_bytes: excess_bytes })
    }

    fn pieces_advice(&self) -> Option<Advice> {
        let is_in_pieces =
            self.cached_free_bytes >= self.rounded_bytes && self.largest_free_bytes < self.rounded_bytes;
        if !is_in_pieces {
            return None;
        }
        let cached_free_bytes = self.cached_free_bytes;
        let current_bytes = self.config.max_split_bytes();
        let default = AllocatorConfig::default().get(ConfigKey::MaxSplitSizeBytes);
        Some(match current_bytes == default {
            true => Advice::LimitSplitting { cached_free_bytes },
            false => Advice::LowerSplitLimit { cached_free_bytes, current_bytes },
        })
    }

    fn rounding_advice(&self) -> Option<Advice> {
        let waste_bytes = self.allocated_bytes.saturating_sub(self.active_bytes);
        let current_divisions = self.config.roundup_power2_divisions();
        let is_coarse = current_divisions < RoundingScheme::MAX_DIVISIONS;
        (is_coarse && waste_bytes >= self.rounded_bytes)
            .then_some(Advice::FinerRounding { waste_bytes, current_divisions })
    }

    fn others_advice(&self) -> Option<Advice> {
        let bytes = self.used_by_others_bytes;
        (bytes >= self.segment_bytes).then_some(Advice::UsedByOthers { bytes })
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LargerThanDevice { total_bytes } => {
                write!(f, "the request alone is larger than the {} there are", Size(total_bytes))
            }
            Self::SmallerSegments { segment_bytes, available_bytes, key } => write!(
                f,
                "the block would fit into the {} that are left, but its segment of {} does not: lower {}",
                Size(available_bytes),
                Size(segment_bytes),
                key.name()
            ),
            Self::RaiseCap { cap_bytes, total_bytes } => {
                write!(f, "raise the memory cap of {}: the device has {}", Size(cap_bytes), Size(total_bytes))
            }
            Self::EnableRecovery { cached_bytes } => write!(
                f,
                "unset NEURON_OOM_RECOVERY_ENABLED=0, or call empty_cache(): {} of fully free segments stay cached",
                Size(cached_bytes)
            ),
            Self::RaiseNonSplitRounding { current_bytes, needed_bytes } => write!(
                f,
                "a free block was refused because it may not be split: kMaxNonSplitRoundingBytes={needed_bytes} \
                 would let it serve (now {current_bytes})"
            ),
            Self::LimitSplitting { cached_free_bytes } => write!(
                f,
                "{} are free in pieces: kMaxSplitSizeBytes with kMaxNonSplitRoundingBytes keeps large blocks whole; \
                 compare settings on a recorded trace first",
                Size(cached_free_bytes)
            ),
            Self::LowerSplitLimit { cached_free_bytes, current_bytes } => write!(
                f,
                "{} are free in pieces although kMaxSplitSizeBytes={current_bytes}: compare other limits on a \
                 recorded trace",
                Size(cached_free_bytes)
            ),
            Self::FinerRounding { waste_bytes, current_divisions } => write!(
                f,
                "rounding costs {}: raise kRoundupPower2Divisions (now {current_divisions})",
                Size(waste_bytes)
            ),
            Self::UsedByOthers { bytes } => {
                write!(
                    f,
                    "others hold {} of the device: other processes, loaded models, collectives",
                    Size(bytes)
                )
            }
            Self::HoldLess { allocated_bytes, total_bytes } => write!(
                f,
                "live tensors hold {} of {}: check activation checkpointing, gradient accumulation and batch size",
                Size(allocated_bytes),
                Size(total_bytes)
            ),
        }
    }
}
