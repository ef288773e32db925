//! JSON with the structure of the pickle (tuples become lists). Knows how to stream both ways while
//! keeping stacks shared in memory; refuses numbers that JSON does not have.

mod context;
mod read;
mod records;
mod seeds;
mod values;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use read::{read_json_from, read_json_slice};
pub(crate) use write::write_json;
