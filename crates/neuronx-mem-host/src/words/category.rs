//! What device memory is used for, in the runtime's columns and lists.

use std::fmt;

/// One use of device memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum UsageCategory {
    /// The sum of all others.
    Total,
    /// Instructions and micro-code.
    ModelCode,
    /// Constants of loaded models.
    ModelConstants,
    /// Tensors of the application, cached segments included.
    Tensors,
    /// Intermediate results that loaded models share.
    SharedScratchpad,
    /// Intermediate results that fit no shared page.
    Scratchpad,
    /// The runtime itself.
    Runtime,
    /// Rings of descriptors, where they are not told apart.
    DmaRings,
    /// Rings for inputs and outputs.
    DmaRingsIo,
    /// Rings for spills.
    DmaRingsSpill,
    /// Rings for collectives.
    DmaRingsCollectives,
    /// Rings of the runtime.
    DmaRingsRuntime,
    /// Collectives.
    Collectives,
    /// Collectives by cores of their own.
    XtCc,
    /// Buffers of the profiler.
    ProfilerBuffers,
    /// A use of a later runtime, as it was written.
    Other(String),
}

const NAMED: [(UsageCategory, &str); 15] = [
    (UsageCategory::Total, "total"),
    (UsageCategory::ModelCode, "model code"),
    (UsageCategory::ModelConstants, "model constants"),
    (UsageCategory::Tensors, "tensors"),
    (UsageCategory::SharedScratchpad, "shared scratchpad"),
    (UsageCategory::Scratchpad, "scratchpad"),
    (UsageCategory::Runtime, "runtime"),
    (UsageCategory::DmaRings, "dma rings"),
    (UsageCategory::DmaRingsIo, "dma rings io"),
    (UsageCategory::DmaRingsSpill, "dma rings spill"),
    (UsageCategory::DmaRingsCollectives, "dma rings collectives"),
    (UsageCategory::DmaRingsRuntime, "dma rings runtime"),
    (UsageCategory::Collectives, "collectives"),
    (UsageCategory::XtCc, "xt cc"),
    (UsageCategory::ProfilerBuffers, "profiler buffers"),
];

impl UsageCategory {
    /// The category of a heading, in any case of letters and with any blanks or underscores.
    pub(super) fn named(text: &str) -> Self {
        let words = text.split(|letter: char| letter.is_whitespace() || letter == '_');
        let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").to_lowercase();
        let name = if name == "profile buffers" { "profiler buffers".to_owned() } else { name };
        let found = NAMED.iter().find(|(_, known)| *known == name).map(|(category, _)| category.clone());
        found.unwrap_or(Self::Other(name))
    }

    /// Returns what can be done where this is what fills a device. O(1).
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Tensors => {
                "tensors include segments that the allocator keeps: compare reserved with allocated in \
                 memory_summary(); empty_cache() gives fully free segments back"
            }
            Self::ModelCode => {
                "each loaded model has its code here, beside about 96 MiB for each physical core: load fewer \
                 models or shapes"
            }
            Self::ModelConstants => {
                "constants are compiled into the models: pass weights as inputs, so that models share them"
            }
            Self::SharedScratchpad => {
                "the loaded model with the largest intermediate results decides: smaller batches or \
                 recomputation make it smaller"
            }
            Self::Scratchpad => {
                "intermediate results larger than a scratchpad page: raise NEURON_SCRATCHPAD_PAGE_SIZE (MiB, a \
                 multiple of 512 below 4096) and the compiler's --hbm-scratchpad-page-size alike"
            }
            Self::ProfilerBuffers => {
                "profiling takes this: leave `device` out of TORCH_NEURONX_PROFILE_MODES, or profile one model \
                 at a time"
            }
            Self::DmaRings
            | Self::DmaRingsIo
            | Self::DmaRingsSpill
            | Self::DmaRingsCollectives
            | Self::DmaRingsRuntime => {
                "rings grow with the models that are loaded and with how finely they move data: load fewer \
                 models"
            }
            Self::Collectives | Self::XtCc => {
                "collectives take this for each communicator: use fewer of them"
            }
            Self::Total | Self::Runtime | Self::Other(_) => "nothing is known that makes this smaller",
        }
    }
}

impl fmt::Display for UsageCategory {
    /// Prints the name in small letters, such as `model code`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMED.iter().find(|(category, _)| category == self).map(|(_, name)| *name);
        f.pad(match self {
            Self::Other(name) => name,
            _ => name.unwrap_or_default(),
        })
    }
}
