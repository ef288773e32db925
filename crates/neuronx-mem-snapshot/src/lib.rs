//! Memory snapshots and history in the format of the PyTorch memory visualizer.
