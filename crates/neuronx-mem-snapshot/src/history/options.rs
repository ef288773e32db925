//! The options of `record_memory_history`. Knows the values that PyTorch accepts and what each means
//! for an action; refuses any other value with an error that names it.

use crate::Error;
use crate::model::Action;

/// What to record (allocator semantics §9).
///
/// ```
/// use neuronx_mem_snapshot::history::{EnabledArg, RecordOptions, Recording};
///
/// let options = RecordOptions::from_python_like(
///     EnabledArg::Name("all"), Some("alloc"), "python", 10_000, false, &["free_requested"])?;
/// assert_eq!(options.recording, Recording::All);
/// # Ok::<(), neuronx_mem_snapshot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// Whether to record, and how much.
    pub recording: Recording,
    /// Which events carry stacks.
    pub context: StackContext,
    /// Which frames a stack holds.
    pub stacks: StackKind,
    /// Most events kept, the oldest go first.
    pub max_entries: usize,
    /// Most bytes of host memory for records (56 bytes an event; texts and stacks not counted).
    pub max_bytes: Option<usize>,
    /// Whether to forget the events recorded so far.
    pub clear_history: bool,
    /// Actions that are not recorded.
    pub skip_actions: ActionSet,
}

/// How much to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recording {
    /// Nothing; events recorded before are forgotten.
    Off,
    /// Stacks of live blocks only, no events.
    State,
    /// Events too.
    All,
}

/// Which events carry stacks. Ascending: each level includes those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StackContext {
    /// None; no stack is captured at all.
    Never,
    /// No event, but live blocks do.
    State,
    /// Events that take memory.
    Alloc,
    /// Events that give memory back too.
    All,
}

/// Which frames a stack holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StackKind {
    /// Python frames.
    Python,
    /// Python and native frames.
    All,
}

/// The first argument of `record_memory_history`: `None`, a bool, or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnabledArg<'a> {
    /// Off.
    None,
    /// `False` is off, `True` is `"all"`.
    Bool(bool),
    /// `"state"` or `"all"`.
    Name(&'a str),
}

/// A set of known actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionSet(u16);

/// Builds [`RecordOptions`] from the defaults.
#[derive(Clone, Debug, Default)]
pub struct RecordOptionsBuilder(RecordOptions);

impl Default for RecordOptions {
    /// Records everything with all stacks, without bound.
    fn default() -> Self {
        Self {
            recording: Recording::All,
            context: StackContext::All,
            stacks: StackKind::All,
            max_entries: usize::MAX,
            max_bytes: None,
            clear_history: false,
            skip_actions: ActionSet::default(),
        }
    }
}

impl RecordOptions {
    /// A builder that starts from the defaults.
    #[must_use]
    pub fn builder() -> RecordOptionsBuilder {
        RecordOptionsBuilder::default()
    }

    /// Options from the arguments of PyTorch's function.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] for an unknown name, [`Error::UnknownAction`] for one in
    /// `skip_actions`.
    pub fn from_python_like(
        enabled: EnabledArg<'_>,
        context: Option<&str>,
        stacks: &str,
        max_entries: usize,
        clear_history: bool,
        skip_actions: &[&str],
    ) -> Result<Self, Error> {
        Ok(Self {
            recording: Recording::from_arg(enabled)?,
            context: StackContext::from_name(context)?,
            stacks: StackKind::from_name(stacks)?,
            max_entries,
            max_bytes: None,
            clear_history,
            skip_actions: ActionSet::from_names(skip_actions)?,
        })
    }

    /// The bound on events that both limits give.
    pub(super) fn bound(&self, record_bytes: usize) -> usize {
        let by_bytes = self.max_bytes.map_or(usize::MAX, |bytes| bytes / record_bytes);
        self.max_entries.min(by_bytes)
    }
}

impl RecordOptionsBuilder {
    /// Sets how much to record.
    #[must_use]
    pub fn recording(mut self, recording: Recording) -> Self {
        self.0.recording = recording;
        self
    }

    /// Sets which events carry stacks.
    #[must_use]
    pub fn context(mut self, context: StackContext) -> Self {
        self.0.context = context;
        self
    }

    /// Sets which frames a stack holds.
    #[must_use]
    pub fn stacks(mut self, stacks: StackKind) -> Self {
        self.0.stacks = stacks;
        self
    }

    /// Sets the most events kept.
    #[must_use]
    pub fn max_entries(mut self, max_entries: usize) -> Self {
        self.0.max_entries = max_entries;
        self
    }

    /// Sets the most bytes of host memory for records.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.0.max_bytes = Some(max_bytes);
        self
    }

    /// Sets whether to forget the events recorded so far.
    #[must_use]
    pub fn clear_history(mut self, clear_history: bool) -> Self {
        self.0.clear_history = clear_history;
        self
    }

    /// Sets the actions that are not recorded.
    #[must_use]
    pub fn skip_actions(mut self, actions: ActionSet) -> Self {
        self.0.skip_actions = actions;
        self
    }

    /// The options.
    #[must_use]
    pub fn build(self) -> RecordOptions {
        self.0
    }
}

impl Recording {
    fn from_arg(arg: EnabledArg<'_>) -> Result<Self, Error> {
        match arg {
            EnabledArg::None | EnabledArg::Bool(false) => Ok(Self::Off),
            EnabledArg::Bool(true) | EnabledArg::Name("all") => Ok(Self::All),
            EnabledArg::Name("state") => Ok(Self::State),
            EnabledArg::Name(other) => {
                Err(invalid("enabled", "None, False, True, \"state\" or \"all\"", other))
            }
        }
    }
}

impl StackContext {
    fn from_name(name: Option<&str>) -> Result<Self, Error> {
        match name {
            None => Ok(Self::Never),
            Some("state") => Ok(Self::State),
            Some("alloc") => Ok(Self::Alloc),
            Some("all") => Ok(Self::All),
            Some(other) => Err(invalid("context", "None, \"state\", \"alloc\" or \"all\"", other)),
        }
    }

    /// The lowest level at which an event of this action carries its stack; `None` if it never does.
    #[inline]
    pub(super) fn wanted_by(action: Action) -> Option<Self> {
        match action {
            Action::Alloc | Action::SegmentAlloc | Action::SegmentMap | Action::Oom | Action::Annotate => {
                Some(Self::Alloc)
            }
            Action::Snapshot => None,
            _ => Some(Self::All),
        }
    }
}

impl StackKind {
    fn from_name(name: &str) -> Result<Self, Error> {
        match name {
            "python" => Ok(Self::Python),
            "all" => Ok(Self::All),
            other => Err(invalid("stacks", "\"python\" or \"all\"", other)),
        }
    }
}

impl ActionSet {
    /// The set of these actions; actions that the schema does not know are left out.
    #[must_use]
    pub fn new(actions: &[Action]) -> Self {
        let codes = actions.iter().filter_map(|action| action.code());
        Self(codes.fold(0, |bits, code| bits | 1 << code))
    }

    /// The set of the actions with these names.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAction`] for the first name that is none.
    pub fn from_names(names: &[&str]) -> Result<Self, Error> {
        let mut actions = Vec::with_capacity(names.len());
        for &name in names {
            let unknown = || Error::UnknownAction { name: name.to_owned() };
            actions.push(Action::from_name(name).ok_or_else(unknown)?);
        }
        Ok(Self::new(&actions))
    }

    /// Whether the action is in the set.
    #[must_use]
    #[inline]
    pub fn contains(self, action: Action) -> bool {
        // The empty set is the common case and needs no code.
        self.0 != 0 && action.code().is_some_and(|code| self.0 & (1 << code) != 0)
    }
}

fn invalid(option: &'static str, expected: &'static str, found: &str) -> Error {
    Error::InvalidOption { option, expected, found: found.to_owned() }
}
