//! How little memory any layout can do with. Proofs, not estimates.

use super::tensors::Tensor;

/// The most bytes of whole granules that are occupied at one moment.
///
/// Tensors that live at one moment overlap in time, so their places must not overlap; every place
/// starts on a granule, so none can use the rest of another's last granule.
pub(crate) fn live_extent_peak(tensors: &[Tensor]) -> (u64, usize) {
    let mut changes: Vec<(usize, bool, u64)> = Vec::with_capacity(tensors.len() * 2);
    for tensor in tensors {
        changes.push((tensor.birth, true, tensor.extent));
        changes.push((tensor.death, false, tensor.extent));
    }
    changes.sort_unstable();
    let (mut live, mut peak, mut at) = (0u64, 0, 0);
    for (position, is_birth, extent) in changes {
        if is_birth {
            live = live.saturating_add(extent);
        } else {
            live = live.saturating_sub(extent);
        }
        if live > peak {
            (peak, at) = (live, position);
        }
    }
    (peak, at)
}
