//! Memory in use and in all, and the rule of logical cores.

use neuronx_mem::runtime::{DeviceRuntime, MemoryInfo};
use neuronx_mem_nrt::{Garbage, InstanceFamily, NrtError, Symbol};

use super::standin::Standin;
use super::{DEVICE, GIB, MIB};

#[test]
fn used_and_total_are_libnrt_s() {
    let standin = Standin::new("");
    let runtime = standin.open();
    runtime.allocate(DEVICE, 64 * MIB).unwrap();
    let info = MemoryInfo { used_bytes: 64 * MIB, limit_bytes: 24 * GIB };
    assert_eq!((runtime.memory(DEVICE), runtime.memory_info(DEVICE)), (Ok(info), Ok(info)));
    assert_eq!(runtime.address_range(DEVICE), None);
}

#[test]
fn at_lnc_1_the_total_is_the_stack_and_half_of_it_is_the_neighbour_s() {
    for (family, total_gib, free_gib) in [("trn2", 24, 12), ("trn3", 36, 18), ("trn1", 16, 16)] {
        let standin = Standin::new(&format!("lnc=1;family={family}"));
        let runtime = standin.builder().lnc(1).open().unwrap();
        let info = runtime.memory(DEVICE).unwrap();
        assert_eq!((info.limit_bytes, info.free_bytes()), (total_gib * GIB, free_gib * GIB), "{family}");
    }
    let standin = Standin::new("family=trn3");
    let cores = standin.open().logical_cores();
    assert_eq!((cores.family, cores.lnc), (InstanceFamily::Trn3, 2));
}

#[test]
fn too_few_figures_are_not_believed() {
    let runtime = Standin::new("stats_bytes=8");
    let error = runtime.open().memory(DEVICE).unwrap_err();
    let (symbol, garbage) = (Symbol::VncMemoryStats, Garbage::ShortFigures { bytes: 8 });
    assert_eq!(error, NrtError::Garbage { symbol, device: DEVICE, bytes: 0, garbage });
    insta::assert_snapshot!(error, @"nrt_get_vnc_memory_stats on device 0 returned 8 bytes of memory figures");
}
