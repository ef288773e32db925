//! The device runtime that a Neuron allocator takes its segments from, as a trait.
