//! Plain, gzip or zstd, told apart by the first bytes and never by a file's name. Reads; the
//! writer's output is compressed by whoever wants that.

use std::io::{self, Cursor, Read};

/// Bytes needed to know a format.
const MAGIC_BYTES: usize = 4;

/// The text behind a reader, decompressed as it is read.
///
/// Several compressed parts one after the other are one text, as the command-line tools have it.
/// Damage shows as an error of kind `InvalidData`, an early end as `UnexpectedEof`.
pub(super) fn decompress(mut reader: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = [0; MAGIC_BYTES];
    let n_read = read_up_to(&mut reader, &mut magic)?;
    let start = Cursor::new(magic).take(n_read as u64);
    let whole = start.chain(reader);
    Ok(match &magic[..n_read] {
        [0x1f, 0x8b, ..] => Box::new(Decoded { inner: flate2::read::MultiGzDecoder::new(whole) }),
        // The second is a frame to skip over, with which parallel compressors start.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            Box::new(Decoded { inner: zstd::Decoder::new(whole)? })
        }
        _ => Box::new(whole),
    })
}

fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < buffer.len() {
        match reader.read(&mut buffer[n_read..]) {
            Ok(0) => break,
            Ok(more) => n_read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

/// A decompressor whose own complaints can be told from the system's.
struct Decoded<D> {
    inner: D,
}

impl<D: Read> Read for Decoded<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let is_own = error.raw_os_error().is_none()
                && !matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::Interrupted);
            if is_own { io::Error::new(io::ErrorKind::InvalidData, error) } else { error }
        })
    }
}
