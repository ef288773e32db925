//! Any bytes as a snapshot: an error, or a snapshot that can be checked, written in both formats and
//! read back the same, and whose history is a trace that fits together.

#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronx_mem_replay::{Compression, Event, HistoryEvents, LiveIds, write_perfetto, write_trace};
use neuronx_mem_snapshot::{Format, Limits, Snapshot};

/// The last JSON of a hostile pickle may be large: it repeats what the pickle shares.
const MAX_JSON_BYTES: usize = 4 << 20;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default();
    let Ok(snapshot) = Snapshot::read_slice(bytes, &limits) else { return };
    let _ = snapshot.verify();
    read_back(&snapshot, Format::Pickle);
    read_back(&snapshot, Format::Json);
    for device_idx in HistoryEvents::devices(&snapshot) {
        let _ = snapshot.replay_live_blocks(device_idx);
        check_history(&snapshot, device_idx);
    }
    write_perfetto(&snapshot, None, std::io::sink()).expect("nothing refuses to be written");
});

/// What a hostile file makes large is read back with more room than the file itself would get.
fn read_back(snapshot: &Snapshot, format: Format) {
    let mut out = Bounded(Vec::new());
    if snapshot.write_to(&mut out, format).is_err() {
        return;
    }
    let mut limits = Limits::default();
    limits.memory_floor_bytes = 1 << 30;
    let back = match Snapshot::read_slice(&out.0, &limits) {
        Ok(back) => back,
        Err(error) => panic!("{format:?} is not read back: {error}"),
    };
    // A tuple is a list in JSON, so only the second pass is exact there.
    if format == Format::Pickle {
        assert!(&back == snapshot, "{format:?} comes back as something else");
    }
}

fn check_history(snapshot: &Snapshot, device_idx: usize) {
    let mut live = LiveIds::new();
    let mut is_empty = false;
    for line in HistoryEvents::new(snapshot, device_idx, "fuzz") {
        let Ok(line) = line else {
            is_empty = true;
            continue;
        };
        match line.event {
            Event::Allocate { id, .. } => live.allocate(id, ()).expect("ids are unique"),
            Event::Free { id } => live.free(id).expect("only live blocks are freed"),
            _ => {}
        }
    }
    let written =
        write_trace(HistoryEvents::new(snapshot, device_idx, "fuzz"), std::io::sink(), Compression::None);
    assert_eq!(written.is_err(), is_empty);
}

/// Keeps what is written up to a limit.
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_JSON_BYTES {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
