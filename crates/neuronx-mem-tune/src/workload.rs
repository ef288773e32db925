//! A trace made ready for thousands of passes: dense slots for tensors, a table of distinct sizes,
//! eight bytes an event. Knows when tensors live; nothing of segments.

use hashbrown::HashMap;
use neuronx_mem_replay::{Event, EventSource, Fault, LiveIds, ReplayError, Trace, TraceLine};

use crate::TuneError;
use crate::plan::GRANULE_BYTES;

/// What an event does, as far as placement can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A tensor of the distinct size `size_idx` begins to live in `slot`.
    Allocate { slot: u32, size_idx: u32 },
    /// The tensor in `slot` dies.
    Free { slot: u32 },
    /// The device is synchronised: a step of the program ends.
    Synchronize,
    /// Nothing that concerns placement while no work is outstanding.
    Nothing,
}

/// A step in eight bytes.
#[derive(Clone, Copy, Debug)]
struct Packed {
    slot: u32,
    code: u32,
}

/// The most that a trace may allocate in all, frees not counted: offsets and sums of tensors, an eighth
/// larger or twice as large, then fit 64 bits.
const MAX_TOTAL_BYTES: u64 = 1 << 62;

const FREE: u32 = u32::MAX;
const SYNCHRONIZE: u32 = u32::MAX - 1;
const NOTHING: u32 = u32::MAX - 2;

/// FNV-1a, 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// A trace, compiled for repeated evaluation.
///
/// Every event has a place in it, so that its position is the number of the event, from 0. Frees take
/// effect at once, as in a replay with no work in flight; streams do not matter then.
#[derive(Clone, Debug)]
pub struct Workload {
    name: String,
    steps: Vec<Packed>,
    sizes: Vec<u64>,
    n_slots: u32,
    n_tensors: u64,
    live_peak_bytes: u64,
    marks: Vec<(usize, Box<str>)>,
    synchronizations: Vec<usize>,
    /// Of the input, whatever was made of it since.
    fingerprint: u64,
}

impl Workload {
    /// Compiles the events of a source. O(events), in time and memory.
    ///
    /// # Errors
    ///
    /// [`TuneError::Replay`] with the first error of the source, or an event that does not fit those
    /// before it unless the source is lenient; [`TuneError::NothingAllocated`], and
    /// [`TuneError::TooManyBytes`] from 2^62 bytes on.
    pub fn read(mut source: impl EventSource) -> Result<Self, TuneError> {
        let mut compiler = Compiler::default();
        while let Some(line) = source.next() {
            let TraceLine { line, event } = line?;
            match compiler.push(event) {
                Ok(()) => {}
                Err(_) if source.is_lenient() => {}
                Err(fault) => {
                    let input = source.name().to_owned();
                    return Err(ReplayError::Rejected { input, line, fault }.into());
                }
            }
        }
        compiler.finish(source.name())
    }

    /// Compiles a trace in memory.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn of_trace(trace: &Trace) -> Result<Self, TuneError> {
        Self::read(trace.events())
    }

    /// Compiles events that were made here; the first that does not fit is an error of its number.
    pub(crate) fn of_events(name: &str, events: Vec<Event>) -> Result<Self, TuneError> {
        let mut compiler = Compiler::default();
        for (idx, event) in events.into_iter().enumerate() {
            compiler.push(event).map_err(|fault| ReplayError::Rejected {
                input: name.to_owned(),
                line: idx as u64 + 1,
                fault,
            })?;
        }
        compiler.finish(name)
    }

    /// Name of the input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many events there are.
    #[must_use]
    pub fn n_events(&self) -> usize {
        self.steps.len()
    }

    /// How many tensors of at least one byte are allocated.
    #[must_use]
    pub fn n_tensors(&self) -> u64 {
        self.n_tensors
    }

    /// Most bytes that tensors ask for at once: no placement can do with less.
    #[must_use]
    pub fn live_peak_bytes(&self) -> u64 {
        self.live_peak_bytes
    }

    /// The largest request, bytes.
    #[must_use]
    pub fn largest_request_bytes(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// The marks: position of the event, from 0, and label.
    #[must_use]
    pub fn marks(&self) -> &[(usize, Box<str>)] {
        &self.marks
    }

    /// Positions of the synchronisations, from 0. Each ends a step of the program.
    #[must_use]
    pub fn synchronizations(&self) -> &[usize] {
        &self.synchronizations
    }

    /// A hash of all that placement depends on in the input, the same on every machine: tells two
    /// traces apart, no protection against intent.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The distinct sizes, bytes, in order of first appearance.
    pub(crate) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Tensors live at once, at most.
    pub(crate) fn n_slots(&self) -> usize {
        self.n_slots as usize
    }

    #[inline]
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        self.steps.iter().map(|packed| packed.unpack())
    }

    /// The same events with the sizes changed by a rule; none may become 0.
    pub(crate) fn map_sizes(&self, change: impl Fn(u64) -> u64) -> Self {
        let sizes = self.sizes.iter().map(|bytes| change(*bytes).max(1)).collect();
        let mut changed = Self { sizes, ..self.clone() };
        changed.live_peak_bytes = changed.measure_live_peak();
        changed
    }

    /// The events of some positions only: those that `keep` names, without frees of what is not there.
    /// A tensor whose free goes lives to the end.
    pub(crate) fn filter(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut kept = vec![false; self.n_slots()];
        let steps = self.steps.iter().enumerate().filter(|(position, packed)| match packed.unpack() {
            Step::Allocate { slot, .. } => {
                kept[slot as usize] = keep(*position);
                kept[slot as usize]
            }
            Step::Free { slot } => kept[slot as usize] && keep(*position),
            _ => keep(*position),
        });
        let steps: Vec<Packed> = steps.map(|(_, packed)| *packed).collect();
        let synchronizations = positions_of(&steps, SYNCHRONIZE);
        let n_tensors = steps.iter().filter(|packed| packed.code < NOTHING).count() as u64;
        let mut filtered = Self { steps, n_tensors, marks: Vec::new(), synchronizations, ..self.clone() };
        filtered.live_peak_bytes = filtered.measure_live_peak();
        filtered
    }

    /// The first events only.
    pub(crate) fn prefix(&self, n_events: usize) -> Self {
        let steps = self.steps[..n_events.min(self.steps.len())].to_vec();
        let synchronizations = positions_of(&steps, SYNCHRONIZE);
        let marks = self.marks.iter().filter(|(position, _)| *position < n_events).cloned().collect();
        let n_tensors = steps.iter().filter(|packed| packed.code < NOTHING).count() as u64;
        let mut prefix = Self { steps, marks, synchronizations, n_tensors, ..self.clone() };
        prefix.live_peak_bytes = prefix.measure_live_peak();
        prefix
    }

    fn measure_live_peak(&self) -> u64 {
        let mut bytes_of = vec![0; self.n_slots()];
        let (mut live, mut peak) = (0u64, 0);
        for step in self.steps() {
            match step {
                Step::Allocate { slot, size_idx } => {
                    bytes_of[slot as usize] = self.sizes[size_idx as usize];
                    live = live.saturating_add(bytes_of[slot as usize]);
                    peak = peak.max(live);
                }
                Step::Free { slot } => live = live.saturating_sub(bytes_of[slot as usize]),
                _ => {}
            }
        }
        peak
    }
}

fn positions_of(steps: &[Packed], code: u32) -> Vec<usize> {
    steps.iter().enumerate().filter(|(_, packed)| packed.code == code).map(|(position, _)| position).collect()
}

fn hash_of(workload: &Workload) -> u64 {
    let words = workload.steps.iter().map(|packed| (u64::from(packed.slot) << 32) | u64::from(packed.code));
    words.chain(workload.sizes.iter().copied()).fold(FNV_OFFSET, |hash, word| {
        word.to_le_bytes().iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
    })
}

impl Packed {
    #[inline]
    fn unpack(self) -> Step {
        match self.code {
            FREE => Step::Free { slot: self.slot },
            SYNCHRONIZE => Step::Synchronize,
            NOTHING => Step::Nothing,
            size_idx => Step::Allocate { slot: self.slot, size_idx },
        }
    }
}

/// What is known while events come in.
#[derive(Default)]
struct Compiler {
    steps: Vec<Packed>,
    sizes: Vec<u64>,
    size_idx: HashMap<u64, u32>,
    /// `None` for a tensor of no bytes.
    live: LiveIds<Option<u32>>,
    spare: Vec<u32>,
    n_slots: u32,
    n_tensors: u64,
    marks: Vec<(usize, Box<str>)>,
}

impl Compiler {
    fn push(&mut self, event: Event) -> Result<(), Fault> {
        let packed = match event {
            Event::Allocate { id, bytes, .. } => self.allocate(id, bytes)?,
            Event::Free { id } => match self.live.free(id)? {
                Some(slot) => {
                    self.spare.push(slot);
                    Packed { slot, code: FREE }
                }
                None => Packed { slot: 0, code: NOTHING },
            },
            Event::RecordStream { id, .. } => {
                self.live.recorded(id)?;
                Packed { slot: 0, code: NOTHING }
            }
            Event::Synchronize => Packed { slot: 0, code: SYNCHRONIZE },
            Event::Mark(label) => {
                self.marks.push((self.steps.len(), label));
                Packed { slot: 0, code: NOTHING }
            }
        };
        self.steps.push(packed);
        Ok(())
    }

    fn allocate(&mut self, id: u64, bytes: u64) -> Result<Packed, Fault> {
        if bytes == 0 {
            self.live.allocate(id, None)?;
            return Ok(Packed { slot: 0, code: NOTHING });
        }
        if self.live.contains(id) {
            return Err(Fault::AllocatedTwice { id });
        }
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.n_slots += 1;
            self.n_slots - 1
        });
        self.live.allocate(id, Some(slot))?;
        let sizes = &mut self.sizes;
        let size_idx = *self.size_idx.entry(bytes).or_insert_with(|| {
            sizes.push(bytes);
            u32::try_from(sizes.len() - 1).unwrap_or(NOTHING)
        });
        self.n_tensors += 1;
        Ok(Packed { slot, code: size_idx })
    }

    fn finish(self, name: &str) -> Result<Workload, TuneError> {
        if self.n_tensors == 0 {
            return Err(TuneError::NothingAllocated { input: name.to_owned() });
        }
        let allocated = self.steps.iter().filter_map(|packed| self.sizes.get(packed.code as usize));
        let total =
            allocated.fold(0u64, |sum, bytes| sum.saturating_add(bytes.saturating_add(GRANULE_BYTES)));
        if total >= MAX_TOTAL_BYTES {
            return Err(TuneError::TooManyBytes { input: name.to_owned() });
        }
        let synchronizations = positions_of(&self.steps, SYNCHRONIZE);
        let mut workload = Workload {
            name: name.to_owned(),
            steps: self.steps,
            sizes: self.sizes,
            n_slots: self.n_slots,
            n_tensors: self.n_tensors,
            live_peak_bytes: 0,
            marks: self.marks,
            synchronizations,
            fingerprint: 0,
        };
        workload.fingerprint = hash_of(&workload);
        workload.live_peak_bytes = workload.measure_live_peak();
        Ok(workload)
    }
}
