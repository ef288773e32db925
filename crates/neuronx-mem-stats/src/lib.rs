//! Memory statistics of the Neuron caching allocator and the summary table.
