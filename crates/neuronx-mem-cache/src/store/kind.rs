//! What a store keeps, which shows in the names of its files only.

/// Compiled code or lowered code. Both are opaque bytes to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// Compiled NEFF files, as in `TORCH_NEURONX_NEFF_CACHE_DIR`.
    Neff,
    /// Lowered HLO, as in `TORCH_NEURONX_HLO_CACHE_DIR`.
    Hlo,
}

impl EntryKind {
    /// Extension of an entry's file, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Neff => "neff",
            Self::Hlo => "hlo",
        }
    }
}

/// How far an entry has to be on its way to the disk when a `put` returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// With the kernel. A crash of the machine may lose or damage the newest entries; damage is
    /// noticed, so it costs a compile and no more.
    #[default]
    Process,
    /// On the disk, file and directory. Costs two forced writes an entry.
    Machine,
}
