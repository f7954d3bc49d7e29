//! `cargo evaltest man`: writes a man page for each command.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use evaltest::{Error, Exit, Result};

use crate::console;

mod page;

/// Generate man pages, one per command
///
/// With `~/.local/share/man/man1` as the folder, `man cargo-evaltest` and `cargo help evaltest` show the first page,
/// `man cargo-evaltest-run` that of a command.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder; created if missing
    folder: PathBuf,
}

pub(crate) fn run(args: &ManArgs, mut command: Command) -> Result<Exit> {
    fs::create_dir_all(&args.folder)
        .map_err(|error| Error::io("make the folder", &args.folder, &error))?;
    // `help` repeats `--help` and needs no page.
    command = command.disable_help_subcommand(true);
    command.build();
    let written = write(&command, "", &args.folder)?;
    console::print(|out| {
        writeln!(
            out,
            "{written} pages in {}",
            evaltest::engine::text::clean(&args.folder.display().to_string())
        )
    })?;
    Ok(Exit::Passed)
}

/// Writes the pages of a command and its subcommands; returns how many.
fn write(command: &Command, below: &str, folder: &Path) -> Result<usize> {
    let path = folder.join(format!("{}.1", named(below)));
    fs::write(&path, page::of(command, below))
        .map_err(|error| Error::io("write the page", &path, &error))?;
    let mut written = 1;
    let is_visible = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
    for sub in command.get_subcommands().filter(is_visible) {
        let below = format!("{below} {}", sub.get_name());
        written += write(sub, below.trim_start(), folder)?;
    }
    Ok(written)
}

/// Name of a command's page.
fn named(below: &str) -> String {
    format!("cargo-evaltest {below}")
        .trim_end()
        .replace(' ', "-")
}
