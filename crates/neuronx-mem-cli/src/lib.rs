//! The neuronx-mem command: replay, compare and explain device memory.
