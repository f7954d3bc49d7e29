//! Scores each sample with the scorer named in its metadata.
//!
#![doc = include_str!("per_sample.md")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};

use super::parts;
use crate::agent::Agent;
use crate::data::reviews::without_answer;
use crate::data::sample::SCORER;
use crate::data::{Sample, Score};
use crate::error::{Error, Result, Under};
use crate::scorer::{Answer, Beginning, Entry, Example, Maker, Scorer};
use crate::system::lock;

/// The name of the scorer.
pub(crate) const NAME: &str = "per_sample";

/// The metadata entry that names a sample's scorer, unless the option `key` changes it.
pub(crate) const KEY: &str = SCORER;

/// The scorer of a sample that names none.
pub(crate) const DEFAULT: &str = "gaia";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "the scorer that each sample names in its metadata",
    rule: include_str!("per_sample.md"),
    options: &[
        (
            "default",
            "the scorer of samples that name none; without it they are an error",
        ),
        (
            "key",
            "the metadata entry that names the scorer; default `scorer`",
        ),
    ],
    examples: &[Example {
        options: "{ default: gaia }",
        prediction: "$1,234.50",
        ground_truth: "1234.5",
        correct: true,
        note: "a sample that names no scorer is judged by the default",
    }],
    make: |options| {
        let mut scorer = PerSample::new(options.maker());
        scorer.default = options.value("default").cloned();
        if let Some(key) = options.text("key")? {
            key.clone_into(&mut scorer.key);
        }
        // An invalid default would fail for every sample.
        options.scorer("default")?;
        if let Some(default) = &scorer.default {
            scorer.make(default).under("default")?;
        }
        Ok(Arc::new(scorer))
    },
};

/// Scores each sample with the scorer that its metadata names.
pub(crate) struct PerSample {
    key: String,
    default: Option<Value>,
    maker: Maker,
    /// Scorers by their spec: each is made once.
    made: Mutex<HashMap<String, Arc<dyn Scorer>>>,
}

impl PerSample {
    /// A scorer that can use everything `maker` makes.
    pub(crate) fn new(maker: &Maker) -> Self {
        Self {
            key: KEY.to_owned(),
            default: None,
            maker: maker.clone(),
            made: Mutex::default(),
        }
    }

    /// The scorer for a sample with this metadata.
    fn of(&self, metadata: &Map<String, Value>) -> Result<Arc<dyn Scorer>> {
        let named = metadata.get(&self.key).filter(|value| !value.is_null());
        let spec =
            named.or(self.default.as_ref()).ok_or_else(|| {
                Error::usage(format!("the sample names no scorer in `metadata.{}`", self.key)).hint(
                "give it one, or a default for all: `scorer: { type: per_sample, default: gaia }`",
            )
            })?;
        self.make(spec)
    }

    /// The scorer of a sample, which has a ground truth if that needs one.
    pub(crate) fn scorer_of(&self, sample: &Sample) -> Result<Arc<dyn Scorer>> {
        let scorer = self.of(&sample.metadata)?;
        let is_missed = without_answer(&sample.metadata).is_none();
        check_target(&*scorer, sample.target.is_some() || !is_missed)?;
        Ok(scorer)
    }

    fn make(&self, spec: &Value) -> Result<Arc<dyn Scorer>> {
        let text = spec.to_string();
        if let Some(made) = lock(&self.made).get(&text) {
            return Ok(Arc::clone(made));
        }
        if names_itself(spec) {
            // It would recurse on the metadata without end.
            return Err(
                Error::usage(format!("`{NAME}` cannot be the scorer of a sample"))
                    .hint("name the scorer that is to judge it"),
            );
        }
        let made = self.maker.scorer(spec)?;
        lock(&self.made).insert(text, Arc::clone(&made));
        Ok(made)
    }
}

fn names_itself(spec: &Value) -> bool {
    match spec {
        Value::String(text) => text == NAME,
        Value::Array(items) => items.iter().any(names_itself),
        Value::Object(map) => map.values().any(names_itself),
        _ => false,
    }
}

impl Scorer for PerSample {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let scorer = self.of(answer.metadata)?;
        check_target(&*scorer, !answer.target.0.is_null())?;
        let name = scorer.name();
        let score = parts::judge(&*scorer, answer)
            .map_err(|error| error.at(format_args!("scorer `{name}`")))?;
        Ok(score.detail("scorer", name))
    }

    /// Some scorers need none.
    fn needs_target(&self) -> bool {
        false
    }

    /// Not a question whose answer nobody has filled in yet.
    fn judges(&self, answer: &Answer<'_>) -> bool {
        let is_asked = !answer.target.0.is_null() || without_answer(answer.metadata).is_none();
        is_asked
            || self
                .of(answer.metadata)
                .is_ok_and(|scorer| !scorer.needs_target())
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let scorer = self.scorer_of(sample)?;
        // It is named in the hash, but what it reads of the ground truth is not.
        let name = scorer.name();
        let read = scorer.criterion(sample);
        read.map_err(|error| error.at(format_args!("scorer `{name}`")))?;
        let own = scorer
            .extract()
            .map_or_else(String::new, |own| own.to_string());
        Ok(Some(format!("{} {own}", scorer.fingerprint())))
    }

    fn fingerprint(&self) -> String {
        // The named scorer is part of each sample's hash.
        format!("{NAME} {}", self.key)
    }

    /// The secrets of the scorers made so far: all samples are checked before anything is written.
    fn secrets(&self) -> Vec<String> {
        let made = lock(&self.made);
        made.values().flat_map(Scorer::secrets).collect()
    }

    fn agents(&self) -> Vec<Arc<dyn Agent>> {
        let made = lock(&self.made);
        made.values().flat_map(Scorer::agents).collect()
    }

    fn secret_variables(&self) -> Vec<(String, String)> {
        let made = lock(&self.made);
        made.values().flat_map(Scorer::secret_variables).collect()
    }

    fn unset_variables(&self) -> Vec<String> {
        let made = lock(&self.made);
        made.values().flat_map(Scorer::unset_variables).collect()
    }

    /// Each gets all samples: only a sample's metadata tells which scorer it has.
    fn begin(&self, about: &Beginning<'_>) -> Result<()> {
        let made: Vec<_> = lock(&self.made).values().map(Arc::clone).collect();
        made.iter().try_for_each(|scorer| scorer.begin(about))
    }

    fn notices(&self) -> Vec<String> {
        let made = lock(&self.made);
        let mut notices: Vec<_> = made.values().flat_map(Scorer::notices).collect();
        notices.sort_unstable();
        notices
    }
}

fn check_target(scorer: &dyn Scorer, has_target: bool) -> Result<()> {
    if has_target || !scorer.needs_target() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the sample has no ground truth, but its scorer `{}` needs one",
        scorer.name()
    ))
    .hint("give it a `ground_truth`, or a scorer that judges without one"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{Output, Target};
    use crate::eval::registry::Registry;
    use crate::eval::registry::scorers::{Context, by_name};

    fn per_sample(options: &Value) -> Result<Arc<dyn Scorer>> {
        by_name(NAME, options.as_object().unwrap(), &Context::here())
    }

    fn sample(scorer: Value) -> Sample {
        let mut sample = Sample::new("a", "?").target("18");
        sample.metadata.insert(KEY.to_owned(), scorer);
        sample
    }

    fn score(scorer: &dyn Scorer, sample: &Sample, raw: &str) -> Result<Score> {
        score_given(scorer, sample, raw, false)
    }

    fn score_given(
        scorer: &dyn Scorer,
        sample: &Sample,
        raw: &str,
        extract_is_given: bool,
    ) -> Result<Score> {
        scorer.score(&Answer {
            extract_is_given,
            ..Answer::new(raw, sample.target.as_ref().unwrap_or(&Target(Value::Null)))
                .output(&Output::text(raw))
                .metadata(&sample.metadata)
        })
    }

    #[test]
    fn each_sample_has_its_own_scorer() {
        let scorer = per_sample(&json!({})).unwrap();
        let check = |spec: Value, raw: &str, name: &str, correct: bool| {
            let score = score(&*scorer, &sample(spec), raw).unwrap();
            assert_eq!(score.correct, correct, "{raw}");
            assert_eq!(score.details.get("scorer"), Some(&name.into()));
        };
        check(json!("gaia"), "$18", "gaia", true);
        check(
            json!({"type": "gaia", "name": "official"}),
            "18 eggs",
            "official",
            false,
        );
        // An extraction that is part of a rule gets the raw answer.
        check(json!("gsm8k"), "9 * 2 = 18\n#### 18", "gsm8k", true);
        check(json!("aime"), "9 * 2 = 18", "aime", true);
        // Unless the eval sets another one.
        let raw = "9 * 2 = 18\n#### 18";
        let given = score_given(&*scorer, &sample(json!("gsm8k")), raw, true).unwrap();
        assert_eq!(
            (given.correct, given.normalized_prediction),
            (false, "9".into())
        );
    }

    #[test]
    fn a_default_judges_the_rest() {
        let scorer = per_sample(&json!({"default": "aime", "key": "judge"})).unwrap();
        let score = score(&*scorer, &sample(json!("gaia")), "\\boxed{018}").unwrap();
        assert_eq!(score.details.get("scorer"), Some(&"aime".into()));
        let none = per_sample(&json!({})).unwrap();
        let error = none.criterion(&Sample::new("a", "?")).unwrap_err();
        assert_eq!(
            error.message(),
            "the sample names no scorer in `metadata.scorer`"
        );
    }

    #[test]
    fn unusable_judge_is_an_error_before_any_request() {
        let scorer = per_sample(&json!({})).unwrap();
        let check = |spec: Value, expect: &str| {
            let error = scorer.criterion(&sample(spec.clone())).unwrap_err();
            assert!(error.message().starts_with(expect), "{error}");
            assert!(score(&*scorer, &sample(spec), "18").is_err());
        };
        check(json!("gaya"), "unknown scorer `gaya`");
        check(json!({"type": "gaia", "x": 1}), "unknown option `x`");
        check(json!(17), "`17` is not a scorer");
        check(
            json!("per_sample"),
            "`per_sample` cannot be the scorer of a sample",
        );
        check(
            json!({"type": "per_sample", "default": "gaia"}),
            "`per_sample` cannot be the scorer of a sample",
        );
        let mut hidden = sample(json!("gaia"));
        hidden.target = None;
        let error = scorer.criterion(&hidden).unwrap_err();
        let expect = "the sample has no ground truth, but its scorer `gaia` needs one";
        assert_eq!(error.message(), expect);
        assert!(score(&*scorer, &hidden, "18").is_err());
        for options in [json!({"default": "gaya"}), json!({"default": "per_sample"})] {
            assert!(per_sample(&options).is_err(), "{options}");
        }
    }

    #[test]
    fn deciding_scorer_is_reported_per_sample() {
        let scorer = per_sample(&json!({})).unwrap();
        let of = |spec: Value| scorer.criterion(&sample(spec)).unwrap();
        assert_eq!(of(json!("gaia")), of(json!({"type": "gaia"})));
        assert_ne!(of(json!("gaia")), of(json!("gsm8k")));
        assert_eq!(scorer.fingerprint(), "per_sample scorer");
    }

    #[test]
    fn registered_scorers_are_known_where_the_registry_is() {
        let registry = Registry::new().scorer("mine", |_| {
            Ok(("mine", |_: &Answer<'_>| Ok(Score::binary(true))))
        });
        let context = Context {
            registry: Some(&registry),
            ..Context::here()
        };
        let scorer = PerSample::new(&context.maker());
        assert!(score(&scorer, &sample(json!("mine")), "x").unwrap().correct);
        let error = PerSample::new(&Context::here().maker())
            .criterion(&sample(json!("mine")))
            .unwrap_err();
        assert!(error.is_unregistered(), "{error}");
    }
}
