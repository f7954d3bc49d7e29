//! `cargo evaltest reference`: generates the book's reference pages from the program.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use evaltest::{Error, Exit, Result};

use crate::console;

mod kinds;
mod names;
mod spec;
mod table;

/// Write the reference of the book: specs, commands, scorers, agents, benchmarks, extraction, gates, replies, exit codes
///
/// Each page is made of what the program itself reads or prints. A test holds the committed pages against it.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct ReferenceArgs {
    /// The folder; created if missing
    folder: PathBuf,
}

/// The commands for the reference.
pub(crate) struct CommandsInGroups {
    pub(crate) command: Command,
    /// Its commands, in the order of `--help`.
    pub(crate) names: Vec<&'static str>,
}

pub(crate) fn run(args: &ReferenceArgs, commands: &CommandsInGroups) -> Result<Exit> {
    fs::create_dir_all(&args.folder)
        .map_err(|error| Error::io("make the folder", &args.folder, &error))?;
    let pages = pages(commands);
    for (name, text) in &pages {
        let path = args.folder.join(name);
        let note = "<!-- Made by `cargo evaltest reference docs/src/reference`: change the program, not this page. -->";
        fs::write(&path, format!("{note}\n\n{}\n", text.trim_end()))
            .map_err(|error| Error::io("write the page", &path, &error))?;
    }
    let written = pages.len();
    console::print(|out| writeln!(out, "{written} pages"))?;
    Ok(Exit::Passed)
}

/// The pages by file name.
fn pages(commands: &CommandsInGroups) -> Vec<(&'static str, String)> {
    vec![
        ("spec.md", spec::page()),
        ("commands.md", commands_page(commands)),
        ("scorers.md", kinds::scorers()),
        ("agents.md", kinds::agents()),
        ("benchmarks.md", kinds::benchmarks()),
        ("extraction.md", names::extraction()),
        ("gates.md", names::gates()),
        ("replies.md", names::replies()),
        ("exit-codes.md", names::exit_codes(&commands.command)),
    ]
}

/// The page of commands, from their `--help`.
fn commands_page(commands: &CommandsInGroups) -> String {
    let mut command = commands.command.clone();
    command.build();
    let mut text = "\
# Commands

`cargo evaltest`, `cargo-evaltest` and `evaltest` are the same program. Each command has `--help`, and a shorter
`-h`.

"
    .to_owned();
    section(&mut command.clone(), "cargo evaltest", &mut text);
    for name in &commands.names {
        if let Some(sub) = command.find_subcommand(name) {
            below(sub, &format!("cargo evaltest {name}"), &mut text);
        }
    }
    text
}

fn below(command: &Command, path: &str, text: &mut String) {
    section(&mut command.clone(), path, text);
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        below(sub, &format!("{path} {}", sub.get_name()), text);
    }
}

fn section(command: &mut Command, path: &str, text: &mut String) {
    let help = command.render_long_help().to_string();
    let lines = help.lines().map(|line| format!("{}\n", line.trim_end()));
    let help: String = lines.collect();
    let _ = write!(
        text,
        "## `{path}`\n\n````text\n{}\n````\n\n",
        help.trim_end()
    );
}
