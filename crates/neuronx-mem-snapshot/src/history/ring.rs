//! A bounded sequence that forgets its oldest items. Knows its bound and order; refuses to allocate
//! the bound in advance: it grows as items come, then only overwrites.

/// Items, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    items: Vec<T>,
    /// Position of the oldest item once the ring is full.
    head: usize,
    max_items: usize,
}

impl<T: Default> Ring<T> {
    pub(super) fn new(max_items: usize) -> Self {
        Self { items: Vec::new(), head: 0, max_items }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Makes room for one more item, and shows `dropped` the oldest one if that has to go. `None` if
    /// there is no room for any.
    ///
    /// The caller writes the item into its place, field by field: put together elsewhere and copied
    /// at once, the copy waits for those very writes.
    #[inline(always)]
    pub(super) fn next_place(&mut self, dropped: impl FnOnce(&T)) -> Option<&mut T> {
        if self.items.len() < self.max_items && self.append() {
            return self.items.last_mut();
        }
        let oldest = self.items.get_mut(self.head)?;
        dropped(oldest);
        self.head += 1;
        if self.head == self.max_items {
            self.head = 0;
        }
        Some(oldest)
    }

    /// Adds an empty item; `false` if the host is out of memory, and from then on.
    #[inline(never)]
    fn append(&mut self) -> bool {
        if self.items.len() < self.items.capacity() || self.grow() {
            self.items.push(T::default());
            return true;
        }
        self.max_items = self.items.len();
        false
    }

    /// Changes the bound; gives back what no longer fits, oldest first.
    pub(super) fn set_max_items(&mut self, max_items: usize) -> Vec<T> {
        self.items.rotate_left(self.head);
        self.head = 0;
        self.max_items = max_items;
        let n_excess = self.items.len().saturating_sub(max_items);
        let excess = self.items.drain(..n_excess).collect();
        self.items.shrink_to(max_items);
        excess
    }

    /// Forgets everything, memory included.
    pub(super) fn clear(&mut self) {
        self.items = Vec::new();
        self.head = 0;
    }

    /// From oldest to newest.
    pub(super) fn iter(&self) -> std::iter::Chain<std::slice::Iter<'_, T>, std::slice::Iter<'_, T>> {
        let (newer, older) = self.items.split_at(self.head.min(self.items.len()));
        older.iter().chain(newer)
    }

    #[cold]
    fn grow(&mut self) -> bool {
        const FIRST: usize = 64;
        let n_more = self.items.len().max(FIRST).min(self.max_items - self.items.len());
        self.items.try_reserve_exact(n_more).is_ok()
    }
}
