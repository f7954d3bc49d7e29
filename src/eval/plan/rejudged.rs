//! What to do if the baseline was judged by another judge: its answers can be rescored without asking the agent.

use serde_json::Value;

use super::Plan;
use crate::error::Error;
use crate::scorer::Scorer;
use crate::store::{Manifest, RunDir, runs_in};
use crate::system::project::display;
use crate::text::setting::Override;
use crate::text::{excerpt, shell_word};
use crate::verdict::baseline::Baseline;

/// The most differences listed.
const MAX_CHANGES: usize = 5;

/// Options that do not identify a judge.
const NOT_THE_JUDGE: [&str; 5] = ["base_url", "api_key_env", "headers", "price", "options"];

impl Plan {
    /// Explains the refusal of a baseline; if a judge is involved, adds what differs and how to rescore the accepted
    /// answers.
    pub(super) fn explain_scorers(&self, baseline: &Baseline, error: Error) -> Error {
        let is_scorer =
            !baseline.scorer_hash.is_empty() && baseline.scorer_hash != self.scorer_hash;
        let Some(spec) = self.eval.spec.as_deref().filter(|_| is_scorer) else {
            return error;
        };
        let run = self.accepted_run(baseline);
        let judges_now = || {
            self.scorers
                .iter()
                .any(|scorer| !scorer.agents().is_empty())
        };
        if baseline.judges.is_empty() && !judges_now() {
            return error;
        }
        let id = baseline.runs.last().map(|run| run.run_id.clone());
        let (run_name, place) = run.as_ref().map_or_else(
            || (id.unwrap_or("RUN_DIR".to_owned()), " where that run is"),
            |(dir, _)| (shell_word(&display(dir.path())), ""),
        );
        let error = match run.and_then(|(_, then)| self.differences(&then)) {
            Some(differences) => Error::usage(format!("{}; {differences}", error.message())),
            None => error,
        };
        // `rescore` has no `--set`.
        let replaces = |given: &Override| matches!(&*given.key, "scorer" | "scorers");
        if self.eval.overrides.iter().any(replaces) {
            return error.hint(format!(
                "the command line changes the scorers: score the accepted answers alike{place} (cargo evaltest rescore \
                 {run_name} --scorer NAME) and accept the result, or compare with nothing: `--ignore-baseline`"
            ));
        }
        error.hint(format!(
            "judge the accepted answers with the current judge{place}: cargo evaltest rescore {run_name} --spec {}; check \
             the result, then accept it: cargo evaltest accept",
            shell_word(&display(spec))
        ))
    }

    /// The baseline's last run, if it is among the runs of the eval.
    fn accepted_run(&self, baseline: &Baseline) -> Option<(RunDir, Manifest)> {
        let wanted = &baseline.runs.last()?.run_id;
        let runs = runs_in(&self.eval.output_folder()).into_iter();
        let mut runs = runs.filter_map(|dir| Some((dir.manifest().ok()?, dir)));
        let (manifest, dir) = runs.find(|(manifest, _)| manifest.run_id == *wanted)?;
        Some((dir, manifest))
    }

    /// How the scorers differ from those of a run, as far as the spec says.
    fn differences(&self, then: &Manifest) -> Option<String> {
        let mut config = self.eval.describe();
        self.redactor.config(&mut config);
        let [then, now] = [&then.config, &config].map(scorers_of);
        let mut lines = Vec::new();
        for (at, scorer) in self.scorers.iter().enumerate() {
            if let (Some(then), Some(now)) = (then.get(at), now.get(at)) {
                let mut changes = Vec::new();
                compare("", then, now, &mut changes);
                if !changes.is_empty() {
                    changes.truncate(MAX_CHANGES);
                    lines.push(format!(
                        "scorer `{}`: {}",
                        scorer.name(),
                        changes.join(", ")
                    ));
                }
            }
        }
        (!lines.is_empty()).then(|| lines.join("; "))
    }
}

/// The scorers that a spec names.
fn scorers_of(config: &Value) -> Vec<&Value> {
    match (&config["scorers"], &config["scorer"]) {
        (Value::Array(scorers), _) => scorers.iter().collect(),
        (_, Value::Null) => Vec::new(),
        (_, one) => vec![one],
    }
}

/// Adds what differs, as `agent.model "big" → "small"`.
fn compare(path: &str, then: &Value, now: &Value, lines: &mut Vec<String>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match (then, now) {
        (then, now) if then == now => {}
        (Value::Object(then), Value::Object(now)) => {
            let added = now.keys().filter(|key| !then.contains_key(*key));
            for key in then.keys().chain(added) {
                if !NOT_THE_JUDGE.contains(&key.as_str()) {
                    let [then, now] = [then, now].map(|it| it.get(key).unwrap_or(&Value::Null));
                    compare(&below(key), then, now, lines);
                }
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            for (at, (then, now)) in then.iter().zip(now).enumerate() {
                compare(&below(&at.to_string()), then, now, lines);
            }
        }
        // At the root, one of the two may be the mere name of a scorer.
        (then, now) if path.is_empty() => {
            let kind = |scorer: &Value| display_value(scorer.get("type").unwrap_or(scorer));
            let [mut before, mut after] = [kind(then), kind(now)];
            if before == after {
                [before, after] = [display_value(then), display_value(now)];
            }
            lines.push(format!("{before} → {after}"));
        }
        (then, now) => lines.push(format!(
            "{path} {} → {}",
            display_value(then),
            display_value(now)
        )),
    }
}

/// A value as one line.
fn display_value(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => format!("`{}`", excerpt(text)),
        other => excerpt(&other.to_string()),
    }
}
