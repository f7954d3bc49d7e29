//! The keys of a spec, from its JSON schema.

use std::fmt::Write;

use evaltest::engine::eval::spec::{OwnKinds, schema};
use evaltest::engine::text::Override;
use serde_json::Value;

use super::table;

pub(super) fn page() -> String {
    let schema = schema(&OwnKinds::default());
    let mut text = "\
# Specs

A spec is a YAML file that defines one eval. `cargo evaltest` finds each `evals/**/*.yaml`. Relative paths count from its folder.
An unknown key is an error that names its line and the nearest legal key. `benchmark` and `agent` (or `agents`) are required;
all other keys have defaults. Any key can be set on the command line: `--set limits.timeout_s=60`.

`cargo evaltest schema` prints the JSON schema, for completion and validation in editors.

"
    .to_owned();
    let rows = table::rows(&schema["properties"], "")
        .into_iter()
        .map(|row| {
            let example = example(&row.key).unwrap_or_default();
            vec![
                format!("`{}`", row.key),
                row.kind,
                row.default,
                row.meaning,
                example,
            ]
        });
    let rows: Vec<_> = rows.collect();
    text += &table::markdown(&["key", "type", "default", "meaning", "example"], &rows);
    let _ = write!(
        text,
        "\n`true` and `false` also stand for `on` and `off`, which YAML 1.1 reads as booleans. A text may be written without quotes, \
         unless it begins with `#`, `[`, `{{` or `*`.\n\n## All keys\n\nA spec has only one of `scorer` and `scorers`, of `agent` and `agents`, of `prompt` and `prompts`, and of `environment` and \
         `mock`. `user`, `tools` and `conversation_timeout_s` are for conversations.\n\n```yaml\n{}```\n",
        chosen()
    );
    text
}

/// The example without the keys that exclude others.
fn chosen() -> String {
    let others = ["scorer: ", "agents: ", "prompts: ", "  mock: "];
    let lines = SPEC.lines();
    let lines = lines.filter(|line| !others.iter().any(|key| line.starts_with(key)));
    let lines: Vec<&str> = lines.collect();
    lines.join("\n") + "\n"
}

/// A spec with every key. A test checks that the schema accepts it and that no key is missing.
const SPEC: &str = "\
name: shop
benchmark: { type: qa, path: questions.csv }
prompt: { template: \"Answer briefly: {prompt}\" }
prompts: { brief: concise, plain: none }
agent: { type: command, command: [python3, agent.py] }
agents: { small: echo, large: { type: command, command: [python3, agent.py] } }
extract: final_answer
scorer: numeric
scorers: [numeric, token_f1]
user: { agent: { type: command, command: [python3, user.py] }, max_turns: 10, stop: '###STOP###' }
tools:
  environment: { type: worker, command: [python3, shop.py] }
  mock: tools.yaml
  max_steps: 50
  tool_timeout_s: 60
  mcp: true
  replayable: true
limits:
  concurrency: 8
  timeout_s: 120
  conversation_timeout_s: 600
  sample_timeout_s: 300
  deadline_s: 3600
  budget: { cost_usd: 5, tokens: 2000000, requests: 1000 }
  requests_per_minute: 300
  tokens_per_minute: 100000
  ramp_up_s: 5
  retries: 2
  rate_limit_wait_s: 60
  backoff_s: 0.5
  max_output_bytes: 1048576
  limit: 50
  fail_fast: false
  keep_going: false
errors: infrastructure
shuffle: { seed: 7 }
epochs: 4
perturb: { seed: 7, kinds: [typos, irrelevant_context], rate: 0.1 }
snapshot: { assert: baseline, answers: plain, flips: gate, confirm: 2, path: snapshots/shop }
tiers: { quick: { limit: 5 }, standard: { limit: 20 }, full: {} }
gates: [accuracy >= 0.6, no_regression(alpha=0.05)]
alerts: [drop(accuracy), error_rate > 0.05 twice, { looks: 30 }]
webhook: { url_env: ALERTS_URL, template: { text: '{eval}: {message}' } }
output_root: ../evaltest-runs
redact: ['corp-[0-9]+']
keep_scratch: failed
cache: { path: ../answers }
record:
  path: cassettes
  upstream: { openai: 'https://api.example.com/v1', anthropic: 'https://api.example.com', google: 'https://api.example.com' }
  mode: missing
  ignore: [/metadata]
  rewrite: [{ pattern: '[0-9]{4}-[0-9]{2}-[0-9]{2}', with: DATE }]
  plain: false
";

/// Example of a key, by its path in a spec.
fn example(path: &str) -> Option<String> {
    let spec = Override::value(SPEC).ok()?;
    let value = path
        .split('.')
        .try_fold(&spec, |value, key| match key.strip_suffix("[]") {
            Some(list) => value.get(list)?.get(0),
            None => value.get(key),
        })?;
    let key = path.rsplit('.').next().unwrap_or_default();
    Some(format!("`{key}: {}`", flow(value)))
}

/// A value in YAML flow style.
fn flow(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", flow(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => {
            let is_bare = |c: char| c.is_alphanumeric() || "_./()=<> ".contains(c);
            if text.chars().all(is_bare) {
                text.clone()
            } else {
                format!("'{text}'")
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_an_example() {
        let schema = schema(&OwnKinds::default());
        for row in table::rows(&schema["properties"], "") {
            assert!(example(&row.key).is_some(), "{}", row.key);
            assert!(
                !row.kind.is_empty() && !row.meaning.is_empty(),
                "{}",
                row.key
            );
        }
    }
}
