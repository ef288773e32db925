//! The last part of shrinking, when few tensors are left: they are tried one by one and two by two, and
//! two that live together become one. Knows lives and sizes, nothing of segments.

use hashbrown::HashSet;
use neuronx_mem_replay::Event;

/// Up to so many tensors, all pairs are tried; of more, each with the next one only.
const MAX_ALL_PAIRS: usize = 256;

/// A tensor that is left: from its birth to its death, or to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) id: u64,
    pub(super) stream: u64,
    pub(super) bytes: u64,
    /// Position of the allocation; no two positions are equal.
    pub(super) birth: usize,
    /// Position of the free.
    pub(super) death: Option<usize>,
}

/// The tensors of a trace of allocations and frees, in order of birth.
pub(super) fn pieces_of(events: &[Event]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (position, event) in events.iter().enumerate() {
        match *event {
            Event::Allocate { id, bytes, stream } => {
                pieces.push(Piece { id, stream, bytes, birth: position, death: None });
            }
            Event::Free { id } => {
                // An id may come again after its free; the last one born is meant.
                let owner = pieces.iter_mut().rev().find(|piece| piece.id == id);
                owner.into_iter().for_each(|piece| piece.death = Some(position));
            }
            _ => {}
        }
    }
    pieces
}

/// The trace of some tensors. An id that would come twice gives way to the smallest one not used.
pub(super) fn events_of(pieces: &[Piece]) -> Vec<Event> {
    let mut used: HashSet<u64> = HashSet::new();
    let mut spare = 1..=u64::MAX;
    let all: HashSet<u64> = pieces.iter().map(|piece| piece.id).collect();
    let mut events: Vec<(usize, Event)> = Vec::new();
    for piece in pieces {
        let Piece { stream, bytes, birth, death, .. } = *piece;
        let id = match used.insert(piece.id) {
            true => piece.id,
            false => spare.find(|id| !all.contains(id)).unwrap_or(piece.id),
        };
        events.push((birth, Event::Allocate { id, bytes, stream }));
        events.extend(death.map(|death| (death, Event::Free { id })));
    }
    events.sort_by_key(|(position, _)| *position);
    events.into_iter().map(|(_, event)| event).collect()
}

/// Fewer tensors that still show what `shows` asks for: none of them, no free, and (of no more than 256)
/// no two of them can be left out. With `may_merge`, no two that live together can be one, either.
///
/// The same result every time. Tries O(n²) traces a round, and a round only follows one that helped.
pub(super) fn polished(
    mut pieces: Vec<Piece>,
    may_merge: bool,
    shows: &mut impl FnMut(&[Piece]) -> bool,
) -> Vec<Piece> {
    loop {
        let n_before = n_events(&pieces);
        // First what makes the rest cheaper.
        if may_merge {
            pieces = changed(pieces, merged, shows);
            pieces = changed(pieces, joined, shows);
        }
        pieces = without_one(pieces, shows);
        pieces = without_frees(pieces, shows);
        pieces = changed(pieces, |_, _| Some(None), shows);
        if n_events(&pieces) == n_before {
            return pieces;
        }
    }
}

fn n_events(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| 1 + usize::from(piece.death.is_some())).sum()
}

fn without_one(mut pieces: Vec<Piece>, shows: &mut impl FnMut(&[Piece]) -> bool) -> Vec<Piece> {
    let mut idx = 0;
    while idx < pieces.len() {
        let mut fewer = pieces.clone();
        fewer.remove(idx);
        if shows(&fewer) {
            pieces = fewer;
        } else {
            idx += 1;
        }
    }
    pieces
}

fn without_frees(mut pieces: Vec<Piece>, shows: &mut impl FnMut(&[Piece]) -> bool) -> Vec<Piece> {
    for idx in 0..pieces.len() {
        let death = pieces[idx].death.take();
        if death.is_some() && !shows(&pieces) {
            pieces[idx].death = death;
        }
    }
    pieces
}

/// Replaces pairs by what a rule makes of them: `None` leaves them alone, `Some(None)` is nothing.
fn changed(
    mut pieces: Vec<Piece>,
    rule: impl Fn(&Piece, &Piece) -> Option<Option<Piece>>,
    shows: &mut impl FnMut(&[Piece]) -> bool,
) -> Vec<Piece> {
    let mut first = 0;
    while first + 1 < pieces.len() {
        let n_others = if pieces.len() <= MAX_ALL_PAIRS { pieces.len() } else { 1 };
        let end = (first + 1).saturating_add(n_others).min(pieces.len());
        let shorter = (first + 1..end).find_map(|second| {
            let replaced = rule(&pieces[first], &pieces[second])?;
            let others = pieces.iter().enumerate().filter(|(idx, _)| *idx != first && *idx != second);
            let mut shorter: Vec<Piece> = others.map(|(_, piece)| *piece).chain(replaced).collect();
            shorter.sort_by_key(|piece| piece.birth);
            shows(&shorter).then_some(shorter)
        });
        match shorter {
            Some(shorter) => pieces = shorter,
            None => first += 1,
        }
    }
    pieces
}

/// Both as one, for as long as both live: at no time more bytes than before.
fn merged(first: &Piece, second: &Piece) -> Option<Option<Piece>> {
    let bytes = bytes_together(first, second)?;
    let death = match (first.death, second.death) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    Some(Some(Piece { bytes, death, ..*second }))
}

/// Both as one, for as long as one of them lives.
fn joined(first: &Piece, second: &Piece) -> Option<Option<Piece>> {
    let bytes = bytes_together(first, second)?;
    let death = first.death.zip(second.death).map(|(one, other)| one.max(other));
    Some(Some(Piece { bytes, death, ..*first }))
}

/// `None` for two that do not live together. `first` is born first.
fn bytes_together(first: &Piece, second: &Piece) -> Option<u64> {
    let live_together = first.death.is_none_or(|death| death > second.birth);
    first.bytes.checked_add(second.bytes).filter(|_| live_together)
}

#[cfg(test)]
mod tests {
    use neuronx_mem_replay::Event;

    use super::{Piece, events_of, pieces_of, polished};

    fn allocate(id: u64, bytes: u64) -> Event {
        Event::Allocate { id, bytes, stream: 0 }
    }

    fn total(pieces: &[Piece]) -> u64 {
        pieces.iter().map(|piece| piece.bytes).sum()
    }

    #[test]
    fn events_survive_and_ids_stay_unique() {
        let events = [allocate(7, 10), Event::Free { id: 7 }, allocate(7, 20), Event::Free { id: 7 }];
        let mut pieces = pieces_of(&events);
        assert_eq!(pieces[1], Piece { id: 7, stream: 0, bytes: 20, birth: 2, death: Some(3) });
        pieces[0].death = None;
        assert_eq!(events_of(&pieces), [allocate(7, 10), allocate(1, 20), Event::Free { id: 1 }]);
    }

    #[test]
    fn what_lives_together_becomes_one() {
        let events = [allocate(1, 10), allocate(2, 20), Event::Free { id: 1 }, allocate(3, 40)];
        let pieces = polished(pieces_of(&events), true, &mut |pieces| total(pieces) >= 70);
        assert_eq!(events_of(&pieces), [allocate(3, 70)]);
        let kept = polished(pieces_of(&events), false, &mut |pieces| total(pieces) >= 70);
        assert_eq!(events_of(&kept), [allocate(1, 10), allocate(2, 20), allocate(3, 40)]);
    }

    #[test]
    fn lives_apart_stay_apart() {
        let events = [allocate(1, 10), Event::Free { id: 1 }, allocate(2, 20), Event::Free { id: 2 }];
        let both = |pieces: &[Piece]| total(pieces) == 30 && pieces.iter().all(|piece| piece.death.is_some());
        assert_eq!(events_of(&polished(pieces_of(&events), true, &mut { both })), events);
    }

    #[test]
    fn two_that_go_only_together_go() {
        let events = [allocate(1, 10), allocate(2, 20), allocate(3, 20)];
        let pieces = polished(pieces_of(&events), false, &mut |pieces| [50, 10].contains(&total(pieces)));
        assert_eq!(events_of(&pieces), [allocate(1, 10)]);
    }
}
