//! The floors of the house: which crate stands above which.
//!
//! The same table as in the architecture page. `tidy` checks the dependencies against it; `test`
//! runs the lower floors first, because a fault there is the cause of faults above.

/// Floor number and the packages on it, top to bottom.
const FLOORS: &[(u8, &[&str])] = &[
    // Not part of the product: scenarios and the project's own commands may use anything.
    (7, &["neuronx-mem-tests", "neuronx-mem-libnrt-standin", "xtask"]),
    (6, &["neuronx-mem-python"]),
    (5, &["neuronx-mem-cli", "neuronx-mem-capi"]),
    (4, &["neuronx-mem-replay", "neuronx-mem-tune", "neuronx-mem-explain", "neuronx-mem-view"]),
    (3, &["neuronx-mem"]),
    (2, &["neuronx-mem-pool", "neuronx-mem-fragmentation", "neuronx-mem-sim", "neuronx-mem-nrt"]),
    (
        1,
        &[
            "neuronx-mem-rounding",
            "neuronx-mem-config",
            "neuronx-mem-runtime",
            "neuronx-mem-stream",
            "neuronx-mem-stats",
            "neuronx-mem-snapshot",
            "neuronx-mem-detector",
            "neuronx-mem-int64",
            "neuronx-mem-numa",
            "neuronx-mem-host",
            "neuronx-mem-cache",
        ],
    ),
];

/// The one tool that the other tools of its floor may use: it reads traces for all of them.
pub(crate) const SHARED_TOOL: &str = "neuronx-mem-replay";

/// The floor of a package, 1 (leaves) to 7 (outside the product); `None` when it has no place yet.
pub(crate) fn floor_of(package: &str) -> Option<u8> {
    FLOORS.iter().find(|(_, packages)| packages.contains(&package)).map(|(floor, _)| *floor)
}
