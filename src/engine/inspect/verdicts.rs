//! The scorer names of a log, from its samples.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::error::{Error, Result, nearest};

/// The most verdicts from a list or map.
const MOST: usize = 100;

/// The longest name.
const LONGEST: usize = 200;

/// Names in order of appearance, each with the lowest and highest number that it gave.
#[derive(Default)]
pub(in crate::engine) struct ScorerNames {
    names: Vec<String>,
    ranges: HashMap<String, [f64; 2]>,
}

impl ScorerNames {
    /// The verdicts of a sample by name. Each entry of a map is a verdict: `scorer.key`.
    pub(super) fn take(
        &mut self,
        scores: Map<String, Value>,
        is_ours: bool,
    ) -> Result<Map<String, Value>> {
        let mut verdicts = Map::new();
        for (name, score) in scores {
            let value = score.get("value").cloned().unwrap_or_default();
            match value {
                Value::Object(values) => {
                    for (key, value) in values {
                        self.add(
                            &mut verdicts,
                            format!("{name}.{key}"),
                            recorded(value, &score, is_ours),
                        )?;
                    }
                }
                Value::Array(values) => {
                    for (place, value) in values.into_iter().enumerate() {
                        self.add(
                            &mut verdicts,
                            format!("{name}.{place}"),
                            recorded(value, &score, is_ours),
                        )?;
                    }
                }
                value => self.add(&mut verdicts, name, recorded(value, &score, is_ours))?,
            }
        }
        Ok(verdicts)
    }

    /// Adds a verdict to those of a sample.
    pub(in crate::engine) fn add(
        &mut self,
        verdicts: &mut Map<String, Value>,
        name: String,
        verdict: Value,
    ) -> Result<()> {
        if let Some(number) = verdict.get("value").and_then(Value::as_f64) {
            let range = self.ranges.entry(name.clone()).or_insert([number; 2]);
            *range = [range[0].min(number), range[1].max(number)];
        }
        if !self.names.contains(&name) {
            if self.names.len() >= MOST || name.len() > LONGEST {
                let message =
                    format!("there are more than {MOST} named verdicts, or a name is too long");
                return Err(Error::usage(message));
            }
            self.names.push(name.clone());
        }
        verdicts.insert(name, verdict);
        Ok(())
    }

    /// All names, the deciding scorer first and the others in the order of the task; and notices about the numbers of
    /// the deciding one.
    pub(in crate::engine) fn ordered(
        self,
        of_task: &[&str],
        decides: Option<&str>,
    ) -> Result<(Vec<String>, Option<String>)> {
        let mut names = self.names;
        if names.is_empty() {
            // For a log without any score; its answers are unscored.
            names.extend(of_task.first().map(|name| (*name).to_owned()));
        }
        if names.is_empty() {
            names.push("none".to_owned());
        }
        let place = |name: &String| {
            let mut task = of_task.iter();
            task.position(|scorer| {
                let rest = name.strip_prefix(scorer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        names.sort_by_key(|name| {
            let known = place(name);
            (known.is_none(), known)
        });
        if let Some(decides) = decides {
            let Some(at) = names.iter().position(|name| name == decides) else {
                let hint = nearest(decides, names.iter().map(String::as_str));
                let all = names.join("`, `");
                let error =
                    Error::usage(format!("the log has no scorer `{decides}`: it has `{all}`"));
                return Err(match hint {
                    Some(name) => error.hint(format!("did you mean `--scorer {name}`?")),
                    None => error.hint(format!("`--scorer '{}'`", names[0])),
                });
            };
            let first = names.remove(at);
            names.insert(0, first);
        }
        let range = self.ranges.get(&names[0]);
        let range = range.filter(|[low, high]| *low < 0.0 || *high > 1.0);
        let notice = range.map(|[low, high]| {
            format!(
                "`{}` gives numbers from {low} to {high}: outside 0 to 1 they count as the nearer bound, and 1 \
                 or more is correct, or `--correct-at N`; for a gate on the numbers themselves: `mean(recorded) >= N`",
                names[0]
            )
        });
        Ok((names, notice))
    }
}

/// A verdict in the form that the scorer `recorded` reads.
fn recorded(value: Value, score: &Value, is_ours: bool) -> Value {
    let mut recorded = Map::new();
    recorded.insert("value".to_owned(), value);
    let mut keep = |key: &str, value: Option<&Value>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            recorded.insert(key.to_owned(), value.clone());
        }
    };
    keep("answer", score.get("answer"));
    let metadata = score.get("metadata");
    let own = |key: &str| metadata.and_then(|metadata| metadata.get(key));
    if is_ours {
        // Restores what evaltest exported.
        for key in ["correct", "reason", "details"] {
            keep(key, own(key));
        }
    } else {
        keep("explanation", score.get("explanation"));
        keep("reason", score.get("reason"));
    }
    Value::Object(recorded)
}
