//! The scorer `bfcl_multi_turn`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use once_cell::sync::OnceCell;
use serde_json::{Map, Value as Json, json};

use super::{Package, Simulators, calls, entries};
use crate::agent::conversation::MODE;
use crate::bfcl::data::Data;
use crate::bfcl::export::turns;
use crate::calls::{JsonValue as _, Value};
use crate::data::Score;
use crate::data::conversation::Script;
use crate::error::{Error, Result};
use crate::scorer::options::fingerprint;
use crate::scorer::{self, Answer, Beginning, Example, OptionReader, Reads, Scorer};

const NAME: &str = "bfcl_multi_turn";

pub(crate) const ENTRY: scorer::Entry = scorer::Entry {
    name: NAME,
    summary: "conversations with tools that have a state, as the Berkeley Function Calling Leaderboard judges them",
    rule: include_str!("scorer.md"),
    options: &[(
        "python",
        "the Python that has the package `bfcl-eval`; `python3`",
    )],
    examples: &[Example {
        options: "",
        prediction: "Error during inference: 503",
        ground_truth: r#"[["ls()"]]"#,
        correct: false,
        note: "`inference_error`: no list of turns",
    }],
    make: |options| Ok(Arc::new(MultiTurnScorer::from_options(options)?)),
};

/// Judges conversations of the leaderboard's multi-turn categories.
#[derive(Clone)]
pub(crate) struct MultiTurnScorer {
    simulators: Arc<Simulators>,
    /// The package's own entries, by category and id, for answers that come without theirs.
    known: Arc<OnceCell<BTreeMap<String, (Json, Json)>>>,
}

impl fmt::Debug for MultiTurnScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MultiTurnScorer")
    }
}

impl MultiTurnScorer {
    /// The scorer with these simulators.
    pub(crate) fn new(simulators: Arc<Simulators>) -> Self {
        Self {
            simulators,
            known: Arc::default(),
        }
    }

    fn from_options(options: &OptionReader<'_>) -> Result<Self> {
        let python = options.read("python", "a path", |value| {
            value.as_str().map(PathBuf::from)
        })?;
        let python = python.unwrap_or_else(|| "python3".into());
        Ok(Self::new(Arc::new(Simulators::new(
            python,
            options.folder(),
            None,
        ))))
    }

    /// What the simulators begin with, and the expected calls, of an entry of the package.
    fn known(&self, id: &str) -> Result<&(Json, Json)> {
        let known = self.known.get_or_try_init(|| -> Result<_> {
            let data = Data::open(self.simulators.package()?.data())?;
            let mut all = BTreeMap::new();
            for category in data.categories().iter().filter(|one| one.is_multi_turn()) {
                all.extend(entries(&data, category)?);
            }
            Ok(all)
        })?;
        known.get(id).ok_or_else(|| {
            Error::usage(format!(
                "the package has no multi-turn entry `{}`",
                id.escape_debug()
            ))
            .hint("give the `id` of one, such as `multi_turn_base_0`")
        })
    }

    /// The answer as the official program has it: steps by turn.
    fn turns(answer: &Answer<'_>) -> Option<Vec<Vec<Value>>> {
        let result = match answer.prediction {
            _ if !answer.output.messages.is_empty() => turns(answer.output),
            text => Value::from_json(text?).ok()?,
        };
        let Value::List(turns) = result else {
            return None;
        };
        let steps = |turn| match turn {
            Value::List(steps) => steps,
            _ => Vec::new(),
        };
        Some(turns.into_iter().map(steps).collect())
    }
}

impl Scorer for MultiTurnScorer {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let text = |members: &Map<String, Json>, key: &str| {
            members.get(key).and_then(Json::as_str).map(str::to_owned)
        };
        let mode = text(answer.metadata, MODE).or_else(|| text(&answer.output.metadata, MODE));
        let is_native = match mode.as_deref() {
            None | Some("prompt") => false,
            Some("fc") => true,
            Some(other) => {
                let message = format!(
                    "`mode` is `{}`, expected `prompt` or `fc`",
                    other.escape_debug()
                );
                return Err(Error::usage(message));
            }
        };
        if !(answer.target.0.is_null() || answer.target.0.is_array()) {
            let message =
                format!("`ground_truth` must be a list of turns with calls for scorer `{NAME}`");
            return Err(Error::usage(message));
        }
        let Some(turns) = Self::turns(answer) else {
            let message =
                "Error during inference phase. Model did not output a list of model responses.";
            return Ok(wrong("inference_error", message));
        };
        let id = answer.item.map(|(id, _)| id.to_owned());
        let id = id
            .or_else(|| text(answer.metadata, "id"))
            .unwrap_or_default();
        let state = Script::of_metadata(answer.metadata).and_then(|script| script.initial_state);
        let (state, truth) = match state {
            Some(state) => (state, answer.target.0.clone()),
            None if id.is_empty() => {
                let error = Error::usage("`id` is missing or not a text");
                return Err(error.hint("give that of an entry, such as `multi_turn_base_0`"));
            }
            None => self.known(&id)?.clone(),
        };
        let expected = truth.as_array().map_or(0, Vec::len);
        if turns.len() != expected {
            let message = format!(
                "Model was force-terminated during inference phase. The length of the model result turns ({}) does not match \
                 the length of the ground truth turns ({expected}).",
                turns.len()
            );
            return Ok(wrong("force_terminated", &message));
        }
        let steps = |turn: &Vec<Value>| -> Vec<Vec<String>> {
            let steps = turn.iter().filter_map(|step| calls(step, is_native));
            let steps = steps.map(|calls| calls.into_iter().map(|call| call.text).collect());
            steps
                .filter(|calls: &Vec<String>| !calls.is_empty())
                .collect()
        };
        let turns: Vec<_> = turns.iter().map(steps).collect();
        let mut entry = state;
        entry["id"] = id.into();
        entry["truth"] = truth;
        let mut verdict = self.simulators.judge(&entry, &turns)?;
        if verdict.get("valid") == Some(&Json::Bool(true)) {
            return Ok(Score::new(1.0, true, "valid"));
        }
        let mut take = |key: &str| verdict.shift_remove(key);
        let [kind, message] = ["error_type", "error_message"].map(|key| match take(key) {
            Some(Json::String(text)) => text,
            _ => String::new(),
        });
        let mut score = wrong(kind, &message);
        for (key, value) in verdict {
            if matches!(key.as_str(), "first_wrong_turn" | "differs" | "missing") {
                score = score.detail(key, value);
            }
        }
        Ok(score)
    }

    fn begin(&self, _: &Beginning<'_>) -> Result<()> {
        self.simulators.package().map(drop)
    }

    /// Answers of the package's own entries come without a ground truth.
    fn needs_target(&self) -> bool {
        false
    }

    fn reads(&self) -> Reads {
        Reads::Calls
    }

    fn fingerprint(&self) -> String {
        let package = self.simulators.package();
        fingerprint(
            NAME,
            &json!(package.map(Package::version).unwrap_or_default()),
        )
    }
}

fn wrong(kind: impl Into<Cow<'static, str>>, message: &str) -> Score {
    Score::new(0.0, false, kind).detail("error", message)
}
