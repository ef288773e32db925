//! Which directories the caches have: from the command line, else from the environment.

use std::path::PathBuf;

use neuronx_mem_cache::check::Role;
use neuronx_mem_config::{CacheSettings, Environment};

use super::arguments::DirectoryArguments;

/// Those in use, in the order of [`Role`]. What is wrong with the variables goes to the diagnostics.
pub(super) fn in_use(arguments: &DirectoryArguments) -> Vec<(Role, PathBuf)> {
    let (settings, findings) = CacheSettings::from_environment(&Environment::capture());
    for finding in findings {
        tracing::warn!("{finding}");
    }
    let DirectoryArguments { neff_dir, hlo_dir, local_dir } = arguments;
    let neff = neff_dir.clone().or(settings.keeps_neff.then_some(settings.neff_dir));
    // TORCH_NEURONX_HLO_CACHE speaks of eager code only; `torch.compile` keeps its HLO there too.
    let hlo = hlo_dir.clone().unwrap_or(settings.hlo_dir);
    let local = local_dir.clone().unwrap_or(settings.local_dir);
    let directories = [(Role::Neff, neff), (Role::Hlo, Some(hlo)), (Role::Local, Some(local))];
    directories.into_iter().filter_map(|(role, path)| Some((role, path?))).collect()
}
