//! `cargo evaltest export` in general data formats.

use std::fs;
use std::path::{Path, PathBuf};

use evaltest::engine::report::export::{DataFormat, file_name, format, names_folder};
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun};
use evaltest::engine::store::RunDir;
use evaltest::engine::system::file::NewFile;
use evaltest::{Error, Result};

use crate::command::read::report::WatchedWriter;
use crate::console;

/// The format with this name.
pub(crate) fn named(name: &str) -> Result<&'static dyn DataFormat> {
    format(name).ok_or_else(|| Error::usage(format!("unknown format `{name}`")))
}

/// Writes a run to a file, or to a new file if `output` is a folder; returns its path.
pub(crate) fn to_file(
    dir: &RunDir,
    format: &dyn DataFormat,
    texts: MaskedTexts,
    output: Option<&Path>,
) -> Result<PathBuf> {
    let run = opened(dir, texts)?;
    let output = output.unwrap_or(Path::new("."));
    let file = if names_folder(output) {
        output.join(file_name(&run, format))
    } else {
        output.to_owned()
    };
    let file = std::path::absolute(&file).unwrap_or(file);
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    // Write atomically: another program may read the file at any time.
    let mut out = NewFile::for_path(&file)?;
    format.write(&run, &mut out)?;
    out.put(&file)?;
    Ok(file)
}

/// Writes a run to standard output.
pub(crate) fn to_stdout(dir: &RunDir, format: &dyn DataFormat, texts: MaskedTexts) -> Result<()> {
    if !format.is_text() {
        let message = format!(
            "format `{}` is binary and cannot go to standard output",
            format.name()
        );
        return Err(Error::usage(message).hint("name a file or a folder: `--output FILE`"));
    }
    let run = opened(dir, texts)?;
    let mut unreadable = None;
    console::print_data(|out| {
        let mut out = WatchedWriter { out, failed: None };
        if let Err(error) = format.write(&run, &mut out) {
            match out.failed {
                // Such as a closed pipe.
                Some(kind) => return Err(kind.into()),
                None => unreadable = Some(error),
            }
        }
        Ok(())
    })?;
    unreadable.map_or(Ok(()), Err)
}

fn opened(dir: &RunDir, texts: MaskedTexts) -> Result<ReportedRun> {
    let run = ReportedRun::read(dir.clone(), texts)?;
    if run.hides_texts {
        console::note(
            "the eval masks its snapshots, so questions, answers and ground truths are not exported; \
             `--show-texts` exports them",
        );
    }
    Ok(run)
}
