//! The long form of a finding: what, where, and what would mend it. Writes into a string only.

use std::fmt::{Display, Write as _};

use crate::{BlockFacts, Finding, FindingKind};

impl<S: Display> Finding<S> {
    /// The finding as a few lines: the facts, the stacks, the remedy. No trailing newline.
    #[must_use]
    pub fn report(&self) -> String {
        let mut text = self.to_string();
        if self.times > 1 {
            // Writing into a String does not fail.
            let _ = write!(text, "\n  seen {} times", self.times);
        }
        if let Some(facts) = self.block {
            let BlockFacts { address, requested_bytes, .. } = facts;
            let end = address.saturating_add(requested_bytes);
            let _ = write!(text, "\n  block:  {address:#x} to {end:#x}{}", self.position(&facts));
        }
        let _ = write!(text, "\n  remedy: {}", self.remedy());
        self.add_stack(&mut text, "allocated", self.allocated.as_ref());
        self.add_stack(&mut text, self.freed_title(), self.freed.as_ref());
        self.add_stack(&mut text, self.used_title(), self.used.as_ref());
        text
    }

    /// Where in the block, where that says something.
    fn position(&self, block: &BlockFacts) -> String {
        match self.kind {
            FindingKind::UseAfterFree { address, .. } | FindingKind::WriteAfterFree { address, .. } => {
                format!(", at byte {} of {}", address.saturating_sub(block.address), block.requested_bytes)
            }
            FindingKind::OutOfBounds { offset_bytes, bytes, .. } => {
                let over = offset_bytes.saturating_add(bytes).saturating_sub(block.requested_bytes);
                format!(", {over} bytes beyond its end")
            }
            _ => String::new(),
        }
    }

    fn remedy(&self) -> String {
        let owner = self.block.map_or(0, |block| block.stream);
        match self.kind {
            FindingKind::UseAfterFree { .. } => "submit the work before the owner frees the block".to_owned(),
            FindingKind::WriteAfterFree { .. } => {
                "find the work that was still writing; note its uses to have it named".to_owned()
            }
            FindingKind::DoubleFree => "free it once; a handle is used up by its free".to_owned(),
            FindingKind::InvalidFree { .. } => {
                "free what an allocation of this device returned, unchanged".to_owned()
            }
            FindingKind::UnrecordedStream { stream, .. } => format!(
                "record stream {stream} for the block before the free, or let stream {owner} wait for it"
            ),
            FindingKind::UnorderedUse { stream, owner_ticket, .. } => {
                format!("let stream {stream} wait for work {owner_ticket} of stream {owner} first")
            }
            FindingKind::OutOfBounds { .. } => "ask for as many bytes as the work uses".to_owned(),
            FindingKind::UnknownAddress { .. } => {
                "use an address inside a live block of this device".to_owned()
            }
        }
    }

    fn freed_title(&self) -> &'static str {
        if self.kind == FindingKind::DoubleFree { "freed first" } else { "freed" }
    }

    fn used_title(&self) -> &'static str {
        match self.kind {
            FindingKind::DoubleFree => "freed again",
            FindingKind::InvalidFree { .. } => "freed",
            FindingKind::WriteAfterFree { .. } => "noticed",
            _ => "used",
        }
    }

    /// A stack under its title; says so when none was captured, since its lack is an answer too.
    fn add_stack(&self, text: &mut String, title: &str, stack: Option<&S>) {
        let is_expected = match title {
            "allocated" => self.block.is_some(),
            "used" | "freed again" | "noticed" => true,
            "freed" if matches!(self.kind, FindingKind::InvalidFree { .. }) => stack.is_some(),
            _ => matches!(
                self.kind,
                FindingKind::UseAfterFree { .. }
                    | FindingKind::WriteAfterFree { .. }
                    | FindingKind::DoubleFree
                    | FindingKind::UnrecordedStream { .. }
            ),
        };
        let Some(stack) = stack else {
            if is_expected {
                let _ = write!(text, "\n  {title} at: no stack was captured");
            }
            return;
        };
        let _ = write!(text, "\n  {title} at:");
        for line in stack.to_string().lines() {
            let _ = write!(text, "\n    {line}");
        }
    }
}
