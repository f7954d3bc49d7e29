//! Groups of commands and options in `--help`.

use std::fmt::Write;

use clap::Command;

/// The groups of commands, the most used first; a test checks that none is missing.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "doctor"]),
    ("Run", &["run", "list", "accept", "gate", "merge", "plan"]),
    (
        "Look at results",
        &["show", "runs", "compare", "view", "report", "trend"],
    ),
    ("Score existing answers", &["score", "rescore", "winrate"]),
    ("Make and review data", &["generate", "review", "flow"]),
    ("Other programs", &["import", "export", "mcp"]),
    (MORE, MORE_COMMANDS),
];

/// The heading of the commands that are only named.
const MORE: &str = "More";

const MORE_COMMANDS: &[&str] = &[
    "bfcl",
    "cache",
    "completions",
    "judge",
    "man",
    "repair",
    "schema",
    "scorers",
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
                "Output",
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
            ("Items", &["items", "count", "reference", "seed"]),
            ("Agents", &["agent", "judge", "delay_s"]),
            ("Continuing", &["resume", "dry_run"]),
            ("Output", &["output_root", "run_id", "json"]),
        ],
    ),
    (
        "score",
        &[
            ("Scoring", &["scorers", "scorer_options", "extract", "data"]),
            ("Input", &["format", "map"]),
            ("Output", &["replace", "keep_going", "threads"]),
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
            ("Input", &["format", "map"]),
            ("Output", &["show", "json"]),
            ("Explanations", &["list", "explain"]),
        ],
    ),
    (
        "export",
        &[
            ("Output", &["format", "output", "epoch", "show_texts"]),
            ("GAIA", &["no_trace", "check", "dataset", "split", "json"]),
            (MODEL, &["model_name", "model_field", "underscore_to_dot"]),
        ],
    ),
    (
        "import",
        &[
            (
                "Input",
                &["format", "form", "filter", "data", "model", "scores"],
            ),
            (
                "Scoring",
                &["scorer", "correct_at", "mode", "underscore_to_dot"],
            ),
            ("The eval", &["spec", "name", "slice", "partial_eval"]),
            (
                "Output",
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
        "Most used",
        &[
            "limit",
            "filter",
            "failed",
            "agent",
            "epochs",
            "concurrency",
            "resume",
            "cache",
            "verbose",
            "junit",
        ],
    ),
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
            "shuffle",
            "seed",
            "benchmark_option",
        ],
    ),
    ("Agent", &["agent_option", "timeout_s", "retries"]),
    ("Scoring", &["scorers", "scorer_options", "extract"]),
    (
        "Gates and the baseline",
        &["allow_ignored", "allow_cached", "ignore_baseline"],
    ),
    (
        "Continuing and stopping",
        &[
            "allow_changed_agent",
            "fail_fast",
            "keep_going",
            "watch",
            "dry_run",
        ],
    ),
    (
        "Cached and recorded answers",
        &["no_cache", "refresh", "record", "replay"],
    ),
    (
        "Output",
        &[
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
    ("Spec", &["set"]),
];

const OPTIONS_OF_GENERATE: &[OptionGroup] = &[
    ("Items", &["count", "topics", "reference", "seed"]),
    (
        "Agents",
        &[
            "agent",
            "agent_option",
            "solver",
            "votes",
            "on_disagreement",
        ],
    ),
    (
        "Requests",
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
        "Continuing and stopping",
        &["resume", "allow_changed_agent", "keep_going", "dry_run"],
    ),
    (
        "Cached and recorded answers",
        &["cache", "no_cache", "refresh"],
    ),
    (
        "Output",
        &["output", "run_id", "redact_pattern", "color", "json"],
    ),
    ("Spec", &["set"]),
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

/// Help template of the top-level command: a line for each command, without the options of `run`, which has its own page.
fn template(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    let mut text = about.unwrap_or_default();
    text += "\n\nUsage: cargo evaltest [COMMAND]\n       cargo evaltest [OPTIONS] [SPEC]...\n\n\
        Without a command, runs `run`: all evals in `evals/` and\n\
        `[package.metadata.evaltest]`. `evaltest` is the same program.\n";
    for (heading, names) in GROUPS {
        let _ = write!(text, "\n{heading}:\n");
        if *heading == MORE {
            let _ = writeln!(text, "  {}", names.join(", "));
            continue;
        }
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<8}  {about}");
        }
    }
    text += "\nOptions:\n  -h, --help     Print help; `cargo evaltest COMMAND --help` for details\n  \
             -V, --version  Print version\n{after-help}";
    text
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
            assert!(help.contains(&format!("  {name}  ")) || MORE_COMMANDS.contains(&&*name));
        }
    }

    #[test]
    fn help_fits_a_terminal() {
        let help = super::super::command().render_long_help().to_string();
        assert!(help.lines().count() <= 62, "{help}");
        // What follows the options is wrapped to the terminal's width.
        let (commands, _) = help.split_once("\n\n\n").unwrap();
        for line in commands.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn help_of_run_leads_with_what_is_used() {
        let mut command = super::super::command();
        command.build();
        let run = command.find_subcommand_mut("run").unwrap();
        let help = run.render_help().to_string();
        let mut headings = help
            .lines()
            .filter(|line| line.ends_with(':') && !line.starts_with(' '));
        assert_eq!(headings.nth(2), Some("Most used:"), "{help}");
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
