//! Groups of commands and options in `--help`.

use std::fmt::Write;

use clap::Command;

/// The groups of commands; a test checks that none is missing.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    (
        "Run",
        &[
            "run", "merge", "generate", "flow", "list", "doctor", "cache",
        ],
    ),
    (
        "Look at a run",
        &[
            "runs",
            "show",
            "compare",
            "trend",
            "summarize",
            "report",
            "view",
            "review",
            "repair",
        ],
    ),
    (
        "Score",
        &["score", "scorers", "rescore", "winrate", "judge"],
    ),
    ("Gates and the baseline", &["gate", "accept", "plan"]),
    ("Other programs", &["export", "import", "bfcl"]),
    ("Set up", &["init", "mcp", "schema", "completions", "man"]),
];

/// A heading and the ids of its options.
type OptionGroup = (&'static str, &'static [&'static str]);

/// Heading of the options for exports to the Function Calling Leaderboard.
const MODEL: &str = "Function Calling Leaderboard (bfcl)";

/// Groups of options, for commands with many.
const OPTIONS: &[(&str, &[OptionGroup])] = &[
    ("run", OPTIONS_OF_RUN),
    (
        "merge",
        &[
            (
                "Gates and the baseline",
                &["allow_ignored", "allow_cached", "ignore_baseline"],
            ),
            (
                "What is written",
                &[
                    "output",
                    "history",
                    "report",
                    "junit",
                    "junit_strict",
                    "github",
                    "no_github",
                    "pr_comment",
                    "gitlab",
                    "color",
                    "verbose",
                    "json",
                ],
            ),
        ],
    ),
    ("generate", OPTIONS_OF_GENERATE),
    (
        "flow",
        &[
            ("What is made", &["count", "reference", "seed"]),
            ("Who is asked", &["agent", "judge", "delay_s"]),
            ("Going on", &["resume", "dry_run"]),
            ("What is written", &["output_root", "run_id", "json"]),
        ],
    ),
    (
        "score",
        &[
            ("Scoring", &["scorers", "scorer_options", "extract", "data"]),
            ("What the input is", &["format", "map"]),
            ("What is written", &["replace", "keep_going", "threads"]),
            (
                "One answer, step by step",
                &["explain", "prediction", "ground_truth", "line"],
            ),
        ],
    ),
    (
        "scorers",
        &[
            ("Scoring", &["scorers", "scorer_options", "extract"]),
            ("What the input is", &["format", "map"]),
            ("What is shown", &["show", "json"]),
            ("The scorers themselves", &["list", "explain"]),
        ],
    ),
    (
        "export",
        &[
            (
                "What is written",
                &["format", "output", "epoch", "show_texts"],
            ),
            ("GAIA", &["no_trace", "check", "dataset", "split", "json"]),
            (MODEL, &["model_name", "model_field", "underscore_to_dot"]),
        ],
    ),
    (
        "import",
        &[
            (
                "What is read",
                &["format", "form", "filter", "data", "model", "scores"],
            ),
            (
                "Scoring",
                &["scorer", "correct_at", "mode", "underscore_to_dot"],
            ),
            ("The eval", &["spec", "name", "slice", "partial_eval"]),
            (
                "What is written",
                &[
                    "output",
                    "redact_pattern",
                    "output_root",
                    "run_id",
                    "verbose",
                    "json",
                ],
            ),
        ],
    ),
];

const OPTIONS_OF_RUN: &[OptionGroup] = &[
    (
        "Samples",
        &[
            "benchmark",
            "split",
            "tier",
            "progressive",
            "promote",
            "shard",
            "balance",
            "limit",
            "filter",
            "failed",
            "shuffle",
            "seed",
            "epochs",
            "benchmark_option",
        ],
    ),
    (
        "Agent",
        &[
            "agent",
            "agent_option",
            "timeout_s",
            "retries",
            "concurrency",
        ],
    ),
    ("Scoring", &["scorers", "scorer_options", "extract"]),
    (
        "Gates and the baseline",
        &["allow_ignored", "allow_cached", "ignore_baseline"],
    ),
    (
        "Going on and stopping",
        &[
            "resume",
            "allow_changed_agent",
            "fail_fast",
            "keep_going",
            "watch",
            "dry_run",
        ],
    ),
    (
        "Answers given before",
        &["cache", "no_cache", "refresh", "record", "replay"],
    ),
    (
        "What is written",
        &[
            "verbose",
            "color",
            "json",
            "stream",
            "export",
            "report",
            "history",
            "output_root",
            "run_id",
            "redact_pattern",
        ],
    ),
    (
        "CI",
        &[
            "junit",
            "junit_strict",
            "github",
            "no_github",
            "pr_comment",
            "gitlab",
        ],
    ),
    (
        MODEL,
        &[
            "official",
            "model_name",
            "model_field",
            "underscore_to_dot",
            "bfcl_bin",
            "bfcl_timeout_s",
        ],
    ),
    ("The spec", &["set"]),
];

const OPTIONS_OF_GENERATE: &[OptionGroup] = &[
    ("What is made", &["count", "topics", "reference", "seed"]),
    (
        "Who writes and who solves",
        &[
            "agent",
            "agent_option",
            "solver",
            "votes",
            "on_disagreement",
        ],
    ),
    (
        "How it is asked",
        &[
            "delay_s",
            "concurrency",
            "timeout_s",
            "retries",
            "budget_usd",
            "budget_tokens",
        ],
    ),
    (
        "Going on and stopping",
        &["resume", "allow_changed_agent", "keep_going", "dry_run"],
    ),
    ("Answers given before", &["cache", "no_cache", "refresh"]),
    (
        "What is written",
        &["output", "run_id", "redact_pattern", "color", "json"],
    ),
    ("The spec", &["set"]),
];

/// The command with its groups.
pub(super) fn grouped(command: Command) -> Command {
    let template = template(&command);
    let command = command.help_template(template);
    OPTIONS.iter().fold(command, |command, (name, groups)| {
        command.mut_subcommand(*name, |sub| {
            let groups = groups.iter();
            let options =
                groups.flat_map(|(heading, ids)| ids.iter().map(move |id| (*heading, *id)));
            options.fold(sub, |sub, (heading, id)| {
                sub.mut_arg(id, |arg| arg.help_heading(heading))
            })
        })
    })
}

/// Help template of the top-level command: commands in groups, without the options of `run`, which has its own page.
fn template(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    let mut text = about.unwrap_or_default();
    text += "\n\nUsage: cargo evaltest [COMMAND]\n       cargo evaltest [OPTIONS] [SPEC]...\n\n\
        Without a command, `run` is meant: every eval that is found in `evals/` and in\n\
        `[package.metadata.evaltest]`, with the options of `run`. The program also answers to `evaltest`.\n";
    for (heading, names) in GROUPS {
        let _ = write!(text, "\n{heading}:\n");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<11} {}", wrapped(&about, 14));
        }
    }
    text += "\nOptions:\n  -h, --help     Print help; `cargo evaltest COMMAND --help` for details of a command\n  \
             -V, --version  Print version\n{after-help}";
    text
}

/// Wraps a text, indented to a column.
fn wrapped(text: &str, column: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().map_or(0, |line| line.chars().count());
        if line > 0 && column + line + 1 + word.chars().count() > super::WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join(&format!("\n{}", " ".repeat(column)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_a_group() {
        let command = super::super::command();
        let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let visible: BTreeSet<_> = visible.map(|sub| sub.get_name().to_owned()).collect();
        let listed = GROUPS.iter().flat_map(|(_, names)| names.iter());
        let listed: BTreeSet<_> = listed.map(|name| (*name).to_owned()).collect();
        assert_eq!(visible, listed);
        let help = super::super::command().render_long_help().to_string();
        for name in listed {
            assert!(help.contains(&format!("\n  {name} ")), "{name}: {help}");
        }
    }

    #[test]
    fn every_option_of_a_command_with_many_is_in_a_group() {
        let mut command = super::super::command();
        command.build();
        for sub in command.get_subcommands() {
            let name = sub.get_name();
            let options = sub
                .get_arguments()
                .filter(|arg| !arg.is_positional() && arg.get_id() != "help");
            let options: Vec<_> = options.collect();
            if !OPTIONS.iter().any(|(grouped, _)| *grouped == name) {
                assert!(options.len() < 10, "`{name}` has no groups");
                continue;
            }
            let remaining = options
                .into_iter()
                .filter(|arg| arg.get_help_heading().is_none() && !arg.is_hide_set());
            let remaining: Vec<_> = remaining.map(clap::Arg::get_id).collect();
            assert!(remaining.is_empty(), "{name}: {remaining:?}");
        }
    }
}
