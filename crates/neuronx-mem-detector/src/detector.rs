//! The shadow of a device's blocks. Knows what was handed out, used and freed, in which order the
//! program put its streams, and judges each step; what is wrong goes into the log.

use std::collections::BTreeMap;

use crate::block::{Access, Block, NewBlock, Poisoned};
use crate::log::{Log, Stacks};
use crate::order::Order;
use crate::ranges::{Range, Ranges};
use crate::{DetectorOptions, Finding, FindingKind, POISON};

/// Watches one device. `S` is what a stack is: a number, a text, frames.
///
/// The owner tells it of every block, free, record and use, in the order in which they happen. Cost of
/// a call: O(log blocks), and O(streams) for a free.
#[derive(Clone, Debug)]
pub struct Detector<S> {
    options: DetectorOptions,
    order: Order,
    next_serial: u64,
    /// Blocks whose memory has not come back, by address; those that wait for their streams too.
    live: BTreeMap<u64, Block<S>>,
    addresses: BTreeMap<u64, u64>,
    /// Blocks whose memory has come back, by number, oldest first; and their numbers by key.
    freed: BTreeMap<u64, Block<S>>,
    freed_keys: BTreeMap<u64, u64>,
    ranges: Ranges,
    /// What the next block's memory waits for, when it was taken over.
    taken_over: Option<u64>,
    log: Log<S>,
}

impl<S: Clone + PartialEq> Detector<S> {
    /// Starts to watch a device on which there is no block yet.
    #[must_use]
    pub fn new(device: u32, options: DetectorOptions) -> Self {
        Self {
            options,
            order: Order::default(),
            next_serial: 1,
            live: BTreeMap::new(),
            addresses: BTreeMap::new(),
            freed: BTreeMap::new(),
            freed_keys: BTreeMap::new(),
            ranges: Ranges::default(),
            taken_over: None,
            log: Log::new(device, options.max_findings),
        }
    }

    /// The limits in force.
    #[must_use]
    pub fn options(&self) -> &DetectorOptions {
        &self.options
    }

    /// The findings that are kept, in order of number.
    #[must_use]
    pub fn findings(&self) -> &[Finding<S>] {
        self.log.kept()
    }

    /// How often something was wrong: repeated findings and those beyond the limit count too.
    #[must_use]
    pub fn n_seen(&self) -> u64 {
        self.log.n_seen()
    }

    /// The host has waited for work `ticket` of a stream.
    pub fn host_waited(&mut self, stream: u32, ticket: u64) {
        self.order.host_waited(stream, ticket);
    }

    /// Work of `waiting` from number `at` on waits for work `ticket` of `awaited`.
    pub fn stream_waits(&mut self, waiting: u32, at: u64, awaited: u32, ticket: u64) {
        self.order.stream_waits(waiting, at, awaited, ticket);
    }

    /// A block was handed out. Returns the parts of its memory that were filled when they were freed:
    /// the owner looks whether they still are before anybody uses them.
    pub fn allocated(&mut self, new: &NewBlock, stack: Option<S>) -> Vec<Poisoned> {
        let serial = self.next_serial;
        self.next_serial += 1;
        let poisoned = poisoned(self.ranges.take(new.address, new.address.saturating_add(new.extent_bytes)));
        let block = Block {
            new: *new,
            serial,
            allocated: stack,
            freed: None,
            recorded: Vec::new(),
            uses: Vec::new(),
            ready_after: self.taken_over.take(),
        };
        self.addresses.insert(new.key, new.address);
        self.live.insert(new.address, block);
        poisoned
    }

    /// A stream was recorded for a live block.
    pub fn recorded(&mut self, key: u64, stream: u32) {
        if let Some(block) = self.live_block(key)
            && !block.recorded.contains(&stream)
        {
            block.recorded.push(stream);
        }
    }

    /// Work uses memory; what is wrong with that.
    pub fn used(&mut self, access: &Access, stack: Option<S>) -> Option<Finding<S>> {
        let Access { address, bytes, stream, ticket } = *access;
        if bytes == 0 {
            return None;
        }
        let below = self.live.range_mut(..=address).next_back().map(|(_, block)| block);
        if let Some(block) = below.filter(|b| address - b.new.address < b.new.extent_bytes) {
            return Self::judge(block, access, stack, &self.order, &mut self.log);
        }
        let range = self.ranges.first_in(address, address.saturating_add(bytes));
        let in_range = range.and_then(|range| Some((self.freed.get(&range.serial)?, range.start)));
        if let Some((block, start)) = in_range.or_else(|| self.freed_at(address)) {
            let address = address.max(start);
            let kind = FindingKind::UseAfterFree { address, bytes, stream, ticket };
            return Some(self.log.add(kind, Some(block.facts()), stacks(block, stack)));
        }
        let kind = FindingKind::UnknownAddress { address, bytes, stream, ticket };
        Some(self.log.add(kind, None, Stacks { allocated: None, freed: None, used: stack }))
    }

    /// Work uses the whole block of a key, whoever has its memory by now; what is wrong with that.
    pub fn used_block(&mut self, key: u64, stream: u32, ticket: u64, stack: Option<S>) -> Option<Finding<S>> {
        if let Some(block) = self.addresses.get(&key).and_then(|address| self.live.get_mut(address)) {
            let NewBlock { address, requested_bytes: bytes, .. } = block.new;
            let access = Access { address, bytes, stream, ticket };
            return Self::judge(block, &access, stack, &self.order, &mut self.log);
        }
        let block = self.freed_keys.get(&key).and_then(|serial| self.freed.get(serial))?;
        let NewBlock { address, requested_bytes: bytes, .. } = block.new;
        let kind = FindingKind::UseAfterFree { address, bytes, stream, ticket };
        Some(self.log.add(kind, Some(block.facts()), stacks(block, stack)))
    }

    /// The owner frees a block; what is wrong with that. Its memory comes back later, by
    /// [`freed`](Self::freed).
    pub fn free_requested(&mut self, key: u64, stack: Option<S>) -> Vec<Finding<S>> {
        let Some(block) = self.addresses.get(&key).and_then(|address| self.live.get_mut(address)) else {
            return Vec::new();
        };
        block.freed = Some(stack.clone());
        let facts = block.facts();
        let mut findings = Vec::new();
        for used in std::mem::take(&mut block.uses) {
            let mut waits = block.recorded.iter().chain([&block.new.stream]);
            if waits.any(|waiting| self.order.is_before(used.stream, used.ticket, *waiting)) {
                continue;
            }
            let kind = FindingKind::UnrecordedStream { stream: used.stream, ticket: used.ticket };
            let (allocated, freed) = (block.allocated.clone(), stack.clone());
            findings.push(self.log.add(kind, Some(facts), Stacks { allocated, freed, used: used.stack }));
        }
        findings
    }

    /// A free was refused: the key names no live block. `address` is what the caller holds.
    pub fn free_refused(&mut self, key: u64, address: u64, stack: Option<S>) -> Finding<S> {
        let live = self.addresses.get(&key).and_then(|address| self.live.get(address));
        let freed = || self.freed_keys.get(&key).and_then(|serial| self.freed.get(serial));
        let Some(block) = live.or_else(freed) else {
            let kind = FindingKind::InvalidFree { address };
            return self.log.add(kind, None, Stacks { allocated: None, freed: None, used: stack });
        };
        self.log.add(FindingKind::DoubleFree, Some(block.facts()), stacks(block, stack))
    }

    /// A block's memory is about to come back to the allocator, filled with the poison or not.
    pub fn freed(&mut self, key: u64, is_poisoned: bool) {
        let Some(block) = self.addresses.remove(&key).and_then(|address| self.live.remove(&address)) else {
            return;
        };
        let (serial, start) = (block.serial, block.new.address);
        let end = start.saturating_add(block.new.extent_bytes);
        self.ranges.insert(Range { start, end, serial, is_poisoned });
        self.freed_keys.insert(key, serial);
        self.freed.insert(serial, block);
        while self.freed.len() > self.options.max_freed_blocks {
            self.forget_oldest();
        }
    }

    /// A freed block's memory goes to the next one that is handed out, which shares its stream and
    /// waits for nothing: work up to `ticket` of that stream may still use it.
    pub fn taken_over(&mut self, key: u64, ticket: u64) {
        self.freed(key, false);
        self.taken_over = Some(ticket);
    }

    /// Memory leaves the allocator. Returns what the owner has to look at before it does.
    pub fn released(&mut self, address: u64, bytes: u64) -> Vec<Poisoned> {
        poisoned(self.ranges.take(address, address.saturating_add(bytes)))
    }

    /// All memory that has to be unchanged still.
    #[must_use]
    pub fn all_poisoned(&self) -> Vec<Poisoned> {
        poisoned(self.ranges.iter().collect())
    }

    /// Freed memory holds `found` at `address`, which lies in `poisoned`.
    pub fn poison_broken(
        &mut self,
        poisoned: &Poisoned,
        address: u64,
        found: u8,
        stack: Option<S>,
    ) -> Finding<S> {
        let kind = FindingKind::WriteAfterFree { address, expected: POISON, found };
        match self.freed.get(&poisoned.serial) {
            Some(block) => self.log.add(kind, Some(block.facts()), stacks(block, stack)),
            None => self.log.add(kind, None, Stacks { allocated: None, freed: None, used: stack }),
        }
    }

    /// What is wrong with a use of a block whose memory has not come back.
    fn judge(
        block: &mut Block<S>,
        access: &Access,
        stack: Option<S>,
        order: &Order,
        log: &mut Log<S>,
    ) -> Option<Finding<S>> {
        let Access { address, bytes, stream, ticket } = *access;
        let facts = Some(block.facts());
        if block.freed.is_some() {
            let kind = FindingKind::UseAfterFree { address, bytes, stream, ticket };
            return Some(log.add(kind, facts, stacks(block, stack)));
        }
        block.note_use(access, stack.clone());
        let offset_bytes = address - block.new.address;
        if offset_bytes.saturating_add(bytes) > block.new.requested_bytes {
            let kind = FindingKind::OutOfBounds { offset_bytes, bytes, stream, ticket };
            return Some(log.add(kind, facts, stacks(block, stack)));
        }
        let owner_ticket = block.ready_after?;
        if order.is_before(block.new.stream, owner_ticket, stream) {
            return None;
        }
        let kind = FindingKind::UnorderedUse { stream, ticket, owner_ticket };
        Some(log.add(kind, facts, stacks(block, stack)))
    }

    fn live_block(&mut self, key: u64) -> Option<&mut Block<S>> {
        self.live.get_mut(self.addresses.get(&key)?)
    }

    /// The block last freed at an address that no range names any more: its segment is gone. O(freed).
    fn freed_at(&self, address: u64) -> Option<(&Block<S>, u64)> {
        let holds = |new: &NewBlock| address >= new.address && address - new.address < new.extent_bytes;
        let block = self.freed.values().rev().find(|block| holds(&block.new))?;
        Some((block, block.new.address))
    }

    fn forget_oldest(&mut self) {
        let Some((serial, block)) = self.freed.pop_first() else { return };
        let NewBlock { key, address, extent_bytes, .. } = block.new;
        if self.freed_keys.get(&key) == Some(&serial) {
            self.freed_keys.remove(&key);
        }
        self.ranges.forget(address, address.saturating_add(extent_bytes), serial);
    }
}

fn stacks<S: Clone>(block: &Block<S>, used: Option<S>) -> Stacks<S> {
    Stacks { allocated: block.allocated.clone(), freed: block.freed_stack(), used }
}

fn poisoned(ranges: Vec<Range>) -> Vec<Poisoned> {
    let filled = ranges.into_iter().filter(|range| range.is_poisoned);
    filled.map(|r| Poisoned { address: r.start, bytes: r.end - r.start, serial: r.serial }).collect()
}
