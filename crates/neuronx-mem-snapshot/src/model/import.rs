//! Carries numbers from one table to another. Knows how to translate every number in a record;
//! refuses to translate what the target lacks unless it is asked to add it.

use smallvec::SmallVec;

use super::{
    ExtrasId, Fields, FrameId, FrameRecord, OrderId, PoolId, Record, StackId, StackTable, StrId, TraceEntry,
    Value,
};

/// Maps numbers of a source table to numbers of a target table; `None` when the target lacks the item.
pub(crate) trait Translate {
    fn text(&mut self, id: StrId) -> Option<StrId>;
    fn pool(&mut self, id: PoolId) -> Option<PoolId>;
    fn stack(&mut self, id: StackId) -> Option<StackId>;
    fn extras(&mut self, id: ExtrasId) -> Option<ExtrasId>;
    fn order(&mut self, id: OrderId) -> Option<OrderId>;
}

/// Translates all numbers of a record's store.
pub(crate) fn translate<F: Fields + Copy>(core: &F, to: &mut impl Translate) -> Option<F> {
    let mut result = *core;
    for text in result.texts_mut() {
        *text = each(*text, |id| to.text(id))?;
    }
    result.set_pool(each(core.pool(), |id| to.pool(id))?);
    result.set_stack(each(core.stack(), |id| to.stack(id))?);
    result.set_extras(each(core.extras(), |id| to.extras(id))?);
    result.set_order(each(core.order(), |id| to.order(id))?);
    Some(result)
}

/// `None` stays `None`; a number that cannot be translated fails.
fn each<T, U>(id: Option<T>, translate: impl FnOnce(T) -> Option<U>) -> Option<Option<U>> {
    match id {
        None => Some(None),
        Some(id) => translate(id).map(Some),
    }
}

/// Copies call stacks from one [`StackTable`] into another, each distinct one once.
///
/// One importer serves one pair of tables. Cost: O(1) for a stack that was imported before.
///
/// ```
/// use neuronx_mem_snapshot::{StackImporter, StackTable};
///
/// let (mut source, mut target) = (StackTable::new(), StackTable::new());
/// let frame = source.intern_frame("forward", "model.py", 12);
/// let stack = source.intern_stack(&[frame]);
/// let mut importer = StackImporter::new();
/// let imported = importer.import(&source, stack, &mut target);
/// assert_eq!(target.frames(imported).count(), 1);
/// ```
#[derive(Debug, Default)]
pub struct StackImporter {
    frames: Vec<Option<FrameId>>,
    stacks: Vec<Option<StackId>>,
}

impl StackImporter {
    /// An importer that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number in `target` of a stack of `source`.
    pub fn import(&mut self, source: &StackTable, stack: StackId, target: &mut StackTable) -> StackId {
        if let Some(known) = self.stacks.get(stack.index()).copied().flatten() {
            return known;
        }
        let mut frames = SmallVec::<[FrameId; 64]>::new();
        for &frame in source.stack(stack) {
            frames.push(self.frame(source, frame, target));
        }
        let imported = target.intern_stack(&frames);
        remember(&mut self.stacks, stack.index(), imported);
        imported
    }

    /// A copy of an entry of `source` with the numbers of `target`.
    pub fn import_entry(
        &mut self,
        source: &StackTable,
        entry: &TraceEntry,
        target: &mut StackTable,
    ) -> TraceEntry {
        let mut result = *entry;
        let mut adding = Adding { importer: self, source, target };
        if let Some(core) = translate(entry.core(), &mut adding) {
            *result.core_mut() = core;
        }
        result
    }

    fn frame(&mut self, source: &StackTable, frame: FrameId, target: &mut StackTable) -> FrameId {
        if let Some(known) = self.frames.get(frame.index()).copied().flatten() {
            return known;
        }
        let mut record = source.frame_record(frame).copied().unwrap_or_default();
        let mut adding = Adding { importer: self, source, target };
        if let Some(core) = translate(record.core(), &mut adding) {
            *record.core_mut() = core;
        }
        let imported = target.intern_frame_record(record);
        remember(&mut self.frames, frame.index(), imported);
        imported
    }
}

fn remember<T: Copy>(known: &mut Vec<Option<T>>, index: usize, value: T) {
    if known.len() <= index {
        known.resize(index + 1, None);
    }
    known[index] = Some(value);
}

/// Translation that adds what the target lacks; it never fails.
struct Adding<'a> {
    importer: &'a mut StackImporter,
    source: &'a StackTable,
    target: &'a mut StackTable,
}

impl Translate for Adding<'_> {
    fn text(&mut self, id: StrId) -> Option<StrId> {
        Some(self.target.intern_text(self.source.text(id)))
    }

    fn pool(&mut self, id: PoolId) -> Option<PoolId> {
        let (first, second) = self.source.pool(id);
        Some(self.target.intern_pool_ints([first, second]))
    }

    fn stack(&mut self, id: StackId) -> Option<StackId> {
        Some(self.importer.import(self.source, id, self.target))
    }

    fn extras(&mut self, id: ExtrasId) -> Option<ExtrasId> {
        let mut extras: Vec<(StrId, Value)> = Vec::new();
        for (key, value) in self.source.extras(id) {
            extras.push((self.target.intern_text(self.source.text(*key)), value.clone()));
        }
        Some(self.target.intern_extras(extras))
    }

    fn order(&mut self, id: OrderId) -> Option<OrderId> {
        let source = self.source;
        let keys: Vec<StrId> =
            source.order(id).iter().map(|&key| self.target.intern_text(source.text(key))).collect();
        Some(self.target.intern_order(&keys))
    }
}

/// Translation into a table that must not change: looks every item up once, in advance.
pub(crate) struct Lookup {
    texts: Vec<Option<StrId>>,
    pools: Vec<Option<PoolId>>,
    extras: Vec<Option<ExtrasId>>,
    orders: Vec<Option<OrderId>>,
    stacks: Vec<Option<StackId>>,
}

impl Lookup {
    /// Cost: O(items of `source`).
    pub(crate) fn new(source: &StackTable, target: &StackTable) -> Self {
        let parts = source.parts();
        let texts: Vec<_> = parts.texts.iter().map(|text| target.find_text(text)).collect();
        let text = |id: &StrId| texts.get(id.index()).copied().flatten();
        let pools = parts.pools.iter().map(|&pair| target.find_pool(pair)).collect();
        let extras = parts.extras.iter().map(|extras| {
            let translated = extras.iter().map(|(key, value)| Some((text(key)?, value.clone())));
            target.find_extras(&translated.collect::<Option<Vec<_>>>()?)
        });
        let extras = extras.collect();
        let orders = parts.orders.iter();
        let orders =
            orders.map(|keys| target.find_order(&keys.iter().map(text).collect::<Option<Vec<_>>>()?));
        let orders = orders.collect();
        let mut lookup = Self { texts, pools, extras, orders, stacks: Vec::new() };
        let frames: Vec<_> = parts.frames.iter().map(|record| lookup.frame(record, target)).collect();
        let frame = |id: &FrameId| frames.get(id.index()).copied().flatten();
        let stacks = parts.stacks.iter();
        let stacks =
            stacks.map(|list| target.find_stack(&list.iter().map(frame).collect::<Option<Vec<_>>>()?));
        lookup.stacks = stacks.collect();
        lookup
    }

    fn frame(&mut self, record: &FrameRecord, target: &StackTable) -> Option<FrameId> {
        let mut translated = *record;
        *translated.core_mut() = translate(record.core(), self)?;
        target.find_frame(&translated)
    }
}

impl Translate for Lookup {
    fn text(&mut self, id: StrId) -> Option<StrId> {
        self.texts.get(id.index()).copied().flatten()
    }

    fn pool(&mut self, id: PoolId) -> Option<PoolId> {
        self.pools.get(id.index()).copied().flatten()
    }

    fn stack(&mut self, id: StackId) -> Option<StackId> {
        self.stacks.get(id.index()).copied().flatten()
    }

    fn extras(&mut self, id: ExtrasId) -> Option<ExtrasId> {
        self.extras.get(id.index()).copied().flatten()
    }

    fn order(&mut self, id: OrderId) -> Option<OrderId> {
        self.orders.get(id.index()).copied().flatten()
    }
}
