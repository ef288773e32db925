//! Release callbacks: caches above the allocator that give memory back when the device runs out.
//! They run during recovery and at no other time, with no lock of the device's state held.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Device;

/// Names a registered callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallbackId(pub(super) u64);

type Callback = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
pub(super) struct Callbacks {
    registered: Mutex<Registered>,
}

#[derive(Default)]
struct Registered {
    next_id: u64,
    callbacks: Vec<(CallbackId, Callback)>,
    runs: u64,
}

impl Device {
    /// Registers a callback that frees blocks when the device is out of memory.
    ///
    /// It runs on the thread that allocates, in order of registration, with no lock held. It may
    /// free blocks, read statistics and empty the cache; allocating on the same device from inside
    /// is served without a recovery of its own. A callback that owns blocks of this device keeps the
    /// device alive until it is unregistered.
    pub fn register_release_callback(&self, callback: impl Fn() + Send + Sync + 'static) -> CallbackId {
        let mut registered = self.shared.callbacks.registered.lock();
        let id = CallbackId(registered.next_id);
        registered.next_id += 1;
        registered.callbacks.push((id, Arc::new(callback)));
        id
    }

    /// Removes a callback; whether there was one. A run that has begun on another thread may still
    /// be going on when this returns.
    pub fn unregister_release_callback(&self, id: CallbackId) -> bool {
        let mut registered = self.shared.callbacks.registered.lock();
        let before = registered.callbacks.len();
        registered.callbacks.retain(|(known, _)| *known != id);
        registered.callbacks.len() < before
    }

    /// How often recovery has run the callbacks.
    #[must_use]
    pub fn release_callback_runs(&self) -> u64 {
        self.shared.callbacks.registered.lock().runs
    }

    /// Runs all callbacks, outside every lock; whether there were any.
    pub(super) fn run_release_callbacks(&self) -> bool {
        let callbacks: Vec<Callback> = {
            let mut registered = self.shared.callbacks.registered.lock();
            if registered.callbacks.is_empty() {
                return false;
            }
            registered.runs += 1;
            registered.callbacks.iter().map(|(_, callback)| Arc::clone(callback)).collect()
        };
        callbacks.iter().for_each(|callback| callback());
        true
    }
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks").field("n", &self.registered.lock().callbacks.len()).finish()
    }
}
