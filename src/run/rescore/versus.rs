//! The scorer that compares the answers of two runs, read from a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::data::yaml_places::{Position, YamlPlaces};
use crate::error::{Error, KeyPath, Result};
use crate::eval::Budget;
use crate::eval::registry::scorers::{self, Context};
use crate::eval::spec::budget_of;
use crate::scorer::Scorer;
use crate::store::RunDir;
use crate::text::yaml;

/// The name of the scorer in specs.
const PAIRWISE: &str = "pairwise";
/// Shown as a hint.
const HINT: &str = "write `agent: { type: openai, … }` and `criteria: …`";

/// How to compare the answers of a run with those of another.
#[derive(Clone, Debug)]
pub struct Versus {
    /// A YAML file: the options of a `pairwise`, or a spec with one among its scorers.
    pub spec: PathBuf,
    /// The other run.
    pub against: RunDir,
    /// The number of items to compare; overrides the file.
    pub pairs: Option<u64>,
    /// The seed of the random draw; overrides the file.
    pub seed: Option<u64>,
}

/// The comparison that a file defines.
pub struct VersusScorer {
    /// The scorer.
    pub scorer: Arc<dyn Scorer>,
    /// The scorer as a spec would write it.
    pub spec: Value,
    /// The budget, if the file is a spec that has one.
    pub budget: Budget,
    /// A notice of parts of the file that are ignored.
    pub notice: Option<String>,
}

impl Versus {
    /// The scorer that the file has.
    ///
    /// # Errors
    /// With the position in the file, when it has no such scorer or one that cannot be made.
    pub fn scorer(&self) -> Result<VersusScorer> {
        let path = &self.spec;
        let read = crate::system::file::read_given(path);
        let text = read.map_err(|error| Error::io("read", path, &error).hint(HINT))?;
        let text = String::from_utf8(text)
            .map_err(|_| Error::usage(format!("`{}` is not a text", path.display())).hint(HINT))?;
        let text = text.trim_start_matches('\u{feff}');
        let at =
            |place: Position, error: Error| error.at(format_args!("{}:{place}", path.display()));
        let places = YamlPlaces::of(text);
        if let Some((key, place)) = places.repeated_key() {
            let error = Error::usage(format!("duplicate key `{key}`"));
            return Err(at(place, error.hint("keep one of the two")));
        }
        let value = yaml::read_json(text).map_err(|error| {
            let place = error.place.map(|(line, column)| Position { line, column });
            let message = error.to_string();
            // The position is prefixed instead.
            let end = message.find(" at line ").unwrap_or(message.len());
            let error = Error::usage(format!("not YAML: {}", &message[..end]));
            at(place.unwrap_or(Position::START), error.hint(HINT))
        })?;
        let placed = |error: Error| {
            let place = places.at(error.key_path().unwrap_or(&KeyPath::default()));
            at(place.unwrap_or(Position::START), error)
        };
        let (steps, mut options) = options_of(&value).map_err(placed)?;
        let limits = value.get("limits").filter(|_| steps.is_some());
        let budget = limits.map_or(Ok(Budget::default()), budget_of);
        let budget = budget.map_err(|error| placed(error.under("limits")))?;
        let against = json!({ "run": self.against.path() });
        let replaced = options.insert("against".to_owned(), against);
        let notice = replaced.map(|_| {
            let file = path.display();
            format!(
                "`against` in `{file}` is ignored here: the two runs are compared with each other"
            )
        });
        for (key, given) in [("pairs", self.pairs), ("seed", self.seed)] {
            if let Some(given) = given {
                options.insert(key.to_owned(), given.into());
            }
        }
        let context = Context {
            folder: path.parent().unwrap_or(Path::new(".")),
            registry: None,
            item_parts: None,
        };
        let mut spec = Map::new();
        spec.insert("type".to_owned(), PAIRWISE.into());
        options.shift_remove("type");
        spec.extend(options);
        let spec = Value::Object(spec);
        let made = scorers::from_value(&spec, &context);
        let made = made.map_err(|error| match steps {
            // An option that is not in the file has no position.
            _ if error.message().contains("option `against`") => error,
            Some((key, None)) => placed(error.under(key)),
            Some((key, Some(item))) => placed(error.under(item).under(key)),
            None => placed(error),
        })?;
        Ok(VersusScorer {
            scorer: made,
            spec,
            budget,
            notice,
        })
    }
}

/// The path to the options in a file.
type Steps = Option<(&'static str, Option<usize>)>;

/// The options of the `pairwise` in a file, and the path to them.
fn options_of(value: &Value) -> Result<(Steps, Map<String, Value>)> {
    let Value::Object(keys) = value else {
        return Err(Error::usage("this is no map").hint(HINT));
    };
    let is_pairwise = |value: &Value| value.get("type").and_then(Value::as_str) == Some(PAIRWISE);
    let listed = keys.get("scorers").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().enumerate();
    let listed = listed.map(|(item, scorer)| (Some(("scorers", Some(item))), scorer));
    let single = keys.get("scorer").map(|it| (Some(("scorer", None)), it));
    let mut found = single
        .into_iter()
        .chain(listed)
        .filter(|(_, scorer)| is_pairwise(scorer));
    if let Some((steps, scorer)) = found.next() {
        if found.next().is_some() {
            return Err(Error::usage("the spec has more than one scorer `pairwise`")
                .hint("put the one to use into a separate file")
                .under("scorers"));
        }
        let options = scorer.as_object().cloned();
        return Ok((steps, options.unwrap_or_default()));
    }
    if keys.contains_key("benchmark") || keys.contains_key("scorers") {
        return Err(Error::usage("the spec has no scorer `pairwise`").hint(
            "add one, as `{ type: pairwise, agent: …, criteria: … }`, or name a file with `agent` and `criteria`",
        ));
    }
    if keys.contains_key("type") && !is_pairwise(value) {
        let error = Error::usage(format!("`type: {}` is not `pairwise`", keys["type"]));
        return Err(error.hint(HINT).under("type"));
    }
    Ok((None, keys.clone()))
}
