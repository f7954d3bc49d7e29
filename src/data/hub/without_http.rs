//! Stub of `Dataset` for builds without the feature `http`.

use std::path::{Path, PathBuf};

use super::Address;
use crate::data::dataset::parts::LocalFiles;
use crate::error::{Error, Result};

#[derive(Clone, Debug)]
pub(crate) enum Dataset {}

impl Dataset {
    /// # Errors
    /// Always; names the feature.
    pub(crate) fn open(address: &Address) -> Result<Self> {
        let what = format_args!("`{address}`: reading datasets from the Hub");
        Err(Error::without_feature(what, "http"))
    }

    pub(crate) fn fetch_files(&self) -> Result<LocalFiles> {
        match *self {}
    }

    pub(crate) fn root(&self) -> PathBuf {
        match *self {}
    }

    pub(crate) fn is_file(&self, _: &Path) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn is_folder(&self, _: &Path) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn folders(&self, _: &Path) -> Result<Vec<String>> {
        match *self {}
    }

    pub(crate) fn fetch(&self, _: &[PathBuf]) -> Result<()> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use crate::Eval;

    #[test]
    fn an_address_in_a_spec_names_the_feature_and_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let spec = folder.path().join("eval.yaml");
        let check = |benchmark: &str, column: u32| {
            let text = format!("benchmark: {benchmark}\nagent: {{ type: demo }}\n");
            std::fs::write(&spec, text).unwrap();
            let error = Eval::from_yaml(&spec).unwrap_err();
            let place = format!("{}:1:{column}: `hf://datasets/", spec.display());
            assert!(error.message().starts_with(&place), "{error}");
            assert!(
                error.message().contains("needs the feature `http`"),
                "{error}"
            );
            assert_eq!(error.exit(), crate::Exit::Usage);
        };
        check("{ type: gaia }", 20);
        check("{ type: gaia, path: \"hf://datasets/a/b@main\" }", 32);
        check("{ type: gsm8k, path: \"hf://datasets/a/b/c.jsonl\" }", 33);
    }
}
