//! Extraction, gates, replies and exit codes.

use std::fmt::Write;

use clap::Command;
use evaltest::Exit;
use evaltest::engine::eval::spec::{OwnKinds, schema};
use evaltest::engine::replies::reply_tables;
use evaltest::engine::scorers::EXTRACTIONS;
use evaltest::engine::verdict::{GATE_OPTIONS, METRICS};

use super::table;

pub(super) fn extraction() -> String {
    let schema = schema(&OwnKinds::default());
    let mut text = format!(
        "# Extraction\n\n`extract` in a spec, or `--extract` on the command line, takes the prediction from what the agent said. \
         Both texts are recorded. Left out, it is that of the scorer or the benchmark, else `none`.\n\n{}\n\n## Keys\n\n",
        EXTRACTIONS.trim_end()
    );
    let mut rows: Vec<Vec<String>> = Vec::new();
    for way in schema["$defs"]["extract"]["anyOf"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let name = way["title"].as_str().unwrap_or_default();
        for row in table::rows(&way["properties"], "") {
            let of = if row.key == "strip_think" {
                "all"
            } else {
                name
            };
            let row = vec![
                format!("`{}`", row.key),
                of.to_owned(),
                row.kind,
                row.meaning,
            ];
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    text += &table::markdown(&["key", "of", "type", "meaning"], &rows);
    text
}

pub(super) fn gates() -> String {
    let mut text = "\
# Gates

A gate is a condition that a run must meet, a text in the list `gates` of a spec:

```text
METRIC[(SCORER)][[DIMENSION=VALUE]] OPERATOR NUMBER
no_regression[(OPTION=VALUE, …)][[DIMENSION=VALUE]]
```

The operator is `>=`, `>`, `<=` or `<`. A share may be written as `0.6` or `60%`, seconds as `20` or `20s`. `[level=1]` asks of the
samples with this value alone. Where a spec has `agents` or `prompts`, `[agent=small]` and `[prompt=short]` make it a gate of
these evals alone, `accuracy[agent=small][level=1] >= 0.6`; a gate without them is one of each. Where it has `tiers`,
`[tier=quick]` and `[level=1, tier=quick]` are asked in a run of that tier alone; a gate without a tier in the largest and in runs without a tier, an
`error_rate` of all samples in every one that has none of its own. Samples that ended in an error have no verdict: a gate is asked with them as right and as wrong, and is
inconclusive where that makes a difference (exit code 3). `error_rate <= 0.05` is asked of an eval that has none of its own.

## Metrics

"
    .to_owned();
    let entries = METRICS.iter().filter(|entry| entry.is_of_gates());
    let rows = entries.flat_map(|entry| {
        entry.forms.iter().map(|form| {
            vec![
                format!("`{}`", form.form),
                form.meaning.to_owned(),
                entry.unit.to_string(),
                format!("`{}`", form.example),
            ]
        })
    });
    text += &table::markdown(
        &["metric", "meaning", "unit", "example"],
        &rows.collect::<Vec<_>>(),
    );
    text += "\n`samples` is another name of `min_samples`, `cost` of `cost_usd`.\n\n\
             An alert, of the list `alerts`, takes each of them but `no_regression`, and `duration_s`, how long the run took. The line of a\n\
             run in the history has by itself `accuracy` and `failure_rate`, of slices too, and of the whole run `error_rate`,\n\
             `min_samples`, `mean(NAME)`, `metric(NAME)`, `latency_mean`, `latency_p50`, `latency_p95`, `cost_usd`, `tokens` and\n\
             `duration_s`; any other it has where a gate of the eval measures the same, and else the alert is `silent`.\n\n## Options\n\n";
    let rows = GATE_OPTIONS.iter().map(|(name, meaning, example)| {
        vec![
            format!("`{name}`"),
            (*meaning).to_owned(),
            format!("`{example}`"),
        ]
    });
    text += &table::markdown(&["option", "meaning", "example"], &rows.collect::<Vec<_>>());
    text
}

pub(super) fn replies() -> String {
    let mut text = "\
# What a reply can be

Whatever an agent, a judge or a generator replies is read in one place, by these tables, and is one of four:

| the reply is | what follows |
|---|---|
| answer | it is scored, and cached with `cache: true` |
| cut off | an answer that ended at the limit of tokens, empty or not: the same, and the run says how many there were |
| refused | with a text, as an answer; without one, the sample is an error of the kind `refused`. The run says how many there were |
| outage | it is asked again, as often as `limits.retries` says; if it stays, the sample is an error and the run may end with 3. It is never scored and never cached |

What cannot be read is an outage, too, and its beginning is in the error. Before that a reply is put right where it can be: gzip and deflate are unpacked,
also where the endpoint does not name them; a byte order mark is dropped; half of a surrogate pair and bytes that are no
UTF-8 become U+FFFD; `NaN` and numbers out of range become texts. A number as an answer has the digits that were sent: `1.10`.

"
    .to_owned();
    for table in reply_tables() {
        let rows = table::markdown(table.columns, &table.rows);
        let _ = write!(text, "## {}\n\n{}\n\n{rows}\n", table.title, table.text);
    }
    text
}

pub(super) fn exit_codes(command: &Command) -> String {
    let mut text =
        "# Exit codes\n\nWhere several are due, the last of them in this order counts.\n\n"
            .to_owned();
    let rows = Exit::ALL
        .iter()
        .map(|exit| vec![exit.code().to_string(), exit.meaning().to_owned()]);
    text += &table::markdown(&["code", "meaning"], &rows.collect::<Vec<_>>());
    text += "\nA test binary under `cargo test` ends as libtest does, with 0 or 101.\n\n## Where a command says it more closely\n\n";
    closer(command, "cargo evaltest", &mut text);
    text
}

/// Appends the exit codes of commands that define their own.
fn closer(command: &Command, path: &str, text: &mut String) {
    let notes = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    if let Some((_, codes)) = notes.split_once("Exit codes: ") {
        let _ = writeln!(text, "- `{path}`: {}", codes.trim());
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        closer(sub, &format!("{path} {}", sub.get_name()), text);
    }
}
