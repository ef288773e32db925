//! Why device memory is held, what changed between two runs, and what grows.
//!
//! ```
//! use neuronx_mem_explain::{ExplainOptions, Explanation, Input};
//! use neuronx_mem_replay::TraceReader;
//!
//! // Three tensors; the one in the middle is freed, and its 16 MiB are no use for 20 MiB.
//! let text = "a,1,16777216,0\na,2,16777216,0\na,3,16777216,0\nf,2\n";
//! let input = Input::from_events(TraceReader::new(text.as_bytes(), "three tensors"))?;
//! let mut options = ExplainOptions::default();
//! options.moment = neuronx_mem_explain::Moment::End;
//! options.replay.memory_bytes = Some(48 << 20);
//! options.need_bytes = Some(20 << 20);
//! let request = Explanation::of(&input, &options)?.request.expect("a request was made");
//! assert!(!request.remedies.after_both, "no wait and no `empty_cache` helps");
//! assert_eq!(request.release.expect("giving up one tensor helps").bytes, 16 << 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Four questions, each about a trace, a trace with call stacks, or a snapshot of this allocator or
//! of PyTorch ([`Input`]): why memory is held ([`Explanation`]), what two runs do differently
//! ([`Diff`]), what grows from step to step ([`Leaks`]), and which rank of a job is out of line
//! ([`Merged`]).
//!
//! It follows allocator semantics §3, §6, §8 and §9. It draws nothing, prints nothing, and never
//! changes what it looks at.

#![forbid(unsafe_code)]

mod diff;
mod error;
mod explain;
mod heap;
mod leaks;
mod lifetime;
mod merge;
mod release;
mod run;
mod size_class;
mod sum;
mod what_if;

pub use diff::{Amounts, Diff, DiffGroup, DiffOptions, DiffRow};
pub use error::ExplainError;
pub use explain::{ExplainOptions, Explanation, Request};
pub use heap::{Birth, Heap, HeapBlock, HeapSegment, Moment, Replayed};
pub use leaks::{LEAST_STEPS, Leak, LeakOptions, Leaks, Trend};
pub use lifetime::Lifetime;
pub use merge::{Divergence, Merged, Outlier, Rank, RankFile, Variant, rank_files};
pub use neuronx_mem_replay::{Input, ReadOptions, SiteFrame, SiteId, Sites};
pub use release::{Least, Need, Release, Remedies, Rules, ServedBy, Waiting, smallest_release};
pub use run::{Life, Run, STILL_LIVE, StepRule, Steps};
pub use size_class::SizeClass;
pub use what_if::{ConfigTrial, usual_configs};
