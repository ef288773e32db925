//! Memory of the Neuron chips by logical-core configuration. A table of public figures, nothing
//! about topology or hosts.

use std::fmt;
use std::str::FromStr;

const GIB: u64 = 1 << 30;

/// How many physical NeuronCores form one logical core (`NEURON_LOGICAL_NC_CONFIG`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lnc {
    /// One physical core a logical core.
    One,
    /// Two physical cores a logical core.
    Two,
}

impl Lnc {
    /// The number itself.
    #[must_use]
    pub const fn cores(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// A chip whose logical core is simulated.
///
/// ```
/// use neuronx_mem_sim::{Lnc, Preset};
///
/// // At LNC 1 the reported total is the whole stack, which two logical cores share.
/// assert_eq!(Preset::Trn3.total_bytes(Lnc::One), 36 << 30);
/// assert_eq!(Preset::Trn3.core_capacity_bytes(Lnc::One), 18 << 30);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// Trainium 1: 32 GiB for two physical cores.
    Trn1,
    /// Inferentia 2: 32 GiB for two physical cores.
    Inf2,
    /// Trainium 2: four 24 GiB stacks for eight physical cores.
    #[default]
    Trn2,
    /// Trainium 3: four 36 GiB stacks for eight physical cores.
    Trn3,
}

impl Preset {
    /// All presets, oldest chip first.
    pub const ALL: [Self; 4] = [Self::Trn1, Self::Inf2, Self::Trn2, Self::Trn3];

    /// The name used on command lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trn1 => "trn1",
            Self::Inf2 => "inf2",
            Self::Trn2 => "trn2",
            Self::Trn3 => "trn3",
        }
    }

    /// The LNC in force unless set: 1 on trn1 and inf2, 2 on trn2 and trn3.
    #[must_use]
    pub const fn default_lnc(self) -> Lnc {
        match self {
            Self::Trn1 | Self::Inf2 => Lnc::One,
            Self::Trn2 | Self::Trn3 => Lnc::Two,
        }
    }

    /// Device memory that the runtime reports for one logical core, bytes.
    ///
    /// On trn2 and trn3 that is the HBM stack at either LNC (memory profiling guide, note on
    /// LNC 1). On trn1 and inf2 it is what the logical core has: 16 GiB a physical core.
    #[must_use]
    pub const fn total_bytes(self, lnc: Lnc) -> u64 {
        match self {
            Self::Trn1 | Self::Inf2 => 16 * GIB * lnc.cores(),
            Self::Trn2 => 24 * GIB,
            Self::Trn3 => 36 * GIB,
        }
    }

    /// Device memory that one logical core can count on, bytes:
    /// `total * active LNC / default LNC` on trn2 and trn3, the total on trn1 and inf2.
    #[must_use]
    pub const fn core_capacity_bytes(self, lnc: Lnc) -> u64 {
        match self {
            Self::Trn1 | Self::Inf2 => self.total_bytes(lnc),
            Self::Trn2 | Self::Trn3 => self.total_bytes(lnc) * lnc.cores() / self.default_lnc().cores(),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(text: &str) -> Result<Self, UnknownPreset> {
        Self::ALL.into_iter().find(|preset| preset.name() == text).ok_or(UnknownPreset)
    }
}

/// No preset has that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPreset;

impl fmt::Display for UnknownPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown device: expected trn1, inf2, trn2 or trn3")
    }
}

impl std::error::Error for UnknownPreset {}
