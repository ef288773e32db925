//! How the owner of a free queue follows the worker. Knows the contract, and no queue.

use std::fmt;

use crate::{StreamId, Ticket};

/// Told of every piece of work when it is submitted and when it has completed.
///
/// The worker owns the numbering: the n-th work of a stream has ticket n, exactly as
/// [`FreeQueue::submit`](crate::FreeQueue::submit) counts. So an owner that hands every
/// `submitted` to its queue, and nothing else, gets the same tickets back.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use neuronx_mem_stream::worker::{Completion, Worker};
/// use neuronx_mem_stream::{FreeQueue, StreamId, Ticket};
///
/// #[derive(Default)]
/// struct Owner {
///     queue: Mutex<FreeQueue<&'static str>>,
///     reusable: Mutex<Vec<&'static str>>,
/// }
///
/// impl Completion for Owner {
///     fn submitted(&self, stream: StreamId, ticket: Ticket) {
///         assert_eq!(self.queue.lock().unwrap().submit(stream), Ok(ticket));
///     }
///     fn completed(&self, stream: StreamId, ticket: Ticket) {
///         let ready = |block| self.reusable.lock().unwrap().push(block);
///         self.queue.lock().unwrap().complete(stream, ticket, ready).unwrap();
///     }
/// }
///
/// let owner = Arc::new(Owner::default());
/// let worker = Worker::builder(0).completion(owner.clone()).start()?;
/// worker.submit(StreamId::DEFAULT, || ())?;
/// let now = owner.queue.lock().unwrap().enqueue_free("block", 4096, StreamId::DEFAULT, None)?;
/// worker.synchronize(StreamId::DEFAULT)?;
/// // Either the work was done already, or its completion handed the block out.
/// assert!(now == Some("block") || *owner.reusable.lock().unwrap() == ["block"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Locks
///
/// Both are called without the worker's state locked, so they may lock whatever the owner likes.
/// For one stream, tickets come in order: each is submitted before it completes, and completed
/// once. Calls for different streams are ordered too: submissions as they were accepted,
/// completions as they ran.
///
/// In return they must not call the worker; and the owner must not submit, wait or shut down
/// while it holds a lock that they take. Asking (`query`, `is_idle`) is allowed then.
///
/// A panic in `completed` poisons the stream, as one in its work would. A panic in `submitted`
/// reaches the caller that submits, and the work is not queued.
pub trait Completion: Send + Sync {
    /// Work was accepted as number `ticket` of its stream and has not started. Called by the
    /// thread that submits.
    fn submitted(&self, stream: StreamId, ticket: Ticket);

    /// Work `ticket` of the stream has run, or was dropped because the stream is poisoned. Nobody
    /// who waits for it has been woken yet. Called by the worker's thread.
    fn completed(&self, stream: StreamId, ticket: Ticket);

    /// The host has waited for work `ticket` of the stream, or asked and heard that it has completed.
    /// Called by the thread that waited. Does nothing unless implemented; where it takes a lock, the
    /// owner must not even ask under that lock.
    fn waited(&self, stream: StreamId, ticket: Ticket) {
        let _ = (stream, ticket);
    }

    /// Work submitted to `waiting` from now on waits for work `ticket` of `awaited`. Called by the
    /// thread that asked for it. Does nothing unless implemented.
    fn ordered(&self, waiting: StreamId, awaited: StreamId, ticket: Ticket) {
        let _ = (waiting, awaited, ticket);
    }
}

impl fmt::Debug for dyn Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Completion")
    }
}
