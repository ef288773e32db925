//! The Neuron caching allocator: device memory for TorchNeuron from Rust.
