//! Memory history and snapshots of a device, in PyTorch's format. Copies under the lock, builds and
//! writes outside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neuronx_mem_config::{AllocatorConfig, ConfigKey};
use neuronx_mem_pool::{BlockState, BlockView, PoolKind, SegmentPool};
use neuronx_mem_snapshot::history::{History, RecordOptions, SharedStacks, StackProvider};
use neuronx_mem_snapshot::{
    Block, BlockState as State, Error, Segment, Snapshot, StackId, StackImporter, StackTable, Value,
};

use super::recorder::Recorder;
use super::{Device, Owner};

/// The name that a profile session expects (memory profiling guide, step 4).
const SESSION_FILE: &str = "memory_snapshot.pickle";

/// What is copied under the lock.
struct Copied {
    segments: Vec<(u64, PoolKind, Vec<CopiedBlock>)>,
    history: History,
}

struct CopiedBlock {
    view: BlockView,
    stream: u64,
    stack: Option<StackId>,
}

impl Device {
    /// Switches the memory history on or off; see [`RecordOptions`].
    pub fn record_memory_history(&self, options: &RecordOptions) {
        let mut state = self.shared.state.lock();
        state.recorder.configure(options);
        self.shared.capture.follow(state.recorder.history());
    }

    /// Sets where call stacks come from; none are captured unless set. Captured outside the
    /// device's lock.
    pub fn set_stack_provider(&self, provider: impl StackProvider + Send + 'static) {
        let mut state = self.shared.state.lock();
        if self.shared.capture.set_provider(Box::new(provider)) {
            state.recorder.forget();
        }
        self.shared.capture.follow(state.recorder.history());
    }

    /// Sets where call stacks come from, to a source that many threads ask at once: with no lock held,
    /// so that it may take one of its own. It is asked for its table when a snapshot is taken.
    ///
    /// Events recorded before are forgotten, and live blocks lose their stacks: both were numbers of
    /// another source. Setting the same source again changes nothing. Set it before recording begins; an
    /// operation under way meanwhile may be shown with a wrong stack.
    pub fn set_shared_stacks(&self, source: Arc<dyn SharedStacks>) {
        if self.shared.capture.is_shared_with(&source) {
            return;
        }
        let mut state = self.shared.state.lock();
        self.shared.capture.set_shared(source);
        state.recorder.forget();
        self.shared.capture.follow(state.recorder.history());
    }

    /// Attaches a text to all events from now on, until another is set.
    pub fn set_memory_metadata(&self, text: &str) {
        self.shared.state.lock().recorder.set_user_metadata(text);
    }

    /// Segments, blocks and recorded events at this moment. With recording off there are no events.
    ///
    /// O(blocks + events). The snapshot itself is an event, which the next one shows.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        self.add_to_snapshot(&mut snapshot);
        snapshot
    }

    /// Writes a snapshot: JSON for a `.json` name, pickle otherwise. A temporary file is renamed, so
    /// a failure leaves no half file. Warns when recording is off and writes the segments.
    ///
    /// # Errors
    ///
    /// [`Error`] of the file system.
    pub fn dump_snapshot(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        if !self.shared.state.lock().recorder.is_on() {
            tracing::warn!("memory history is off: the snapshot holds segments and no events");
        }
        self.snapshot().write_file(path)
    }

    /// Writes `memory_snapshot.pickle` into a profile session's folder and returns its path.
    ///
    /// # Errors
    ///
    /// As for [`dump_snapshot`](Self::dump_snapshot).
    pub fn export_snapshot(&self, session_dir: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let path = session_dir.as_ref().join(SESSION_FILE);
        self.dump_snapshot(&path)?;
        Ok(path)
    }

    /// Adds this device to a snapshot of several.
    pub(crate) fn add_to_snapshot(&self, snapshot: &mut Snapshot) {
        let copied = {
            let mut state = self.shared.state.lock();
            let copied = Copied {
                segments: copy_segments(&state.pool, &state.recorder),
                history: state.recorder.history().clone(),
            };
            state.recorder.snapshot_taken(self.memory_allocated());
            copied
        };
        let device_idx = self.shared.id.0 as usize;
        let mut history = copied.history;
        *history.stacks_mut() = self.shared.capture.table();
        let mut importer = StackImporter::new();
        for (address, kind, blocks) in &copied.segments {
            let segment =
                segment(self.shared.id.0, *address, *kind, blocks, history.stacks(), snapshot, &mut importer);
            snapshot.segments.push(segment);
        }
        if snapshot.device_traces.as_ref().is_none_or(|traces| traces.len() <= device_idx) {
            snapshot.set_n_devices(device_idx + 1);
        }
        history.export_with(snapshot, device_idx, &mut importer);
        add_settings(snapshot, &self.shared.config);
    }
}

fn copy_segments(pool: &SegmentPool, recorder: &Recorder) -> Vec<(u64, PoolKind, Vec<CopiedBlock>)> {
    let copy_block = |view: BlockView| {
        let is_free = view.state == BlockState::Free;
        let stack = if is_free { None } else { recorder.block_stack(view.id) };
        CopiedBlock { view, stream: u64::from(Owner::from_tag(view.tag).stream.0), stack }
    };
    pool.segments().map(|s| (s.address, s.kind, pool.blocks(&s).map(copy_block).collect())).collect()
}

fn segment(
    device: u32,
    address: u64,
    kind: PoolKind,
    blocks: &[CopiedBlock],
    stacks: &StackTable,
    snapshot: &mut Snapshot,
    importer: &mut StackImporter,
) -> Segment {
    // The pool is shared by all streams; a segment is shown under the stream of its first block.
    let stream = blocks.iter().find(|b| b.view.state != BlockState::Free).map_or(0, |block| block.stream);
    let mut convert = |copied: &CopiedBlock| {
        let stack =
            copied.stack.map_or(StackId::EMPTY, |id| importer.import(stacks, id, snapshot.stacks_mut()));
        block(&copied.view).with_stack(stack)
    };
    let blocks = blocks.iter().map(&mut convert).collect();
    Segment::from_blocks(device, address, kind == PoolKind::Small, blocks).with_stream(stream)
}

fn block(view: &BlockView) -> Block {
    let state = match view.state {
        BlockState::Free => State::Inactive,
        BlockState::Live => State::ActiveAllocated,
        BlockState::PendingFree => State::ActivePendingFree,
    };
    Block::new(view.address, view.extent_bytes, state).with_requested_bytes(view.requested_bytes)
}

fn add_settings(snapshot: &mut Snapshot, config: &AllocatorConfig) {
    for key in ConfigKey::ALL {
        snapshot.set_setting(key.name(), Value::Int(i128::from(config.get(key))));
    }
    snapshot.set_config_hash(config.hash64());
}
