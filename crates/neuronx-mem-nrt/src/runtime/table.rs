//! Who holds which addresses of one device. Calls nothing: what has to be freed is handed to the
//! caller, who lets go of the table's lock first.

use std::collections::BTreeMap;
use std::sync::Arc;

use neuronx_mem_runtime::{SegmentHandle, SliceHandle};

use crate::tensor::{SegmentTensor, Tensor};

/// Segments by first address, and slices by name. Names are numbers that are never used again.
#[derive(Debug, Default)]
pub(super) struct Table {
    segments: BTreeMap<u64, Segment>,
    addresses: BTreeMap<SegmentHandle, u64>,
    slices: BTreeMap<SliceHandle, Slice>,
    last_name: u64,
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) name: SegmentHandle,
    pub(super) bytes: u64,
    pub(super) tensor: Arc<SegmentTensor>,
    /// Tensors of blocks by address. They never overlap: what a new one covers was handed out anew, so
    /// the old ones belong to blocks that are gone.
    tensors: BTreeMap<u64, Tensor>,
}

/// A slice by name, made when its tensor is asked for.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) segment: SegmentHandle,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) tensor: Option<Tensor>,
}

impl Table {
    /// Adds a segment; refuses one that overlaps another.
    pub(super) fn add(
        &mut self,
        address: u64,
        bytes: u64,
        tensor: Arc<SegmentTensor>,
    ) -> Option<SegmentHandle> {
        let end = address.checked_add(bytes)?;
        let below = self.segments.range(..end).next_back();
        if below.is_some_and(|(start, segment)| start + segment.bytes > address) {
            return None;
        }
        let name = SegmentHandle(self.next_name());
        self.segments.insert(address, Segment { name, bytes, tensor, tensors: BTreeMap::new() });
        self.addresses.insert(name, address);
        Some(name)
    }

    /// Takes a segment out. Dropping it frees its tensor and those of its blocks.
    pub(super) fn remove(&mut self, name: SegmentHandle) -> Option<Segment> {
        let address = self.addresses.remove(&name)?;
        self.segments.remove(&address)
    }

    /// The segment of this name, and its first address.
    pub(super) fn segment(&self, name: SegmentHandle) -> Option<(u64, &Segment)> {
        let address = *self.addresses.get(&name)?;
        Some((address, self.segments.get(&address)?))
    }

    /// The segment that all of these bytes are in, and its first address.
    pub(super) fn around(&self, address: u64, bytes: u64) -> Option<(u64, &Segment)> {
        let (start, segment) = self.segments.range(..=address).next_back()?;
        let end = address.checked_add(bytes)?;
        (bytes > 0 && end <= start + segment.bytes).then_some((*start, segment))
    }

    /// Whether a segment has this tensor.
    pub(super) fn holds(&self, tensor: &SegmentTensor) -> bool {
        let raw = tensor.owned.as_ptr();
        self.segments.values().any(|segment| segment.tensor.owned.as_ptr() == raw)
    }

    /// The tensor of exactly this block, if it was made.
    pub(super) fn tensor(&self, address: u64, bytes: u64) -> Option<Tensor> {
        let (_, segment) = self.around(address, bytes)?;
        segment.tensors.get(&address).filter(|tensor| tensor.bytes() == bytes).cloned()
    }

    /// Keeps a block's tensor, while its segment is held; returns those that it replaces.
    pub(super) fn keep(&mut self, segment: SegmentHandle, tensor: &Tensor) -> Vec<Tensor> {
        let address = self.addresses.get(&segment).copied();
        let Some(segment) = address.and_then(|address| self.segments.get_mut(&address)) else {
            return Vec::new();
        };
        let (start, end) = (tensor.address(), tensor.address() + tensor.bytes());
        let below = segment.tensors.range(..end).rev();
        let covered = below.take_while(|(_, old)| old.address() + old.bytes() > start);
        let covered: Vec<u64> = covered.map(|(address, _)| *address).collect();
        let replaced = covered.iter().filter_map(|address| segment.tensors.remove(address)).collect();
        segment.tensors.insert(start, tensor.clone());
        replaced
    }

    pub(super) fn add_slice(&mut self, slice: Slice) -> SliceHandle {
        let name = SliceHandle(self.next_name());
        self.slices.insert(name, slice);
        name
    }

    pub(super) fn slice(&self, name: SliceHandle) -> Option<&Slice> {
        self.slices.get(&name)
    }

    /// Gives a slice its tensor; whether the slice is still held.
    pub(super) fn set_slice_tensor(&mut self, name: SliceHandle, tensor: &Tensor) -> bool {
        let slice = self.slices.get_mut(&name);
        slice.map(|slice| slice.tensor = Some(tensor.clone())).is_some()
    }

    /// Takes a slice out. Dropping it frees its tensor.
    pub(super) fn remove_slice(&mut self, name: SliceHandle) -> Option<Slice> {
        self.slices.remove(&name)
    }

    fn next_name(&mut self) -> u64 {
        self.last_name += 1;
        self.last_name
    }
}
