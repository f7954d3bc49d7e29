#![doc = include_str!("custom.md")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::Registry;
use crate::benchmark::Benchmark;
use crate::benchmark::conversations::{ConversationKeys, TurnKeys, as_text};
use crate::benchmark::custom::Custom;
use crate::data::conversation::Script;
use crate::data::dataset::{kind, scalar, slice_value};
use crate::data::{Attachment, Output, Sample};
use crate::error::{Error, Result, Under, nearest};
use crate::eval::registry::BuiltIn;
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::scorers::{Context, from_value};
use crate::scorer::compose::per_sample::KEY;
use crate::scorer::{Answer, Scorer};
use crate::system::file::is_inside;

pub(super) const ENTRY: Recipe<CustomKeys, Arc<dyn Benchmark>> = Recipe {
    about: BuiltIn {
        name: "custom",
        summary: "questions written into the spec itself",
        page: include_str!("custom.md"),
    },
    make: |keys, surroundings| Ok(Arc::new(custom(keys, surroundings)?)),
};

impl Custom {
    /// Lets samples name a user's own scorers.
    #[must_use]
    pub fn registry(self, registry: &Registry) -> Self {
        let context = Context {
            registry: Some(registry),
            ..Context::here()
        };
        self.made_by(context.maker())
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct CustomKeys {
    samples: Vec<SampleKeys>,
    /// Of samples that name none.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::fields::optional_scorer")
    )]
    #[serde(default)]
    scorer: Option<Value>,
    ids: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "required": ["prompt"] },
    { "required": ["turns"] },
    { "required": ["scenario"] },
])))]
#[serde(deny_unknown_fields)]
pub(super) struct SampleKeys {
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "type": "string", "pattern": r"^\s*$" })))]
    id: String,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("not" = { "type": "string", "pattern": r"^\s*$" }))
    )]
    #[serde(default, deserialize_with = "given")]
    prompt: Option<String>,
    #[cfg_attr(feature = "schema", schemars(with = "Vec<TurnKeys>", extend("minItems" = 1)))]
    #[serde(default, deserialize_with = "given")]
    turns: Option<Vec<TurnKeys>>,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("not" = { "type": "string", "pattern": r"^\s*$" }))
    )]
    #[serde(default, deserialize_with = "given")]
    scenario: Option<String>,
    visible_to_user: Option<Value>,
    system: Option<String>,
    tools: Option<Vec<Value>>,
    initial_state: Option<Value>,
    expected_state: Option<Map<String, Value>>,
    ground_truth: Option<Value>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::fields::optional_scorer")
    )]
    #[serde(default)]
    scorer: Option<Value>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::fields::scalar")
    )]
    #[serde(default)]
    level: Option<Value>,
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::fields::scalars_by_name")
    )]
    slices: Map<String, Value>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(default)]
    visible: Vec<String>,
}

/// A key that may be left out, and has a value where it is there.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The benchmark, checked: an error is about a key of a sample.
fn custom(keys: CustomKeys, surroundings: &Surroundings<'_>) -> Result<Custom> {
    let Surroundings {
        folder,
        registry,
        has_scorers,
        ..
    } = *surroundings;
    if keys.samples.is_empty() {
        let error = Error::usage("benchmark `custom` has no samples")
            .hint("write `samples: [{ id: a, prompt: \"2 + 2?\", ground_truth: \"4\" }]`");
        return Err(error.under("samples"));
    }
    let mut ids = HashSet::new();
    let mut samples = Vec::with_capacity(keys.samples.len());
    for (item, keys) in keys.samples.into_iter().enumerate() {
        let id = keys.id.clone();
        if !ids.insert(id.clone()) {
            let error = Error::usage(format!("two samples have the id `{}`", id.escape_debug()))
                .hint("give every sample a unique id");
            return Err(error.under("id").under(item).under("samples"));
        }
        let made = keys.sample(folder);
        samples.push(made.map_err(|error| of_sample(error, item, &id))?);
    }
    let mut custom = Custom::new(samples).folder(folder).registry(registry);
    let scorer = custom.per_sample(&Context::here().maker());
    if let Some(default) = keys.scorer {
        let any = Sample::new("any", "?").target("").scorer(default.clone());
        scorer.scorer_of(&any).under("scorer")?;
        custom = custom.scorer(default);
    }
    for (item, sample) in custom.whole_samples().iter().enumerate() {
        // If the spec names scorers, they decide whether they need a ground truth.
        let script = Script::of(sample).unwrap_or_default();
        let has_own_truths = script.turns.iter().any(|turn| turn.ground_truth.is_some());
        let excused = (has_scorers || has_own_truths) && sample.target.is_none();
        let excused = excused.then(|| sample.clone().target(""));
        let checked = scorer
            .scorer_of(excused.as_ref().unwrap_or(sample))
            .under("scorer");
        let fits = || check_target(sample).under("ground_truth");
        let checked = checked.and_then(|_| fits());
        checked.map_err(|error| of_sample(error, item, &sample.id))?;
    }
    if let Some(wanted) = keys.ids {
        custom = custom.ids(wanted);
    }
    Ok(custom)
}

/// Built-in scorers that compare two texts without asking a model: they can be tried out.
const PURE: [&str; 12] = [
    "aime",
    "choice",
    "exact",
    "fuzzy",
    "gaia",
    "gsm8k",
    "includes",
    "json",
    "numeric",
    "qa_f1",
    "substring",
    "token_f1",
];

/// Checks, before an agent is paid for, that the sample's scorer accepts its ground truth, by judging a dummy answer.
fn check_target(sample: &Sample) -> Result<()> {
    let (Some(target), Some(spec)) = (&sample.target, sample.metadata.get(KEY)) else {
        return Ok(());
    };
    let kind = spec.get("type").unwrap_or(spec).as_str();
    if !kind.is_some_and(|kind| PURE.contains(&kind)) {
        return Ok(());
    }
    let answer = Answer {
        output: &Output::default(),
        metadata: &sample.metadata,
        sample: Some(sample),
        extract_is_given: true,
        ..Answer::new("0", target)
    };
    let judged = from_value(spec, &Context::here())?.score(&answer);
    judged.map(drop).map_err(|error| match error.hint_text() {
        Some(_) => error,
        None => error.hint("correct it, or use another scorer"),
    })
}

/// An error of a sample.
fn of_sample(error: Error, item: usize, id: &str) -> Error {
    let error = error.at(format_args!("sample `{}`", id.escape_debug()));
    error.under(item).under("samples")
}

impl SampleKeys {
    /// The sample.
    fn sample(mut self, folder: &Path) -> Result<Sample> {
        let conversation = ConversationKeys {
            turns: self.turns.take(),
            scenario: self.scenario.take(),
            system: self.system.take(),
            visible_to_user: self.visible_to_user.take(),
            initial_state: self.initial_state.take(),
            expected_state: self.expected_state.take(),
            tools: self.tools.take(),
        };
        let is_conversation = conversation.turns.is_some() || conversation.scenario.is_some();
        let is_blank = |text: &str| text.trim().is_empty();
        let blank_prompt = match &self.prompt {
            Some(prompt) => is_blank(prompt),
            None => !is_conversation,
        };
        if is_blank(&self.id) || blank_prompt {
            let key = if is_blank(&self.id) { "id" } else { "prompt" };
            if key == "prompt" && self.prompt.is_none() {
                return Err(Error::usage("missing key `prompt`")
                    .hint("write what is asked, or the `turns` of a conversation"));
            }
            let error = Error::usage(format!("`{key}` is blank")).hint("fill it in");
            return Err(error.under(key));
        }
        if is_conversation && (self.prompt.is_some() || !self.files.is_empty()) {
            let key = if self.prompt.is_some() {
                "prompt"
            } else {
                "files"
            };
            let error = Error::usage(format!("a conversation has no `{key}`"));
            return Err(error
                .hint("write what the user says into `turns`")
                .under(key));
        }
        let mut metadata = self.metadata;
        if metadata.contains_key(KEY) {
            let error = Error::usage(format!("`metadata` has an entry `{KEY}`"));
            let error = error.hint(format!("write `{KEY}` next to `prompt`"));
            return Err(error.of_key(KEY).under("metadata"));
        }
        let level = self.level.map(|level| ("level".to_owned(), level));
        let level = level.into_iter().map(|(key, level)| (None, key, level));
        let slices_key = Some("slices");
        let others = self.slices.into_iter();
        let others = others.map(|(key, value)| (slices_key, key, value));
        let mut slices = Vec::new();
        for (around, dimension, value) in level.chain(others) {
            let text = scalar(&dimension, Some(&value)).map_err(|_| {
                let found = kind(&value);
                let message = format!("slice `{dimension}` is {found}, where a text is needed");
                let hint = format!("write `{dimension}: easy`");
                let error = Error::usage(message).hint(hint).under(&*dimension);
                around.into_iter().fold(error, Error::under)
            })?;
            if let Some(value) = slice_value(text) {
                slices.push((dimension.clone(), value));
            }
            metadata.entry(dimension).or_insert(value);
        }
        let mut visible = self.visible.iter().enumerate();
        if let Some((item, unknown)) = visible.find(|(_, key)| !metadata.contains_key(*key)) {
            let error = Error::usage(format!(
                "`visible` names `{unknown}`, which is not in `metadata`"
            ));
            let near = nearest(unknown, metadata.keys().map(String::as_str));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write it down: `metadata: {{ {unknown}: … }}`"),
            };
            return Err(error.hint(hint).under(item).under("visible"));
        }
        let files = self.files.iter().enumerate();
        let files = files.map(|(item, path)| attachment(path, folder).under(item));
        let files = files.collect::<Result<_>>().under("files")?;
        if let Some(scorer) = self.scorer {
            metadata.insert(KEY.to_owned(), scorer);
        }
        let mut sample = Sample::new(self.id, self.prompt.unwrap_or_default());
        sample.target = self
            .ground_truth
            .filter(|truth| !truth.is_null())
            .map(|truth| as_text(truth).into());
        let sample = Sample {
            slices,
            metadata,
            files,
            visible: self.visible,
            ..sample
        };
        conversation.around(sample)
    }
}

/// A file next to the spec. Its existence is checked before the run, as for every benchmark.
fn attachment(path: &str, folder: &Path) -> Result<Attachment> {
    let relative = PathBuf::from(path);
    let name = relative
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    match name {
        Some(name) if is_inside(&relative) => Ok(Attachment {
            name,
            path: relative,
            root: folder.to_owned(),
        }),
        _ => Err(
            Error::usage(format!("`{path}` is not a file below the spec's folder"))
                .hint("put the file next to the spec and name it by a relative path without `..`"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::data::{Score, Status};
    use crate::error::Result;
    use crate::eval::Eval;
    use crate::eval::registry::Registry;
    use crate::eval::spec::parse;
    use crate::scorer::Answer;
    use crate::text::setting::Override;

    const SPEC: &str = "\
name: shop
benchmark:
  type: custom
  samples:
    - id: total
      prompt: What do all orders cost together?
      ground_truth: 42
      level: 1
      slices: { topic: orders }
      files: [data/orders.csv]
      metadata: { hint: add, by: us }
      visible: [hint]
    - { id: \"word\", prompt: Which word?, ground_truth: [a, b], scorer: { type: mine } }
    - id: steps
      prompt: How many eggs?
      ground_truth: \"18\"
      scorer: gsm8k
agent: { type: echo, text: \"42\" }
";

    fn registry() -> Registry {
        let yes = |_: &Answer<'_>| Ok(Score::binary(true));
        Registry::new().scorer("mine", move |_| Ok(("mine", yes)))
    }

    fn load(text: &str) -> Result<Eval> {
        parse(
            text,
            std::path::Path::new("/specs/shop.yaml"),
            &registry(),
            &[],
        )
    }

    #[track_caller]
    fn check(from: &str, to: &str, expect: &str) {
        assert!(SPEC.contains(from), "{from}");
        let error = load(&SPEC.replacen(from, to, 1)).unwrap_err();
        let message = error.message().replace("/specs/shop.yaml", "S");
        assert_eq!(message, expect);
        assert!(error.hint_text().is_some(), "{error}");
        assert_eq!(error.exit(), crate::Exit::Usage);
    }

    #[test]
    fn samples_stand_in_the_spec() {
        let eval = load(SPEC).unwrap();
        let samples = eval.benchmark.samples().unwrap();
        let total = &samples[0];
        assert_eq!(
            (&*total.id, &*total.prompt),
            ("total", "What do all orders cost together?")
        );
        assert_eq!(total.target, Some("42".into()));
        let slice = |dimension: &str, value: &str| (dimension.to_owned(), value.to_owned());
        assert_eq!(
            total.slices,
            [slice("level", "1"), slice("topic", "orders")]
        );
        assert_eq!(total.files[0].name, "orders.csv");
        assert_eq!(total.files[0].root, std::path::Path::new("/specs"));
        assert_eq!(total.visible, ["hint"]);
        assert_eq!(
            total.metadata["scorer"],
            json!("gaia"),
            "the default is in the record"
        );
        assert_eq!(samples[1].target, Some(json!(["a", "b"]).into()));
        assert_eq!(samples[2].metadata["scorer"], json!("gsm8k"));
    }

    #[test]
    fn each_sample_is_scored_by_its_scorer() {
        let folder = tempfile::tempdir().unwrap();
        let text = SPEC.replace("      files: [data/orders.csv]\n", "");
        let mut eval = load(&text).unwrap().output_root(folder.path());
        eval.snapshot.folder = folder.path().join("snapshots");
        let run = eval.run().unwrap();
        let verdicts = run.records.iter().map(|record| {
            let score = record.result.score.as_ref().unwrap();
            assert_eq!(record.result.status, Status::Scored);
            (
                score.details.get("scorer").unwrap().as_str().unwrap(),
                score.correct,
            )
        });
        let expect = [("gaia", true), ("mine", true), ("gsm8k", false)];
        assert!(verdicts.eq(expect));
        assert!(run.notices.is_empty(), "{:?}", run.notices);
    }

    #[test]
    fn a_scorer_for_all_replaces_those_of_the_samples_with_a_notice() {
        let text = SPEC.replace("agent:", "scorer: any_of\nagent:");
        let listing = crate::run::listing::Listing::of(&load(&text).unwrap(), 0).unwrap();
        let is_expected =
            |notice: &String| notice.contains("the scorers of single samples are ignored");
        assert!(
            listing.notices.iter().any(is_expected),
            "{:?}",
            listing.notices
        );
    }

    #[test]
    fn mistakes_are_found_by_place() {
        let check_scorer = |to: &str, expect: &str| check("scorer: gsm8k", to, expect);
        check_scorer(
            "scorer: gsm9k",
            "S:17:15: sample `steps`: unknown scorer `gsm9k`",
        );
        check_scorer(
            "scorer: { type: gsm8k, x: 1 }",
            "S:17:30: sample `steps`: unknown option `x`: scorer `gsm8k` \
            has no options",
        );
        check_scorer(
            "scorer: per_sample",
            "S:17:15: sample `steps`: `per_sample` cannot be the scorer of a sample",
        );
        check_scorer("scorer: 3", "S:17:15: sample `steps`: `3` is not a scorer");
        check(
            "      ground_truth: \"18\"\n",
            "",
            "S:16:15: sample `steps`: the sample has no ground truth, but its scorer \
            `gsm8k` needs one",
        );
        check(
            "id: \"word\"",
            "id: total",
            "S:13:13: two samples have the id `total`",
        );
        check(
            "ground_truth: \"18\"",
            "ground_truth: many",
            "S:16:21: sample `steps`: `ground_truth` must be a number for scorer `gsm8k`, or end in one",
        );
        check(
            "ground_truth: \"18\"\n      scorer: gsm8k",
            "scorer: numeric\n      ground_truth: many",
            "S:17:21: sample `steps`: `ground_truth` \"many\" is not a number, but scorer `numeric` needs one",
        );
        check(
            "prompt: How many eggs?",
            "prompt: ' '",
            "S:15:15: sample `steps`: `prompt` is blank",
        );
        check(
            "[hint]",
            "[hnt]",
            "S:12:17: sample `total`: `visible` names `hnt`, which is not in `metadata`",
        );
        check(
            "{ hint: add,",
            "{ scorer: gaia, hint: add,",
            "S:11:19: sample `total`: `metadata` has an entry `scorer`",
        );
        check(
            "{ topic: orders }",
            "{ topic: [a] }",
            "S:9:24: sample `total`: slice `topic` is an array, where a text is \
            needed",
        );
        for path in ["../orders.csv", "/orders.csv", "data/.."] {
            check(
                "data/orders.csv",
                path,
                &format!("S:10:15: sample `total`: `{path}` is not a file below the spec's folder"),
            );
        }
        check(
            "  samples:",
            "  scorer: gaya\n  samples:",
            "S:4:11: unknown scorer `gaya`",
        );
        check(
            "      level: 1",
            "      levl: 1",
            "S:8:7: unknown key `benchmark.samples[0].levl`",
        );
        check(
            "id: steps",
            "ids: steps",
            "S:14:7: unknown key `benchmark.samples[2].ids`",
        );
    }

    #[test]
    fn registered_scorers_are_not_checked_here() {
        let path = std::path::Path::new("/specs/shop.yaml");
        let error = parse(SPEC, path, &Registry::new(), &[]).unwrap_err();
        assert!(error.is_unregistered(), "{error}");
        let ids = Override::new("benchmark.ids", json!(["steps"]));
        let eval = parse(SPEC, path, &registry(), &[ids]).unwrap();
        assert_eq!(eval.benchmark.samples().unwrap().len(), 1);
    }
}
