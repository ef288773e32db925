//! Times `put`, `get` and `gc` on a store of many entries, and prints medians.
//!
//! `cargo run --release -p neuronx-mem-cache --example cache_speed -- [DIRECTORY] [ENTRIES] [BYTES]`. The
//! directory is where a temporary one is made; it decides which disk is measured.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the result of the program")]

use std::env;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use neuronx_mem_cache::{CacheKey, EntryKind, GcOptions, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let base = arguments.next().map_or_else(env::temp_dir, PathBuf::from);
    let n_entries: u64 = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let n_bytes: usize = arguments.next().map_or(Ok(4096), |text| text.parse())?;
    let bare = tempfile::tempdir_in(&base)?;
    let directory = tempfile::tempdir_in(base)?;
    let store = Store::open(directory.path(), EntryKind::Neff);
    let mut bytes = vec![0x5a; n_bytes.max(8)];

    // In turn, so that both meet the same disk.
    let (mut floor, mut puts) = (Vec::new(), Vec::new());
    for number in 0..n_entries {
        let key = key(number);
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        floor.push(timed(|| bare_put(bare.path(), key, &bytes))?);
        puts.push(timed(|| store.put(&key, &bytes))?);
    }
    report("floor of put", &mut floor);
    report("put", &mut puts);

    let mut puts = Vec::new();
    for number in 0..n_entries {
        bytes[..8].copy_from_slice(&(number + n_entries).to_le_bytes());
        puts.push(timed(|| store.put(&key(number), &bytes))?);
    }
    report("put over another", &mut puts);
    // Removing what is still being written measures the writing.
    rustix::fs::sync();

    // Another order than that of writing.
    let mut gets = Vec::new();
    for number in 0..n_entries {
        let key = key(number.wrapping_mul(7919) % n_entries);
        gets.push(timed(|| black_box(store.get(&key)).ok_or("an entry is missing"))?);
    }
    report("get", &mut gets);
    let mut misses = Vec::new();
    for number in n_entries..2 * n_entries {
        let key = key(number);
        misses.push(timed(|| black_box(store.get(&key)).map_or(Ok(()), |_| Err("an entry too many")))?);
    }
    report("miss", &mut misses);

    let stored = n_entries * u64::try_from(bytes.len())?;
    for (name, max_bytes) in [("gc, fits", u64::MAX), ("gc, to half", stored / 2), ("gc, to nothing", 0)] {
        let start = Instant::now();
        let removed = store.gc(&GcOptions::new(max_bytes))?.removed_entries;
        println!("{name:<18} {:>10.3} s, {removed} entries removed", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// What the file system asks for the same layout without seals, checks and random names.
fn bare_put(root: &Path, key: CacheKey, bytes: &[u8]) -> io::Result<()> {
    let name = key.to_string();
    let shard = root.join(&name[..2]).join(&name[2..4]);
    let unfinished = shard.join("unfinished");
    fs::write(&unfinished, bytes).or_else(|_| {
        fs::create_dir_all(&shard)?;
        fs::write(&unfinished, bytes)
    })?;
    fs::rename(unfinished, shard.join(&name))
}

fn key(number: u64) -> CacheKey {
    CacheKey::of_bytes(&number.to_le_bytes())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let start = Instant::now();
    let result = work();
    let time = start.elapsed();
    result.map(|_| time)
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len().saturating_sub(1)));
    let us = |part| at(part).map_or(0.0, |time: &Duration| time.as_secs_f64() * 1e6);
    println!("{name:<18} {:>10.1} us median, {:>8.1} us at 99 %", us(50), us(99));
}
