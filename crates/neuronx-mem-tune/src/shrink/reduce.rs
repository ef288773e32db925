//! A trace to the fewest tensors that show an effect: cuts it, leaves out tensors and frees, and makes
//! one of two. Knows when an effect is still shown; how the few that are left shrink further is next
//! door.

use hashbrown::HashSet;
use neuronx_mem::AllocatorConfig;
use neuronx_mem_replay::{Event, EventSource, LiveIds, Trace};

use super::Effect;
use super::minimize::{From, minimal};
use super::pieces::{Piece, events_of, pieces_of, polished};
use crate::plan::{Tensor, tensors_of};
use crate::{Figures, Machine, TuneError, Verdict, Workload, evaluate};

/// What a smaller trace may do to the sizes of tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sizes {
    /// Two tensors that live at the same time may become one of the size of both: the fewest events.
    #[default]
    Merged,
    /// Events are left out, and every tensor that stays has its size in the trace.
    Kept,
}

/// What is left of a trace.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shrunk {
    /// The events, a trace by themselves: allocations and frees.
    pub events: Vec<Event>,
    /// Figures of the whole trace.
    pub before: Figures,
    /// Figures of what is left.
    pub after: Figures,
    /// Smaller traces that were tried.
    pub n_tried: u64,
}

/// Shrinks a trace to few events that still show an effect under a configuration on a device.
///
/// Cuts off what comes after the effect, then leaves out tensors and frees until each one left is
/// needed. With [`Sizes::Merged`], tensors that live at the same time then become one. Marks,
/// synchronisations and recorded streams go: they do not matter while frees take effect at once. The
/// peak of live bytes never exceeds that of the whole trace, so what fragmentation caused is still
/// caused by it. The same result every time; some thousand passes over ever shorter traces.
///
/// ```
/// use neuronx_mem::AllocatorConfig;
/// use neuronx_mem_replay::{Event, Trace, TraceReader};
/// use neuronx_mem_tune::{Effect, Machine, Sizes, shrink};
///
/// let text = "a,1,4194304,0\nf,1\na,2,70000000,0\na,3,80000000,0\ns\n";
/// let trace = Trace::read(TraceReader::new(text.as_bytes(), "three tensors"))?;
/// let effect: Effect = "reserved_peak>100000000".parse()?;
/// let shrunk = shrink(&trace, &AllocatorConfig::default(), &Machine::default(), &effect, Sizes::Merged)?;
/// // The third tensor comes too late to matter, and the free changes nothing that is reserved.
/// let small = Event::Allocate { id: 1, bytes: 4_194_304, stream: 0 };
/// assert_eq!(shrunk.events, [small, Event::Allocate { id: 2, bytes: 70_000_000, stream: 0 }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`TuneError::NoEffect`] when the whole trace does not show it, or what reading the trace gives.
pub fn shrink(
    trace: &Trace,
    config: &AllocatorConfig,
    machine: &Machine,
    effect: &Effect,
    sizes: Sizes,
) -> Result<Shrunk, TuneError> {
    let workload = Workload::of_trace(trace)?;
    let run = |workload: &Workload| evaluate(workload, config, machine, u64::MAX);
    let before = run(&workload);
    if !effect.is_shown_by(&before) {
        let (input, effect) = (trace.name().to_owned(), effect.to_string());
        return Err(TuneError::NoEffect { input, effect, found: found(&before) });
    }
    let mut n_tried = 0;
    let end = first_end(&workload, |prefix| {
        n_tried += 1;
        effect.is_shown_by(&run(prefix))
    });
    let prefix = workload.prefix(end);
    let mut shows = |smaller: &Workload| {
        n_tried += 1;
        smaller.live_peak_bytes() <= workload.live_peak_bytes() && effect.is_shown_by(&run(smaller))
    };
    let mut pieces_from = |from: From| -> Result<Vec<Piece>, TuneError> {
        let mut by_position =
            |kept: &HashSet<usize>| shows(&prefix.filter(|position| kept.contains(&position)));
        let kept = positions(reduced(lives(&prefix), from, &mut by_position).iter());
        let pieces = pieces_of(&events(trace, end, &kept)?);
        let mut by_piece = |pieces: &[Piece]| {
            Workload::of_events(trace.name(), events_of(pieces)).is_ok_and(|smaller| shows(&smaller))
        };
        Ok(polished(pieces, sizes == Sizes::Merged, &mut by_piece))
    };
    // What goes first decides what can go later: both ways, and the smaller result.
    let (from_end, from_start) = (events_of(&pieces_from(From::End)?), events_of(&pieces_from(From::Start)?));
    let events = if from_start.len() < from_end.len() { from_start } else { from_end };
    let after = run(&Workload::of_events(trace.name(), events.clone())?);
    Ok(Shrunk { events, before, after, n_tried })
}

/// Leaves out tensors, then frees, in turns until nothing goes any more.
fn reduced(mut tensors: Vec<Life>, from: From, shows: &mut impl FnMut(&HashSet<usize>) -> bool) -> Vec<Life> {
    loop {
        let n_before = n_events(&tensors);
        let of = |kept: &[usize]| positions(kept.iter().map(|idx| &tensors[*idx]));
        let kept = minimal(tensors.len(), from, |kept| shows(&of(kept)));
        tensors = kept.into_iter().map(|idx| tensors[idx]).collect();
        // Fewer frees hold more, so that fewer tensors are needed.
        let dying: Vec<usize> = (0..tensors.len()).filter(|idx| tensors[*idx].1.is_some()).collect();
        let with_frees = |kept: &[usize]| {
            let mut tensors = tensors.clone();
            let kept: HashSet<usize> = kept.iter().map(|nth| dying[*nth]).collect();
            dying.iter().filter(|idx| !kept.contains(*idx)).for_each(|idx| tensors[*idx].1 = None);
            tensors
        };
        let kept = minimal(dying.len(), from, |kept| shows(&positions(with_frees(kept).iter())));
        tensors = with_frees(&kept);
        if n_events(&tensors) == n_before {
            return tensors;
        }
    }
}

/// Position of a tensor's allocation, and of its free if there is one.
type Life = (usize, Option<usize>);

fn n_events(tensors: &[Life]) -> usize {
    tensors.iter().map(|(_, death)| 1 + usize::from(death.is_some())).sum()
}

fn positions<'a>(tensors: impl Iterator<Item = &'a Life>) -> HashSet<usize> {
    tensors.flat_map(|(birth, death)| [Some(*birth), *death]).flatten().collect()
}

fn lives(workload: &Workload) -> Vec<Life> {
    let end = workload.n_events();
    let of = |tensor: &Tensor| (tensor.birth, (tensor.death < end).then_some(tensor.death));
    tensors_of(workload).iter().map(of).collect()
}

fn found(figures: &Figures) -> String {
    let Figures { reserved_peak_bytes, allocated_peak_bytes, active_peak_bytes, num_device_alloc, .. } =
        figures;
    let end = match figures.verdict {
        Verdict::OutOfMemory { event } => format!("out of memory at event {event}"),
        _ => "no out of memory".to_owned(),
    };
    format!(
        "{end}, reserved_peak {reserved_peak_bytes}, allocated_peak {allocated_peak_bytes}, active_peak \
         {active_peak_bytes}, num_device_alloc {num_device_alloc}"
    )
}

/// The shortest prefix that has a property which longer ones keep.
fn first_end(workload: &Workload, mut has_property: impl FnMut(&Workload) -> bool) -> usize {
    let (mut without, mut with) = (0, workload.n_events());
    while without + 1 < with {
        let middle = without.midpoint(with);
        if has_property(&workload.prefix(middle)) {
            with = middle;
        } else {
            without = middle;
        }
    }
    with
}

/// Allocations at the kept positions and their frees, up to an end, by their ids in the trace.
fn events(trace: &Trace, end: usize, kept: &HashSet<usize>) -> Result<Vec<Event>, TuneError> {
    let source = trace.events();
    let is_lenient = source.is_lenient();
    let mut live: LiveIds<bool> = LiveIds::new();
    let (mut position, mut events) = (0, Vec::new());
    for line in source {
        let event = line?.event;
        let is_kept = match event {
            Event::Allocate { id, .. } => {
                let is_kept = kept.contains(&position);
                live.allocate(id, is_kept).map(|()| is_kept)
            }
            Event::Free { id } => live.free(id),
            Event::RecordStream { id, .. } => live.recorded(id).map(|_| false),
            Event::Synchronize | Event::Mark(_) => Ok(false),
        };
        match is_kept {
            Ok(true) if position < end && kept.contains(&position) => events.push(event),
            Ok(_) => {}
            // The workload has skipped it too.
            Err(_) if is_lenient => continue,
            Err(_) => {}
        }
        position += 1;
    }
    Ok(events)
}
