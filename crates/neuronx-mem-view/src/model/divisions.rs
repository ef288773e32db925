//! PyTorch's rounding of sizes, as the settings in a snapshot say it (`roundup_power2_divisions`,
//! PyTorch snapshot schema §6). Knows no blocks.

use neuronx_mem_snapshot::Snapshot;

/// Sizes that can have divisions of their own: from 1 MiB on, each twice the one before.
const N_SIZES: usize = 16;

const MIB: u64 = 1 << 20;

/// Into how many parts the space between two powers of two is divided, by size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Divisions([u64; N_SIZES]);

impl Divisions {
    /// The smallest block, and what sizes are a multiple of otherwise.
    pub(super) const UNIT_BYTES: u64 = 512;

    /// The divisions of a snapshot; none where it says nothing.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut divisions = Self::default();
        let Some(setting) = snapshot.setting("roundup_power2_divisions") else { return divisions };
        for (idx, parts) in divisions.0.iter_mut().enumerate() {
            let value = setting.get(&(1_u64 << idx).to_string()).and_then(|value| value.as_int());
            *parts = value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0);
        }
        divisions
    }

    /// The size of the block for a request; `None` beyond 64 bits.
    pub(super) fn round(&self, bytes: u64) -> Option<u64> {
        let plain = bytes.max(1).checked_next_multiple_of(Self::UNIT_BYTES);
        let idx = (bytes / MIB).checked_ilog2().map_or(0, |power| power as usize).min(N_SIZES - 1);
        let parts = self.0[idx];
        if parts <= 1 || bytes <= Self::UNIT_BYTES.saturating_mul(parts) {
            return plain;
        }
        let floor = 1_u64 << bytes.ilog2();
        let step = floor.checked_shr(parts.ilog2()).unwrap_or(0);
        if bytes == floor || step == 0 {
            return if bytes == floor { Some(bytes) } else { floor.checked_mul(2) };
        }
        bytes.checked_next_multiple_of(step)
    }
}
