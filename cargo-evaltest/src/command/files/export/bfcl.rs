//! `cargo evaltest export --format bfcl`.

use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::leaderboard::bfcl::export::{self, BfclExport, ExportOptions, Model};
use evaltest::engine::store::{RunDir, files, read_records, stamp};
use evaltest::engine::system::project::display;
use evaltest::{Error, Result};

use crate::console;

/// The description of the model in the files of the function-calling leaderboard.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ModelArgs {
    /// The model's name in the registry of the official program (`bfcl models` lists the names), which decides how it
    /// parses answers: `gpt-4o-2024-11-20-FC`
    #[arg(long, value_name = "NAME")]
    pub(crate) model_name: Option<String>,

    /// The model's description in the tables: `display_name`, `url`, `organization`, `license`, `input_price`,
    /// `output_price` (US dollars per million tokens)
    #[arg(long, value_name = "KEY=VALUE", requires = "model_name")]
    pub(crate) model_field: Vec<String>,

    /// Whether `a_b` is correct for a function `a.b`, as in the model's registry entry; default: as in the run, else
    /// for native calls
    #[arg(long, value_name = "true|false")]
    pub(crate) underscore_to_dot: Option<bool>,
}

impl ModelArgs {
    /// The model described by the options.
    pub(crate) fn model(&self) -> Result<Model> {
        let Some(name) = &self.model_name else {
            return Err(Error::usage("no model is named").hint(
                "name it as the registry of the official program does: `--model-name gpt-4o-2024-11-20-FC`",
            ));
        };
        let mut model = Model::new(name)?;
        for pair in &self.model_field {
            model.set(pair)?;
        }
        Ok(model)
    }

    /// Options for exporting a run.
    pub(crate) fn options(&self, dir: &RunDir) -> Result<ExportOptions> {
        let mut options = ExportOptions::of_run(self.model()?, &dir.manifest()?);
        if self.underscore_to_dot.is_some() {
            options.underscore_to_dot = self.underscore_to_dot;
        }
        Ok(options)
    }
}

/// Writes all files into a folder (by default a new one in the current folder) and returns its path.
pub(crate) fn to_folder(
    dir: &RunDir,
    options: &ExportOptions,
    output: Option<&Path>,
) -> Result<(PathBuf, BfclExport)> {
    let folder = match output {
        Some(folder) => folder.to_owned(),
        None => free(&format!("bfcl_{}_{}", options.model.folder(), stamp())),
    };
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let records = read_records(&dir.file(files::RECORDS))?;
    let run = (&dir.manifest()?, &*display(dir.path()));
    let exported = export::write(records, run, options, &folder)?;
    let notes = exported.notes(options).into_iter();
    for note in notes.chain(exported.unjudged_notes()) {
        console::note(&note);
    }
    Ok((folder, exported))
}

/// An unused folder name, so that two exports in one second do not collide.
fn free(name: &str) -> PathBuf {
    let names = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(names);
    let name = names.find(|name| !Path::new(name).exists());
    name.unwrap_or_default().into()
}
