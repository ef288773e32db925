//! The two system calls, on Linux.
//!
//! Knows sets of up to 1024 CPUs, which is what the safe wrappers take.

use std::io;

use rustix::thread::{CpuSet as Bits, Pid, sched_getaffinity, sched_setaffinity};

use crate::ids::CpuId;
use crate::{CpuSet, NumaError};

/// The affinity of a thread of any process.
pub(crate) fn affinity(tid: i32) -> io::Result<CpuSet> {
    let bits = sched_getaffinity(Pid::from_raw(tid))?;
    let cpus = (0u32..).zip(0..Bits::MAX_CPU).filter(|(_, bit)| bits.is_set(*bit));
    Ok(cpus.map(|(number, _)| CpuId(number)).collect())
}

/// Binds a thread to CPUs.
pub(super) fn set_affinity(tid: i32, cpus: &CpuSet) -> Result<(), NumaError> {
    let mut bits = Bits::new();
    for cpu in cpus.iter() {
        let bit = cpu.get() as usize;
        if bit >= Bits::MAX_CPU {
            return Err(NumaError::CpuBeyondCall { cpu, n_cpus: Bits::MAX_CPU });
        }
        bits.set(bit);
    }
    let refused = |error: rustix::io::Errno| NumaError::Affinity { tid, source: error.into() };
    sched_setaffinity(Pid::from_raw(tid), &bits).map_err(refused)
}
