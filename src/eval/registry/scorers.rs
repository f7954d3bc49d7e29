//! The catalog: every built-in scorer with its rule, options and examples; scorers by name, for specs and the command
//! line.
//!
//! To add a scorer, write a file with its rule, a page of Markdown with the same name, and a line in `ENTRIES`, or in
//! `JUDGES` for one of the feature `judge`.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use super::kind::of_value;
use super::recipe::{missing_feature, unavailable_names};
use crate::benchmark::Benchmark;
use crate::data::{ItemPart, JudgeRule, Score};
use crate::error::{Error, Result, Under};
use crate::eval::limits::Limits;
use crate::eval::registry::{MadeAgent, Options, Registry, Surroundings};
use crate::scorer::compose::forward::forward;
use crate::scorer::compose::turns::{OfConversation, On};
use crate::scorer::options::{OptionReader, unknown};
use crate::scorer::{Answer, Entry, Maker, ResolvedAgent, Scorer, SmallSpec};
use crate::{bfcl, scorer};

/// The scorers of every build; those that judge calls are in `bfcl::SCORERS`, those that ask a model in [`JUDGES`].
pub(super) const ENTRIES: &[Entry] = &[
    crate::scorer::number::aime::ENTRY,
    crate::scorer::compose::all::ENTRY,
    crate::scorer::compose::any::ENTRY,
    crate::scorer::compose::any_of::ENTRY,
    crate::scorer::string::choice::ENTRY,
    scorer::ask::command::ENTRY,
    crate::scorer::string::exact::ENTRY,
    crate::scorer::string::fuzzy::ENTRY,
    scorer::gaia::ENTRY,
    crate::scorer::number::gsm8k::ENTRY,
    crate::scorer::string::includes::ENTRY,
    scorer::json::ENTRY,
    crate::scorer::string::list::ENTRY,
    crate::scorer::compose::not::ENTRY,
    crate::scorer::number::numeric::ENTRY,
    crate::scorer::compose::per_sample::ENTRY,
    crate::scorer::string::qa::ENTRY,
    crate::scorer::string::qa_f1::ENTRY,
    crate::scorer::string::qa_f1::FORMAT_ENTRY,
    crate::scorer::string::quasi_exact::ENTRY,
    crate::scorer::compose::recorded::ENTRY,
    crate::scorer::string::regex::ENTRY,
    scorer::state::ENTRY,
    crate::scorer::string::substring::ENTRY,
    crate::scorer::string::token_f1::ENTRY,
    crate::scorer::compose::weighted::ENTRY,
];

/// The scorers that ask a model, and the one of generated data.
#[cfg(feature = "judge")]
const JUDGES: &[Entry] = &[
    scorer::item::ENTRY,
    scorer::ask::judge::ENTRY,
    scorer::ask::jury::ENTRY,
    scorer::ask::pairwise::ENTRY,
    scorer::ask::semantic::ENTRY,
    scorer::ask::solver::ENTRY,
];
#[cfg(not(feature = "judge"))]
const JUDGES: &[Entry] = &[];

/// The built-in scorers, in alphabetical order.
pub fn entries() -> &'static [&'static Entry] {
    static SORTED: LazyLock<Vec<&Entry>> = LazyLock::new(|| {
        let mut entries: Vec<_> = ENTRIES.iter().chain(JUDGES).chain(bfcl::SCORERS).collect();
        entries.sort_unstable_by_key(|entry| entry.name);
        entries
    });
    &SORTED
}

/// The context in which scorers are built.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Relative paths in options start here: the spec's folder, or the current one.
    pub folder: &'a Path,
    /// A user's own scorers.
    pub registry: Option<&'a Registry>,
    /// The parts of items to judge, if items are judged instead of answers.
    pub item_parts: Option<&'a [ItemPart]>,
}

impl Context<'_> {
    /// The current folder, with only the built-in kinds.
    pub fn here() -> Context<'static> {
        Context {
            folder: Path::new("."),
            registry: None,
            item_parts: None,
        }
    }

    /// The same, owned, for scorers composed of others.
    pub(crate) fn maker(&self) -> Maker {
        let registry = self.registry.cloned();
        let item_parts = self.item_parts.map(<[ItemPart]>::to_vec);
        let of_scorers = item_parts.clone();
        let of_agents = registry.clone().unwrap_or_default();
        let of_benchmarks = of_agents.clone();
        Maker::new(
            self.folder,
            move |value, folder| {
                let registry = registry.as_ref();
                let item_parts = of_scorers.as_deref();
                from_value(
                    value,
                    &Context {
                        folder,
                        registry,
                        item_parts,
                    },
                )
            },
            move |value, folder| {
                let surroundings = Surroundings {
                    folder,
                    registry: &of_agents,
                    max_output_bytes: Limits::default().max_output_bytes,
                    has_scorers: false,
                };
                let made: MadeAgent = of_value(value, &surroundings)?;
                if made.agent.item_parts().is_some() {
                    let error = Error::usage("the agent `none` cannot be called");
                    let error = error.hint("write the judge's agent: `agent: { type: openai, … }`");
                    return Err(error.under("type"));
                }
                Ok(ResolvedAgent {
                    agent: made.agent,
                    options: made.options,
                    secrets: made.secrets,
                })
            },
            move |value, folder| {
                let surroundings = Surroundings {
                    folder,
                    registry: &of_benchmarks,
                    max_output_bytes: Limits::default().max_output_bytes,
                    // Nothing judges these samples.
                    has_scorers: true,
                };
                let benchmark: Arc<dyn Benchmark> = of_value(value, &surroundings)?;
                benchmark.samples()
            },
        )
        .showing(item_parts)
    }
}

/// The entry of a built-in scorer.
pub fn entry(name: &str) -> Option<&'static Entry> {
    let mut entries = entries().iter().copied();
    entries.find(|entry| entry.name == name)
}

/// Whole specs with this scorer, if its name alone is not enough.
#[cfg(feature = "judge")]
pub fn small_specs(entry: &Entry) -> Vec<SmallSpec> {
    if entry.name == scorer::ask::judge::ENTRY.name {
        scorer::ask::judge::specs::all()
    } else {
        Vec::new()
    }
}

/// The names of the built-in scorers.
pub fn names() -> impl Iterator<Item = &'static str> {
    entries().iter().map(|entry| entry.name)
}

/// Builds a scorer from a name, or from a map of `type` and options.
///
/// The option `name` renames any scorer, so that one kind can be in a list twice; `on` says which part of a conversation it
/// judges.
pub fn from_value(value: &Value, context: &Context<'_>) -> Result<Arc<dyn Scorer>> {
    let mut options = value.as_object().cloned().unwrap_or_default();
    let name = match value {
        Value::Object(_) => options.shift_remove("type"),
        other => Some(other.clone()),
    };
    if let Some(name) = name.as_ref().and_then(Value::as_str) {
        return by_name(name, &options, context);
    }
    let message = format!("`{value}` is not a scorer");
    let error = match (value, name) {
        (Value::Object(_), None) => without_type(&message),
        _ => Error::usage(message)
            .hint("write a name, or a map: `{ type: substring, compat: true }`"),
    };
    Err(error.under("type"))
}

/// The error for a scorer that is a map without a `type`.
pub fn without_type(message: &str) -> Error {
    let legal: Vec<_> = names().collect();
    Error::usage(format!("{message}: missing key `type`")).hint(format!(
        "add one, as in `{{ type: substring, compat: true }}`; legal names: `{}`",
        legal.join("`, `")
    ))
}

/// Builds the scorer of a name, with options as in a spec.
///
/// Unknown names and options are errors that list the valid ones.
pub fn by_name(
    name: &str,
    options: &Map<String, Value>,
    context: &Context<'_>,
) -> Result<Arc<dyn Scorer>> {
    let mut options = options.clone();
    let alias = match options.shift_remove("name") {
        None => None,
        Some(Value::String(alias)) if !alias.is_empty() => Some(alias),
        Some(other) => {
            return Err(Error::usage(format!("`{other}` is not a name"))
                .at(format_args!("scorer `{name}`, option `name`"))
                .under("name"));
        }
    };
    let on = match options.shift_remove("on") {
        None | Some(Value::Null) => None,
        Some(on) => Some(On::from_value(&on).under("on")?),
    };
    if let Some(error) = missing_feature("scorer", name) {
        return Err(error);
    }
    let scorer = match (entry(name), context.registry) {
        (Some(entry), _) => (entry.make)(&OptionReader::new(entry, &options, &context.maker())?)?,
        (None, Some(registry)) => registered(name, options, context.folder, registry)?,
        (None, None) => return Err(unknown_scorer(name, None)),
    };
    let scorer = match on {
        None | Some(On::Last) => scorer,
        Some(on) => Arc::new(OfConversation::new(scorer, on)),
    };
    Ok(match alias {
        None => scorer,
        alias => Arc::new(Configured {
            scorer,
            alias,
            options: None,
        }),
    })
}

fn registered(
    name: &str,
    options: Map<String, Value>,
    folder: &Path,
    registry: &Registry,
) -> Result<Arc<dyn Scorer>> {
    let options = Options::new(format!("scorer `{name}`"), options, folder);
    let Some(scorer) = registry.make_scorer(name, &options) else {
        return Err(unknown_scorer(name, Some(registry)));
    };
    Ok(Arc::new(Configured {
        scorer: scorer.or_under("type")?,
        alias: None,
        options: Some(options),
    }))
}

/// The error for a name that is neither built in nor registered.
fn unknown_scorer(name: &str, registry: Option<&Registry>) -> Error {
    let own = registry.into_iter().flat_map(Registry::scorer_names);
    let known = entries().iter().map(|entry| entry.name).chain(own);
    let known: Vec<_> = known.chain(unavailable_names("scorer")).collect();
    unknown("scorer", name, &known).under("type")
}

/// A scorer under another name, or a registered one with its options, which affect its verdicts though it may not report
/// them.
struct Configured {
    scorer: Arc<dyn Scorer>,
    alias: Option<String>,
    options: Option<Options>,
}

impl Scorer for Configured {
    fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or(self.scorer.name())
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        self.scorer.score(answer)
    }

    forward!(self => self.scorer);

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        self.scorer.details()
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        self.scorer.bounds()
    }

    fn judge_rule(&self) -> Option<JudgeRule> {
        self.scorer.judge_rule()
    }

    fn calibration(&self) -> Option<&Path> {
        self.scorer.calibration()
    }

    fn fingerprint(&self) -> String {
        let fingerprint = self.scorer.fingerprint();
        let Some(options) = &self.options else {
            return fingerprint;
        };
        format!("{fingerprint} {}", Value::Object(options.values().clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Target;
    use crate::text::setting::Override;

    fn check(spec: &Value, expect: &str) {
        let error = from_value(spec, &Context::here()).err();
        assert_eq!(
            error.map(|error| error.to_string()).as_deref(),
            Some(expect)
        );
    }

    #[test]
    fn the_entries_are_in_order_and_whole() {
        assert!(names().is_sorted());
        for entry in entries() {
            assert!(
                !entry.summary.is_empty() && !entry.summary.ends_with('.'),
                "{}",
                entry.name
            );
            assert!(entry.rule.len() > entry.summary.len(), "{}", entry.name);
            assert!(!entry.examples.is_empty(), "{}", entry.name);
        }
    }

    #[test]
    fn every_example_is_true() {
        // Without the feature `http` a spec cannot name it.
        let can_be_made = |entry: &&&Entry| entry.name != "semantic" || cfg!(feature = "http");
        for entry in entries().iter().filter(can_be_made) {
            for example in entry.examples {
                let options: Option<Map<String, Value>> =
                    serde_json::from_value(Override::value(example.options).expect("YAML"))
                        .expect("a map");
                let context = Context::here();
                let scorer = by_name(entry.name, &options.unwrap_or_default(), &context);
                let scorer = scorer.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
                let score = example.judge(&*scorer);
                let score = score.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
                assert_eq!(score.correct, example.correct, "{} {example:?}", entry.name);
            }
        }
    }

    #[test]
    fn what_is_unknown_is_answered_with_what_is_legal() {
        let error = from_value(&json!("gaya"), &Context::here())
            .err()
            .expect("an error");
        let text = error.to_string();
        assert!(
            text.starts_with("unknown scorer `gaya`\n\nhint: did you mean `gaia`? all: "),
            "{text}"
        );
        check(
            &json!({"type": "gaia", "strict": true}),
            "unknown option `strict`: scorer `gaia` has no options\n\nhint: remove `strict`",
        );
        check(
            &json!({"type": "gaia", "name": 3}),
            "scorer `gaia`, option `name`: `3` is not a name",
        );
        check(
            &json!(17),
            "`17` is not a scorer\n\nhint: write a name, or a map: `{ type: substring, compat: true }`",
        );
        let error = from_value(&json!({"typ": "gaia"}), &Context::here()).err();
        let text = error.expect("an error").to_string();
        assert!(
            text.starts_with(
                "`{\"typ\":\"gaia\"}` is not a scorer: missing key `type`\n\nhint: add one"
            ),
            "{text}"
        );
        assert!(text.contains("legal names: `aime`, `all`, "), "{text}");
    }

    #[test]
    fn a_scorer_may_have_another_name() {
        let spec = json!({"type": "gaia", "name": "official"});
        let scorer = from_value(&spec, &Context::here()).expect("a scorer");
        let target = Target::from("5");
        let answer = Answer::new("$5", &target);
        assert_eq!(
            (scorer.name(), scorer.fingerprint().as_str()),
            ("official", "gaia")
        );
        assert!(scorer.score(&answer).expect("a verdict").correct);
    }
}
