//! Prints the page of all environment variables, `docs/environment.md`.
//!
//! Knows nothing of its own: the text is made of the registry.
//!
//! ```text
//! cargo run -p neuronx-mem-config --example environment_page > docs/environment.md
//! ```

use std::io::{self, Write};

fn main() -> io::Result<()> {
    io::stdout().lock().write_all(neuronx_mem_config::markdown().as_bytes())
}
