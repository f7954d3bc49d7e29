//! Misplaced keys: a flag of the command, or a key of a map in the spec.

/// Flags of a single run, by the keys written by mistake.
const FLAGS: &[(&str, &str)] = &[
    ("run_id", "--run-id ID"),
    ("resume", "--resume RUN_DIR"),
    ("allow_changed_agent", "--allow-changed-agent"),
    ("failed", "--failed RUN_DIR"),
    ("filter", "--filter TEXT"),
    ("dry_run", "--dry-run"),
    ("stream", "--stream"),
    ("json", "--json"),
    ("no_cache", "--no-cache"),
    ("refresh", "--refresh"),
    ("allow_ignored", "--allow-ignored"),
    ("ignore_baseline", "--ignore-baseline"),
    ("export", "--export FORMAT"),
    ("official", "--official"),
    ("model_name", "--model-name NAME"),
    ("set", "--set KEY=VALUE"),
];

/// Keys of maps in the spec, by the names tried at the top level.
const ELSEWHERE: &[(&str, &str)] = &[
    ("limit", "limits: { limit: 10 }"),
    ("concurrency", "limits: { concurrency: 4 }"),
    ("timeout", "limits: { timeout_s: 60 }"),
    ("timeout_s", "limits: { timeout_s: 60 }"),
    ("sample_timeout_s", "limits: { sample_timeout_s: 300 }"),
    ("deadline_s", "limits: { deadline_s: 3600 }"),
    ("retries", "limits: { retries: 2 }"),
    ("backoff_s", "limits: { backoff_s: 1 }"),
    ("budget", "limits: { budget: { cost_usd: 5 } }"),
    ("requests_per_minute", "limits: { requests_per_minute: 60 }"),
    ("tokens_per_minute", "limits: { tokens_per_minute: 90000 }"),
    ("ramp_up_s", "limits: { ramp_up_s: 10 }"),
    ("max_output_bytes", "limits: { max_output_bytes: 1000000 }"),
    ("fail_fast", "limits: { fail_fast: true }"),
    ("keep_going", "limits: { keep_going: true }"),
    ("seed", "shuffle: { seed: 7 }"),
    ("path", "benchmark: { type: qa, path: data.csv }"),
    ("dataset", "benchmark: { type: qa, path: data.csv }"),
    ("data", "benchmark: { type: qa, path: data.csv }"),
    ("split", "benchmark: { type: gaia, split: validation }"),
    ("levels", "benchmark: { type: gaia, levels: [1] }"),
    (
        "columns",
        "benchmark: { type: qa, path: data.csv, columns: { prompt: question } }",
    ),
    ("command", "agent: { type: command, command: [./agent] }"),
    (
        "model",
        "agent: { type: openai, base_url: URL, model: NAME }",
    ),
    (
        "options",
        "agent: { type: command, command: [./agent], input: json, options: { key: value } }",
    ),
    ("redact_pattern", "redact: ['corp-[0-9]+']"),
    ("gate", "gates: ['accuracy >= 0.6']"),
    ("baseline", "snapshot: { path: snapshots/NAME }"),
    ("flips", "snapshot: { flips: confirm }"),
    ("assert", "snapshot: { assert: exact }"),
];

/// A hint for an unknown key at the top of a spec.
pub(super) fn hint(key: &str) -> Option<String> {
    let plain = key.replace('-', "_");
    let find = |list: &[(&str, &'static str)]| {
        let entry = list.iter().find(|(name, _)| *name == plain);
        entry.map(|(_, written)| *written)
    };
    if let Some(flag) = find(FLAGS) {
        return Some(format!(
            "it belongs to one run: leave it out here, and type `cargo evaltest run SPEC {flag}`"
        ));
    }
    find(ELSEWHERE).map(|written| format!("write `{written}`"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::eval::registry::Registry;
    use crate::eval::spec::parse;

    /// The error for a spec with this line.
    fn error_of(line: &str) -> String {
        let text = format!("benchmark: {{ type: custom, samples: [] }}\nagent: echo\n{line}\n");
        match parse(&text, Path::new("e.yaml"), &Registry::new(), &[]) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        }
    }

    #[test]
    fn every_one_is_no_key_of_a_spec() {
        for (key, written) in FLAGS.iter().chain(ELSEWHERE) {
            let error = error_of(&format!("{key}: x"));
            assert!(
                error.starts_with(&format!("e.yaml:3:1: unknown key `{key}`")),
                "{error}"
            );
            assert!(error.contains(written), "{error}");
        }
    }

    #[test]
    fn what_is_to_be_written_is_known() {
        for (key, written) in ELSEWHERE {
            if written.starts_with("benchmark") || written.starts_with("agent") {
                continue;
            }
            let error = error_of(written);
            let is_read = !error.contains("unknown key") && !error.contains("YAML");
            assert!(is_read, "{key}: {error}");
        }
    }
}
