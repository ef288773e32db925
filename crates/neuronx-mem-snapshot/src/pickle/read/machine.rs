//! Runs the instructions. Knows what each allowed opcode does to the stack; refuses every other by
//! name, and any program that would take more memory than its budget.

use super::super::opcodes as op;
use super::compact::compact;
use super::cursor::Cursor;
use super::heap::{Heap, NodeKind};
use super::memo::Memo;
use super::val::{Unpacked, Val};
use crate::Error;
use crate::limits::{Budget, Limits};
use crate::model::StackTable;

/// What a program leaves behind.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) root: Val,
    pub(super) heap: Heap,
    pub(super) stacks: StackTable,
    pub(super) budget: Budget,
}

struct Machine<'a> {
    input: Cursor<'a>,
    stack: Vec<Val>,
    /// Heights of the stack at the open marks.
    marks: Vec<usize>,
    memo: Memo,
    heap: Heap,
    stacks: StackTable,
    budget: Budget,
}

/// Runs a pickle up to its STOP.
pub(super) fn run(bytes: &[u8], limits: &Limits, budget: Budget) -> Result<Finished, Error> {
    let mut machine = Machine {
        input: Cursor::new(bytes),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Memo::default(),
        heap: Heap::new(limits.items()),
        stacks: StackTable::new(),
        budget,
    };
    let root = match machine.run() {
        Ok(root) => root,
        Err(error) => return Err(machine.input.locate(error)),
    };
    if machine.input.remaining() > 0 {
        tracing::warn!(n_bytes = machine.input.remaining(), "bytes after the end of the pickle are ignored");
    }
    Ok(Finished { root, heap: machine.heap, stacks: machine.stacks, budget: machine.budget })
}

impl Machine<'_> {
    fn run(&mut self) -> Result<Val, Error> {
        loop {
            let opcode = self.input.next_opcode()?;
            match opcode {
                op::BINGET => {
                    let index = self.input.byte()?;
                    self.recall(u32::from(index))?;
                }
                op::LONG_BINGET => {
                    let index = self.input.u32()?;
                    self.recall(index)?;
                }
                op::STOP => return self.pop(),
                op::MARK => self.budget.push(&mut self.marks, self.stack.len())?,
                op::MEMOIZE => {
                    let top = self.top()?;
                    self.memo.memoize(top, &mut self.budget)?;
                }
                op::BINPUT => {
                    let index = u32::from(self.input.byte()?);
                    self.store(index)?;
                }
                op::LONG_BINPUT => {
                    let index = self.input.u32()?;
                    self.store(index)?;
                }
                op::EMPTY_LIST => self.push_container(NodeKind::List)?,
                op::EMPTY_DICT => self.push_container(NodeKind::Dict)?,
                op::APPEND => self.append_one()?,
                op::APPENDS => self.append_many()?,
                op::SETITEM => self.set_one()?,
                op::SETITEMS => self.set_many()?,
                op::LIST => self.collect(NodeKind::List)?,
                op::DICT => self.collect(NodeKind::Dict)?,
                op::TUPLE => self.collect(NodeKind::Tuple)?,
                op::EMPTY_TUPLE => self.tuple(0)?,
                op::TUPLE1 => self.tuple(1)?,
                op::TUPLE2 => self.tuple(2)?,
                op::TUPLE3 => self.tuple(3)?,
                op::POP => self.discard()?,
                op::POP_MARK => {
                    let start = self.pop_mark()?;
                    self.stack.truncate(start);
                }
                op::DUP => {
                    let top = self.top()?;
                    self.push(top)?;
                }
                _ => self.scalar(opcode)?,
            }
        }
    }

    fn scalar(&mut self, opcode: u8) -> Result<(), Error> {
        let val = match opcode {
            op::NONE => Val::NONE,
            op::NEWTRUE => Val::TRUE,
            op::NEWFALSE => Val::FALSE,
            op::BININT1 => {
                let value = self.input.byte()?;
                self.int(i128::from(value))?
            }
            op::BININT2 => {
                let value = self.input.array().map(u16::from_le_bytes)?;
                self.int(i128::from(value))?
            }
            op::BININT => {
                let value = self.input.array().map(i32::from_le_bytes)?;
                self.int(i128::from(value))?
            }
            op::LONG1 => {
                let n_bytes = u64::from(self.input.byte()?);
                self.long(n_bytes)?
            }
            op::LONG4 => {
                let n_bytes = u64::from(self.input.u32()?);
                self.long(n_bytes)?
            }
            op::BINFLOAT => {
                let value = self.input.array().map(f64::from_be_bytes)?;
                self.heap.float(value, &mut self.budget)?
            }
            op::SHORT_BINUNICODE => {
                let n_bytes = u64::from(self.input.byte()?);
                self.text(n_bytes)?
            }
            op::BINUNICODE => {
                let n_bytes = u64::from(self.input.u32()?);
                self.text(n_bytes)?
            }
            op::BINUNICODE8 => {
                let n_bytes = self.input.u64()?;
                self.text(n_bytes)?
            }
            op::PROTO => return self.protocol(),
            op::FRAME => return self.frame(),
            _ => return Err(self.refuse(opcode)),
        };
        self.push(val)
    }

    fn protocol(&mut self) -> Result<(), Error> {
        match self.input.byte()? {
            2..=5 => Ok(()),
            version => Err(Error::UnsupportedProtocol { version }),
        }
    }

    /// A frame only promises that so many bytes follow.
    fn frame(&mut self) -> Result<(), Error> {
        let n_bytes = self.input.u64()?;
        if n_bytes > self.input.remaining() as u64 {
            return Err(self.input.truncated(n_bytes));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, opcode: u8) -> Error {
        let offset = self.input.offset();
        match op::name(opcode) {
            Some(opcode) => Error::RefusedOpcode { offset, opcode },
            None => Error::UnknownOpcode { offset, byte: opcode },
        }
    }

    #[inline]
    fn push(&mut self, val: Val) -> Result<(), Error> {
        self.budget.push(&mut self.stack, val)
    }

    /// Lowest height that the running instruction may pop to.
    #[inline]
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    #[inline]
    fn top(&self) -> Result<Val, Error> {
        match self.stack.last() {
            Some(&val) if self.stack.len() > self.floor() => Ok(val),
            _ => Err(self.input.underflow()),
        }
    }

    #[inline]
    fn pop(&mut self) -> Result<Val, Error> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    #[inline]
    fn pop_mark(&mut self) -> Result<usize, Error> {
        let mark = self.marks.pop();
        mark.ok_or_else(|| Error::MissingMark { offset: self.input.offset(), opcode: self.input.name() })
    }

    /// POP takes the top value, or a mark if nothing is above it.
    fn discard(&mut self) -> Result<(), Error> {
        if self.marks.last() == Some(&self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        self.pop().map(|_| ())
    }

    #[inline]
    fn recall(&mut self, index: u32) -> Result<(), Error> {
        match self.memo.get(index) {
            Some(val) => self.push(val),
            None => Err(Error::MissingMemo {
                offset: self.input.offset(),
                opcode: self.input.name(),
                index: u64::from(index),
            }),
        }
    }

    fn store(&mut self, index: u32) -> Result<(), Error> {
        let top = self.top()?;
        self.memo.put(index, top, &mut self.budget)
    }

    #[inline]
    fn push_container(&mut self, kind: NodeKind) -> Result<(), Error> {
        let val = self.heap.add(kind, &[], &mut self.budget)?;
        self.push(val)
    }

    #[inline]
    fn int(&mut self, value: i128) -> Result<Val, Error> {
        self.heap.int(value, &mut self.budget)
    }

    /// A little-endian two's complement integer.
    fn long(&mut self, n_bytes: u64) -> Result<Val, Error> {
        let bytes = self.input.take(n_bytes)?;
        let too_large =
            || Error::IntegerTooLarge { offset: self.input.offset(), opcode: self.input.name(), n_bytes };
        let is_negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let mut wide = if is_negative { [0xff; 16] } else { [0; 16] };
        wide.get_mut(..bytes.len()).ok_or_else(too_large)?.copy_from_slice(bytes);
        let value = i128::from_le_bytes(wide);
        if value < i128::from(i64::MIN) || value > i128::from(u64::MAX) {
            return Err(too_large());
        }
        self.int(value)
    }

    fn text(&mut self, n_bytes: u64) -> Result<Val, Error> {
        let bytes = self.input.take(n_bytes)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Error::InvalidUtf8 { offset: self.input.offset(), opcode: self.input.name() })?;
        let id = self.stacks.intern_text(text);
        self.budget.check(self.stacks.memory_bytes())?;
        Ok(Val::text(id))
    }

    fn tuple(&mut self, n: usize) -> Result<(), Error> {
        let Some(start) = self.stack.len().checked_sub(n).filter(|&start| start >= self.floor()) else {
            return Err(self.input.underflow());
        };
        self.collect_tuple(start)
    }

    fn collect_tuple(&mut self, start: usize) -> Result<(), Error> {
        let val = match self.stack[start..] {
            [first, second] => match (self.heap.as_int(first), self.heap.as_int(second)) {
                (Some(first), Some(second)) => {
                    let pair = self.stacks.intern_pool_ints([first, second]);
                    self.budget.check(self.stacks.memory_bytes())?;
                    Val::pair(pair)
                }
                _ => self.heap.add(NodeKind::Tuple, &[first, second], &mut self.budget)?,
            },
            ref items => self.heap.add(NodeKind::Tuple, items, &mut self.budget)?,
        };
        self.stack.truncate(start);
        self.push(val)
    }

    /// Makes a container of everything above the mark.
    fn collect(&mut self, kind: NodeKind) -> Result<(), Error> {
        let start = self.pop_mark()?;
        if kind == NodeKind::Tuple {
            return self.collect_tuple(start);
        }
        let val = self.heap.add(kind, &[], &mut self.budget)?;
        if let Unpacked::Node(node) = val.unpack() {
            match kind {
                NodeKind::Dict => self.fill_dict(node, start)?,
                _ => self.heap.append(node, &self.stack[start..], &mut self.budget)?,
            }
        }
        self.stack.truncate(start);
        self.push(val)
    }

    fn append_one(&mut self) -> Result<(), Error> {
        let item = self.pop()?;
        let list = self.target(NodeKind::List)?;
        self.heap.append(list, &[item], &mut self.budget)
    }

    fn append_many(&mut self) -> Result<(), Error> {
        let start = self.pop_mark()?;
        let list = self.target_below(start, NodeKind::List)?;
        self.heap.append(list, &self.stack[start..], &mut self.budget)?;
        self.stack.truncate(start);
        Ok(())
    }

    fn set_one(&mut self) -> Result<(), Error> {
        let Some(start) = self.stack.len().checked_sub(2).filter(|&start| start >= self.floor()) else {
            return Err(self.input.underflow());
        };
        let dict = self.target_below(start, NodeKind::Dict)?;
        self.fill_dict(dict, start)?;
        self.stack.truncate(start);
        Ok(())
    }

    fn set_many(&mut self) -> Result<(), Error> {
        let start = self.pop_mark()?;
        let dict = self.target_below(start, NodeKind::Dict)?;
        self.fill_dict(dict, start)?;
        self.stack.truncate(start);
        Ok(())
    }

    /// Puts the keys and values above `start` into a dict.
    fn fill_dict(&mut self, dict: usize, start: usize) -> Result<(), Error> {
        let Self { heap, stack, stacks, budget, input, .. } = self;
        let pairs = &stack[start..];
        if pairs.len() % 2 != 0 {
            return Err(input.underflow());
        }
        for &key in pairs.iter().step_by(2) {
            let is_mutable = match key.unpack() {
                Unpacked::Node(node) => heap.kind(node) != NodeKind::Tuple,
                _ => false,
            };
            if is_mutable {
                return Err(input.wrong_operand("a hashable key", heap.type_name(key)));
            }
        }
        if heap.is_empty(dict) {
            if compact(heap, dict, pairs, stacks, budget)? {
                return Ok(());
            }
        } else {
            heap.expand(dict, stacks, budget)?;
        }
        heap.append(dict, pairs, budget)
    }

    /// The container on top of the stack.
    fn target(&self, kind: NodeKind) -> Result<usize, Error> {
        let top = self.top()?;
        self.container(top, kind)
    }

    /// The container below the items that start at `start`.
    fn target_below(&self, start: usize, kind: NodeKind) -> Result<usize, Error> {
        match start.checked_sub(1).filter(|&position| position >= self.floor()) {
            Some(position) => self.container(self.stack[position], kind),
            None => Err(self.input.underflow()),
        }
    }

    fn container(&self, val: Val, kind: NodeKind) -> Result<usize, Error> {
        if let Unpacked::Node(node) = val.unpack() {
            let found = self.heap.kind(node);
            let is_record = matches!(found, NodeKind::Entry | NodeKind::Block);
            if found == kind || (kind == NodeKind::Dict && is_record) {
                return Ok(node);
            }
        }
        let expected = if kind == NodeKind::List { "a list" } else { "a dict" };
        Err(self.input.wrong_operand(expected, self.heap.type_name(val)))
    }
}
