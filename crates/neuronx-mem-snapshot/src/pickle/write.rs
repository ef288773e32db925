//! Writes protocol 4. Knows the opcodes that every consumer reads and which objects to share;
//! refuses opcodes outside the PyTorch snapshot schema §1.
//!
//! Objects are stored with explicit indices (BINPUT) rather than MEMOIZE: the schema's words get
//! the indices below 256, so that a key costs two bytes in each of a million entries.

use std::collections::HashMap;
use std::io::Write;

use super::opcodes::{
    APPENDS, BINFLOAT, BINGET, BININT, BININT1, BININT2, BINPUT, BINUNICODE, EMPTY_DICT, EMPTY_LIST,
    EMPTY_TUPLE, LONG_BINGET, LONG_BINPUT, LONG1, MARK, NEWFALSE, NEWTRUE, NONE, PROTO, SETITEMS,
    SHORT_BINUNICODE, STOP, TUPLE, TUPLE1, TUPLE2, TUPLE3,
};
use crate::Error;
use crate::emit::{Sink, emit_record, emit_snapshot, emit_value};
use crate::model::{FIXED_TEXTS, PoolId, Snapshot, StackId, StackTable, StrId, Value};

/// Items between MARK and APPENDS, as in Python.
const BATCH: usize = 1000;

/// Bytes gathered before they go to the writer.
const CHUNK_BYTES: usize = 64 << 10;

/// Writes a snapshot and flushes. Memory: a chunk and four bytes an item of the table.
pub(crate) fn write_pickle(snapshot: &Snapshot, out: &mut dyn Write) -> Result<(), Error> {
    let mut sink = PickleSink::new(snapshot.stacks(), out);
    sink.buffer.extend([PROTO, 4]);
    emit_snapshot(snapshot, &mut sink)?;
    sink.buffer.push(STOP);
    sink.flush()?;
    sink.out.flush().map_err(|source| Error::io("flushing the snapshot", source))
}

struct PickleSink<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    stacks: &'a StackTable,
    /// Memo index + 1 of each item of the table; 0 while it was not written.
    texts: Vec<u32>,
    frames: Vec<u32>,
    lists: Vec<u32>,
    pools: Vec<u32>,
    /// Memo indices of texts in values that the table does not hold.
    other_texts: HashMap<Box<str>, u32>,
    next_memo: u32,
}

impl<'a> PickleSink<'a> {
    fn new(stacks: &'a StackTable, out: &'a mut dyn Write) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4),
            stacks,
            texts: vec![0; stacks.n_texts()],
            frames: vec![0; stacks.n_frames()],
            lists: vec![0; stacks.n_stacks()],
            pools: vec![0; stacks.n_pools()],
            other_texts: HashMap::new(),
            next_memo: u32::try_from(FIXED_TEXTS.len()).unwrap_or(u32::MAX),
        }
    }

    #[inline]
    fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.buffer.len() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.out.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|source| Error::io("writing the snapshot", source))
    }

    #[inline]
    fn get(&mut self, memo: u32) {
        match u8::try_from(memo) {
            Ok(short) => self.buffer.extend([BINGET, short]),
            Err(_) => {
                self.buffer.push(LONG_BINGET);
                self.buffer.extend(memo.to_le_bytes());
            }
        }
    }

    fn put(&mut self, memo: u32) {
        match u8::try_from(memo) {
            Ok(short) => self.buffer.extend([BINPUT, short]),
            Err(_) => {
                self.buffer.push(LONG_BINPUT);
                self.buffer.extend(memo.to_le_bytes());
            }
        }
    }

    fn take_memo(&mut self) -> u32 {
        let memo = self.next_memo;
        self.next_memo = self.next_memo.saturating_add(1);
        memo
    }

    fn plain_text(&mut self, text: &str) -> Result<(), Error> {
        if let Ok(short) = u8::try_from(text.len()) {
            self.buffer.extend([SHORT_BINUNICODE, short]);
        } else if let Ok(length) = u32::try_from(text.len()) {
            self.buffer.push(BINUNICODE);
            self.buffer.extend(length.to_le_bytes());
        } else {
            return Err(Error::NotRepresentable { format: "pickle", what: "a string of 4 GiB or more" });
        }
        self.buffer.extend(text.as_bytes());
        self.flush_if_full()
    }

    /// Stores these texts too, so that equal snapshots give equal files whatever their tables hold.
    fn other_text(&mut self, text: &str) -> Result<(), Error> {
        if let Some(&memo) = self.other_texts.get(text) {
            self.get(memo);
            return Ok(());
        }
        self.plain_text(text)?;
        let memo = self.take_memo();
        self.put(memo);
        self.other_texts.insert(text.into(), memo);
        Ok(())
    }

    fn new_text(&mut self, id: StrId) -> Result<(), Error> {
        let memo = match u32::try_from(id.index()) {
            Ok(index) if id.index() < FIXED_TEXTS.len() => index,
            _ => self.take_memo(),
        };
        let stacks = self.stacks;
        self.plain_text(stacks.text(id))?;
        self.put(memo);
        self.texts[id.index()] = memo + 1;
        Ok(())
    }

    fn new_stack(&mut self, id: StackId) -> Result<(), Error> {
        let memo = self.take_memo();
        self.buffer.push(EMPTY_LIST);
        self.put(memo);
        let frames = self.stacks.stack(id);
        for (position, &frame) in frames.iter().enumerate() {
            self.item(position)?;
            match self.frames.get(frame.index()) {
                Some(&stored) if stored != 0 => self.get(stored - 1),
                _ => self.new_frame(frame)?,
            }
        }
        self.end_list(frames.len())?;
        if let Some(stored) = self.lists.get_mut(id.index()) {
            *stored = memo + 1;
        }
        Ok(())
    }

    fn new_frame(&mut self, id: crate::FrameId) -> Result<(), Error> {
        let stacks = self.stacks;
        let record = stacks.frame_record(id).copied().unwrap_or_default();
        emit_record(&record, stacks, self)?;
        let memo = self.take_memo();
        self.put(memo);
        if let Some(stored) = self.frames.get_mut(id.index()) {
            *stored = memo + 1;
        }
        Ok(())
    }
}

impl Sink for PickleSink<'_> {
    #[inline]
    fn begin_dict(&mut self, n: usize) -> Result<(), Error> {
        self.buffer.push(EMPTY_DICT);
        if n > 0 {
            self.buffer.push(MARK);
        }
        Ok(())
    }

    #[inline]
    fn end_dict(&mut self, n: usize) -> Result<(), Error> {
        if n > 0 {
            self.buffer.push(SETITEMS);
        }
        self.flush_if_full()
    }

    #[inline]
    fn key(&mut self, key: StrId) -> Result<(), Error> {
        self.text(key)
    }

    fn value_key(&mut self, key: &Value) -> Result<(), Error> {
        if matches!(key, Value::List(_) | Value::Dict(_)) {
            return Err(Error::NotRepresentable { format: "pickle", what: "a list or dict as a key" });
        }
        emit_value(key, 0, self)
    }

    fn begin_list(&mut self, _n: usize) -> Result<(), Error> {
        self.buffer.push(EMPTY_LIST);
        Ok(())
    }

    #[inline]
    fn item(&mut self, position: usize) -> Result<(), Error> {
        if position.is_multiple_of(BATCH) {
            if position > 0 {
                self.buffer.push(APPENDS);
            }
            self.buffer.push(MARK);
        }
        Ok(())
    }

    fn end_list(&mut self, n: usize) -> Result<(), Error> {
        if n > 0 {
            self.buffer.push(APPENDS);
        }
        self.flush_if_full()
    }

    fn begin_tuple(&mut self, n: usize) -> Result<(), Error> {
        if n > 3 {
            self.buffer.push(MARK);
        }
        Ok(())
    }

    fn tuple_item(&mut self, _position: usize) -> Result<(), Error> {
        Ok(())
    }

    fn end_tuple(&mut self, n: usize) -> Result<(), Error> {
        self.buffer.push([EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3].get(n).copied().unwrap_or(TUPLE));
        Ok(())
    }

    fn none(&mut self) -> Result<(), Error> {
        self.buffer.push(NONE);
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Result<(), Error> {
        self.buffer.push(if value { NEWTRUE } else { NEWFALSE });
        Ok(())
    }

    #[inline]
    fn int(&mut self, value: i128) -> Result<(), Error> {
        if let Ok(byte) = u8::try_from(value) {
            self.buffer.extend([BININT1, byte]);
        } else if let Ok(short) = u16::try_from(value) {
            let [low, high] = short.to_le_bytes();
            self.buffer.extend([BININT2, low, high]);
        } else if let Ok(int) = i32::try_from(value) {
            self.buffer.push(BININT);
            self.buffer.extend(int.to_le_bytes());
        } else {
            let n_bytes = signed_length(value);
            if value < i128::from(i64::MIN) || value > i128::from(u64::MAX) {
                return Err(Error::NotRepresentable { format: "pickle", what: "an integer beyond 64 bits" });
            }
            #[expect(clippy::cast_possible_truncation, reason = "at most 9")]
            self.buffer.extend([LONG1, n_bytes as u8]);
            self.buffer.extend(&value.to_le_bytes()[..n_bytes]);
        }
        Ok(())
    }

    fn float(&mut self, value: f64) -> Result<(), Error> {
        self.buffer.push(BINFLOAT);
        self.buffer.extend(value.to_be_bytes());
        Ok(())
    }

    #[inline]
    fn text(&mut self, id: StrId) -> Result<(), Error> {
        match self.texts.get(id.index()) {
            Some(0) => self.new_text(id),
            Some(&stored) => {
                self.get(stored - 1);
                Ok(())
            }
            None => self.plain_text(""),
        }
    }

    fn raw_text(&mut self, text: &str) -> Result<(), Error> {
        match self.stacks.find_text(text) {
            Some(id) => self.text(id),
            None => self.other_text(text),
        }
    }

    #[inline]
    fn pool(&mut self, id: PoolId) -> Result<(), Error> {
        if let Some(&stored) = self.pools.get(id.index())
            && stored != 0
        {
            self.get(stored - 1);
            return Ok(());
        }
        let (first, second) = self.stacks.pool(id);
        self.int(first)?;
        self.int(second)?;
        let memo = self.take_memo();
        self.buffer.push(TUPLE2);
        self.put(memo);
        if let Some(stored) = self.pools.get_mut(id.index()) {
            *stored = memo + 1;
        }
        Ok(())
    }

    #[inline]
    fn stack(&mut self, id: StackId) -> Result<(), Error> {
        if id == StackId::EMPTY {
            self.buffer.push(EMPTY_LIST);
            return Ok(());
        }
        match self.lists.get(id.index()) {
            Some(&stored) if stored != 0 => {
                self.get(stored - 1);
                Ok(())
            }
            _ => self.new_stack(id),
        }
    }
}

/// Bytes of the shortest two's complement form.
fn signed_length(value: i128) -> usize {
    let magnitude = if value < 0 { !value } else { value };
    let n_bits = 128 - magnitude.leading_zeros() as usize + 1;
    n_bits.div_ceil(8)
}
