//! Tests that help has examples and that each is a valid command line.

use clap::Command;

use crate::examples::{self, CliExample, EXAMPLES};

/// Splits a line into words as a shell does, up to a pipe or redirection.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.split(" > ").next().unwrap_or_default().chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn check(examples: &[CliExample]) {
    for (line, meaning) in examples {
        assert!(!meaning.is_empty() && !meaning.ends_with('.'), "{line}");
        // Examples always write `RUN_DIR` for a run directory.
        assert!(!line.contains("evaltest-runs") && !line.contains("RUN_ID"));
        let words = words(line);
        let words = std::iter::once("evaltest".to_owned()).chain(words);
        let read = super::command().try_get_matches_from(words);
        assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
    }
}

fn text_of(command: &mut Command) -> String {
    command.render_long_help().to_string()
}

fn every(command: &mut Command, path: &str, seen: &mut usize) {
    let help = command.render_long_help().to_string();
    assert!(help.contains("\nExamples:\n"), "{path}: {help}");
    for help in [help, command.render_help().to_string()] {
        for line in help.lines() {
            assert!(line.chars().count() <= super::WIDTH, "{path}: {line}");
        }
    }
    // clap wraps the text after the options; unwrap it.
    let text = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let text = text.unwrap().to_string();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2) {
        let is_broken = [pair[0], pair[1]]
            .iter()
            .all(|line| !line.is_empty() && !line.starts_with(' '));
        assert!(!is_broken, "{path}: {pair:?}");
    }
    for once in ["\nExamples:\n", "Exit codes:"] {
        assert!(
            text.matches(once.trim_start()).count() <= 1,
            "{path}: {once}"
        );
    }
    assert!(!text.contains("\n|"), "{path}: {text}");
    // Below the `bfcl` command, texts need not name it again.
    assert!(path != "bfcl official" || !text_of(command).contains("`bfcl`:"));
    *seen += 1;
    for sub in command
        .get_subcommands_mut()
        .filter(|sub| sub.get_name() != "help")
    {
        let path = format!("{path} {}", sub.get_name()).trim_start().to_owned();
        assert!(!examples::of(&path).is_empty(), "`{path}` has no example");
        every(sub, &path, seen);
    }
}

#[test]
fn help_that_is_asked_for_has_examples() {
    for line in [
        "--help",
        "gate -h",
        "gate --help",
        "help gate",
        "judge --help",
    ] {
        let words = ["cargo-evaltest"].into_iter().chain(line.split(' '));
        let error = super::parse(words.map(Into::into).collect()).unwrap_err();
        assert!(error.to_string().contains("\nExamples:\n"), "{line}");
    }
}

#[test]
fn every_command_has_examples_that_it_takes() {
    EXAMPLES.values().for_each(|lines| check(lines));
    let mut seen = 0;
    every(
        &mut super::command().term_width(super::WIDTH),
        "",
        &mut seen,
    );
    assert_eq!(
        seen,
        EXAMPLES.len(),
        "an example of a command that is not there"
    );
}
