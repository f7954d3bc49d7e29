//! Scorers by name, for specs and the command line.

use serde_json::{Map, Value};

use super::Scorer;
use super::gaia::Gaia;
use crate::error::{Error, Result, nearest};

/// The names that [`by_name`] knows, in alphabetical order.
pub const NAMES: &[&str] = &["gaia"];

/// The scorer of a name, with its options as a spec gives them.
///
/// Unknown names and unknown options are errors that list the legal ones.
pub fn by_name(name: &str, options: &Map<String, Value>) -> Result<Box<dyn Scorer>> {
    match name {
        "gaia" => {
            legal_options(name, options, &[])?;
            Ok(Box::new(Gaia))
        }
        _ => Err(unknown("scorer", name, NAMES)),
    }
}

fn legal_options(name: &str, options: &Map<String, Value>, legal: &[&str]) -> Result<()> {
    match options.keys().find(|key| !legal.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) if legal.is_empty() => Err(Error::usage(format!(
            "unknown option `{key}`: scorer `{name}` has no options"
        ))
        .hint(format!("remove `{key}`"))),
        Some(key) => Err(unknown("option", key, legal).at(format_args!("scorer `{name}`"))),
    }
}

fn unknown(what: &str, given: &str, legal: &[&str]) -> Error {
    let error = Error::usage(format!(
        "unknown {what} `{given}`, expected one of `{}`",
        legal.join("`, `")
    ));
    match nearest(given, legal.iter().copied()) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(name: &str, options: &Value, expect: &str) {
        let options = options.as_object().cloned().unwrap_or_default();
        let error = by_name(name, &options).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expect));
    }

    #[test]
    fn every_name_has_its_scorer() {
        for name in NAMES {
            let scorer = by_name(name, &Map::new()).expect("a known name");
            assert_eq!(scorer.name(), *name);
        }
        assert!(NAMES.is_sorted());
    }

    #[test]
    fn what_is_unknown_is_answered_with_what_is_legal() {
        check(
            "gaya",
            &json!({}),
            "unknown scorer `gaya`, expected one of `gaia`\n\nhint: did you mean `gaia`?",
        );
        check(
            "f1",
            &json!({}),
            "unknown scorer `f1`, expected one of `gaia`",
        );
        check(
            "gaia",
            &json!({"strict": true}),
            "unknown option `strict`: scorer `gaia` has no options\n\nhint: remove `strict`",
        );
        assert_eq!(
            unknown("option", "stict", &["strict"]).to_string(),
            "unknown option `stict`, expected one of `strict`\n\nhint: did you mean `strict`?"
        );
    }
}
