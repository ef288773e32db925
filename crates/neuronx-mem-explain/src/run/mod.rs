//! A run as the lives of its tensors: born at one event, dead at another. Knows nothing of
//! addresses, segments or configurations, so its figures do not depend on them.

mod phases;
mod steps;

pub use steps::{StepRule, Steps};

use hashbrown::HashMap;
use neuronx_mem_replay::{Event, EventSource, Fault, ReplayError};

use crate::{ExplainError, Input};
use crate::{SiteId, Sites};
pub(crate) use phases::Phases;

/// The end of a life that has not ended.
pub const STILL_LIVE: u64 = u64::MAX;

/// The life of one tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Life {
    /// Bytes asked for.
    pub bytes: u64,
    /// The event that allocated it, from 1.
    pub birth: u64,
    /// The event that freed it; [`STILL_LIVE`] if none did.
    pub death: u64,
    /// Its stream.
    pub stream: u64,
    /// Where it was allocated.
    pub site: SiteId,
}

/// All lives of one input, in order of birth.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// Name of the input.
    pub name: String,
    /// The lives; tensors of no bytes are among them.
    pub lives: Vec<Life>,
    /// Where they were allocated.
    pub sites: Sites,
    /// Events that had an effect.
    pub n_events: u64,
    /// Most bytes that tensors asked for at once.
    pub peak_bytes: u64,
    /// The event that first reached it; 0 when nothing was allocated.
    pub peak_event: u64,
    /// Lines that were left out, by the reader or because they did not fit those before them.
    pub n_skipped: u64,
    /// Whether the input tells of the past, and not only of one moment.
    pub has_history: bool,
    phases: Phases,
    end_event: u64,
}

impl Run {
    /// Takes the lives from an input. O(events); 40 bytes an allocation.
    ///
    /// ```
    /// use neuronx_mem_explain::{Input, Run};
    /// use neuronx_mem_replay::TraceReader;
    ///
    /// let events = TraceReader::new("a,1,512,0\na,2,256,0\nf,1\n".as_bytes(), "tiny");
    /// let run = Run::of(&Input::from_events(events)?)?;
    /// assert_eq!((run.peak_bytes, run.peak_event), (768, 2));
    /// # Ok::<(), neuronx_mem_explain::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReplayError::Rejected`] for an event that does not fit those before it, unless the input is
    /// read leniently.
    pub fn of(input: &Input) -> Result<Self, ExplainError> {
        let mut reading = Reading::new(input);
        let mut events = input.trace().events();
        while let Some(line) = events.next() {
            let line = line?;
            if let Err(fault) = reading.add(input, line.event) {
                if !events.is_lenient() {
                    let (input, line) = (input.name().to_owned(), line.line);
                    return Err(ReplayError::Rejected { input, line, fault }.into());
                }
                reading.run.n_skipped += 1;
            }
        }
        let mut run = reading.run;
        run.n_skipped += events.skipped().total();
        run.end_event = run.phases.end_event(
            run.n_events,
            run.lives.last().map_or(0, |life| life.birth),
            reading.live.is_empty(),
        );
        Ok(run)
    }

    /// The phase of the program at an event: the text of the last mark. Empty before the first.
    #[must_use]
    pub fn phase_at(&self, event: u64) -> &str {
        self.phases.at(event)
    }

    /// The event with which the program begins to take down what it built; the one after the last event
    /// when it does not.
    ///
    /// A program takes down when it marks so (`teardown`), or when nothing is live at the end. It begins
    /// where there are only frees left, after the last mark or synchronisation among them.
    #[must_use]
    pub fn end_event(&self) -> u64 {
        self.end_event
    }

    /// The lives that an event leaves, in order of birth. O(lives).
    pub fn live_at(&self, event: u64) -> impl Iterator<Item = &Life> {
        self.lives.iter().filter(move |life| life.is_live_at(event))
    }
}

impl Life {
    /// Whether the tensor is live once the event has happened.
    #[must_use]
    pub const fn is_live_at(&self, event: u64) -> bool {
        self.birth <= event && event < self.death
    }
}

struct Reading {
    run: Run,
    /// The live tensors' lives.
    live: HashMap<u64, usize>,
    live_bytes: u64,
    /// The site of the current phase, for tensors without a stack.
    phase_site: Option<SiteId>,
}

impl Reading {
    fn new(input: &Input) -> Self {
        let run = Run {
            name: input.name().to_owned(),
            lives: Vec::new(),
            sites: Sites::new(input.table().clone()),
            n_events: 0,
            peak_bytes: 0,
            peak_event: 0,
            n_skipped: 0,
            has_history: input.snapshot().is_none_or(|it| !it.trace(input.device_idx()).is_empty()),
            phases: Phases::new(input.is_snapshot()),
            end_event: 1,
        };
        Self { run, live: HashMap::new(), live_bytes: 0, phase_site: None }
    }

    fn add(&mut self, input: &Input, event: Event) -> Result<(), Fault> {
        let now = self.run.n_events + 1;
        match event {
            Event::Allocate { id, bytes, stream } => {
                let lives_idx = self.run.lives.len();
                if self.live.contains_key(&id) {
                    return Err(Fault::AllocatedTwice { id });
                }
                self.live.insert(id, lives_idx);
                let site = self.site(input, lives_idx);
                self.run.lives.push(Life { bytes, birth: now, death: STILL_LIVE, stream, site });
                self.live_bytes = self.live_bytes.saturating_add(bytes);
                if self.live_bytes > self.run.peak_bytes {
                    (self.run.peak_bytes, self.run.peak_event) = (self.live_bytes, now);
                }
            }
            Event::Free { id } => {
                let lives_idx = self.live.remove(&id).ok_or(Fault::FreeOfNotLive { id })?;
                let life = &mut self.run.lives[lives_idx];
                life.death = now;
                self.live_bytes = self.live_bytes.saturating_sub(life.bytes);
            }
            Event::RecordStream { id, .. } if !self.live.contains_key(&id) => {
                return Err(Fault::RecordOfNotLive { id });
            }
            Event::RecordStream { .. } => {}
            Event::Synchronize => self.run.phases.synchronize(now),
            Event::Mark(label) => {
                self.run.phases.mark(now, label);
                self.phase_site = None;
            }
        }
        self.run.n_events = now;
        Ok(())
    }

    fn site(&mut self, input: &Input, allocation_idx: usize) -> SiteId {
        let stack = input.stack(allocation_idx);
        if stack != neuronx_mem_snapshot::StackId::EMPTY {
            return self.run.sites.intern(stack, "");
        }
        if let Some(site) = self.phase_site {
            return site;
        }
        let phase = self.run.phases.at(u64::MAX);
        let site = self.run.sites.intern(stack, phase);
        self.phase_site = Some(site);
        site
    }
}
