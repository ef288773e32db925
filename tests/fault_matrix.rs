//! Every step of out-of-memory recovery under every fault of the simulator, with recovery on and
//! off: the outcome, the counters, the invariants, and that the runtime gets everything back.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::fmt;
use std::sync::{Arc, Mutex};

use neuronx_mem::runtime::Status;
use neuronx_mem::sim::{CostModel, FaultPlan, SimulatedRuntime, SimulatedWork, WorkState};
use neuronx_mem::streams::Ticket;
use neuronx_mem::{AllocError, Allocator, Block, CallbackId, Device, DeviceId, Stream};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const DEVICE: DeviceId = DeviceId(0);

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

fn shared_runtime(memory_bytes: u64, plan: &FaultPlan) -> Arc<SimulatedRuntime> {
    let cost = CostModel { allocate_ns: 1000, ..CostModel::default() };
    let builder = SimulatedRuntime::builder().memory_bytes(memory_bytes).cost(cost);
    Arc::new(builder.faults(plan.clone()).build())
}

fn allocator(runtime: &Arc<SimulatedRuntime>, is_recovery_enabled: bool) -> Allocator {
    let builder = Allocator::builder().shared_runtime(runtime.clone());
    builder.oom_recovery(is_recovery_enabled).build().unwrap()
}

fn first(allocator: &Allocator) -> Device {
    allocator.device(DEVICE).unwrap().clone()
}

/// "ok", "oom", or the name of the runtime's status.
fn outcome(result: &Result<Block, AllocError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(AllocError::OutOfMemory(_)) => "oom",
        Err(AllocError::Runtime(error)) if error.status == Status::FAIL_HOST_MEM_ALLOC => "HOST_MEM",
        Err(AllocError::Runtime(error)) => {
            error.status.name().map_or("unknown", |name| &name["NRT_".len()..])
        }
        Err(_) => "other",
    }
}

fn counter(device: &Device, key: &str) -> u64 {
    u64::try_from(device.memory_stats().to_map()[key]).unwrap()
}

#[track_caller]
fn check_invariants(device: &Device) {
    device.inspect(|pool| pool.validate()).unwrap();
    let usage = device.usage();
    assert_eq!(usage.reserved_bytes, usage.allocated_bytes + usage.padding_bytes + usage.cached_free_bytes);
    assert!(usage.reserved_bytes >= usage.allocated_bytes && usage.allocated_bytes >= usage.active_bytes);
    assert_eq!(
        (device.memory_reserved(), device.memory_allocated()),
        (usage.reserved_bytes, usage.allocated_bytes)
    );
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

/// All owners are gone: the runtime has everything but what it refused, and in one piece.
#[track_caller]
fn check_returned(runtime: &SimulatedRuntime, lost_bytes: u64, memory_bytes: u64) {
    runtime.settle();
    let counters = runtime.counters(DEVICE);
    assert_eq!(counters.held_bytes, lost_bytes);
    runtime.stop_faults();
    assert_eq!(runtime.free_bytes(DEVICE), memory_bytes - lost_bytes);
    if lost_bytes == 0 {
        assert_eq!(runtime.largest_gap_bytes(DEVICE), memory_bytes);
    }
    // What the process lost comes back when the runtime is closed.
    runtime.close();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), memory_bytes);
}

#[test]
fn scattered_addresses_run_out_although_the_sum_is_free() {
    let plan: FaultPlan = "seed=1 start=random".parse().unwrap();
    let runtime = shared_runtime(16 * GIB, &plan);
    let allocator = allocator(&runtime, true);
    let device = first(&allocator);
    let mut live = Vec::new();
    let error = loop {
        match allocator.allocate(UNIT, &device.default_stream()) {
            Ok(block) => live.push(block),
            Err(error) => break error,
        }
    };
    assert!(error.is_out_of_memory());
    assert!(live.len() < 8 && runtime.free_bytes(DEVICE) == 16 * GIB - live.len() as u64 * UNIT);
    assert!(runtime.free_bytes(DEVICE) >= UNIT && runtime.largest_gap_bytes(DEVICE) < UNIT);
    assert_eq!((counter(&device, "num_alloc_retries"), counter(&device, "num_ooms")), (1, 1));
    check_invariants(&device);
    drop((live, device, allocator));
    check_returned(&runtime, 0, 16 * GIB);
}

#[test]
fn cached_segments_starve_a_model_until_the_cache_is_emptied() {
    let runtime = shared_runtime(8 * GIB, &FaultPlan::default());
    let allocator = allocator(&runtime, true);
    let device = first(&allocator);
    let blocks = [(); 3].map(|()| allocator.allocate(UNIT, &device.default_stream()).unwrap());
    drop(blocks);
    assert!(runtime.load_model(DEVICE, 3 * GIB).is_err());
    assert_eq!(allocator.empty_cache().unwrap().bytes, 3 * UNIT);
    let model = runtime.load_model(DEVICE, 3 * GIB).unwrap();
    // The model's memory cannot be reserved by anybody: two segments are left of four.
    let blocks = [(); 3].map(|()| allocator.allocate(UNIT, &device.default_stream()).ok());
    assert_eq!(blocks.iter().flatten().count(), 2);
    assert_eq!((counter(&device, "num_alloc_retries"), counter(&device, "num_ooms")), (1, 1));
    check_invariants(&device);
    runtime.unload_model(DEVICE, model).unwrap();
    assert!(allocator.allocate(UNIT, &device.default_stream()).is_ok());
    drop((blocks, device, allocator));
    check_returned(&runtime, 0, 8 * GIB);
}

#[test]
fn a_stalled_stream_delays_its_own_blocks_only() {
    let plan: FaultPlan = "seed=3 work=100..900 stall=1:1".parse().unwrap();
    let mut work = plan.work();
    let runtime = shared_runtime(8 * GIB, &plan);
    let allocator = allocator(&runtime, true);
    let device = first(&allocator);
    let streams = [device.default_stream(), device.new_stream().unwrap(), device.new_stream().unwrap()];
    let submit = |work: &mut SimulatedWork, idx: usize| {
        let handle = work.submit(streams[idx].id().0);
        assert_eq!(streams[idx].submit().unwrap(), Ticket(handle.ticket));
        handle
    };
    let advance = |work: &mut SimulatedWork, ns: u64| {
        for done in work.advance_to(ns) {
            streams[done.stream as usize].complete(Ticket(done.n_completed)).unwrap();
        }
    };
    let stalled = allocator.allocate(MIB, &streams[1]).unwrap();
    let stalled_address = stalled.address();
    let stalled_work = submit(&mut work, 1);
    drop(stalled);
    for n_reused in 0..10_000 {
        let idx = if n_reused % 2 == 0 { 0 } else { 2 };
        let block = allocator.allocate(MIB, &streams[idx]).unwrap();
        assert_ne!(block.address(), stalled_address);
        submit(&mut work, idx);
        drop(block);
        let ns = work.next_completion_ns().unwrap();
        advance(&mut work, ns);
    }
    assert_eq!(work.state(stalled_work), WorkState::Stalled);
    assert_eq!(
        (streams[0].pending(), streams[1].pending(), streams[2].pending()),
        ((0, 0), (1, MIB), (0, 0))
    );
    // One block at a time beside the stalled one: a single segment has served all.
    assert_eq!(device.memory_reserved(), 64 * MIB);
    assert_eq!(device.memory_allocated(), MIB);
    work.release(1);
    let ns = work.next_completion_ns().unwrap();
    advance(&mut work, ns);
    assert_eq!((work.state(stalled_work), device.memory_allocated()), (WorkState::Completed, 0));
    assert!(device.memory_stats().is_settled());
    check_invariants(&device);
    drop((streams, device, allocator));
    check_returned(&runtime, 0, 8 * GIB);
}

#[derive(Clone, Debug)]
enum Step {
    Allocate(usize, u64),
    Free(prop::sample::Index),
    Record(prop::sample::Index, usize),
    Submit(usize),
    Advance(u64),
    Load(u64),
    EmptyCache,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<prop::sample::Index>;
    let step = prop_oneof![
        3 => (0usize..4, 1u64..(1 << 20)).prop_map(|(stream, bytes)| Step::Allocate(stream, bytes)),
        6 => (0usize..4, MIB..200 * MIB).prop_map(|(stream, bytes)| Step::Allocate(stream, bytes)),
        5 => index().prop_map(Step::Free),
        2 => (index(), 0usize..4).prop_map(|(pick, stream)| Step::Record(pick, stream)),
        4 => (0usize..4).prop_map(Step::Submit),
        3 => (0u64..8000).prop_map(Step::Advance),
        1 => (MIB..100 * MIB).prop_map(Step::Load),
        1 => Just(Step::EmptyCache),
    ];
    prop::collection::vec(step, 1..120)
}

/// A failing case prints the plan's line, which is all that is needed to run it again.
struct Printed(FaultPlan);

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

fn plans() -> impl Strategy<Value = Printed> {
    (any::<u64>(), 0u8..=100).prop_map(|(seed, intensity)| Printed(FaultPlan::random(seed, intensity)))
}

/// A program on four streams over a broken device of 1 GiB; all answers, then all statistics.
fn run_program(plan: &FaultPlan, steps: &[Step], is_recovery_enabled: bool) -> Vec<String> {
    let runtime = shared_runtime(GIB, plan);
    let mut work = plan.work();
    let allocator = allocator(&runtime, is_recovery_enabled);
    let device = first(&allocator);
    let mut streams = vec![device.default_stream()];
    streams.extend((0..3).map(|_| device.new_stream().unwrap()));
    let mut live: Vec<Block> = Vec::new();
    let (mut trace, mut models, mut n_ooms, mut n_errors) = (Vec::new(), Vec::new(), 0, 0);
    for step in steps {
        match step {
            Step::Allocate(stream, bytes) => {
                let result = allocator.allocate(*bytes, &streams[*stream]);
                let address = result.as_ref().map_or(0, Block::address);
                trace.push(format!("{} {address}", outcome(&result)));
                n_ooms += u64::from(matches!(result, Err(AllocError::OutOfMemory(_))));
                n_errors += u64::from(result.is_err());
                live.extend(result);
            }
            Step::Free(pick) if !live.is_empty() => drop(live.swap_remove(pick.index(live.len()))),
            Step::Record(pick, stream) if !live.is_empty() => {
                live[pick.index(live.len())].record_stream(&streams[*stream]).unwrap();
            }
            Step::Submit(stream) => {
                let handle = work.submit(streams[*stream].id().0);
                assert_eq!(streams[*stream].submit().unwrap(), Ticket(handle.ticket));
            }
            Step::Advance(ns) => {
                for done in work.advance_to(work.now_ns() + ns) {
                    streams[done.stream as usize].complete(Ticket(done.n_completed)).unwrap();
                }
            }
            Step::Load(bytes) => models.extend(runtime.load_model(DEVICE, *bytes)),
            Step::EmptyCache => trace.push(format!("{:?}", allocator.empty_cache())),
            Step::Free(_) | Step::Record(..) => {}
        }
        check_invariants(&device);
    }
    assert_eq!(counter(&device, "num_ooms"), n_ooms);
    // At most two retries a request, served or not.
    assert!(counter(&device, "num_alloc_retries") <= 2 * counter(&device, "allocation_requests"));
    trace.push(format!("{n_errors} {:?}", device.memory_stats().to_map()));
    trace.push(format!("{:?}", runtime.counters(DEVICE)));
    drop((live, streams, device, allocator));
    runtime.settle();
    let counters = runtime.counters(DEVICE);
    // Every segment was given back; those that are missing are those that the runtime refused.
    let n_missing = counters.segments_allocated - counters.segments_freed;
    assert!(n_missing <= counters.faults.frees_failed);
    assert_eq!(counters.held_bytes == 0, n_missing == 0);
    models.into_iter().for_each(|model| runtime.unload_model(DEVICE, model).unwrap());
    runtime.stop_faults();
    runtime.close();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), GIB);
    trace
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_programs_under_random_faults_keep_the_invariants_and_repeat(
        plan in plans(),
        steps in steps(),
        is_recovery_enabled in any::<bool>(),
    ) {
        let first = run_program(&plan.0, &steps, is_recovery_enabled);
        let again = plan.0.to_string().parse().unwrap();
        prop_assert_eq!(first, run_program(&again, &steps, is_recovery_enabled));
    }
}
