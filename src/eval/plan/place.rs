//! Where the data of an eval is, and what else a sandbox hides.

use std::path::PathBuf;

use crate::data::hub::layout::Snapshot;
use crate::eval::Eval;

/// The dataset with its commit, if it is from the Hub.
pub(crate) fn dataset(eval: &Eval) -> Option<String> {
    let paths = eval.benchmark.paths();
    let snapshot = paths.iter().find_map(|path| Snapshot::at(path));
    snapshot.map(|snapshot| snapshot.to_string())
}

/// Paths that contain answers (the dataset, the spec, snapshots, runs, anything ever committed) or secrets.
pub(crate) fn hidden(eval: &Eval) -> Vec<PathBuf> {
    let mut paths = eval.benchmark.paths();
    // The content of a link is next to the Hub snapshot.
    let blobs: Vec<_> = paths.iter().filter_map(|path| Snapshot::at(path)).collect();
    paths.extend(blobs.into_iter().map(|snapshot| snapshot.folder));
    paths.extend(answers(eval).into_iter().map(|(path, _)| path));
    paths
}

/// The same without the dataset, each with a description.
pub(super) fn answers(eval: &Eval) -> Vec<(PathBuf, &'static str)> {
    let root = crate::system::project::root();
    let spec = eval.spec.clone().map(|spec| (spec, "the spec"));
    let mut paths: Vec<_> = spec.into_iter().collect();
    paths.extend([
        (eval.snapshot.folder.clone(), "of the snapshots"),
        (eval.output_folder(), "of a run directory"),
        (eval.cache_folder(), "of the cache of answers"),
        (
            root.join(crate::store::DEFAULT_OUTPUT_ROOT),
            "of a run directory",
        ),
        (root.join(".git"), "of the repository"),
        (root.join(".env"), "the file of secrets"),
    ]);
    paths
}
