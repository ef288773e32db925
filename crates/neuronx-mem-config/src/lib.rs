//! Configuration keys of the Neuron caching allocator: parse, check, print.
