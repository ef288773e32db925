//! A simulated Neuron device runtime: address space, capacity, virtual clock.
