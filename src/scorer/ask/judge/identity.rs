//! The identity of a judge, from its spec: everything that may change a verdict, but not how the judge is reached.

use std::path::Path;

use serde_json::{Map, Value};

use crate::text::hash::Hasher;

/// Agent keys that only affect how it is reached, its cost, or retries and timeouts.
const MERE: [&str; 13] = [
    "api_key_env",
    "base_url",
    "close_timeout_s",
    "files",
    "headers",
    "in_flight",
    "keep_scratch",
    "price",
    "processes",
    "start_timeout_s",
    "term_grace_s",
    "unsendable_files",
    "url",
];
/// Larger scripts are not hashed.
const SCRIPT_BYTES: u64 = 1 << 20;

/// The agent's keys that may change a verdict, and the hashes of its scripts.
pub(in crate::scorer::ask) fn identity(agent: &Value, folder: &Path) -> String {
    let Value::Object(keys) = agent else {
        return agent.to_string();
    };
    let identifying = keys.iter().filter(|(key, _)| !MERE.contains(&key.as_str()));
    let mut identifying: Map<String, Value> = identifying
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let scripts = scripts(keys.get("command"), folder);
    if !scripts.is_empty() {
        identifying.insert("scripts".to_owned(), scripts.into());
    }
    let mut identifying = Value::Object(identifying);
    identifying.sort_all_objects();
    identifying.to_string()
}

/// The words of a command that are scripts, with their hashes. Compiled programs are excluded, as they differ between
/// machines.
fn scripts(command: Option<&Value>, folder: &Path) -> Map<String, Value> {
    let words = command.and_then(Value::as_array).into_iter().flatten();
    let script = |word: &Value| {
        let word = word.as_str()?;
        Some((word.to_owned(), script_hash(&folder.join(word))?.into()))
    };
    words.filter_map(script).collect()
}

/// The hash of a script; `None` if it is not a script.
pub(in crate::scorer::ask) fn script_hash(path: &Path) -> Option<String> {
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let text = (about.len() <= SCRIPT_BYTES).then(|| std::fs::read_to_string(path));
    let text = text?.ok().filter(|text| !text.contains('\0'))?;
    Some(Hasher::default().part(text).short())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(other: &Value, is_same: bool) {
        let here = Path::new(".");
        let one =
            json!({ "type": "openai", "model": "m", "base_url": "http://a/v1", "temperature": 0 });
        let same = identity(&one, here) == identity(other, here);
        assert_eq!(same, is_same, "{other}");
    }

    #[test]
    fn how_it_is_reached_does_not_make_another_judge() {
        check(
            &json!({ "temperature": 0, "type": "openai", "model": "m", "base_url": "http://b/v1", "api_key_env": "K",
                "price": { "input": 1, "output": 2 } }),
            true,
        );
        let nested = |extra: &str| {
            let extra: Value = serde_json::from_str(extra).unwrap();
            identity(
                &json!({ "type": "openai", "extra_body": extra }),
                Path::new("."),
            )
        };
        assert_eq!(nested(r#"{"a": 1, "b": 2}"#), nested(r#"{"b": 2, "a": 1}"#));
        check(
            &json!({ "type": "openai", "model": "n", "temperature": 0 }),
            false,
        );
        check(
            &json!({ "type": "openai", "model": "m", "temperature": 1 }),
            false,
        );
        check(
            &json!({ "type": "openai", "model": "m", "temperature": 0, "seed": 1 }),
            false,
        );
    }

    #[test]
    fn another_script_is_another_judge() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("judge.py");
        let keys = json!({ "type": "command", "command": ["python3", "judge.py"] });
        std::fs::write(&path, "one").unwrap();
        let one = identity(&keys, folder.path());
        assert_eq!(one, identity(&keys, folder.path()));
        std::fs::write(&path, "two").unwrap();
        assert_ne!(one, identity(&keys, folder.path()));
    }
}
