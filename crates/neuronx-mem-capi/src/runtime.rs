//! Which runtime an allocator takes its memory from.

use std::sync::Arc;

use neuronx_mem::DeviceRuntime;
use neuronx_mem::sim::{Lnc, Preset, SimulatedRuntime};
use neuronx_mem_nrt::NrtRuntime;

use crate::errors::Failure;

/// What the options say.
#[derive(Clone, Debug)]
pub(crate) enum RuntimeChoice {
    Simulator { preset: Preset, lnc: Option<Lnc>, devices: u32, memory_bytes: Option<u64> },
    Libnrt { path: Option<String> },
}

/// A runtime; and the same again where it is libnrt, for tensors and transfers.
pub(crate) struct Opened {
    pub(crate) runtime: Arc<dyn DeviceRuntime>,
    pub(crate) nrt: Option<Arc<NrtRuntime>>,
}

impl RuntimeChoice {
    pub(crate) fn open(&self) -> Result<Opened, Failure> {
        match self {
            Self::Simulator { preset, lnc, devices, memory_bytes } => {
                let mut builder = SimulatedRuntime::builder().preset(*preset).devices(*devices);
                if let Some(lnc) = lnc {
                    builder = builder.lnc(*lnc);
                }
                if let Some(bytes) = memory_bytes {
                    builder = builder.memory_bytes(*bytes);
                }
                Ok(Opened { runtime: Arc::new(builder.build()), nrt: None })
            }
            Self::Libnrt { path } => {
                let mut builder = NrtRuntime::builder();
                if let Some(path) = path {
                    builder = builder.path(path);
                }
                let nrt = Arc::new(builder.open()?);
                Ok(Opened { runtime: Arc::<NrtRuntime>::clone(&nrt), nrt: Some(nrt) })
            }
        }
    }
}
