//! A gate that calls pass through and that closes once: who closes it waits for those inside, and
//! nobody enters after. Entering takes no lock and may nest.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

/// Set in the word when the gate is closed; the other bits count who is inside.
const CLOSED: u64 = 1 << 63;

#[derive(Debug, Default)]
pub(crate) struct Gate {
    word: AtomicU64,
    /// Locked by the closer while it waits, and by the last one out to wake it.
    leaving: Mutex<()>,
    is_empty: Condvar,
}

/// Somebody is inside as long as this lives.
#[derive(Debug)]
pub(crate) struct Inside<'a> {
    gate: &'a Gate,
}

impl Gate {
    /// Goes in; `None` when the gate is closed. O(1).
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        // Acquire, so that what is done inside is not done before; the count needs no more.
        let before = self.word.fetch_add(1, Ordering::Acquire);
        let inside = Inside { gate: self };
        (before & CLOSED == 0).then_some(inside)
    }

    /// Closes; true for the one call that did it.
    pub(crate) fn close(&self) -> bool {
        self.word.fetch_or(CLOSED, Ordering::AcqRel) & CLOSED == 0
    }

    /// Waits until nobody is inside. Not to be called from inside.
    pub(crate) fn wait_until_empty(&self) {
        let mut leaving = self.leaving.lock();
        while !self.is_empty() {
            self.is_empty.wait(&mut leaving);
        }
    }

    /// Whether nobody is inside at this moment.
    pub(crate) fn is_empty(&self) -> bool {
        self.word.load(Ordering::Acquire) & !CLOSED == 0
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Release, so that what was done inside is done before the closer goes on.
        if self.gate.word.fetch_sub(1, Ordering::Release) == CLOSED | 1 {
            drop(self.gate.leaving.lock());
            self.gate.is_empty.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::Gate;

    #[test]
    fn entering_nests_and_ends_with_the_close() {
        let gate = Gate::default();
        let outer = gate.enter();
        assert!(outer.is_some() && gate.enter().is_some() && !gate.is_empty());
        assert!(gate.close() && !gate.close());
        assert!(gate.enter().is_none() && !gate.is_empty());
        drop(outer);
        assert!(gate.is_empty());
        gate.wait_until_empty();
    }

    #[test]
    fn the_closer_waits_for_those_inside() {
        let gate = Gate::default();
        let (entered, has_entered) = channel();
        let (leave, may_leave) = channel::<()>();
        let order = parking_lot::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let (gate, order) = (&gate, &order);
            scope.spawn(move || {
                let inside = gate.enter();
                entered.send(()).unwrap();
                may_leave.recv().unwrap();
                order.lock().push("left");
                drop(inside);
            });
            has_entered.recv().unwrap();
            let closer = scope.spawn(move || {
                assert!(gate.close());
                leave.send(()).unwrap();
                gate.wait_until_empty();
                order.lock().push("closed");
            });
            closer.join().unwrap();
            assert_eq!(*order.lock(), ["left", "closed"]);
        });
    }
}
