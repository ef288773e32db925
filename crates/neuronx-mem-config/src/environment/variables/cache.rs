//! Caches on disk.
//!
//! Knows the persistent NEFF and HLO caches, and the neighbours that the same table lists.

use super::*;

/// The longest lock timeout, in seconds: 68 years, which every clock can add.
const MAX_TIMEOUT_SECONDS: u64 = i32::MAX as u64;

variables! { Cache;
    /// Directory of compiled NEFF files. It may be a shared mount, so that runs and instances reuse
    /// each other's work.
    TORCH_NEURONX_NEFF_CACHE_DIR: Kind::Path, plain("/tmp/neff_cache"), Reference, CACHE;

    /// Directory of lowered HLO, for eager code and `torch.compile` alike.
    TORCH_NEURONX_HLO_CACHE_DIR: Kind::Path, plain("/tmp/hlo_cache"), Reference, CACHE;

    /// Keeps the lowering of each eager operation on disk, under its dispatch key.
    TORCH_NEURONX_HLO_CACHE: BOOL, ON, Reference, CACHE;

    /// Directory of lock files and scratch space. It has to be on a local file system: locks on NFS
    /// and Lustre cannot be relied on.
    TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR: Kind::Path, plain("/tmp/local_cache"), Reference, CACHE;

    /// Turns the persistent NEFF cache off: everything is compiled anew.
    TORCH_NEURONX_NEFF_DISABLE_CACHE: BOOL, OFF, Reference, CACHE;

    /// Seconds to wait while another process compiles the same key.
    TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT: Kind::Int(IntRange::between(1, MAX_TIMEOUT_SECONDS)),
        plain("1200"), Reference, CACHE;

    /// Makes the NEFF key from the lowered HLO and the compiler configuration, so that harmless edits
    /// of Python code still meet the cache. Off, the key is the one kept in memory.
    TORCH_NEURONX_NEFF_KEY_FROM_HLO: BOOL, ON, Reference, CACHE;

    /// Keeps compiled NKI kernels across processes. Only sources of installed wheels are tracked, and
    /// a kernel counts as a pure function of its arguments and source: an editable install, a vendored
    /// copy or a hidden input can meet a stale entry.
    NKI_ENABLE_TRACE_CACHE: BOOL, ON, Reference, RECORDED;

    /// Place of the NKI kernel cache, named in passing by the reference.
    NKI_TRACE_CACHE_URL: Kind::Text,
        depends(Dependence::UserId, "", "/var/tmp/nki-trace-cache-uid<uid>/"), ReferenceText, RECORDED;

    /// Keeps what the backend made of each Dynamo trace, in `TORCHINDUCTOR_CACHE_DIR` and apart for
    /// each rank. Delete that directory to forget it.
    TORCH_CACHING_PRECOMPILE: BOOL, OFF, Reference, RECORDED;

    /// Directory of the TorchInductor cache. It is a variable of PyTorch and moves other caches too.
    TORCHINDUCTOR_CACHE_DIR: Kind::Path,
        depends(Dependence::UserName, "", "/tmp/torchinductor_<username>/"), Reference, RECORDED;
}
