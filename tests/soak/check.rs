//! The invariants of allocator semantics §1, in a reading that needs no lock and in one that takes it.

use neuronx_mem::Device;

/// What any reading of the statistics must say, whatever other threads do.
pub(crate) fn reading(device: &Device) -> Result<(), String> {
    let stats = device.memory_stats();
    let map = stats.to_map();
    let value = |key: &str| map.get(key).copied().unwrap_or(i64::MIN);
    let [reserved, allocated, active] = ["reserved_bytes", "allocated_bytes", "active_bytes"]
        .map(|family| value(&format!("{family}.all.current")));
    if !(reserved >= allocated && allocated >= active && active >= 0) {
        return Err(format!("reserved {reserved}, allocated {allocated}, active {active} are out of order"));
    }
    for family in ["allocation", "segment", "allocated_bytes", "reserved_bytes", "active_bytes"] {
        let [current, peak, came, went] =
            ["current", "peak", "allocated", "freed"].map(|metric| value(&format!("{family}.all.{metric}")));
        if current != came - went || peak < current {
            return Err(format!("{family}: current {current}, peak {peak}, in {came}, out {went}"));
        }
        let pools = ["small_pool", "large_pool"].map(|pool| value(&format!("{family}.{pool}.current")));
        if pools[0] + pools[1] != current {
            return Err(format!("{family}: pools {pools:?} are not {current} together"));
        }
    }
    Ok(())
}

/// What the pool itself must be, block by block.
pub(crate) fn pool(device: &Device) -> Result<(), String> {
    let (valid, usage) = device.inspect(|pool| (pool.validate(), pool.usage()));
    valid.map_err(|broken| format!("the pool is broken: {broken}"))?;
    let parts = usage.allocated_bytes + usage.padding_bytes + usage.cached_free_bytes;
    if usage.reserved_bytes != parts || usage.allocated_bytes < usage.active_bytes {
        return Err(format!("the sums do not add up: {usage:?}"));
    }
    Ok(())
}
