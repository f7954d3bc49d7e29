//! Examples shown at the end of each command's help. A test parses each of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use clap::Command;

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

/// The width of a usual terminal, which lines of examples fit into.
const USUAL: usize = 80;

/// Meanings stand next to their commands, or all on lines of their own, so that a terminal wraps none.
fn list(examples: &[CliExample]) -> String {
    let mut text = "Examples:\n".to_owned();
    let lines = examples.iter().map(|(line, meaning)| {
        let line = format!("cargo evaltest {line}");
        (line.trim_end().to_owned(), meaning)
    });
    let lines: Vec<_> = lines.collect();
    let commands = lines.iter().map(|(line, _)| line.chars().count());
    let command = commands.max().unwrap_or_default();
    let meanings = lines.iter().map(|(_, meaning)| meaning.chars().count());
    let rest = meanings.max().unwrap_or_default();
    for (line, meaning) in &lines {
        let _ = if 2 + command + 2 + rest <= USUAL {
            writeln!(text, "  {line:command$}  {meaning}")
        } else {
            writeln!(text, "  {line}\n      {meaning}")
        };
    }
    text
}

/// Joins the lines of each paragraph. Headings end in a colon. Tables become lists: the first cell of a row is the
/// item, with the other cells below it (with column titles if there are several).
pub(super) fn flowing(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut titles: Option<Vec<&str>> = None;
    let mut goes_on = false;
    for line in text.lines() {
        if line.starts_with('|') {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            match &titles {
                None => titles = Some(cells),
                Some(_) if cells.iter().all(|cell| cell.starts_with("---")) => {}
                Some(titles) => row(titles, &cells, &mut lines),
            }
            goes_on = false;
            continue;
        }
        titles = None;
        if let Some(heading) = line.strip_prefix("# ") {
            lines.push(format!("{heading}:"));
            goes_on = false;
        } else if line.is_empty() || line.starts_with(' ') {
            lines.push(line.to_owned());
            goes_on = false;
        } else if let Some(last) = lines.last_mut().filter(|_| goes_on) {
            last.push(' ');
            last.push_str(line);
        } else {
            lines.push(line.to_owned());
            goes_on = true;
        }
    }
    lines.join("\n")
}

fn row(titles: &[&str], cells: &[&str], lines: &mut Vec<String>) {
    let Some((first, others)) = cells.split_first() else {
        return;
    };
    lines.push(format!("  {first}"));
    for (title, cell) in titles.iter().skip(1).zip(others) {
        lines.push(match others.len() {
            1 => format!("      {cell}"),
            _ => format!("      {title}: {cell}"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_tables_are_not_wrapped() {
        let check = |text: &str, expect: &str| assert_eq!(flowing(text), expect);
        check("a\nb\n\nc\nd", "a b\n\nc d");
        check("# Which\n\na\nb", "Which:\n\na b");
        check("a\n  b\n  c\nd", "a\n  b\n  c\nd");
        check(
            "a:\n\n| x | y |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nb",
            "a:\n\n  1\n      2\n  3\n      4\n\nb",
        );
        check(
            "| x | y | z |\n|---|---|---|\n| 1 | 2 | 3 |\nb",
            "  1\n      y: 2\n      z: 3\nb",
        );
    }
}
