//! Streams and collectives.
//!
//! Knows the table "Distributed" of the reference.

use super::*;

const SPLIT: Kind = Kind::Bool(BoolRule::OnlyOneEnables);
const SPLIT_DEFAULT: DefaultValue = depends(Dependence::Stream, "1", "on for the default stream");

variables! { Distributed;
    /// Lets work go to streams other than the default one. Compiled operations with collectives still
    /// go to the default stream, in order. Off, every stream is the default stream.
    TORCH_NEURONX_ENABLE_STREAMS: Kind::Bool(BoolRule::ZeroOrOne), ON, Reference, FACADE;

    /// Lets collectives run on other streams than the default one, beside computation. It needs
    /// `TORCH_NEURONX_ENABLE_STREAMS`.
    TORCH_NEURONX_ENABLE_HOST_CC: BOOL, OFF, Reference, RECORDED;

    /// Runs allgather in parts, which takes less memory.
    NEURON_USE_SPLIT_ALLGATHER: SPLIT, SPLIT_DEFAULT, Reference, RECORDED;

    /// Runs reduce_scatter in parts.
    NEURON_USE_SPLIT_REDUCE_SCATTER: SPLIT, SPLIT_DEFAULT, Reference, RECORDED;

    /// Runs all_to_all_v as an NKI kernel, for which the runtime library has to be 2.x.62579 and the
    /// collectives library 2.x.63596 or later. Off, inputs are padded instead.
    NEURON_USE_NKI_ALLTOALLV: BOOL, ON, Reference, RECORDED;

    /// The largest bucket of a collective, in MB.
    COLLECTIVE_BUCKETSIZE_IN_MB: Kind::Int(IntRange::between(1, u32::MAX as u64)), plain("512"), Reference,
        RECORDED;
}
