//! What the stand-in is like, from variables. Refuses an unknown name and a bad value: a test with a
//! mistake in its settings must not pass.

use std::fmt;
use std::time::Duration;

use neuronx_mem_sim::{FaultPlan, Lnc, Preset};

/// Settings of the stand-in. Each is the variable `NRT_STANDIN_` and its name in capitals, or an item
/// `name=value` of `nrt_standin_configure`, with `;` between items.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `devices`: visible logical cores; 1.
    pub devices: u32,
    /// `family`: `trn1`, `inf2`, `trn2` or `trn3`; `trn2`.
    pub family: Preset,
    /// `lnc`: physical cores of a logical one; the family's default.
    pub lnc: Option<Lnc>,
    /// `memory`: bytes of each device; those of the family.
    pub memory: Option<u64>,
    /// `faults`: a plan of the simulator, such as `seed=1 fail=allocate:once(3):4`; none.
    pub faults: FaultPlan,
    /// `init`: the status of `nrt_init`; 0.
    pub init: i32,
    /// `count`: what the counting functions say, whatever there is; the devices.
    pub count: Option<u32>,
    /// `version`: four numbers with dots; 2.33.0.0.
    pub version: [u64; 4],
    /// `latency_us`: microseconds that an allocation takes; 0.
    pub latency: Duration,
    /// `slice_latency_us`: microseconds that a slice takes; 0.
    pub slice_latency: Duration,
    /// `garbage`: which nonsense `nrt_tensor_allocate` and `nrt_tensor_allocate_slice` return; none.
    pub garbage: Option<NonsenseKind>,
    /// `stats_bytes`: how many bytes of memory figures it says it has; all.
    pub stats_bytes: Option<usize>,
}

/// Nonsense instead of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonsenseKind {
    /// `null`: success and no tensor.
    Null,
    /// `dangling`: a pointer to nothing.
    Dangling,
    /// `duplicate`: the tensor of the allocation before, again.
    Duplicate,
    /// `null-va`: a tensor without an address.
    NullAddress,
    /// `misaligned`: a tensor at an odd address.
    Misaligned,
    /// `short`: a tensor of half the bytes.
    Short,
    /// `overlap`: a tensor in the middle of the one before.
    Overlap,
    /// `status`: a status that the header does not define.
    Status,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            devices: 1,
            family: Preset::Trn2,
            lnc: None,
            memory: None,
            faults: FaultPlan::default(),
            init: 0,
            count: None,
            version: [2, 33, 0, 0],
            latency: Duration::ZERO,
            slice_latency: Duration::ZERO,
            garbage: None,
            stats_bytes: None,
        }
    }
}

/// A setting that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting(pub String);

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad setting of the libnrt stand-in: {}", self.0)
    }
}

const NAMES: [&str; 12] = [
    "devices",
    "family",
    "lnc",
    "memory",
    "faults",
    "init",
    "count",
    "version",
    "latency_us",
    "slice_latency_us",
    "garbage",
    "stats_bytes",
];

impl Settings {
    /// The settings of the environment.
    pub fn from_environment() -> Result<Self, BadSetting> {
        let mut settings = Self::default();
        for name in NAMES {
            let variable = format!("NRT_STANDIN_{}", name.to_uppercase());
            if let Some(text) = std::env::var_os(&variable) {
                settings.set(name, &text.to_string_lossy())?;
            }
        }
        Ok(settings)
    }

    /// Changes settings by items `name=value` with `;` between them.
    pub fn apply(&mut self, text: &str) -> Result<(), BadSetting> {
        for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) = item.split_once('=').ok_or_else(|| BadSetting(item.to_owned()))?;
            self.set(name, value)?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), BadSetting> {
        self.try_set(name, value).ok_or_else(|| BadSetting(format!("{name}={value}")))
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "devices" => self.devices = value.parse().ok()?,
            "family" => self.family = value.parse().ok()?,
            "lnc" => {
                self.lnc = Some(match value {
                    "1" => Lnc::One,
                    "2" => Lnc::Two,
                    _ => return None,
                });
            }
            "memory" => self.memory = Some(value.parse().ok()?),
            "faults" => self.faults = value.parse().ok()?,
            "init" => self.init = value.parse().ok()?,
            "count" => self.count = Some(value.parse().ok()?),
            "version" => {
                let numbers: Option<Vec<u64>> = value.split('.').map(|number| number.parse().ok()).collect();
                self.version = numbers?.try_into().ok()?;
            }
            "latency_us" => self.latency = Duration::from_micros(value.parse().ok()?),
            "slice_latency_us" => self.slice_latency = Duration::from_micros(value.parse().ok()?),
            "garbage" => self.garbage = Some(NonsenseKind::from_name(value)?),
            "stats_bytes" => self.stats_bytes = Some(value.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

impl NonsenseKind {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "dangling" => Self::Dangling,
            "duplicate" => Self::Duplicate,
            "null-va" => Self::NullAddress,
            "misaligned" => Self::Misaligned,
            "short" => Self::Short,
            "overlap" => Self::Overlap,
            "status" => Self::Status,
            _ => return None,
        })
    }
}
