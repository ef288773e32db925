//! Where allocations come from: a call stack, or without one the phase of the program. Knows how
//! two runs name the same place; does not know what was allocated there.

use hashbrown::HashMap;
use neuronx_mem_snapshot::{FrameId, StackId, StackTable, StrId};

/// The number of a site in its [`Sites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(u32);

/// One place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// Empty where none was recorded.
    stack: StackId,
    /// The phase; only told apart where there is no stack.
    phase: Option<StrId>,
}

/// The sites of one or more inputs, each stored once.
///
/// A site is a call stack. Where none was recorded it is the phase of the program, with numbers
/// left out: `step # forward` is one site, whatever the step.
#[derive(Clone, Debug)]
pub struct Sites {
    table: StackTable,
    places: Vec<Place>,
    ids: HashMap<Place, SiteId>,
}

/// One frame of a site, innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SiteFrame {
    /// Function, or operator of the framework.
    pub name: String,
    /// File; empty for an operator.
    pub filename: String,
    /// Line; 0 where it is not known.
    pub line: u64,
}

impl Sites {
    /// No site yet; stacks are those of the table.
    #[must_use]
    pub fn new(table: StackTable) -> Self {
        Self { table, places: Vec::new(), ids: HashMap::new() }
    }

    /// The site of an allocation. Amortised O(1) with a stack, O(length of the phase) without.
    pub fn intern(&mut self, stack: StackId, phase: &str) -> SiteId {
        if stack != StackId::EMPTY {
            return self.place(Place { stack, phase: None });
        }
        let phase = self.table.intern_text(&without_numbers(phase));
        self.place(Place { stack, phase: Some(phase) })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// All of them, in order of their numbers.
    pub fn ids(&self) -> impl Iterator<Item = SiteId> + use<> {
        (0..u32::try_from(self.places.len()).unwrap_or(u32::MAX)).map(SiteId)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether the site is a call stack.
    #[must_use]
    pub fn has_stack(&self, site: SiteId) -> bool {
        self.place_of(site).is_some_and(|place| place.stack != StackId::EMPTY)
    }

    /// The frames, innermost first; none where no stack was recorded.
    #[must_use]
    pub fn frames(&self, site: SiteId) -> Vec<SiteFrame> {
        self.place_of(site).map_or_else(Vec::new, |place| SiteFrame::of_stack(&self.table, place.stack))
    }

    /// The phase that stands in for a stack.
    #[must_use]
    pub fn phase(&self, site: SiteId) -> Option<&str> {
        self.place_of(site)?.phase.map(|phase| self.table.text(phase))
    }

    /// The number here of a site of another run, by its text. With `ignores_lines` a frame is the same
    /// wherever in its file it stands. O(frames).
    pub fn import(&mut self, other: &Self, site: SiteId, ignores_lines: bool) -> SiteId {
        let frames = other.frames(site);
        let ids: Vec<FrameId> = frames
            .iter()
            .map(|frame| {
                let line = if ignores_lines { 0 } else { frame.line };
                self.table.intern_frame(&frame.name, &frame.filename, line)
            })
            .collect();
        let stack = self.table.intern_stack(&ids);
        self.intern(stack, other.phase(site).unwrap_or_default())
    }

    fn place(&mut self, place: Place) -> SiteId {
        if let Some(site) = self.ids.get(&place) {
            return *site;
        }
        let site = SiteId(u32::try_from(self.places.len()).unwrap_or(u32::MAX));
        self.places.push(place);
        self.ids.insert(place, site);
        site
    }

    fn place_of(&self, site: SiteId) -> Option<&Place> {
        self.places.get(site.0 as usize)
    }
}

impl SiteId {
    /// Position among the sites, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SiteFrame {
    /// The frames of a stack as texts of their own, innermost first. O(bytes).
    #[must_use]
    pub fn of_stack(table: &StackTable, stack: StackId) -> Vec<Self> {
        let own = |frame: neuronx_mem_snapshot::Frame<'_>| Self {
            name: frame.name().to_owned(),
            filename: frame.filename().to_owned(),
            line: frame.line(),
        };
        table.frames(stack).map(own).collect()
    }
}

/// `step 3 forward` as `step # forward`.
fn without_numbers(phase: &str) -> String {
    let mut text = String::with_capacity(phase.len());
    let mut is_number = false;
    for letter in phase.chars() {
        let is_digit = letter.is_ascii_digit();
        if !is_digit {
            text.push(letter);
        } else if !is_number {
            text.push('#');
        }
        is_number = is_digit;
    }
    text
}
