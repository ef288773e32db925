//! Bounds the nesting of what a program built. Knows how to walk any graph of containers once, with
//! its own stack; refuses cycles and graphs deeper than the limit, so that later steps may recurse.

use super::heap::{Heap, NodeKind};
use super::machine::Finished;
use super::val::Unpacked;
use crate::Error;
use crate::limits::{Budget, LimitKind};
use crate::model::{Fields, Record, StackId};

/// Mark of a container that is being walked.
const OPEN: u8 = u8::MAX;

/// Checks everything that the root reaches. Cost: O(containers + items).
pub(super) fn check(finished: &Finished, max_depth: usize, heights: &mut Heights) -> Result<(), Error> {
    let Unpacked::Node(root) = finished.root.unpack() else { return Ok(()) };
    let heap = &finished.heap;
    heights.open(root);
    let mut path = vec![Step { node: root, next: 0, height: 1 }];
    while let Some(step) = path.last_mut() {
        let Some(child) = next_child(heap, step.node, &mut step.next) else {
            let Step { node, height, .. } = *step;
            heights.close(node, height);
            path.pop();
            if let Some(parent) = path.last_mut() {
                parent.height = parent.height.max(height.saturating_add(1));
            }
            continue;
        };
        let below = heights.of(child);
        if below == OPEN {
            return Err(Error::Cycle);
        }
        if path.len() + usize::from(below.max(1)) > max_depth {
            return Err(LimitKind::Depth.error(max_depth as u64));
        }
        if below == 0 {
            heights.open(child);
            path.push(Step { node: child, next: 0, height: 1 });
        } else if let Some(parent) = path.last_mut() {
            parent.height = parent.height.max(below.saturating_add(1));
        }
    }
    Ok(())
}

/// Levels of each container, itself included; 0 while it was not seen.
#[derive(Debug)]
pub(super) struct Heights(Vec<u8>);

/// A container on the path from the root.
struct Step {
    node: usize,
    next: usize,
    height: u8,
}

impl Heights {
    pub(super) fn new(heap: &Heap, budget: &mut Budget) -> Result<Self, Error> {
        budget.charge(heap.n_nodes())?;
        Ok(Self(vec![0; heap.n_nodes()]))
    }

    fn of(&self, node: usize) -> u8 {
        self.0[node]
    }

    fn open(&mut self, node: usize) {
        self.0[node] = OPEN;
    }

    fn close(&mut self, node: usize, height: u8) {
        self.0[node] = height;
    }
}

/// The next container inside `node`, from item `next` on.
fn next_child(heap: &Heap, node: usize, next: &mut usize) -> Option<usize> {
    let stack = match heap.kind(node) {
        NodeKind::Entry => heap.entries[heap.record_index(node)].core().stack(),
        NodeKind::Block => heap.blocks[heap.record_index(node)].core().stack(),
        _ => {
            let items = heap.items(node);
            while let Some(item) = items.get(*next) {
                *next += 1;
                if let Unpacked::Node(child) = item.unpack() {
                    return Some(child);
                }
            }
            return None;
        }
    };
    *next += 1;
    stack.filter(|_| *next == 1).map(StackId::index)
}
