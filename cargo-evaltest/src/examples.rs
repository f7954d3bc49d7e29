//! Examples, which stand at the end of the help of each command. A test reads each of them as a command line.

use std::fmt::Write;

use clap::Command;

use crate::prose::flowing;

mod history;
mod merge;
mod run;

/// A command line behind `cargo evaltest`, and what it does.
pub(crate) type CliExample = (&'static str, &'static str);

/// Of the whole.
pub(crate) const OF_ALL: &[CliExample] = &[
    ("init", "an example eval that runs at once"),
    ("", "run every eval, and ask its gates"),
    ("accept", "make the last run the baseline"),
];

/// Of each command, by its name; of one below another, by both.
pub(crate) const OF_COMMANDS: &[(&str, &[CliExample])] = &[
    ("run", run::RUN),
    ("merge", merge::MERGE),
    (
        "generate",
        &[
            (
                "generate aime --count 3 --agent '{type: openai, base_url: \"http://127.0.0.1:8080/v1\", model: small}'",
                "three problems",
            ),
            (
                "generate problems.yaml --reference real.jsonl --delay-s 1",
                "a spec, with examples, one request a second",
            ),
            (
                "generate --resume RUN_DIR",
                "go on where it was interrupted",
            ),
        ],
    ),
    (
        "list",
        &[
            ("list", "the evals and their samples"),
            (
                "list evals/gaia.yaml --stats",
                "columns, and counts by slice",
            ),
        ],
    ),
    (
        "show",
        &[
            ("show RUN_DIR", "all samples in short"),
            ("show RUN_DIR q07", "one of them whole"),
            (
                "show --failures",
                "what went wrong in the last run, in groups",
            ),
        ],
    ),
    (
        "report",
        &[
            ("report", "the last run as Markdown"),
            ("report RUN_DIR -o report.md", "into a file"),
            ("report --audience user", "three figures in plain words"),
            ("report RUN_DIR -o report.html", "one page for a browser"),
        ],
    ),
    (
        "view",
        &[
            ("view", "the last run, also one that is going on"),
            ("view A B", "two runs on one page"),
        ],
    ),
    (
        "review",
        &[
            ("review items.json", "on a page that opens by itself"),
            (
                "review items.json --sample 50 --seed 7 --reviewer anna --no-open",
                "fifty by lot; the address is printed",
            ),
        ],
    ),
    (
        "flow",
        &[
            (
                "flow fixtures/flow/aime.yaml",
                "recorded: the whole story without a model",
            ),
            (
                "flow aime --agent AGENT --judge JUDGE --reference real.json --count 30",
                "thirty problems, twenty of them beside real ones",
            ),
            (
                "flow --resume DIR",
                "go on; what was answered is not asked again",
            ),
        ],
    ),
    (
        "compare",
        &[
            ("compare", "the last run, and the one before"),
            ("compare A B --json", "two runs; all figures, all flips"),
            ("compare A B C", "all pairs of three"),
            ("compare A B --html page.html", "a page to open or to send"),
        ],
    ),
    (
        "score",
        &[
            (
                "score --scorer numeric answers.jsonl",
                "`prediction` and `ground_truth` on each line",
            ),
            (
                "score --scorer exact --map prediction=said,ground_truth=truth answers.csv",
                "columns with names of their own",
            ),
            (
                "score --scorer qa_f1 --map prediction=/result/text answers.jsonl > scored.jsonl",
                "a JSON pointer",
            ),
            (
                "score --scorer substring --scorer-option compat=true --scorer qa_f1 answers.parquet",
                "two scorers",
            ),
            (
                "score --scorer '{ type: quasi_exact, documented: true }' -",
                "options of a scorer; standard input",
            ),
            (
                "score --scorer gaia --extract final_answer RUN_DIR",
                "the answers of a run",
            ),
            (
                "score --scorer bfcl --data bfcl_eval/data results.jsonl",
                "calls of functions, by the leaderboard's rule",
            ),
            (
                "score --scorer gaia --explain --prediction '$1,234.50' --ground-truth 1234.5",
                "one answer, step by step",
            ),
            (
                "score --scorer gaia --explain answers.jsonl --line 17",
                "one line, step by step",
            ),
        ],
    ),
    (
        "scorers",
        &[
            ("scorers --list", "the scorers there are"),
            (
                "scorers --explain numeric",
                "the rule of one, with examples",
            ),
            (
                "scorers RUN_DIR --scorers gaia,substring",
                "how far two are apart",
            ),
        ],
    ),
    (
        "runs",
        &[
            ("runs", "the last twenty"),
            ("runs gaia --json", "all figures of those of one eval"),
        ],
    ),
    ("trend", history::TREND),
    (
        "summarize",
        &[
            ("summarize", "of the last run"),
            (
                "summarize RUN_DIR --markdown",
                "as a table for a pull request",
            ),
        ],
    ),
    (
        "rescore",
        &[
            (
                "rescore RUN_DIR --scorer '{ type: numeric, rel_tol: 0.01 }'",
                "by another rule, without asking anybody",
            ),
            (
                "rescore RUN_DIR --spec qa --dry-run",
                "what judges are asked, and at what cost, with the rubric that a spec has now",
            ),
        ],
    ),
    (
        "winrate",
        &[
            (
                "winrate RUN_A RUN_B --judge better.yaml --pairs 20 --seed 7",
                "twenty questions that both runs answered, each in both orders",
            ),
            (
                "winrate RUN_A RUN_B --judge better.yaml --dry-run",
                "how many requests that is, and at what cost",
            ),
        ],
    ),
    (
        "repair",
        &[(
            "repair RUN_DIR",
            "samples.jsonl and all that is made of it, where a copy was cut short",
        )],
    ),
    (
        "gate",
        &[
            ("gate", "the gates of the last run"),
            ("gate RUN_DIR --gate 'accuracy >= 0.6'", "another gate"),
        ],
    ),
    (
        "accept",
        &[
            ("accept", "the last run is the baseline"),
            ("accept --add RUN_DIR", "a run more of the same agent"),
        ],
    ),
    (
        "plan",
        &[("plan --detect 5", "what sees a drop of 5 points")],
    ),
    (
        "export",
        &[
            ("export --format gaia RUN_DIR", "a file to submit"),
            (
                "export --format csv RUN_DIR --output answers.csv",
                "a row for each answer",
            ),
            (
                "export --format otel RUN_DIR --output -",
                "events for a collector",
            ),
            (
                "export --format inspect RUN_DIR --output logs/",
                "a log for `inspect view`",
            ),
            (
                "export --format gaia --check answers.jsonl --dataset evals/gaia.yaml",
                "whether a file has an answer to each question",
            ),
        ],
    ),
    (
        "import",
        &[
            (
                "import --format inspect logs/2026-05-04_gaia.eval",
                "a log, with its verdicts",
            ),
            (
                "import --format inspect log.json --scorer match --spec evals/gaia.yaml",
                "the gates and the baseline of a spec",
            ),
            (
                "import --format bfcl result/my-model",
                "files of the official program",
            ),
        ],
    ),
    (
        "bfcl",
        &[(
            "bfcl official RUN_DIR --model-name my-model",
            "judge a run by it",
        )],
    ),
    (
        "bfcl official",
        &[(
            "bfcl official RUN_DIR --model-name my-model",
            "compare verdict by verdict",
        )],
    ),
    (
        "judge",
        &[
            (
                "judge read --choice correct --choice wrong replies.jsonl",
                "what judges replied",
            ),
            (
                "judge agreement labels.jsonl",
                "how far a judge agrees with people",
            ),
            (
                "judge correct graded.jsonl",
                "a mean that a few labels correct",
            ),
            ("judge winrate pairs.jsonl", "how often one answer wins"),
        ],
    ),
    (
        "judge agreement",
        &[
            ("judge agreement labels.jsonl", "kappa, AC1, alpha"),
            ("judge agreement --json -", "standard input; JSON"),
        ],
    ),
    (
        "judge calibrate",
        &[
            (
                "judge calibrate RUN_DIR --draw 100 --seed 7",
                "lines for people to fill in",
            ),
            (
                "judge calibrate RUN_DIR --labels labels.jsonl",
                "what the judge is worth beside them",
            ),
        ],
    ),
    (
        "judge correct",
        &[("judge correct graded.jsonl", "labels, judge, and both")],
    ),
    (
        "judge winrate",
        &[
            ("judge winrate pairs.jsonl", "both orders, or preferences"),
            (
                "judge winrate --logprobs tokens.jsonl",
                "tokens `m` and `M`",
            ),
        ],
    ),
    (
        "judge read",
        &[
            (
                "judge read --dimension clarity --dimension completeness replies.jsonl",
                "points of a rubric",
            ),
            (
                "judge read --choice correct --choice wrong -",
                "one of the choices; standard input",
            ),
            ("judge read --rating replies.jsonl", "the first `[[8]]`"),
            (
                "judge read --pattern 'a=Output \\(a\\)' --pattern 'b=Output \\(b\\)' replies.jsonl",
                "what a regular expression finds",
            ),
        ],
    ),
    (
        "cache",
        &[
            ("cache stats", "how many answers are kept"),
            ("cache clear --older-than 30", "remove old ones"),
        ],
    ),
    (
        "cache stats",
        &[("cache stats evals/gaia.yaml --json", "of one eval, as JSON")],
    ),
    (
        "cache clear",
        &[("cache clear --older-than 30", "what is older than 30 days")],
    ),
    (
        "init",
        &[
            ("init", "an example with the built-in demo agent"),
            ("init --name shop -- python3 agent.py", "with your program"),
            (
                "init --ci github",
                "and a workflow that gates pull requests",
            ),
            (
                "init --ci github --shards 4",
                "and in it four jobs that share the samples",
            ),
        ],
    ),
    (
        "doctor",
        &[
            ("doctor", "every spec of the project"),
            ("doctor evals/gaia.yaml --agent echo", "with another agent"),
        ],
    ),
    (
        "schema",
        &[
            ("schema > evals/evaltest.schema.json", "for the editor"),
            (
                "schema --own-agent mine",
                "with an agent that your test binary registers",
            ),
        ],
    ),
    (
        "completions",
        &[
            (
                "completions bash > ~/.local/share/bash-completion/completions/evaltest",
                "for bash",
            ),
            ("completions zsh > ~/.zfunc/_evaltest", "for zsh"),
        ],
    ),
    (
        "man",
        &[(
            "man ~/.local/share/man/man1",
            "then `man cargo-evaltest-run`",
        )],
    ),
    (
        "reference",
        &[("reference docs/src/reference", "the pages of the book")],
    ),
];

/// The command with examples behind the help of each of its commands.
pub(super) fn with_examples(command: Command) -> Command {
    let command = below(command, "");
    let told = behind(OF_ALL, &command);
    command.after_help(told)
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
                    let told = behind(examples, &sub);
                    let long = sub.get_after_long_help();
                    let long = long.map(|text| format!("{}\n\n{told}", flowing(&text.to_string())));
                    let sub = sub.after_help(told);
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
    let found = OF_COMMANDS.iter().find(|(name, _)| *name == path);
    found.map_or(&[], |(_, examples)| examples)
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
