//! An ordered tree of free blocks through the records' own links. No recursion, no allocation;
//! the shape depends on slots and keys only, so it is the same on every machine.

use crate::block::NONE;
use crate::slab::Slab;

/// Adds `slot` to the non-empty tree at `root`; returns the new root. O(log n).
pub(crate) fn insert(slab: &mut Slab, root: u32, slot: u32) -> u32 {
    let key = slab[slot].key();
    let rank = priority(slot);
    let (mut parent, mut is_left) = (NONE, false);
    let mut node = root;
    while node != NONE && priority(node) > rank {
        let record = &slab[node];
        is_left = key < record.key();
        (parent, node) = (node, if is_left { record.left } else { record.right });
    }
    let (less, greater) = split(slab, node, key);
    slab[slot].left = less;
    slab[slot].right = greater;
    match (parent, is_left) {
        (NONE, _) => return slot,
        (_, true) => slab[parent].left = slot,
        (_, false) => slab[parent].right = slot,
    }
    root
}

/// Takes `slot`, which is in the tree, out; returns the new root. O(log n).
pub(crate) fn remove(slab: &mut Slab, root: u32, slot: u32) -> u32 {
    let key = slab[slot].key();
    let (mut parent, mut is_left) = (NONE, false);
    let mut node = root;
    while node != slot {
        debug_assert_ne!(node, NONE, "block {slot} is not in its bin");
        let record = &slab[node];
        is_left = key < record.key();
        (parent, node) = (node, if is_left { record.left } else { record.right });
    }
    let heir = heir(slab, slot);
    match (parent, is_left) {
        (NONE, _) => return heir,
        (_, true) => slab[parent].left = heir,
        (_, false) => slab[parent].right = heir,
    }
    root
}

/// Takes the first node in order out of a non-empty tree and puts the rest on its `right` link.
/// O(log n).
#[inline(never)]
pub(crate) fn take_first(slab: &mut Slab, root: u32) -> u32 {
    let mut parent = NONE;
    let mut node = root;
    while slab[node].left != NONE {
        (parent, node) = (node, slab[node].left);
    }
    if parent != NONE {
        slab[parent].left = slab[node].right;
        slab[node].right = root;
    }
    node
}

/// The tree that takes a node's place when it leaves: its two children merged. O(log n).
fn heir(slab: &mut Slab, slot: u32) -> u32 {
    let (left, right) = (slab[slot].left, slab[slot].right);
    if left == NONE {
        return right;
    }
    if right == NONE {
        return left;
    }
    merge(slab, left, right)
}

/// The first node in order whose extent is at least `needed`; [`NONE`] where there is none.
/// O(log n).
#[inline]
pub(crate) fn first_at_least(slab: &Slab, root: u32, needed: u64) -> u32 {
    let mut best = NONE;
    let mut node = root;
    while node != NONE {
        let record = &slab[node];
        if record.extent >= needed {
            best = node;
            node = record.left;
        } else {
            node = record.right;
        }
    }
    best
}

/// The last node in order of a non-empty tree. O(log n).
pub(crate) fn last(slab: &Slab, root: u32) -> u32 {
    let mut node = root;
    while slab[node].right != NONE {
        node = slab[node].right;
    }
    node
}

pub(crate) fn contains(slab: &Slab, root: u32, slot: u32) -> bool {
    let key = slab[slot].key();
    let mut node = root;
    while node != NONE && node != slot {
        let record = &slab[node];
        node = if key < record.key() { record.left } else { record.right };
    }
    node == slot
}

/// Appends the tree's nodes in order.
pub(crate) fn collect(slab: &Slab, root: u32, slots: &mut Vec<u32>) {
    let mut path = Vec::new();
    let mut node = root;
    while node != NONE || !path.is_empty() {
        while node != NONE {
            path.push(node);
            node = slab[node].left;
        }
        if let Some(top) = path.pop() {
            slots.push(top);
            node = slab[top].right;
        }
    }
}

/// A node's rank in the heap order: a fixed scramble of its slot, distinct for distinct slots.
#[inline]
fn priority(slot: u32) -> u32 {
    // Odd multiplications and xor-shifts are bijections, so ranks never tie.
    let mixed = slot.wrapping_mul(0x9E37_79B1);
    (mixed ^ (mixed >> 15)).wrapping_mul(0x2C1B_3C6D)
}

/// Cuts a tree in two at a key that is not in it.
#[inline]
fn split(slab: &mut Slab, root: u32, key: u128) -> (u32, u32) {
    let (mut less, mut greater) = (NONE, NONE);
    let (mut less_tail, mut greater_tail) = (NONE, NONE);
    let mut node = root;
    while node != NONE {
        if slab[node].key() < key {
            if less_tail == NONE {
                less = node;
            } else {
                slab[less_tail].right = node;
            }
            less_tail = node;
            node = slab[node].right;
        } else {
            if greater_tail == NONE {
                greater = node;
            } else {
                slab[greater_tail].left = node;
            }
            greater_tail = node;
            node = slab[node].left;
        }
    }
    if less_tail != NONE {
        slab[less_tail].right = NONE;
    }
    if greater_tail != NONE {
        slab[greater_tail].left = NONE;
    }
    (less, greater)
}

/// Joins two non-empty trees, all of `less` before all of `greater`.
fn merge(slab: &mut Slab, less: u32, greater: u32) -> u32 {
    let root = if priority(less) > priority(greater) { less } else { greater };
    let (mut less, mut greater) = (less, greater);
    let (mut parent, mut is_left) = (NONE, false);
    loop {
        let is_less_on_top = greater == NONE || (less != NONE && priority(less) > priority(greater));
        let top = if is_less_on_top { less } else { greater };
        // The record that stands for "none" takes the link of the root.
        if is_left {
            slab[parent].left = top;
        } else {
            slab[parent].right = top;
        }
        if less == NONE || greater == NONE {
            slab[NONE].right = NONE;
            return root;
        }
        (parent, is_left) = (top, !is_less_on_top);
        if is_less_on_top {
            less = slab[less].right;
        } else {
            greater = slab[greater].left;
        }
    }
}
