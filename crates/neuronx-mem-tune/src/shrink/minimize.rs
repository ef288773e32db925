//! Delta debugging: leaves out ever smaller parts as long as a property holds. Knows nothing of what
//! the parts are.

/// Which parts are left out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Start,
    End,
}

/// A subset of `0..n` that has the property and loses it with any single element less.
///
/// `has_property` holds for the whole. Tests O(n log n) subsets in the usual case; the same subset for
/// the same property every time.
pub(super) fn minimal(n: usize, from: From, mut has_property: impl FnMut(&[usize]) -> bool) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..n).collect();
    let mut part = n.div_ceil(2).max(1);
    loop {
        let n_before = kept.len();
        // Elements still to be tried stand before `end`, or after as many as were kept so far.
        let mut n_left = kept.len();
        while n_left > 0 {
            let n_tried = part.min(n_left);
            let start = match from {
                From::End => n_left - n_tried,
                From::Start => kept.len() - n_left,
            };
            let without: Vec<usize> = kept[..start].iter().chain(&kept[start + n_tried..]).copied().collect();
            if has_property(&without) {
                kept = without;
            }
            n_left -= n_tried;
        }
        let has_changed = kept.len() < n_before;
        if part == 1 && !has_changed {
            return kept;
        }
        if !has_changed || part > kept.len() {
            part = (part / 2).clamp(1, kept.len().max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{From, minimal};

    #[test]
    fn keeps_what_is_needed_and_no_more() {
        let needed = [3, 17, 64, 65, 999];
        let mut n_tests = 0;
        for from in [From::Start, From::End] {
            let kept = minimal(1000, from, |kept| {
                n_tests += 1;
                needed.iter().all(|one| kept.contains(one))
            });
            assert_eq!(kept, needed);
        }
        assert!(n_tests < 400, "{n_tests}");
    }

    #[test]
    fn an_empty_subset_may_do() {
        assert!(minimal(9, From::Start, |_| true).is_empty());
        assert!(minimal(0, From::End, |_| true).is_empty());
    }
}
