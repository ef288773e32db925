//! Stream-ordered free queue: which freed blocks may be reused, and when.
