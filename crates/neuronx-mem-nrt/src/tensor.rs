//! A block's tensor: a slice of its segment's tensor, shared by all who asked for it. Knows its
//! bounds; knows nothing of the block's life.

use std::sync::{Arc, OnceLock};

use neuronx_mem_runtime::DeviceId;

use crate::calls::{CallError, OwnedTensor};
use crate::ffi::NrtTensor;
use crate::{NrtError, Symbol};

/// Bytes written at once where a library cannot fill device memory itself.
const FILL_BYTES: usize = 1 << 20;

/// The tensor of a whole segment.
#[derive(Debug)]
pub(crate) struct SegmentTensor {
    pub(crate) owned: OwnedTensor,
    hbm: OnceLock<Option<i32>>,
}

impl SegmentTensor {
    pub(crate) fn new(owned: OwnedTensor) -> Self {
        Self { owned, hbm: OnceLock::new() }
    }

    /// The HBM stack that it lies on, asked for once.
    pub(crate) fn hbm(&self) -> Option<i32> {
        *self.hbm.get_or_init(|| self.owned.hbm())
    }
}

/// A range of a segment, found and checked.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) tensor: Arc<SegmentTensor>,
    pub(crate) device: DeviceId,
    pub(crate) address: u64,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

impl Place {
    pub(crate) fn failed(&self, symbol: Symbol, error: CallError) -> NrtError {
        crate::runtime::call_error(symbol, self.device, self.bytes as u64, error)
    }

    pub(crate) fn fill(&self, value: u8) -> Result<(), NrtError> {
        let failed = |error| self.failed(Symbol::TensorMemset, error);
        if self.tensor.owned.fill(self.offset as u64, value, self.bytes).map_err(failed)? {
            return Ok(());
        }
        let chunk = vec![value; self.bytes.min(FILL_BYTES)];
        let mut done = 0;
        while done < self.bytes {
            let part = &chunk[..chunk.len().min(self.bytes - done)];
            let write = self.tensor.owned.write(self.offset + done, part);
            write.map_err(|error| self.failed(Symbol::TensorWrite, error))?;
            done += part.len();
        }
        Ok(())
    }

    pub(crate) fn copy_to(&self, to: &Self) -> Result<(), NrtError> {
        let (from_end, to_end) = (self.address + self.bytes as u64, to.address + to.bytes as u64);
        if self.device == to.device && self.address < to_end && to.address < from_end {
            let (from, to, bytes) = (self.address, to.address, self.bytes as u64);
            return Err(NrtError::OverlappingCopy { from, to, bytes });
        }
        if !self.shares_hbm_with(to) {
            return Err(NrtError::DifferentHbm { from: self.device, to: to.device });
        }
        let copied = self.tensor.owned.copy(self.offset, &to.tensor.owned, to.offset, self.bytes);
        match copied.map_err(|error| self.failed(Symbol::TensorCopy, error))? {
            true => Ok(()),
            false => Err(NrtError::Unsupported { symbol: Symbol::TensorCopy }),
        }
    }

    /// Two devices can share a stack, at LNC 1; where the library cannot tell, they do not.
    fn shares_hbm_with(&self, other: &Self) -> bool {
        if self.device == other.device {
            return true;
        }
        self.tensor.hbm().zip(other.tensor.hbm()).is_some_and(|(from, to)| from == to)
    }
}

/// The tensor of one block: what programs pass to libnrt.
///
/// Cheap to clone. The slice is freed when the runtime and all clones have let go of it; its memory
/// belongs to the segment, which libnrt keeps until its last slice is gone. Hold a clone until the work
/// that uses the tensor has completed: the runtime lets go when the memory is handed out as another
/// block.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub(crate) view: Arc<View>,
}

#[derive(Debug)]
pub(crate) struct View {
    pub(crate) owned: OwnedTensor,
    pub(crate) device: DeviceId,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl Tensor {
    /// The `nrt_tensor_t` for calls of libnrt. Valid while this or a clone lives and the runtime is
    /// open; not to be freed.
    #[must_use]
    pub fn as_ptr(&self) -> *mut NrtTensor {
        self.view.owned.as_ptr()
    }

    /// Its device.
    #[must_use]
    pub fn device(&self) -> DeviceId {
        self.view.device
    }

    /// First device address.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.view.address
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.view.bytes
    }
}
