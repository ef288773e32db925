//! What a key is made from: compiler, its configuration, and the code or its name.
//!
//! Frames every part with its length, so that no two different lists of parts hash the same bytes.

use std::fmt;

use twox_hash::XxHash3_128;

use crate::CacheKey;

/// Tags of the parts, first in each frame. Changing one invalidates every key there is.
const VERSION: u8 = 1;
const CONFIG: u8 = 2;
const HLO: u8 = 3;
const BASE_KEY: u8 = 4;

/// Makes keys of one compiler version. Other versions never meet its entries.
///
/// The environment variables reference derives a persistent key "from the lowered HLO bytes plus
/// compiler config", or from the key that the process has in memory when
/// `TORCH_NEURONX_NEFF_KEY_FROM_HLO` is off. Keys of TorchNeuron itself are made from bytes that
/// are not published, so they differ from these.
#[derive(Clone)]
pub struct KeyBuilder {
    hasher: XxHash3_128,
}

impl KeyBuilder {
    /// Starts with the version of the compiler, as it prints it.
    #[must_use]
    pub fn new(compiler_version: &str) -> Self {
        Self { hasher: XxHash3_128::new() }.frame(VERSION, compiler_version.as_bytes())
    }

    /// Adds configuration: target, logical-core configuration, arguments. The order counts.
    #[must_use]
    pub fn compiler_config(self, config: &[u8]) -> Self {
        self.frame(CONFIG, config)
    }

    /// The key of lowered HLO. Edits that lower to the same HLO give the same key.
    #[must_use]
    pub fn from_hlo(self, hlo: &[u8]) -> CacheKey {
        self.frame(HLO, hlo).finish()
    }

    /// The key of a name that the process made in memory, whatever it lowers to.
    #[must_use]
    pub fn from_base_key(self, base_key: &str) -> CacheKey {
        self.frame(BASE_KEY, base_key.as_bytes()).finish()
    }

    /// One of the two, as `TORCH_NEURONX_NEFF_KEY_FROM_HLO` says.
    #[must_use]
    pub fn build(self, key_from_hlo: bool, hlo: &[u8], base_key: &str) -> CacheKey {
        if key_from_hlo { self.from_hlo(hlo) } else { self.from_base_key(base_key) }
    }

    fn frame(mut self, tag: u8, part: &[u8]) -> Self {
        let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
        self.hasher.write(&[tag]);
        self.hasher.write(&length.to_le_bytes());
        self.hasher.write(part);
        self
    }

    fn finish(self) -> CacheKey {
        CacheKey::from_number(self.hasher.finish_128())
    }
}

impl fmt::Debug for KeyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyBuilder").finish_non_exhaustive()
    }
}
