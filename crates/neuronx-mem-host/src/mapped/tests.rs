//! Mappings of this process. What the machine grants differs; what is counted has to agree with it.

use super::{HUGE_PAGE_BYTES, HugePages, Locking, MappedOptions, MappedPages, PageKind};
use crate::{HostError, PageRun, PageSource};

#[test]
fn runs_are_counted_while_they_live() {
    let pages = MappedPages::new(MappedOptions::default().with_huge_pages(HugePages::Never));
    let [small, large] = [1, 3 << 20].map(|bytes| pages.allocate(bytes).unwrap());
    let page_bytes = rustix::param::page_size() as u64;
    assert_eq!((small.bytes(), small.page_kind()), (page_bytes, PageKind::Normal));
    assert_eq!(pages.counts().live_bytes, page_bytes + (3 << 20));
    drop(small);
    assert_eq!(pages.counts().live_bytes, large.bytes());
    drop(large);
    assert_eq!(pages.counts(), MappedPages::new(MappedOptions::default()).counts());
}

#[test]
fn huge_pages_are_used_where_they_are_granted_and_missed_where_not() {
    for huge_pages in [HugePages::Advised, HugePages::Reserved] {
        let pages = MappedPages::new(MappedOptions::default().with_huge_pages(huge_pages).filled());
        let run = pages.allocate(HUGE_PAGE_BYTES + 1).unwrap();
        assert_eq!(run.bytes(), 2 * HUGE_PAGE_BYTES);
        assert_eq!(run.address() % HUGE_PAGE_BYTES, 0, "{huge_pages:?}");
        let counts = pages.counts();
        let by_kind = [counts.reserved_huge_bytes, counts.advised_huge_bytes];
        let expected = match run.page_kind() {
            PageKind::ReservedHuge => [run.bytes(), 0],
            PageKind::AdvisedHuge => [0, run.bytes()],
            PageKind::Normal => [0, 0],
        };
        assert_eq!(by_kind, expected);
        let is_missed = huge_pages == HugePages::Reserved && run.page_kind() != PageKind::ReservedHuge;
        assert_eq!(counts.refused_huge_pages, u64::from(is_missed));
        // Below one huge page nothing is rounded up to it.
        assert!(pages.allocate(HUGE_PAGE_BYTES - 1).unwrap().bytes() <= HUGE_PAGE_BYTES);
    }
}

#[test]
fn locking_and_nodes_are_granted_or_counted_as_refused() {
    let options = MappedOptions::default().with_locking(Locking::IfAllowed).on_node(0);
    let pages = MappedPages::new(options);
    let run = pages.allocate(65_536).unwrap();
    let counts = pages.counts();
    assert_eq!(counts.refused_locks, u64::from(!run.is_locked()));
    assert_eq!(counts.locked_bytes, if run.is_locked() { run.bytes() } else { 0 });
    // A node that no host has: refused, and the memory is there all the same.
    let far = MappedPages::new(MappedOptions::default().on_node(1023));
    assert!(far.allocate(4096).is_ok());
    assert_eq!(far.counts().refused_nodes, 1);
    let beyond = MappedPages::new(MappedOptions::default().on_node(u32::MAX));
    assert!(beyond.allocate(4096).is_ok());
    assert_eq!(beyond.counts().refused_nodes, 1);
}

#[test]
fn what_cannot_be_mapped_is_an_error_and_leaves_nothing() {
    let pages = MappedPages::new(MappedOptions::default());
    for bytes in [0, u64::MAX, 1 << 63] {
        assert!(matches!(pages.allocate(bytes), Err(HostError::InvalidSize { .. })), "{bytes}");
    }
    let error = pages.allocate(1 << 62).unwrap_err();
    assert!(matches!(error, HostError::NoPages { requested_bytes } if requested_bytes == 1 << 62));
    // Reserved address space is no memory: locking this much is refused whoever asks.
    let required = MappedPages::new(MappedOptions::default().with_locking(Locking::Required));
    let error = required.allocate(1 << 45).unwrap_err();
    assert!(matches!(error, HostError::NoPages { .. } | HostError::System { .. }), "{error}");
    assert_eq!((pages.counts().live_bytes, required.counts().live_bytes), (0, 0));
}
