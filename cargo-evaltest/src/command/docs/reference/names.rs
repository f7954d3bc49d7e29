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
        "# Extraction\n\n`extract` in a spec, or `--extract` on the command line, takes the prediction from the agent's answer. \
         Both texts are recorded. Default: the extraction of the scorer or the benchmark, else `none`.\n\n{}\n\n## Keys\n\n",
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

A gate is a condition that a run must meet: a text in the list `gates` of a spec.

```text
METRIC[(SCORER)][[DIMENSION=VALUE]] OPERATOR NUMBER
no_regression[(OPTION=VALUE, …)][[DIMENSION=VALUE]]
```

The operator is `>=`, `>`, `<=` or `<`. A share may be written as `0.6` or `60%`, seconds as `20` or `20s`. `[level=1]` limits the
gate to samples with this value. If a spec has `agents` or `prompts`, `[agent=small]` and `[prompt=short]` limit a gate to
these evals, `accuracy[agent=small][level=1] >= 0.6`; a gate without them applies to each. If it has `tiers`, `[tier=quick]`
and `[level=1, tier=quick]` apply only to runs of that tier. A gate without a tier applies to the largest tier and to runs
without a tier; an `error_rate` of all samples applies to every tier that has no `error_rate` of its own. Samples that ended in
an error have no verdict: a gate is checked with them as right and as wrong, and is inconclusive if that makes a difference
(exit code 3). An eval without an `error_rate` gate gets `error_rate <= 0.05`.

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
    text += "\n`samples` is short for `min_samples`, `cost` for `cost_usd`.\n\n\
             An alert in the list `alerts` takes all of them except `no_regression`, and `duration_s`, the duration of the run. A run's\n\
             line in the history always has `accuracy` and `failure_rate`, also of slices, and for the whole run `error_rate`,\n\
             `min_samples`, `mean(NAME)`, `metric(NAME)`, `latency_mean`, `latency_p50`, `latency_p95`, `cost_usd`, `tokens` and\n\
             `duration_s`. It has other metrics only if a gate of the eval measures them; otherwise the alert is `silent`.\n\n## Options\n\n";
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

These tables decide how the replies of agents, judges and generators are read. A reply is one of four:

| the reply is | what follows |
|---|---|
| answer | it is scored, and cached with `cache: true` |
| cut off | an answer that ended at the limit of tokens, empty or not: the same, and the run says how many there were |
| refused | with a text, as an answer; without one, the sample is an error of the kind `refused`. The run says how many there were |
| outage | it is requested again, up to `limits.retries` times; if it persists, the sample is an error and the run may end with 3. It is never scored and never cached |

An unreadable reply is also an outage; the error quotes its beginning. Before that, replies are repaired where possible: gzip
and deflate are unpacked, even if the endpoint does not declare them; a byte order mark is dropped; half of a surrogate pair
and bytes that are not UTF-8 become U+FFFD; `NaN` and numbers out of range become texts. A number as an answer keeps the digits
that were sent: `1.10`.

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
        "# Exit codes\n\nIf several apply, the last one in this order counts.\n\n".to_owned();
    let rows = Exit::ALL
        .iter()
        .map(|exit| vec![exit.code().to_string(), exit.meaning().to_owned()]);
    text += &table::markdown(&["code", "meaning"], &rows.collect::<Vec<_>>());
    text += "\nA test binary under `cargo test` exits like libtest, with 0 or 101.\n\n## Details by command\n\n";
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
