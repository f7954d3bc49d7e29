//! Examples shown at the end of each command's help. A test parses each of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use clap::Command;

use crate::prose::flowing;

/// The arguments after `cargo evaltest`, and what they do.
pub(crate) type CliExample = (String, String);

/// Examples by command name; both names for a subcommand; an empty name for the top level.
pub(crate) static EXAMPLES: LazyLock<BTreeMap<String, Vec<CliExample>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("examples.json")).expect("a test reads the examples")
});

/// Adds examples to the help of each command.
pub(super) fn with_examples(command: Command) -> Command {
    let command = below(command, "");
    let text = behind(of(""), &command);
    command.after_help(text)
}

fn below(command: Command, path: &str) -> Command {
    let names = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned());
    let names: Vec<String> = names.collect();
    names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}").trim_start().to_owned();
        command.mut_subcommand(name, |sub| {
            let sub = below(sub, &path);
            match of(&path) {
                [] => sub,
                examples => {
                    let text = behind(examples, &sub);
                    let long = sub.get_after_long_help();
                    let long =
                        long.map(|notes| format!("{}\n\n{text}", flowing(&notes.to_string())));
                    let sub = sub.after_help(text);
                    match long {
                        Some(long) => sub.after_long_help(long),
                        None => sub,
                    }
                }
            }
        })
    })
}

/// The examples of a command.
pub(crate) fn of(path: &str) -> &'static [CliExample] {
    EXAMPLES.get(path).map_or(&[], Vec::as_slice)
}

/// Puts the examples before other text at the end of the help.
fn behind(examples: &[CliExample], command: &Command) -> String {
    match command.get_after_help() {
        Some(text) => format!("{}\n{text}", list(examples)),
        None => list(examples),
    }
}

fn list(examples: &[CliExample]) -> String {
    let mut text = "Examples:\n".to_owned();
    for (line, meaning) in examples {
        let line = format!("cargo evaltest {line}");
        let _ = match line.trim_end() {
            short if short.chars().count() < 46 => writeln!(text, "  {short:<46} {meaning}"),
            long => writeln!(text, "  {long}\n  {:46} {meaning}", ""),
        };
    }
    text
}
