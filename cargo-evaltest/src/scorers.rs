//! Builds scorers from command-line options.

use std::sync::Arc;

use evaltest::engine::scorers::{self, Context};
use evaltest::engine::text::Override;
use evaltest::scorer::Scorer;
use evaltest::{Error, Result};
use serde_json::{Map, Value};

/// Builds the scorers in `--scorer` (each a name or a YAML map) with `--scorer-option`: `key=value` for every scorer
/// that has the option, or `NAME.key=value` for one.
pub(crate) fn named(names: &[String], options: &[String]) -> Result<Vec<Arc<dyn Scorer>>> {
    let made = with_specs(names, options, &Context::here())?;
    Ok(made.into_iter().map(|(_, scorer)| scorer).collect())
}

/// Like [`named`], with the spec value of each scorer.
pub(crate) fn with_specs(
    names: &[String],
    options: &[String],
    context: &Context<'_>,
) -> Result<Vec<(Value, Arc<dyn Scorer>)>> {
    let make = |scorer: Named| {
        let made = scorers::by_name(&scorer.kind, &scorer.options, context);
        made.map(|made| (scorer.into_spec(), made))
    };
    parse(names, options)?.into_iter().map(make).collect()
}

/// Like [`named`], but only the spec values: for evals with scorers that this program does not know.
pub(crate) fn specs(names: &[String], options: &[String]) -> Result<Vec<Value>> {
    let given = parse(names, options)?;
    Ok(given.into_iter().map(Named::into_spec).collect())
}

/// Returns an error if options are given without a scorer.
pub(crate) fn needs_scorer(names: &[String], options: &[String]) -> Result<()> {
    if names.is_empty() && !options.is_empty() {
        return Err(Error::usage("`--scorer-option` without `--scorer`")
            .hint("name the scorer that it is for: `--scorer NAME`"));
    }
    Ok(())
}

fn parse(names: &[String], options: &[String]) -> Result<Vec<Named>> {
    let mut given = names
        .iter()
        .map(|text| Named::parse(text))
        .collect::<Result<Vec<_>>>()?;
    for (place, scorer) in given.iter().enumerate() {
        let name = scorer.name();
        if given[..place].iter().any(|other| other.name() == name) {
            return Err(
                Error::usage(format!("scorer `{name}` is given twice")).hint(format!(
                    "give one of them another name: `--scorer '{{ type: {}, name: other }}'`",
                    scorer.kind
                )),
            );
        }
    }
    for pair in options {
        set(&mut given, &Override::parse("", pair)?)?;
    }
    Ok(given)
}

/// A scorer to build.
struct Named {
    kind: String,
    options: Map<String, Value>,
}

impl Named {
    fn parse(text: &str) -> Result<Self> {
        let (kind, options) = match Override::value(text)? {
            Value::Object(mut map) => (map.shift_remove("type"), map),
            other => (Some(other), Map::new()),
        };
        match kind {
            Some(Value::String(kind)) => Ok(Self { kind, options }),
            None => Err(scorers::without_type(&format!(
                "`--scorer {text}` names no scorer"
            ))),
            _ => Err(Error::usage(format!("`--scorer {text}` names no scorer"))
                .hint("write a name, or a map: `--scorer '{ type: substring, compat: true }'`")),
        }
    }

    fn into_spec(self) -> Value {
        if self.options.is_empty() {
            return self.kind.into();
        }
        let kind = ("type".to_owned(), Value::from(self.kind));
        Value::Object(std::iter::once(kind).chain(self.options).collect())
    }

    /// The name under which its scores appear.
    fn name(&self) -> &str {
        let name = self.options.get("name").and_then(Value::as_str);
        name.unwrap_or(&self.kind)
    }

    fn legal(&self) -> impl Iterator<Item = &'static str> {
        let options = scorers::entry(&self.kind).map_or(&[][..], |entry| entry.options);
        options.iter().map(|option| option.0)
    }
}

/// Sets an option of the scorers that it applies to.
fn set(given: &mut [Named], option: &Override) -> Result<()> {
    let Override { key, value } = option;
    if let Some((name, key)) = key.split_once('.') {
        let Some(scorer) = given.iter_mut().find(|scorer| scorer.name() == name) else {
            let names: Vec<_> = given.iter().map(Named::name).collect();
            return Err(Error::usage(format!(
                "`--scorer-option {option}`: no scorer `{name}` is given, only `{}`",
                names.join("`, `")
            )));
        };
        // An unknown option is an error when the scorer is built.
        scorer.options.insert(key.to_owned(), value.clone());
        return Ok(());
    }
    let mut found = false;
    for scorer in given.iter_mut() {
        // The options of a user's own scorer are unknown here.
        let own = scorers::entry(&scorer.kind).is_none();
        if own || scorer.legal().any(|legal| legal == key) {
            scorer.options.insert(key.clone(), value.clone());
            found = true;
        }
    }
    if found {
        return Ok(());
    }
    // Report an unknown scorer first.
    for scorer in &*given {
        scorers::by_name(&scorer.kind, &scorer.options, &Context::here())?;
    }
    Err(illegal(given, key))
}

/// The error for an option that no scorer has.
fn illegal(given: &[Named], key: &str) -> Error {
    let legal = given.iter().map(|scorer| {
        let options: Vec<_> = scorer.legal().collect();
        if options.is_empty() {
            format!("`{}` has no options", scorer.name())
        } else {
            format!("`{}` has `{}`", scorer.name(), options.join("`, `"))
        }
    });
    let legal: Vec<_> = legal.collect();
    Error::usage(format!(
        "unknown scorer option `{key}`: {}",
        legal.join(", ")
    ))
}
