//! Allocation traces: read, replay through the allocator, compare configurations.
