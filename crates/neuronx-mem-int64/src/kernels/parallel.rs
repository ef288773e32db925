//! The kernels with the work shared among the threads of rayon's pool, in chunks.
//!
//! Same results as the kernels above for every input and every number of threads. Worth it from a few
//! megabytes on, and only where one thread does not fill the memory bus.

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

use super::Scan;
use super::words::same_length;
use crate::Int64Error;

/// Values a chunk: 512 KiB, so that a chunk outweighs the hand-over by far.
const CHUNK: usize = 64 * 1024;

/// [`scan`](super::scan) by chunks.
#[must_use]
pub fn scan(values: &[i64]) -> Scan {
    let scan_chunk =
        |(number, chunk): (usize, &[i64])| Scan::default().followed_by(super::scan(chunk), number * CHUNK);
    // The chunks are joined in order, whichever ends first.
    values
        .par_chunks(CHUNK)
        .enumerate()
        .map(scan_chunk)
        .reduce(Scan::default, |left, right| left.followed_by(right, 0))
}

/// [`copy_low_words`](super::copy_low_words) by chunks.
///
/// # Errors
///
/// [`Int64Error::Length`] when both sides differ in length; nothing is written then.
pub fn copy_low_words(values: &[i64], words: &mut [i32]) -> Result<(), Int64Error> {
    same_length("copy_low_words", values.len(), words.len())?;
    let chunks = words.par_chunks_mut(CHUNK).zip(values.par_chunks(CHUNK));
    chunks.try_for_each(|(words, values)| super::copy_low_words(values, words))
}

/// [`sign_extend`](super::sign_extend) by chunks.
///
/// # Errors
///
/// [`Int64Error::Length`] when both sides differ in length; nothing is written then.
pub fn sign_extend(words: &[i32], values: &mut [i64]) -> Result<(), Int64Error> {
    same_length("sign_extend", words.len(), values.len())?;
    let chunks = values.par_chunks_mut(CHUNK).zip(words.par_chunks(CHUNK));
    chunks.try_for_each(|(values, words)| super::sign_extend(words, values))
}

/// [`truncate`](super::truncate) by chunks.
pub fn truncate(values: &mut [i64]) {
    values.par_chunks_mut(CHUNK).for_each(super::truncate);
}
