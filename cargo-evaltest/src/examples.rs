//! Examples, which stand at the end of the help of each command. A test reads each of them as a command line.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use clap::Command;

use crate::prose::flowing;

/// A command line behind `cargo evaltest`, and what it does.
pub(crate) type CliExample = (String, String);

/// Of each command, by its name; of one below another, by both; of the whole, by none.
pub(crate) static EXAMPLES: LazyLock<BTreeMap<String, Vec<CliExample>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("examples.json")).expect("a test reads the examples")
});

/// The command with examples behind the help of each of its commands.
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

/// Before what else stands at the end.
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
