//! The exported functions, by header and kind. Each notes its call, runs the test's callback and asks
//! the state; none decides anything.

mod life;
mod questions;
mod tensors;
mod transfers;

use std::ffi::c_int;

use neuronx_mem_runtime::Status;

/// A tensor for C: only pointers to it exist, and what they point to is nothing.
#[repr(C)]
pub struct NrtTensor {
    _private: [u8; 0],
}

fn code(outcome: Result<(), Status>) -> c_int {
    let Status(number) = outcome.err().unwrap_or(Status::SUCCESS);
    c_int::try_from(number).unwrap_or(1)
}
