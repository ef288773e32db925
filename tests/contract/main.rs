//! One set of behaviours, whoever allocates and wherever memory comes from: the facade and the C ABI,
//! each over the simulated device and over a libnrt. The C ABI is opened as a library and called
//! through its table. What differs by design between them is not asked.
//!
//! The behaviours are those that TorchNeuron's own tests pin down over a mocked runtime, as far as
//! they still apply: blocks now have segments under them, and free memory is shared by all streams.

#![allow(unsafe_code, reason = "a C library")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod allocation;
mod c_abi;
mod c_tensors;
mod facade;
mod metrics;
mod out_of_memory;
mod programs;
#[path = "../support/standin.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared by several tests")]
mod standin;
mod streams;
mod subject;

use subject::{Held, Outcome, Setup, Subject};

const MIB: u64 = 1 << 20;

type Make = fn(&Setup) -> Box<dyn Subject>;

/// Every combination.
fn all(setup: &Setup, check: impl Fn(&dyn Subject)) {
    let subjects: [Make; 4] =
        [facade::over_simulator, facade::over_libnrt, c_abi::over_simulator, c_abi::over_libnrt];
    for make in subjects {
        let subject = make(setup);
        if setup.faults.is_empty() || subject.has_faults() {
            check(&*subject);
        }
        subject.end();
    }
}
