//! Where the data of an eval is, and what else a sandbox hides.

use std::path::PathBuf;

use crate::data::hub::layout::Snapshot;
use crate::eval::Eval;

/// The dataset with its commit, if it is one of the Hub.
pub(crate) fn dataset(eval: &Eval) -> Option<String> {
    let paths = eval.benchmark.paths();
    let snapshot = paths.iter().find_map(|path| Snapshot::at(path));
    snapshot.map(|snapshot| snapshot.to_string())
}

/// Where answers are written down: the dataset, the spec, snapshots, runs, what was ever committed; and where secrets
/// are.
pub(crate) fn hidden(eval: &Eval) -> Vec<PathBuf> {
    let root = crate::system::project::root();
    let mut paths = eval.benchmark.paths();
    // What is a link there has its content beside the snapshot.
    let blobs: Vec<_> = paths.iter().filter_map(|path| Snapshot::at(path)).collect();
    paths.extend(blobs.into_iter().map(|snapshot| snapshot.folder));
    paths.extend(eval.spec.clone());
    paths.extend([
        eval.snapshot.folder.clone(),
        eval.output_folder(),
        eval.cache_folder(),
        root.join(crate::store::DEFAULT_OUTPUT_ROOT),
        root.join(".git"),
        root.join(".env"),
    ]);
    paths
}
