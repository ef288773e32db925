//! The call stacks for a page: every text and every frame once. Bounds their depth.

use std::collections::BTreeMap;

use neuronx_mem_replay::{SiteFrame, Sites};
use serde::Serialize;

use super::text::Shown;

/// Frames of a stack that are shown, innermost first.
const MAX_FRAMES: usize = 100;

/// Sites as numbers into tables.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct SiteTable {
    texts: Vec<String>,
    /// Name, file (both as numbers of texts) and line.
    frames: Vec<(usize, usize, u64)>,
    /// Numbers of frames, innermost first; empty where there is a phase instead.
    stacks: Vec<Vec<usize>>,
    /// By site, the number of its text, where it is a phase.
    phases: Vec<Option<usize>>,
    /// Stacks that were cut.
    n_cut_stacks: u64,
}

impl SiteTable {
    pub(super) fn of(sites: &Sites, shown: &mut Shown) -> Self {
        let mut table = Self::default();
        let mut texts = BTreeMap::new();
        let mut frames = BTreeMap::new();
        for site in sites.ids() {
            let mut stack = sites.frames(site);
            table.n_cut_stacks += u64::from(stack.len() > MAX_FRAMES);
            stack.truncate(MAX_FRAMES);
            let stack =
                stack.iter().map(|frame| table.frame(frame, &mut frames, &mut texts, shown)).collect();
            table.stacks.push(stack);
            let phase = sites.phase(site).map(|phase| table.text(phase, &mut texts, shown));
            table.phases.push(phase);
        }
        table
    }

    fn frame(
        &mut self,
        frame: &SiteFrame,
        known: &mut BTreeMap<(usize, usize, u64), usize>,
        texts: &mut BTreeMap<String, usize>,
        shown: &mut Shown,
    ) -> usize {
        let name = self.text(&frame.name, texts, shown);
        let frame = (name, self.text(&frame.filename, texts, shown), frame.line);
        *known.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            self.frames.len() - 1
        })
    }

    fn text(&mut self, text: &str, known: &mut BTreeMap<String, usize>, shown: &mut Shown) -> usize {
        if let Some(idx) = known.get(text) {
            return *idx;
        }
        self.texts.push(shown.text(text));
        known.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}
