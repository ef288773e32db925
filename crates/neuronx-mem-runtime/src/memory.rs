//! How a long range of memory is cut into pieces that fit a buffer. Touches none.

/// Bytes of a piece: on the stack, and large enough that the calls do not dominate.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// Offset and length of each piece of a range.
pub(crate) fn chunks(offset_bytes: u64, bytes: u64) -> impl Iterator<Item = (u64, usize)> {
    let end = offset_bytes.saturating_add(bytes);
    (offset_bytes..end).step_by(CHUNK_BYTES).map(move |offset| {
        // At most the length of a piece.
        let n_bytes = usize::try_from(end - offset).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
        (offset, n_bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, chunks};

    #[test]
    fn the_pieces_cover_the_range() {
        let chunk = CHUNK_BYTES as u64;
        assert_eq!(chunks(10, 0).count(), 0);
        assert_eq!(chunks(10, 5).collect::<Vec<_>>(), [(10, 5)]);
        assert_eq!(chunks(1, chunk + 1).collect::<Vec<_>>(), [(1, CHUNK_BYTES), (1 + chunk, 1)]);
    }
}
