//! Containers of the machine. Knows how to keep millions of small ones without an allocation each;
//! refuses to free any before the end, so that dropping never recurses.

use super::val::{Unpacked, Val};
use crate::Error;
use crate::limits::{Budget, LimitKind};
use crate::model::{Block, Fields, PoolId, Record, Slot, StackId, StackTable, TraceEntry, ValueType};

/// All containers and wide scalars.
#[derive(Debug)]
pub(super) struct Heap {
    nodes: Vec<Node>,
    /// Items of small containers, each a contiguous range.
    pool: Vec<Val>,
    /// Items of containers that grew after others had put theirs behind them.
    large: Vec<Vec<Val>>,
    /// Dicts recognised as trace entries. Their stacks are still numbers of list nodes.
    pub(super) entries: Vec<TraceEntry>,
    /// Dicts recognised as blocks, likewise.
    pub(super) blocks: Vec<Block>,
    wide_ints: Vec<i128>,
    floats: Vec<f64>,
    max_nodes: u64,
}

/// One container.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Index of the first item, or of the large vector, or of the record.
    start: u32,
    /// Number of items in the pool (a dict counts keys and values).
    len: u32,
    kind: NodeKind,
    is_large: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    List,
    Tuple,
    /// Items alternate between key and value.
    Dict,
    Entry,
    Block,
}

impl Heap {
    pub(super) fn new(max_nodes: u64) -> Self {
        Self {
            nodes: Vec::new(),
            pool: Vec::new(),
            large: Vec::new(),
            entries: Vec::new(),
            blocks: Vec::new(),
            wide_ints: Vec::new(),
            floats: Vec::new(),
            max_nodes,
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn kind(&self, node: usize) -> NodeKind {
        self.nodes[node].kind
    }

    /// Index of the record behind an `Entry` or `Block` node.
    pub(super) fn record_index(&self, node: usize) -> usize {
        self.nodes[node].start as usize
    }

    /// A new container with these items.
    #[inline]
    pub(super) fn add(&mut self, kind: NodeKind, items: &[Val], budget: &mut Budget) -> Result<Val, Error> {
        let index = self.nodes.len();
        if index as u64 >= self.max_nodes {
            return Err(LimitKind::Items.error(self.max_nodes));
        }
        budget.push(&mut self.nodes, Node { start: 0, len: 0, kind, is_large: false })?;
        if !items.is_empty() {
            self.append(index, items, budget)?;
        }
        Ok(Val::node(index))
    }

    /// Appends items to a list or dict.
    #[inline]
    pub(super) fn append(&mut self, node: usize, items: &[Val], budget: &mut Budget) -> Result<(), Error> {
        let Node { start, len, is_large, .. } = self.nodes[node];
        if is_large {
            let large = &mut self.large[start as usize];
            budget.reserve(large, items.len())?;
            large.extend_from_slice(items);
            return Ok(());
        }
        let end = self.pool.len();
        if len != 0 && start as usize + len as usize != end {
            return self.enlarge(node, items, budget);
        }
        let start = if len == 0 { end } else { start as usize };
        let (Ok(start), Ok(len)) = (u32::try_from(start), u32::try_from(len as usize + items.len())) else {
            return self.enlarge(node, items, budget);
        };
        budget.reserve(&mut self.pool, items.len())?;
        self.pool.extend_from_slice(items);
        self.nodes[node].start = start;
        self.nodes[node].len = len;
        Ok(())
    }

    fn enlarge(&mut self, node: usize, items: &[Val], budget: &mut Budget) -> Result<(), Error> {
        let mut large = Vec::new();
        let old = self.items(node);
        budget.reserve(&mut large, 2 * (old.len() + items.len()))?;
        large.extend_from_slice(old);
        large.extend_from_slice(items);
        let index = u32::try_from(self.large.len()).map_err(|_| LimitKind::Items.error(self.max_nodes))?;
        budget.push(&mut self.large, large)?;
        self.nodes[node].start = index;
        self.nodes[node].is_large = true;
        Ok(())
    }

    /// The items of a list, tuple or dict; none for a record.
    pub(super) fn items(&self, node: usize) -> &[Val] {
        let Node { start, len, is_large, kind, .. } = self.nodes[node];
        let start = start as usize;
        match kind {
            NodeKind::Entry | NodeKind::Block => &[],
            _ if is_large => &self.large[start],
            _ => &self.pool[start..start + len as usize],
        }
    }

    /// Whether nothing was put into a container yet.
    #[inline]
    pub(super) fn is_empty(&self, node: usize) -> bool {
        let Node { len, is_large, kind, .. } = self.nodes[node];
        len == 0 && !is_large && !matches!(kind, NodeKind::Entry | NodeKind::Block)
    }

    /// Turns an empty dict into a trace entry.
    pub(super) fn set_entry(
        &mut self,
        node: usize,
        entry: TraceEntry,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        self.set_record(node, NodeKind::Entry, self.entries.len())?;
        budget.push(&mut self.entries, entry)
    }

    /// Turns an empty dict into a block.
    pub(super) fn set_block(&mut self, node: usize, block: Block, budget: &mut Budget) -> Result<(), Error> {
        self.set_record(node, NodeKind::Block, self.blocks.len())?;
        budget.push(&mut self.blocks, block)
    }

    fn set_record(&mut self, node: usize, kind: NodeKind, index: usize) -> Result<(), Error> {
        let start = u32::try_from(index).map_err(|_| LimitKind::Items.error(self.max_nodes))?;
        let node = &mut self.nodes[node];
        (node.kind, node.start) = (kind, start);
        Ok(())
    }

    /// Turns a record back into a plain dict, because more keys follow or because it sits where no
    /// record belongs. The record itself stays behind, unused.
    pub(super) fn expand(
        &mut self,
        node: usize,
        stacks: &StackTable,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        let pairs = match self.nodes[node].kind {
            NodeKind::Entry => {
                let entry = self.entries[self.record_index(node)];
                self.pairs_of(&entry, stacks, budget)?
            }
            NodeKind::Block => {
                let block = self.blocks[self.record_index(node)];
                self.pairs_of(&block, stacks, budget)?
            }
            _ => return Ok(()),
        };
        let old = &mut self.nodes[node];
        (old.kind, old.start, old.len) = (NodeKind::Dict, 0, 0);
        self.append(node, &pairs, budget)
    }

    fn pairs_of<R: Record>(
        &mut self,
        record: &R,
        stacks: &StackTable,
        budget: &mut Budget,
    ) -> Result<Vec<Val>, Error> {
        let mut pairs = Vec::new();
        let core = record.core();
        let canonical: Vec<_> = R::SCHEMA.keys.iter().map(|(key, _)| key.id()).collect();
        let order = core.order().map_or(canonical.as_slice(), |order| stacks.order(order));
        for &key in order {
            let value = match R::SCHEMA.slot(key) {
                Slot::Int(index) => match core.int(usize::from(index)) {
                    Some(value) => Some(self.int(value, budget)?),
                    None => None,
                },
                Slot::Text(index) => core.text(usize::from(index)).map(Val::text),
                Slot::Pool => core.pool().map(Val::pair),
                Slot::Stack => core.stack().map(|stack| Val::node(stack.index())),
                Slot::Flag | Slot::Blocks | Slot::Unknown => None,
            };
            if let Some(value) = value {
                pairs.extend([Val::text(key), value]);
            }
        }
        Ok(pairs)
    }

    /// Packs an integer of at most 128 bits.
    #[inline]
    pub(super) fn int(&mut self, value: i128, budget: &mut Budget) -> Result<Val, Error> {
        if let Some(val) = i64::try_from(value).ok().and_then(Val::int) {
            return Ok(val);
        }
        budget.push(&mut self.wide_ints, value)?;
        Ok(Val::wide_int(self.wide_ints.len() - 1))
    }

    pub(super) fn float(&mut self, value: f64, budget: &mut Budget) -> Result<Val, Error> {
        budget.push(&mut self.floats, value)?;
        Ok(Val::float(self.floats.len() - 1))
    }

    /// The integer, if this is one.
    #[inline]
    pub(super) fn as_int(&self, val: Val) -> Option<i128> {
        match val.unpack() {
            Unpacked::Int(value) => Some(i128::from(value)),
            Unpacked::WideInt(index) => self.wide_ints.get(index).copied(),
            _ => None,
        }
    }

    pub(super) fn as_float(&self, index: usize) -> f64 {
        self.floats.get(index).copied().unwrap_or(0.0)
    }

    /// The two integers as a pair, if this is a tuple or list of two.
    pub(super) fn as_pair(&self, val: Val, stacks: &mut StackTable) -> Option<PoolId> {
        match val.unpack() {
            Unpacked::Pair(pair) => Some(pair),
            Unpacked::Node(node) if self.kind(node) == NodeKind::List => {
                let &[first, second] = self.items(node) else { return None };
                Some(stacks.intern_pool_ints([self.as_int(first)?, self.as_int(second)?]))
            }
            _ => None,
        }
    }

    /// The number of a list that will become a call stack, while the machine runs.
    #[inline]
    pub(super) fn as_stack_node(&self, val: Val) -> Option<StackId> {
        match val.unpack() {
            Unpacked::Node(node) if self.kind(node) == NodeKind::List => Some(StackId::from_index(node)),
            _ => None,
        }
    }

    pub(super) fn type_name(&self, val: Val) -> &'static str {
        match val.unpack() {
            Unpacked::None => ValueType::NONE,
            Unpacked::Bool(_) => ValueType::BOOL,
            Unpacked::Int(_) | Unpacked::WideInt(_) => ValueType::INT,
            Unpacked::Float(_) => ValueType::FLOAT,
            Unpacked::Text(_) => ValueType::STR,
            Unpacked::Pair(_) => ValueType::TUPLE,
            Unpacked::Node(node) => match self.kind(node) {
                NodeKind::List => ValueType::LIST,
                NodeKind::Tuple => ValueType::TUPLE,
                NodeKind::Dict | NodeKind::Entry | NodeKind::Block => ValueType::DICT,
            },
        }
    }
}
