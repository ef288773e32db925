//! Python's pickle format, as far as a snapshot needs it. Knows protocols 2 to 5 for reading and 4
//! for writing; refuses everything that names code.

mod opcodes;
mod read;
mod write;

pub(crate) use read::read_pickle;
pub(crate) use write::write_pickle;
