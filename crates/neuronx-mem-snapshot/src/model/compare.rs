//! Equality of snapshots. Knows that two snapshots are equal when their files would hold the same
//! structure, whatever numbers their tables use; refuses to ignore the order of keys.

use super::import::{Lookup, Translate, translate};
use super::{Fields, Record, Segment, Snapshot, StrId, Value};

impl PartialEq for Snapshot {
    /// Compares the structure, key order included. Cost: O(entries + blocks + table items).
    fn eq(&self, other: &Self) -> bool {
        let mut lookup = Lookup::new(other.stacks(), self.stacks());
        self.form() == other.form()
            && same_header(self, other, &mut lookup)
            && self.allocator_settings == other.allocator_settings
            && same_segments(&self.segments, &other.segments, &mut lookup)
            && same_option(&self.host_segments, &other.host_segments, |a, b| same_segments(a, b, &mut lookup))
            && same_option(&self.host_traces, &other.host_traces, |a, b| same_records(a, b, &mut lookup))
            && same_option(&self.external_annotations, &other.external_annotations, |a, b| {
                same_records(a, b, &mut lookup)
            })
            && same_option(&self.device_traces, &other.device_traces, |a, b| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_records(a, b, &mut lookup))
            })
    }
}

impl Eq for Snapshot {}

fn same_header(a: &Snapshot, b: &Snapshot, lookup: &mut Lookup) -> bool {
    let translated = match b.order() {
        None => None,
        Some(order) => match lookup.order(order) {
            None => return false,
            found => found,
        },
    };
    let same_pair = |(a, b): (&(StrId, Value), &(StrId, Value))| lookup.text(b.0) == Some(a.0) && a.1 == b.1;
    a.order() == translated
        && a.extras().len() == b.extras().len()
        && a.extras().iter().zip(b.extras()).all(same_pair)
}

fn same_option<T>(a: &Option<T>, b: &Option<T>, same: impl FnOnce(&T, &T) -> bool) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same(a, b),
        _ => false,
    }
}

fn same_segments(a: &[Segment], b: &[Segment], lookup: &mut Lookup) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            same_core(a, b, lookup)
                && Record::blocks(a).is_some() == Record::blocks(b).is_some()
                && same_records(Segment::blocks(a), Segment::blocks(b), lookup)
        })
}

fn same_records<R>(a: &[R], b: &[R], lookup: &mut Lookup) -> bool
where
    R: Record,
    R::Core: Copy + PartialEq,
{
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_core(a, b, lookup))
}

fn same_core<R>(a: &R, b: &R, lookup: &mut Lookup) -> bool
where
    R: Record,
    R::Core: Fields + Copy + PartialEq,
{
    translate(b.core(), lookup).is_some_and(|translated| translated == *a.core())
}
