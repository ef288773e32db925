//! Scenario tests of the workspace: the library part is empty, every file beside it is a test.
