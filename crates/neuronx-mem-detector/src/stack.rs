//! A call stack as a finding shows it: owned, resolved, innermost frame first.

use std::fmt;

/// One frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFrame {
    /// Function name, `??` when it was not resolved.
    pub function: String,
    /// File name, or the library.
    pub file: String,
    /// Line, 0 when unknown.
    pub line: u64,
}

/// Frames, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallStack {
    /// The frames.
    pub frames: Vec<StackFrame>,
}

/// One line a frame: `#0 function (file:line)`.
impl fmt::Display for CallStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, StackFrame { function, file, line }) in self.frames.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            write!(f, "#{number} {function} ({file}:{line})")?;
        }
        Ok(())
    }
}
