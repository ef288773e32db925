//! Size classes of the Neuron caching allocator: powers of two with N divisions.
