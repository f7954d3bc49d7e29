//! A text with every key of a spec, from which the reference takes its examples.

use evaltest::engine::text::Override;
use serde_json::Value;

/// A test holds that the schema takes it, and that no key lacks.
pub(super) const SPEC: &str = "\
name: shop
benchmark: { type: qa, path: questions.csv }
prompt: { template: \"Answer briefly: {prompt}\" }
prompts: { brief: concise, plain: none }
agent: { type: command, command: [python3, agent.py] }
agents: { small: echo, large: { type: command, command: [python3, agent.py] } }
extract: final_answer
scorer: numeric
scorers: [numeric, token_f1]
limits:
  concurrency: 8
  timeout_s: 120
  sample_timeout_s: 300
  deadline_s: 3600
  budget: { cost_usd: 5, tokens: 2000000, requests: 1000 }
  requests_per_minute: 300
  tokens_per_minute: 100000
  ramp_up_s: 5
  retries: 2
  backoff_s: 0.5
  max_output_bytes: 1048576
  limit: 50
  fail_fast: false
  keep_going: false
errors: infrastructure
shuffle: { seed: 7 }
epochs: 4
snapshot: { assert: baseline, answers: plain, flips: gate, confirm: 2, path: snapshots/shop }
tiers: { quick: { limit: 5 }, standard: { limit: 20 }, full: {} }
gates: [accuracy >= 0.6, no_regression(alpha=0.05)]
alerts: [drop(accuracy), error_rate > 0.05 twice, { looks: 30 }]
webhook: { url_env: ALERTS_URL, template: { text: '{eval}: {message}' } }
output_root: ../evaltest-runs
redact: ['corp-[0-9]+']
keep_scratch: failed
cache: { path: ../answers }
";

/// How a key is written, by its path in a spec.
pub(super) fn of(path: &str) -> Option<String> {
    let spec = Override::value(SPEC).ok()?;
    let value = path
        .split('.')
        .try_fold(&spec, |value, key| value.get(key))?;
    let key = path.rsplit('.').next().unwrap_or_default();
    Some(format!("`{key}: {}`", flow(value)))
}

/// A value on one line of YAML.
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
