//! The table of texts, frames and call stacks that records refer to by number. Knows each distinct
//! one once, unless told otherwise; refuses to drop any, since records and live blocks hold the numbers.

use std::sync::Arc;

use super::interner::Interner;
use super::{ExtrasId, FIXED_TEXTS, Frame, FrameId, FrameRecord, OrderId, PoolId, StackId, StrId, Value};

/// Texts, frames, call stacks and pool ids, each stored once and numbered from 0.
///
/// A number is valid only for the table that gave it; looking up another table's number gives
/// some other item or an empty one, never a panic. [`StackImporter`](crate::StackImporter) carries
/// stacks from one table to another.
///
/// ```
/// use neuronx_mem_snapshot::StackTable;
///
/// let mut stacks = StackTable::new();
/// let frame = stacks.intern_frame("forward", "model.py", 12);
/// let stack = stacks.intern_stack(&[frame]);
/// assert_eq!(stacks.intern_stack(&[frame]), stack);
/// assert_eq!(stacks.frames(stack).next().map(|frame| frame.line()), Some(12));
/// ```
#[derive(Clone, Debug)]
pub struct StackTable {
    texts: Interner<Arc<str>>,
    frames: Interner<FrameRecord>,
    stacks: Interner<Arc<[FrameId]>>,
    pools: Interner<[i128; 2]>,
    extras: Interner<Arc<[(StrId, Value)]>>,
    orders: Interner<Arc<[StrId]>>,
    /// Estimate of the host memory behind the table.
    memory_bytes: usize,
}

/// Memory of one item beside its own bytes: reference counts, allocator rounding, hash slots.
const ITEM_OVERHEAD_BYTES: usize = 56;

impl StackTable {
    /// A table that holds the schema's words, the empty stack and the default pool.
    #[must_use]
    pub fn new() -> Self {
        let mut table = Self {
            texts: Interner::new(),
            frames: Interner::new(),
            stacks: Interner::new(),
            pools: Interner::new(),
            extras: Interner::new(),
            orders: Interner::new(),
            memory_bytes: 0,
        };
        for text in FIXED_TEXTS {
            table.intern_text(text);
        }
        table.intern_stack(&[]);
        table.intern_pool(0, 0);
        table
    }

    /// The number of a text. Cost: O(length), an allocation only when it is new.
    pub fn intern_text(&mut self, text: &str) -> StrId {
        let (index, is_new) = self.texts.intern(text, || Arc::from(text));
        self.note(is_new, text.len());
        StrId::from_index(index)
    }

    /// The number of a text that is already there.
    #[must_use]
    pub fn find_text(&self, text: &str) -> Option<StrId> {
        self.texts.find(text).map(StrId::from_index)
    }

    /// The text with this number. Cost: O(1).
    #[must_use]
    pub fn text(&self, id: StrId) -> &str {
        self.texts.get(id.index()).map_or("", |text| text)
    }

    /// The number of a frame.
    pub fn intern_frame(&mut self, name: &str, filename: &str, line: u64) -> FrameId {
        let record = FrameRecord::with_parts(self.intern_text(name), self.intern_text(filename), line);
        self.intern_frame_record(record)
    }

    /// The frame with this number. Cost: O(1).
    #[must_use]
    pub fn frame(&self, id: FrameId) -> Option<Frame<'_>> {
        self.frames.get(id.index()).map(|record| Frame::new(record, self))
    }

    /// The number of a call stack, innermost frame first. Cost: O(frames), about 35 ns for 24
    /// frames that are known; an allocation only when the stack is new.
    pub fn intern_stack(&mut self, frames: &[FrameId]) -> StackId {
        let (index, is_new) = self.stacks.intern(frames, || Arc::from(frames));
        self.note(is_new, size_of_val(frames));
        StackId::from_index(index)
    }

    /// Adds a call stack under the next number even if another number has the same frames: for a
    /// table that is filled for numbers given out before. Cost: O(frames) and an allocation.
    pub fn append_stack(&mut self, frames: &[FrameId]) -> StackId {
        let index = self.stacks.append(Arc::from(frames));
        self.note(true, size_of_val(frames));
        StackId::from_index(index)
    }

    /// The frames of a stack by number, innermost first. Cost: O(1).
    #[must_use]
    pub fn stack(&self, id: StackId) -> &[FrameId] {
        self.stacks.get(id.index()).map_or(&[], |frames| frames)
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, id: StackId) -> impl Iterator<Item = Frame<'_>> {
        self.stack(id).iter().filter_map(|&frame| self.frame(frame))
    }

    /// The number of a private-pool id: `(0, 0)` default, `(n, 0)` graph capture, `(0, n)` user pool.
    pub fn intern_pool(&mut self, first: u64, second: u64) -> PoolId {
        self.intern_pool_ints([i128::from(first), i128::from(second)])
    }

    /// The two integers of a private-pool id.
    #[must_use]
    pub fn pool(&self, id: PoolId) -> (i128, i128) {
        self.pools.get(id.index()).map_or((0, 0), |&[first, second]| (first, second))
    }

    /// Number of distinct call stacks, the empty one included.
    #[must_use]
    pub fn n_stacks(&self) -> usize {
        self.stacks.items().len()
    }

    /// Number of distinct frames.
    #[must_use]
    pub fn n_frames(&self) -> usize {
        self.frames.items().len()
    }

    /// Number of distinct texts, the schema's words included.
    #[must_use]
    pub fn n_texts(&self) -> usize {
        self.texts.items().len()
    }

    /// Estimate of the host memory that the table takes, bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    pub(crate) fn n_pools(&self) -> usize {
        self.pools.items().len()
    }

    pub(crate) fn shared_text(&self, id: StrId) -> Arc<str> {
        self.texts.get(id.index()).cloned().unwrap_or_else(|| Arc::from(""))
    }

    pub(crate) fn intern_frame_record(&mut self, record: FrameRecord) -> FrameId {
        let (index, is_new) = self.frames.intern(&record, || record);
        self.note(is_new, size_of::<FrameRecord>());
        FrameId::from_index(index)
    }

    pub(crate) fn frame_record(&self, id: FrameId) -> Option<&FrameRecord> {
        self.frames.get(id.index())
    }

    /// The number here of a pool id of another table.
    pub(crate) fn intern_pool_of(&mut self, source: &Self, id: PoolId) -> PoolId {
        let (first, second) = source.pool(id);
        self.intern_pool_ints([first, second])
    }

    pub(crate) fn intern_pool_ints(&mut self, pair: [i128; 2]) -> PoolId {
        let (index, is_new) = self.pools.intern(&pair, || pair);
        self.note(is_new, size_of_val(&pair));
        PoolId::from_index(index)
    }

    pub(crate) fn intern_extras(&mut self, extras: Vec<(StrId, Value)>) -> ExtrasId {
        let n_bytes = size_of_val(extras.as_slice());
        let (index, is_new) = self.extras.intern(extras.as_slice(), || Arc::from(extras.as_slice()));
        self.note(is_new, n_bytes);
        ExtrasId::from_index(index)
    }

    pub(crate) fn extras(&self, id: ExtrasId) -> &[(StrId, Value)] {
        self.extras.get(id.index()).map_or(&[], |extras| extras)
    }

    pub(crate) fn intern_order(&mut self, keys: &[StrId]) -> OrderId {
        let (index, is_new) = self.orders.intern(keys, || Arc::from(keys));
        self.note(is_new, size_of_val(keys));
        OrderId::from_index(index)
    }

    pub(crate) fn order(&self, id: OrderId) -> &[StrId] {
        self.orders.get(id.index()).map_or(&[], |keys| keys)
    }

    /// The distinct items of each kind, for comparing and merging tables.
    pub(crate) fn parts(&self) -> Parts<'_> {
        Parts {
            texts: self.texts.items(),
            frames: self.frames.items(),
            stacks: self.stacks.items(),
            pools: self.pools.items(),
            extras: self.extras.items(),
            orders: self.orders.items(),
        }
    }

    pub(crate) fn find_frame(&self, record: &FrameRecord) -> Option<FrameId> {
        self.frames.find(record).map(FrameId::from_index)
    }

    pub(crate) fn find_stack(&self, frames: &[FrameId]) -> Option<StackId> {
        self.stacks.find(frames).map(StackId::from_index)
    }

    pub(crate) fn find_pool(&self, pair: [i128; 2]) -> Option<PoolId> {
        self.pools.find(&pair).map(PoolId::from_index)
    }

    pub(crate) fn find_extras(&self, extras: &[(StrId, Value)]) -> Option<ExtrasId> {
        self.extras.find(extras).map(ExtrasId::from_index)
    }

    pub(crate) fn find_order(&self, keys: &[StrId]) -> Option<OrderId> {
        self.orders.find(keys).map(OrderId::from_index)
    }

    fn note(&mut self, is_new: bool, n_bytes: usize) {
        if is_new {
            self.memory_bytes += n_bytes + ITEM_OVERHEAD_BYTES;
        }
    }
}

/// Borrowed view of all distinct items of a table.
#[derive(Debug)]
pub(crate) struct Parts<'t> {
    pub(crate) texts: &'t [Arc<str>],
    pub(crate) frames: &'t [FrameRecord],
    pub(crate) stacks: &'t [Arc<[FrameId]>],
    pub(crate) pools: &'t [[i128; 2]],
    pub(crate) extras: &'t [Arc<[(StrId, Value)]>],
    pub(crate) orders: &'t [Arc<[StrId]>],
}

impl Default for StackTable {
    fn default() -> Self {
        Self::new()
    }
}
