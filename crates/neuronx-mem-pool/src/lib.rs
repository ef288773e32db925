//! Segments and blocks of the Neuron caching allocator as a pure data structure.
