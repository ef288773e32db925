//! The `neuron` backend of `torch.compile`.
//!
//! Knows the first table of the reference, and the dump switch that its directory tree mentions.

use super::*;

variables! { Backend;
    /// Directory under which each compilation leaves its artifacts: FX graphs, StableHLO and NEFF
    /// files. `ArtifactLayout` names the files in it.
    TORCH_NEURONX_DEBUG_DIR: Kind::Path, plain("/tmp/neuron_backend"), Reference, RECORDED;

    /// Keeps the artifacts of a compilation after it has run, for a look at its intermediate forms.
    TORCH_NEURONX_PRESERVE_COMPILATION_ARTIFACTS: BOOL, OFF, Reference, RECORDED;

    /// Makes a graph that fails to compile an error. Off, the original graph runs eagerly instead.
    /// The compile option `fallback_execution` has the last word, and eager code is not concerned.
    TORCH_NEURONX_DISABLE_FALLBACK_EXECUTION: BOOL, ON, Reference, RECORDED;

    /// Takes operations on complex numbers apart before lowering. Off, those that the compiler is
    /// known to handle go to it whole, and the usual fallback rules apply to the rest.
    TORCH_NEURONX_COMPLEX_DECOMPOSE: BOOL,
        depends(Dependence::PytorchVersion, "0", "1 from PyTorch 2.13 on, 0 before"), Reference, RECORDED;

    /// Refuses CPU tensors as inputs of a compiled graph. Off, they are copied to the device.
    TORCH_NEURONX_DYNAMO_DISABLE_CPU_AUTOCOPY: BOOL, OFF, Reference, RECORDED;

    /// Compiles to NEFF files and runs nothing; a runtime that fails to start is not fatal then.
    /// `torch_neuronx.compiler.compile_only()` sets it too.
    TORCH_NEURONX_COMPILE_ONLY: BOOL, OFF, Reference, RECORDED;

    /// Platform to compile for, such as `trn2` or `trn3`, where no device can be asked.
    /// `CompileOptions(target=...)` sets it too.
    NEURON_PLATFORM_TARGET_OVERRIDE: Kind::Text,
        depends(Dependence::LiveInstance, "", "the platform of the live instance"), Reference, RECORDED;

    /// Also writes the input and output tensors of each graph, to `inputs/` and `outputs/` of the
    /// job's artifacts. The reference names it without a type; it is read as a switch.
    TORCH_NEURONX_DYNAMO_TENSOR_DUMPS: BOOL, OFF, ReferenceText, RECORDED;
}
