//! Which zones the kernel's own requests may use.

/// For movable pages, devices or addresses that the kernel does not map.
pub(super) fn is_special(zone: &str) -> bool {
    matches!(zone, "Movable" | "Device" | "HighMem")
}

/// Whether a request may use this zone while nothing is known of what it keeps. The first 16 MiB are
/// kept by the kernel for old devices as long as the node has another zone.
pub(super) fn is_open(zone: &str, is_only_zone: bool) -> bool {
    !is_special(zone) && (zone != "DMA" || is_only_zone)
}
