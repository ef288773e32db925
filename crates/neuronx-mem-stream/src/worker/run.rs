//! The worker's thread: takes one item after another and runs it, without a lock. Whatever foreign
//! code does, the thread goes on.

use super::item::Item;
use super::panic::guarded;
use super::shared::Shared;
use super::state::Picked;

/// Runs until the worker is shut down and its queues are empty.
pub(super) fn run(shared: &Shared) {
    shared.enter_worker_thread();
    while let Some(mut picked) = shared.next_item() {
        let ran = perform(shared, &mut picked);
        // The hook is told whatever became of the work: deallocations wait for it.
        let announced = announce(shared, &picked);
        let panic = ran.and(announced).err();
        if let Some(message) = &panic {
            let (device, stream) = (shared.settings.device, picked.position.stream.0);
            tracing::error!(device, stream, message, "a work item panicked; its stream is poisoned");
        }
        let waker = shared.finish(&mut picked, panic);
        end_quietly(shared, || {
            if let Some(waker) = waker {
                waker.wake();
            }
            drop(picked);
        });
    }
}

/// Runs an item, or drops it when it is doomed.
fn perform(shared: &Shared, picked: &mut Picked) -> Result<(), String> {
    match (&mut picked.item, &picked.doom) {
        (Item::Task(task), None) => guarded(|| task.run()),
        (Item::Task(task), Some(_)) => {
            end_quietly(shared, || task.discard());
            Ok(())
        }
        (Item::Stamp(time), None) => guarded(|| shared.settings.clock.now_ns()).map(|now_ns| {
            // Each stamp is queued once.
            let _ = time.set(now_ns);
        }),
        (Item::Stamp(_) | Item::WaitFor(_) | Item::WaitSignal(_), _) => Ok(()),
    }
}

fn announce(shared: &Shared, picked: &Picked) -> Result<(), String> {
    let Some(completion) = &shared.settings.completion else {
        return Ok(());
    };
    guarded(|| completion.completed(picked.position.stream, picked.position.ticket))
}

/// Foreign code at the end of an item, whose panic can no longer be the item's.
fn end_quietly(shared: &Shared, end: impl FnOnce()) {
    if let Err(message) = guarded(end) {
        tracing::warn!(device = shared.settings.device, message, "a panic at the end of a work item");
    }
}
