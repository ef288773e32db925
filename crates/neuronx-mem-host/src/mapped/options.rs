//! How memory is mapped.

/// Options of a [`super::MappedPages`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappedOptions {
    /// Which pages are tried.
    pub huge_pages: HugePages,
    /// Whether pages are locked, so that they are never swapped out or evicted.
    pub locking: Locking,
    /// The NUMA node that pages come from as long as it has any; `None` for the node of whoever touches a
    /// page first.
    pub node: Option<u32>,
    /// Whether pages are there at once rather than when they are touched first.
    pub is_filled: bool,
}

/// Which pages are tried. Where they are not granted, the next best kind is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HugePages {
    /// Normal pages.
    Never,
    /// Huge pages as the kernel finds them, on the way or later.
    Advised,
    /// Huge pages that the administrator has reserved (`vm.nr_hugepages`), else as with `Advised`.
    Reserved,
}

/// Whether pages are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Locking {
    /// Not at all.
    Never,
    /// Where `RLIMIT_MEMLOCK` and rights allow it; a refusal is counted.
    IfAllowed,
    /// Always; a refusal is an error.
    Required,
}

impl Default for MappedOptions {
    /// Reserved huge pages first, not locked, no node, filled on first touch.
    fn default() -> Self {
        Self { huge_pages: HugePages::Reserved, locking: Locking::Never, node: None, is_filled: false }
    }
}

impl MappedOptions {
    /// Sets which pages are tried. O(1).
    #[must_use]
    pub const fn with_huge_pages(mut self, huge_pages: HugePages) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Sets whether pages are locked. O(1).
    #[must_use]
    pub const fn with_locking(mut self, locking: Locking) -> Self {
        self.locking = locking;
        self
    }

    /// Prefers a NUMA node. O(1).
    #[must_use]
    pub const fn on_node(mut self, node: u32) -> Self {
        self.node = Some(node);
        self
    }

    /// Makes pages be there at once. O(1).
    #[must_use]
    pub const fn filled(mut self) -> Self {
        self.is_filled = true;
        self
    }
}
