//! Every step of out-of-memory recovery under every fault of the simulator, with recovery on and
//! off. One fault at a time; `random_programs` mixes them.

use std::sync::{Arc, Mutex};

use neuronx_mem::sim::{FaultPlan, SimulatedRuntime};
use neuronx_mem::{AllocError, Allocator, Block, CallbackId, Stream};

use super::{GIB, allocator, check_invariants, check_returned, counter, first, outcome, shared_runtime};

/// Every block of the matrix has a segment of this size to itself; two of them are 4 GiB.
const UNIT: u64 = 2 * GIB;

/// The situation at the request, each made of four blocks in four segments that fill the device.
///
/// | name | what could make room |
/// |---|---|
/// | room | nothing has to: one segment was given back, one is asked for |
/// | full | nothing: all blocks are live |
/// | reuse | nothing has to: a block of that size is freed behind work of the same stream |
/// | own | waiting for the own stream, on which the frees of two halves are queued |
/// | other | waiting for another stream, then releasing |
/// | callback | a release callback that frees a block, then releasing |
/// | cached | releasing two cached segments, for one of twice the size |
/// | both | both waits: one of the two frees is queued on each stream |
/// | capped | as "other", but a cap refuses the request before the runtime is asked |
const SITUATIONS: [&str; 9] =
    ["room", "full", "reuse", "own", "other", "callback", "cached", "both", "capped"];

/// Outcome, retries and out-of-memory errors of the request, by hand.
///
/// The device has so many GiB. `lost` counts segments that the runtime never got back. One that it
/// refuses is tried again with the next, and at the end. How the numbers come about: the request is
/// allocation 5 and runtime call 5, but call 6 in "room", which gives a segment back before; in
/// "capped" the first retry is allocation 5. What the cache serves is no runtime call. Each
/// allocation takes 1,000 ns.
const MATRIX: &str = "
fault                                      GiB lost step2 | room         | full         | reuse        | own          | other        | callback     | cached       | both         | capped
-                                            8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | ok 1 0
-                                            8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=allocate:once(5):4                      8    0 on    | ok 1 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | oom 1 1
fail=allocate:once(5):4                      8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=allocate:every(5):4                     8    0 on    | ok 1 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | oom 1 1
fail=allocate:every(5):4                     8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=allocate:once(6):4                      8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | ok 2 0       | ok 1 0
fail=allocate:once(6):4                      8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=allocate:list(5+6):4                    8    0 on    | oom 1 1      | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | ok 2 0       | oom 1 1
fail=allocate:list(5+6):4                    8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=allocate:from(5):4                      8    0 on    | oom 1 1      | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | oom 2 1      | oom 1 1
fail=allocate:from(5):4                      8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=allocate:once(5):6                      8    0 on    | HW_ERROR 0 0 | HW_ERROR 0 0 | ok 0 0       | HW_ERROR 0 0 | HW_ERROR 0 0 | HW_ERROR 0 0 | HW_ERROR 0 0 | HW_ERROR 0 0 | HW_ERROR 1 0
fail=allocate:once(5):6                      8    0 off   | HW_ERROR 0 0 | HW_ERROR 0 0 | ok 0 0       | HW_ERROR 0 0 | HW_ERROR 0 0 | HW_ERROR 0 0 | HW_ERROR 0 0 | HW_ERROR 0 0 | oom 0 1
fail=allocate:once(6):6                      8    0 on    | ok 0 0       | HW_ERROR 1 0 | ok 0 0       | ok 1 0       | HW_ERROR 1 0 | HW_ERROR 1 0 | HW_ERROR 1 0 | HW_ERROR 1 0 | ok 1 0
fail=allocate:once(6):6                      8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | HW_ERROR 1 0 | oom 0 1
fail=allocate:once(7):6                      8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | HW_ERROR 2 0 | ok 1 0
fail=allocate:once(7):6                      8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=allocate:from(5):11                     8    0 on    | HOST_MEM 0 0 | HOST_MEM 0 0 | ok 0 0       | HOST_MEM 0 0 | HOST_MEM 0 0 | HOST_MEM 0 0 | HOST_MEM 0 0 | HOST_MEM 0 0 | HOST_MEM 1 0
fail=allocate:from(5):11                     8    0 off   | HOST_MEM 0 0 | HOST_MEM 0 0 | ok 0 0       | HOST_MEM 0 0 | HOST_MEM 0 0 | HOST_MEM 0 0 | HOST_MEM 0 0 | HOST_MEM 0 0 | oom 0 1
fail=free:once(1):1                          8    0 on    | ok 1 0       | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | oom 2 1      | oom 1 1
fail=free:once(1):1                          8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=slice:from(1):1                         8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | ok 1 0
fail=slice:from(1):1                         8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=free-slice:from(1):1                    8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | ok 1 0
fail=free-slice:from(1):1                    8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
fail=memory-info:from(1):1                   8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | ok 1 0
fail=memory-info:from(1):1                   8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
neighbour=calls(5):2147483648..2147483648    8    0 on    | oom 1 1      | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | oom 2 1      | oom 1 1
neighbour=calls(5):2147483648..2147483648    8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
neighbour=ns(6000):2147483648..2147483648    8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | oom 2 1      | ok 1 0
neighbour=ns(6000):2147483648..2147483648    8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
grow=6:2147483648                            8    0 on    | oom 1 1      | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | oom 1 1
grow=6:2147483648                            8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
grow=7:2147483648                            8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | ok 2 0       | ok 1 0
grow=7:2147483648                            8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
grow=8:2147483648                            8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | oom 1 1      | oom 2 1      | ok 1 0
grow=8:2147483648                            8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
slow=calls(0)                                8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | ok 1 0
slow=calls(0)                                8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
slow=calls(1)                                8    0 on    | ok 1 0       | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | oom 2 1      | oom 1 1
slow=calls(1)                                8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
slow=calls(9)                                8    0 on    | oom 1 1      | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | oom 2 1      | oom 1 1
slow=calls(9)                                8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
slow=ns(1000)                                8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | ok 1 0
slow=ns(1000)                                8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
slow=ns(1001)                                8    0 on    | ok 1 0       | oom 1 1      | ok 0 0       | ok 1 0       | oom 1 1      | oom 1 1      | oom 1 1      | oom 2 1      | oom 1 1
slow=ns(1001)                                8    0 off   | oom 0 1      | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
pinholes=3072:64                            12    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | oom 1 1      | oom 2 1      | ok 1 0
pinholes=3072:64                            12    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
overflow=4gib                                8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | INVALID 0 0  | INVALID 0 0  | ok 1 0
overflow=4gib                                8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | INVALID 0 0  | INVALID 0 0  | oom 0 1
state=uninitialized                          8    0 on    | ok 0 0       | oom 1 1      | ok 0 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 1 0       | ok 2 0       | ok 1 0
state=uninitialized                          8    0 off   | ok 0 0       | oom 0 1      | ok 0 0       | ok 1 0       | oom 0 1      | oom 0 1      | oom 0 1      | oom 1 1      | oom 0 1
close                                        8    0 on    | CLOSED 0 0   | CLOSED 0 0   | ok 0 0       | CLOSED 0 0   | CLOSED 0 0   | CLOSED 0 0   | CLOSED 0 0   | CLOSED 0 0   | CLOSED 1 0
close                                        8    0 off   | CLOSED 0 0   | CLOSED 0 0   | ok 0 0       | CLOSED 0 0   | CLOSED 0 0   | CLOSED 0 0   | CLOSED 0 0   | CLOSED 0 0   | oom 0 1
";

struct Row<'a> {
    fault: &'a str,
    memory_bytes: u64,
    lost_bytes: u64,
    is_recovery_enabled: bool,
    cells: Vec<&'a str>,
}

fn rows() -> Vec<Row<'static>> {
    MATRIX.lines().skip(2).map(row).collect()
}

fn row(line: &str) -> Row<'_> {
    let (head, cells) = line.split_once('|').unwrap();
    let head: Vec<&str> = head.split_whitespace().collect();
    let number = |idx: usize| head[idx].parse::<u64>().unwrap();
    Row {
        fault: head[0],
        memory_bytes: number(1) * GIB,
        lost_bytes: number(2) * UNIT,
        is_recovery_enabled: head[3] == "on",
        cells: cells.split('|').map(str::trim).collect(),
    }
}

/// A device under a fault, and what its user holds.
struct Scene {
    runtime: Arc<SimulatedRuntime>,
    allocator: Allocator,
    stream: Stream,
    other: Stream,
    live: Vec<Block>,
    callback: Option<CallbackId>,
}

impl Scene {
    fn new(row: &Row<'_>) -> Self {
        let plan: FaultPlan =
            if matches!(row.fault, "-" | "close") { "" } else { row.fault }.parse().unwrap();
        let runtime = shared_runtime(row.memory_bytes, &plan);
        let allocator = allocator(&runtime, row.is_recovery_enabled);
        let device = first(&allocator);
        let (stream, other) = (device.default_stream(), device.new_stream().unwrap());
        if row.fault == "state=uninitialized" {
            let error = allocator.allocate(UNIT, &stream).unwrap_err();
            assert_eq!(outcome(&Err(error)), "UNINITIALIZED");
            runtime.initialize().unwrap();
        }
        Self { runtime, allocator, stream, other, live: Vec::new(), callback: None }
    }

    /// Fills the device and makes room in the situation's way; the size to ask for.
    fn prepare(&mut self, situation: &str) -> u64 {
        for idx in 0..4 {
            let is_on_other = matches!((situation, idx), ("other" | "capped", 0) | ("both", 1));
            let stream = if is_on_other { &self.other } else { &self.stream };
            self.live.push(self.allocator.allocate(UNIT, stream).unwrap());
        }
        match situation {
            "room" => {
                drop(self.live.remove(0));
                // Fails where the runtime refuses the segment: then there is no room.
                let _ = self.allocator.empty_cache();
            }
            "reuse" => {
                self.stream.submit().unwrap();
                drop(self.live.remove(0));
            }
            "own" => {
                drop(self.live.remove(0));
                let halves = [(); 2].map(|()| self.allocator.allocate(UNIT / 2, &self.stream).unwrap());
                self.stream.submit().unwrap();
                drop(halves);
            }
            "other" | "capped" => {
                self.other.submit().unwrap();
                drop(self.live.remove(0));
                let cap_bytes = Some(4 * UNIT).filter(|_| situation == "capped");
                first(&self.allocator).set_memory_cap_bytes(cap_bytes);
            }
            "callback" => {
                let block = Mutex::new(Some(self.live.remove(0)));
                let callback = move || drop(block.lock().unwrap().take());
                self.callback = Some(first(&self.allocator).register_release_callback(callback));
            }
            "cached" => drop(self.live.drain(..2)),
            "both" => {
                self.stream.submit().unwrap();
                self.other.submit().unwrap();
                drop(self.live.drain(..2));
            }
            _ => {}
        }
        if matches!(situation, "cached" | "both") { 2 * UNIT } else { UNIT }
    }
}

#[test]
fn the_matrix() {
    let rows = rows();
    assert_eq!(rows.len(), 56);
    let mut wrong = Vec::new();
    for row in &rows {
        assert_eq!(row.cells.len(), SITUATIONS.len(), "{}", row.fault);
        for (situation, expected) in SITUATIONS.iter().zip(&row.cells) {
            let found = run(row, situation);
            if found != *expected {
                wrong.push(format!("{} {situation}: expected {expected}, found {found}", row.fault));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// One cell: the request's outcome, retries and errors. Checks all that holds everywhere.
fn run(row: &Row<'_>, situation: &str) -> String {
    let mut scene = Scene::new(row);
    let device = first(&scene.allocator);
    let bytes = scene.prepare(situation);
    check_invariants(&device);
    if row.fault == "close" {
        scene.runtime.close();
    }
    let result = scene.allocator.allocate(bytes, &scene.stream);
    check_invariants(&device);
    if let Err(AllocError::OutOfMemory(error)) = &result {
        assert_eq!((error.requested_bytes, error.segment_bytes), (bytes, bytes));
        assert_eq!(error.reserved_bytes, device.usage().reserved_bytes);
    }
    let (retries, ooms) = (counter(&device, "num_alloc_retries"), counter(&device, "num_ooms"));
    let found = format!("{} {retries} {ooms}", outcome(&result));
    let Scene { runtime, allocator, stream, other, live, callback } = scene;
    if let Some(callback) = callback {
        // They run in the second step only, just before its retry.
        assert_eq!(device.release_callback_runs(), retries);
        // Its block keeps the device, and the device the callback.
        assert!(device.unregister_release_callback(callback));
    }
    drop((result, live, stream, other, device, allocator));
    check_returned(&runtime, row.lost_bytes, row.memory_bytes);
    found
}
