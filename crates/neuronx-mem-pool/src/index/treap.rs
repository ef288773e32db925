//! An ordered tree of free blocks through the records' own links. No recursion, no allocation;
//! the shape depends on slots and keys only, so it is the same on every machine.

use crate::block::NONE;
use crate::slab::Slab;

/// Which link holds a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    /// In no tree: the block that the index holds beside its bins.
    Held,
    Root,
    Left(u32),
    Right(u32),
}

/// Adds `slot` to the non-empty tree at `root`; returns the new root. O(log n).
#[inline]
pub(crate) fn insert(slab: &mut Slab, root: u32, slot: u32) -> u32 {
    let key = slab[slot].key();
    let rank = priority(slot);
    let mut seat = Seat::Root;
    let mut node = root;
    while node != NONE && priority(node) > rank {
        let record = &slab[node];
        (seat, node) = if key < record.key() {
            (Seat::Left(node), record.left)
        } else {
            (Seat::Right(node), record.right)
        };
    }
    let (less, greater) = split(slab, node, key);
    slab[slot].left = less;
    slab[slot].right = greater;
    match seat {
        Seat::Root | Seat::Held => return slot,
        Seat::Left(parent) => slab[parent].left = slot,
        Seat::Right(parent) => slab[parent].right = slot,
    }
    root
}

/// Where `slot`, which is in the tree, hangs. O(log n).
#[inline]
pub(crate) fn seat(slab: &Slab, root: u32, slot: u32) -> Seat {
    let key = slab[slot].key();
    let mut seat = Seat::Root;
    let mut node = root;
    while node != slot {
        debug_assert_ne!(node, NONE, "block {slot} is not in its bin");
        let record = &slab[node];
        (seat, node) = if key < record.key() {
            (Seat::Left(node), record.left)
        } else {
            (Seat::Right(node), record.right)
        };
    }
    seat
}

/// The tree that takes a node's place when it leaves: its two children merged. O(log n).
#[inline]
pub(crate) fn heir(slab: &mut Slab, slot: u32) -> u32 {
    let (left, right) = (slab[slot].left, slab[slot].right);
    if left == NONE {
        return right;
    }
    if right == NONE {
        return left;
    }
    merge(slab, left, right)
}

/// The first node in order of a non-empty tree. O(log n).
#[inline]
pub(crate) fn first(slab: &Slab, root: u32) -> (u32, Seat) {
    let mut seat = Seat::Root;
    let mut node = root;
    while slab[node].left != NONE {
        seat = Seat::Left(node);
        node = slab[node].left;
    }
    (node, seat)
}

/// The first node in order whose extent is at least `needed`. O(log n).
#[inline]
pub(crate) fn first_at_least(slab: &Slab, root: u32, needed: u64) -> Option<(u32, Seat)> {
    let mut best = None;
    let mut seat = Seat::Root;
    let mut node = root;
    while node != NONE {
        let record = &slab[node];
        if record.extent >= needed {
            best = Some((node, seat));
            (seat, node) = (Seat::Left(node), record.left);
        } else {
            (seat, node) = (Seat::Right(node), record.right);
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
fn split(slab: &mut Slab, root: u32, key: (u64, u64)) -> (u32, u32) {
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
    let mut seat = Seat::Root;
    loop {
        let is_less_on_top = greater == NONE || (less != NONE && priority(less) > priority(greater));
        let top = if is_less_on_top { less } else { greater };
        match seat {
            Seat::Root | Seat::Held => {}
            Seat::Left(parent) => slab[parent].left = top,
            Seat::Right(parent) => slab[parent].right = top,
        }
        if less == NONE || greater == NONE {
            return root;
        }
        if is_less_on_top {
            seat = Seat::Right(less);
            less = slab[less].right;
        } else {
            seat = Seat::Left(greater);
            greater = slab[greater].left;
        }
    }
}
