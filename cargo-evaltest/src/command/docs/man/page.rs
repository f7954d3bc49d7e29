//! A man page: options by `clap_mangen`, plus our own sections.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use evaltest::Exit;

use super::named;
use crate::examples;

/// The prefix of the exit codes in a command's help.
const CODES: &str = "Exit codes: ";

/// The page of a command; `below` is the part of its name after `cargo evaltest`.
pub(super) fn of(command: &Command, below: &str) -> Vec<u8> {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = write(command, below, &mut page);
    page
}

fn write(command: &Command, below: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let name = named(below);
    let command = man_command(command, below).display_name(name.clone());
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .section("1")
        .source(format!("evaltest {}", env!("CARGO_PKG_VERSION")))
        .manual("evaltest");
    man.render_title(page)?;
    // Do not hyphenate names that users type.
    let mut whole_words = Roff::default();
    whole_words.control("nh", []).control("ad", ["l"]);
    whole_words.to_writer(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(page)?;
    }
    let mut roff = Roff::default();
    if let Some(notes) = notes(&command) {
        roff.control("SH", ["NOTES"]);
        prose(&notes, &mut roff);
    }
    examples(below, &mut roff);
    exit_status(&command, below, &mut roff);
    roff.to_writer(page)
}

/// The command with a short synopsis; the first page omits the options of `run`, which has its own page.
fn man_command(command: &Command, below: &str) -> Command {
    let command = command
        .clone()
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_help_heading("COMMANDS");
    if !below.is_empty() {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").replace("...", "…");
        return command.override_usage(usage);
    }
    let about = command.get_long_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    command
        .override_usage("cargo evaltest [OPTIONS] [SPEC]…\ncargo evaltest COMMAND …")
        .long_about(format!(
            "{about}\n\nThe options are those of cargo-evaltest-run(1)"
        ))
        .mut_args(|arg| {
            let is_own = arg.get_id() == "help" || arg.get_id() == "version";
            arg.hide(!is_own)
        })
}

/// The part of the long help before the examples.
fn notes(command: &Command) -> Option<String> {
    let text = command.get_after_long_help()?.to_string();
    let (notes, _) = text.split_once("\n\nExamples:\n")?;
    Some(notes.to_owned())
}

/// Renders paragraphs and indented lists.
fn prose(text: &str, roff: &mut Roff) {
    for line in text.lines() {
        let text = line.trim_start();
        let indent = (line.len() - text.len()).to_string();
        match (text, indent.as_str()) {
            ("", _) => drop(roff.control("PP", [])),
            (text, "0") => drop(roff.text([roman(text)])),
            (text, indent) => {
                roff.control("RS", [indent]);
                roff.text([roman(text)]);
                roff.control("RE", []);
            }
        }
    }
}

fn examples(below: &str, roff: &mut Roff) {
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for (line, meaning) in examples::of(below) {
        let line = format!("cargo evaltest {line}");
        roff.text([bold(line.trim_end())]);
        roff.control("RS", ["4"]);
        roff.text([roman(meaning.as_str())]);
        roff.control("RE", []);
    }
    roff.control("fi", []);
}

/// The command's own exit codes, or else the common ones.
fn exit_status(command: &Command, below: &str, roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    let text = command.get_after_help().map(ToString::to_string);
    let text = text.unwrap_or_default();
    match text.split_once(CODES) {
        Some((_, codes)) if !below.is_empty() => drop(roff.text([roman(codes.trim())])),
        _ if below.is_empty() => {
            let mut all = Exit::ALL;
            all.sort_by_key(|exit| exit.code());
            for exit in all {
                roff.control("TP", []);
                roff.text([roman(exit.code().to_string())]);
                roff.text([roman(exit.meaning())]);
            }
        }
        _ => drop(roff.text([roman("As of cargo-evaltest(1)")])),
    }
}
