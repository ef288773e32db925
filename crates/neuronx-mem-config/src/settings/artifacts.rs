//! Where a compilation leaves its files.
//!
//! Knows the directory tree of the environment variables reference. Refuses to touch a file system,
//! and to let a name from outside leave the directory.

use std::path::{Path, PathBuf};

use super::collect::Collector;
use crate::allocator::quote;
use crate::{ConfigError, EnvFinding, Environment, variables};

/// The artifact directory of one rank.
///
/// ```
/// use neuronx_mem_config::{ArtifactLayout, Environment};
/// use std::path::Path;
///
/// let (layout, _) = ArtifactLayout::from_environment(&Environment::from_pairs([("RANK", "3")]));
/// let graph = layout.job("17")?.fx_graph("bert", "1700000000")?;
/// let expected = "/tmp/neuron_backend/torch_neuronx/rank3/17/fx_graphs/bert_1700000000.fx.txt";
/// assert_eq!(graph, Path::new(expected));
/// # Ok::<(), neuronx_mem_config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArtifactLayout {
    /// The debug directory.
    pub debug_dir: PathBuf,
    /// The global rank; 0 while the launcher names none.
    pub rank: u32,
    /// Whether the files stay after the run.
    pub is_kept: bool,
    /// Whether the input and output tensors of each graph are written too.
    pub dumps_tensors: bool,
}

/// The artifacts of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLayout {
    dir: PathBuf,
}

/// The artifacts of one call of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilationLayout {
    dir: PathBuf,
}

impl ArtifactLayout {
    /// Makes a layout of a debug directory and a global rank; nothing is kept or dumped.
    pub fn new(debug_dir: impl Into<PathBuf>, rank: u32) -> Self {
        Self { debug_dir: debug_dir.into(), rank, is_kept: false, dumps_tensors: false }
    }

    /// Reads the debug directory, the rank and the two switches, beside what is wrong with them.
    pub fn from_environment(environment: &Environment) -> (Self, Vec<EnvFinding>) {
        let mut collector = Collector::new(environment);
        let layout = Self {
            debug_dir: collector.path(variables::TORCH_NEURONX_DEBUG_DIR),
            rank: u32::try_from(collector.int(variables::RANK)).unwrap_or_default(),
            is_kept: collector.bool(variables::TORCH_NEURONX_PRESERVE_COMPILATION_ARTIFACTS),
            dumps_tensors: collector.bool(variables::TORCH_NEURONX_DYNAMO_TENSOR_DUMPS),
        };
        (layout, collector.finish())
    }

    /// Returns the directory of the rank.
    pub fn rank_dir(&self) -> PathBuf {
        self.debug_dir.join("torch_neuronx").join(format!("rank{}", self.rank))
    }

    /// Returns the artifacts of one job.
    ///
    /// # Errors
    ///
    /// [`ConfigError::PathComponent`] for an id that is empty, `.`, `..`, or has `/`, `\` or NUL in it.
    pub fn job(&self, job_id: &str) -> Result<JobLayout, ConfigError> {
        Ok(JobLayout { dir: self.rank_dir().join(component(job_id)?) })
    }

    /// Returns the artifacts of one call of the compiler, which all ranks share.
    ///
    /// # Errors
    ///
    /// [`ConfigError::PathComponent`], as for a job.
    pub fn compilation(&self, hash: &str) -> Result<CompilationLayout, ConfigError> {
        Ok(CompilationLayout { dir: self.debug_dir.join("neuronx-cc").join(component(hash)?) })
    }
}

impl JobLayout {
    /// Returns the directory of the job.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the file of an FX graph.
    ///
    /// # Errors
    ///
    /// [`ConfigError::PathComponent`] for a model or a timestamp that cannot be part of a file name;
    /// so for the other files.
    pub fn fx_graph(&self, model: &str, timestamp: &str) -> Result<PathBuf, ConfigError> {
        self.file("fx_graphs", model, timestamp, "fx.txt")
    }

    /// Returns the file of an FX graph after the backend's own passes.
    ///
    /// # Errors
    ///
    /// [`ConfigError::PathComponent`].
    pub fn transformed_fx(&self, model: &str, timestamp: &str) -> Result<PathBuf, ConfigError> {
        self.file("transformed_fx", model, timestamp, "transformed.fx.txt")
    }

    /// Returns the file of the Torch dialect before lowering.
    ///
    /// # Errors
    ///
    /// [`ConfigError::PathComponent`].
    pub fn raw(&self, model: &str, timestamp: &str) -> Result<PathBuf, ConfigError> {
        self.file("raw", model, timestamp, "torch_raw.mlir")
    }

    /// Returns the file of the StableHLO form.
    ///
    /// # Errors
    ///
    /// [`ConfigError::PathComponent`].
    pub fn stablehlo(&self, model: &str, timestamp: &str) -> Result<PathBuf, ConfigError> {
        self.file("stablehlo", model, timestamp, "stablehlo.mlir")
    }

    /// Returns the file that torch-mlir leaves when it fails.
    ///
    /// # Errors
    ///
    /// [`ConfigError::PathComponent`].
    pub fn torch_mlir_error(&self, model: &str, timestamp: &str) -> Result<PathBuf, ConfigError> {
        self.file("torch_mlir_error", model, timestamp, "mlir")
    }

    /// Returns the directory of dumped input tensors, which exists only with the dump switch.
    pub fn inputs_dir(&self) -> PathBuf {
        self.dir.join("inputs")
    }

    /// Returns the directory of dumped output tensors, which exists only with the dump switch.
    pub fn outputs_dir(&self) -> PathBuf {
        self.dir.join("outputs")
    }

    fn file(&self, folder: &str, model: &str, timestamp: &str, ending: &str) -> Result<PathBuf, ConfigError> {
        let name = format!("{}_{}.{ending}", component(model)?, component(timestamp)?);
        Ok(self.dir.join(folder).join(name))
    }
}

impl CompilationLayout {
    /// Returns the directory of the call.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the compiler's log.
    pub fn log(&self) -> PathBuf {
        self.dir.join("log-neuron-cc.txt")
    }

    /// Returns what was compiled.
    pub fn module(&self) -> PathBuf {
        self.dir.join("module.mlir")
    }

    /// Returns the compiled NEFF file.
    pub fn neff(&self) -> PathBuf {
        self.dir.join("module.neff")
    }

    /// Returns what is known about the call.
    pub fn metadata(&self) -> PathBuf {
        self.dir.join("metadata.txt")
    }

    /// Returns the arguments of the call.
    pub fn arguments(&self) -> PathBuf {
        self.dir.join("compiler_args.txt")
    }
}

/// A text that stays within one folder whatever is joined to it.
fn component(text: &str) -> Result<&str, ConfigError> {
    let is_special = matches!(text, "" | "." | "..");
    if is_special || text.contains(['/', '\\', '\0']) {
        return Err(ConfigError::PathComponent { text: quote(text) });
    }
    Ok(text)
}
