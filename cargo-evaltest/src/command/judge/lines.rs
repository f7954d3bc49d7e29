//! Reads the input lines of the `judge` commands.

use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::judge::{InputLine, parse_input_line};
use evaltest::{Error, Result};

use crate::answers::json_lines;

/// What is read and how it is shown, as typed.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// JSON lines; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(super) input: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Passes each non-blank line to `next` with the file name and line number.
///
/// # Errors
///
/// The first malformed line, or a file without lines.
pub(super) fn each<T: InputLine>(
    input: &Path,
    mut next: impl FnMut(&Path, u64, T) -> Result<()>,
) -> Result<()> {
    let (source, chunks) = json_lines(input)?;
    let mut is_empty = true;
    for chunk in chunks {
        let mut done = Ok(());
        chunk?.lines(|number, _, text| {
            done = text
                .map_err(|error| error.at(source.place(number)))
                .and_then(|text| match text.trim_ascii() {
                    "" => Ok(()),
                    line => {
                        is_empty = false;
                        next(
                            source.path(),
                            number,
                            parse_input_line(source.path(), number, line)?,
                        )
                    }
                });
            done.is_ok()
        });
        done?;
    }
    if is_empty {
        let path = source.path().display();
        return Err(Error::usage(format!("`{path}` is empty"))
            .hint(format!("write lines as `{}`", T::EXAMPLE)));
    }
    Ok(())
}

/// All lines of a file.
pub(super) fn all<T: InputLine>(input: &Path) -> Result<Vec<T>> {
    let mut found = Vec::new();
    each(input, |_, _, line| {
        found.push(line);
        Ok(())
    })?;
    Ok(found)
}
