//! Reads a snapshot of either format and writes it in the format of the second name.
//! Knows nothing but the library; refuses more than two arguments.

use neuronx_mem_snapshot::{Limits, Snapshot};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = std::env::args_os().skip(1);
    let (Some(from), Some(to), None) = (paths.next(), paths.next(), paths.next()) else {
        return Err("usage: convert <from> <to.pickle|to.json>".into());
    };
    Snapshot::read_file(from, &Limits::default())?.write_file(to)?;
    Ok(())
}
