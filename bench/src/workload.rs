//! What the allocators are asked to do: lists of steps over numbered slots, made once and the
//! same on every machine.

use std::collections::HashMap;
use std::path::PathBuf;

use neuronx_mem_replay::{Event, Trace, TraceInput};

/// Allocate into or free one slot.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub slot: u32,
    /// Bytes to allocate; 0 frees the slot.
    pub bytes: u64,
}

/// Steps to run before the clock starts, and steps to time. The timed steps leave the slots as
/// they found them, so that they can be repeated.
pub struct Workload {
    pub name: String,
    pub setup: Vec<Step>,
    pub steps: Vec<Step>,
    pub n_slots: usize,
    /// How often the steps are run for one measurement.
    pub repeats: usize,
}

pub const TRACES: [&str; 8] = [
    "gpt2_bf16",
    "llama1b_ckpt",
    "resnet50",
    "int64_small",
    "varlen_ft",
    "moe_train",
    "llama7b_decode",
    "fsdp_llama1b",
];

/// Timed steps of one measurement, about.
const STEPS_PER_MEASUREMENT: usize = 400_000;

impl Workload {
    pub fn all() -> Result<Vec<Self>, String> {
        let mut workloads = vec![hot("hot 4 KiB", 4096), hot("hot 1 MiB", 1 << 20)];
        for name in TRACES {
            workloads.push(trace(name)?);
        }
        workloads.push(random("1k random", 1_000, 64 << 20));
        workloads.push(random("100k live", 100_000, 256 << 10));
        workloads.push(random("1M live", 1_000_000, 64 << 10));
        Ok(workloads)
    }

    pub fn by_name(name: &str) -> Result<Self, String> {
        match name {
            "hot 4 KiB" => Ok(hot(name, 4096)),
            "1k live" => Ok(random(name, 1_000, 256 << 10)),
            "100k live" => Ok(random(name, 100_000, 256 << 10)),
            _ => trace(name),
        }
    }

    fn new(name: &str, setup: Vec<Step>, steps: Vec<Step>, n_slots: usize) -> Self {
        let repeats = STEPS_PER_MEASUREMENT.div_ceil(steps.len()).max(1);
        Self { name: name.to_owned(), setup, steps, n_slots, repeats }
    }
}

/// One size, allocated and freed in turn beside a block that keeps its segment split.
fn hot(name: &str, bytes: u64) -> Workload {
    let setup = vec![Step { slot: 0, bytes }];
    let pair = [Step { slot: 1, bytes }, Step { slot: 1, bytes: 0 }];
    Workload::new(name, setup, pair.repeat(1000), 2)
}

/// A corpus trace on one stream, from nothing to nothing.
fn trace(name: &str) -> Result<Workload, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/traces");
    let path = folder.join(format!("{name}.csv.zst"));
    let opened = TraceInput::File(path).open().map_err(|error| error.to_string())?;
    let trace = Trace::read(opened).map_err(|error| error.to_string())?;
    let mut slots: HashMap<u64, u32> = HashMap::new();
    let mut spare = Vec::new();
    let mut n_slots = 0;
    let mut steps = Vec::new();
    for line in trace.events() {
        match line.map_err(|error| error.to_string())?.event {
            Event::Allocate { id, bytes, .. } if bytes > 0 => {
                let slot = spare.pop().unwrap_or_else(|| {
                    n_slots += 1;
                    n_slots - 1
                });
                slots.insert(id, slot);
                steps.push(Step { slot, bytes });
            }
            Event::Free { id } => {
                if let Some(slot) = slots.remove(&id) {
                    spare.push(slot);
                    steps.push(Step { slot, bytes: 0 });
                }
            }
            _ => {}
        }
    }
    Ok(Workload::new(name, Vec::new(), steps, n_slots as usize))
}

/// `n_live` blocks of sizes spread evenly over the powers of two, one replaced at a time.
fn random(name: &str, n_live: u32, largest: u64) -> Workload {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let octaves = u64::from(largest.ilog2()) - 8;
    let size = |random: &mut Random| {
        let floor = 256u64 << random.below(octaves);
        floor + random.below(floor)
    };
    let setup = (0..n_live).map(|slot| Step { slot, bytes: size(&mut random) }).collect();
    let mut steps = Vec::new();
    for _ in 0..(n_live as usize).clamp(50_000, 200_000) {
        let slot = u32::try_from(random.below(u64::from(n_live))).unwrap_or(0);
        steps.push(Step { slot, bytes: 0 });
        steps.push(Step { slot, bytes: size(&mut random) });
    }
    Workload::new(name, setup, steps, n_live as usize)
}

/// xorshift64*: enough for sizes and slots.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        u64::try_from((u128::from(mixed) * u128::from(limit)) >> 64).unwrap_or(0)
    }
}
