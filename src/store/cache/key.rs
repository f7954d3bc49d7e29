//! The cache key of an answer: a hash of the agent and of everything it is sent.

use std::borrow::Cow;
use std::io;

use serde_json::{Map, Value};

use crate::data::Sample;
use crate::system::file;
use crate::text::hash::Hasher;

/// Increased when agents are sent something else for the same sample, or replies are parsed differently.
const VERSION: u32 = 1;

/// Everything that determines an answer.
#[derive(Clone, Copy)]
pub(crate) struct CacheKeyInput<'a> {
    /// The agent's self-description.
    pub(crate) fingerprint: &'a str,
    /// The agent's keys in the spec; `null` for an agent that was built in Rust.
    pub(crate) spec: &'a Value,
    pub(crate) options: &'a Map<String, Value>,
    pub(crate) prompt: &'a str,
    pub(crate) sample: &'a Sample,
    pub(crate) epoch: u32,
    /// How many answers to it were refused before.
    pub(crate) again: u32,
}

impl CacheKeyInput<'_> {
    /// The key, 64 hex digits. It reveals nothing about its input.
    ///
    /// # Errors
    /// When a file of the sample cannot be read.
    pub(crate) fn key(&self) -> io::Result<String> {
        let sample = self.sample;
        let hash = Hasher::default().part("evaltest answer");
        let mut hash = agent_parts(hash, self.fingerprint, self.spec, self.options)
            .part(&sample.id)
            .part(&sample.prompt)
            .part(self.prompt)
            .part(self.epoch.to_le_bytes())
            .part(Value::from(sample.tools.as_slice()).to_string());
        if self.again > 0 {
            hash = hash.part("again").part(self.again.to_le_bytes());
        }
        // Agents see only these metadata.
        for name in &sample.visible {
            if let Some(value) = sample.metadata.get(name) {
                hash = hash.part("seen").part(name).part(value.to_string());
            }
        }
        for file in &sample.files {
            let path = file
                .resolve()
                .map_err(|error| io::Error::other(error.message))?;
            let content = file::hash(&path)?;
            hash = hash.part("file").part(&file.name).part(content);
        }
        Ok(hash.hex())
    }
}

/// The agent's part of the keys of its answers: another agent gives other answers.
pub(crate) fn agent_hash(fingerprint: &str, spec: &Value, options: &Map<String, Value>) -> String {
    let hash = Hasher::default().part("evaltest agent");
    agent_parts(hash, fingerprint, spec, options).short()
}

fn agent_parts(
    hash: Hasher,
    fingerprint: &str,
    spec: &Value,
    options: &Map<String, Value>,
) -> Hasher {
    hash.part(VERSION.to_le_bytes())
        .part(fingerprint)
        .part(identifying_keys(spec).to_string())
        .part(json(options))
}

/// The keys of an agent without those for its number of instances and its timeouts.
fn identifying_keys(spec: &Value) -> Cow<'_, Value> {
    const OF_WORKERS: [&str; 4] = [
        "processes",
        "in_flight",
        "start_timeout_s",
        "close_timeout_s",
    ];
    let is_one = spec.get("type").is_some_and(|kind| kind == "worker");
    let is_mere = |key: &String| OF_WORKERS.contains(&&**key);
    match spec {
        Value::Object(keys) if is_one && keys.keys().any(is_mere) => {
            let keys = keys.iter().filter(|(key, _)| !is_mere(key));
            let keys = keys.map(|(key, value)| (key.clone(), value.clone()));
            Cow::Owned(Value::Object(keys.collect()))
        }
        _ => Cow::Borrowed(spec),
    }
}

fn json(map: &Map<String, Value>) -> String {
    let value = serde_json::to_string(map);
    value.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Attachment;
    use serde_json::json;

    /// Everything that goes into a key, to be changed one by one.
    #[derive(Clone)]
    struct Parts {
        fingerprint: String,
        spec: Value,
        options: Value,
        prompt: String,
        sample: Sample,
        epoch: u32,
    }

    impl Parts {
        fn key(&self) -> String {
            let input = CacheKeyInput {
                fingerprint: &self.fingerprint,
                spec: &self.spec,
                options: self.options.as_object().unwrap(),
                prompt: &self.prompt,
                sample: &self.sample,
                epoch: self.epoch,
                again: 0,
            };
            input.key().unwrap()
        }
    }

    fn parts(folder: &std::path::Path) -> Parts {
        std::fs::write(folder.join("a.csv"), "1,2\n").unwrap();
        std::fs::write(folder.join("b.csv"), "1,3\n").unwrap();
        let mut sample = Sample::new("q1", "How many?").target("4");
        sample.metadata = json!({"seen": 1, "steps": "the solution"})
            .as_object()
            .unwrap()
            .clone();
        sample.visible = vec!["seen".to_owned()];
        sample.tools = vec![json!({"name": "add"})];
        sample.files = vec![Attachment {
            name: "a.csv".to_owned(),
            path: "a.csv".into(),
            root: folder.to_owned(),
        }];
        Parts {
            fingerprint: "agent".to_owned(),
            spec: json!({"type": "openai", "temperature": 0.0}),
            options: json!({"depth": 1}),
            prompt: "Answer: How many?".to_owned(),
            sample,
            epoch: 0,
        }
    }

    #[test]
    fn whatever_can_change_the_answer_changes_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let base = parts(folder.path());
        let key = base.key();
        assert_eq!(key, parts(folder.path()).key(), "the same twice");
        assert_eq!(key.len(), 64);
        let mut seen = std::collections::HashSet::from([key]);
        let mut check = |what: &str, change: fn(&mut Parts)| {
            let mut parts = base.clone();
            change(&mut parts);
            assert!(seen.insert(parts.key()), "{what}");
        };
        check("fingerprint", |parts| parts.fingerprint.push('2'));
        check("temperature", |parts| {
            parts.spec["temperature"] = json!(0.5);
        });
        check("another agent", |parts| parts.spec = Value::Null);
        check("options", |parts| parts.options = json!({"depth": 2}));
        check("prompt", |parts| parts.prompt.push(' '));
        check("question", |parts| parts.sample.prompt.push(' '));
        check("id", |parts| parts.sample.id.push('0'));
        check("epoch", |parts| parts.epoch = 1);
        check("tools", |parts| {
            parts.sample.tools[0] = json!({"name": "sub"});
        });
        check("no tools", |parts| parts.sample.tools.clear());
        check("visible metadata", |parts| {
            parts.sample.metadata["seen"] = json!(2);
        });
        check("more is visible", |parts| {
            parts.sample.visible.push("steps".to_owned());
        });
        check("name of a file", |parts| {
            parts.sample.files[0].name = "c.csv".to_owned();
        });
        check("content of a file", |parts| {
            parts.sample.files[0].path = "b.csv".into();
        });
        check("no file", |parts| parts.sample.files.clear());
        check("a file twice", |parts| {
            let file = parts.sample.files[0].clone();
            parts.sample.files.push(file);
        });
    }

    #[test]
    fn what_the_agent_does_not_see_does_not_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = parts(folder.path());
        let mut other = base.clone();
        other.sample.metadata["steps"] = json!("another");
        other.sample.target = None;
        other.sample.slices.clear();
        assert_eq!(base.key(), other.key());
    }

    #[test]
    fn how_many_workers_there_are_does_not_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = parts(folder.path());
        let mut key = |spec: Value| {
            base.spec = spec;
            base.key()
        };
        let one = key(json!({"type": "worker", "command": ["a"]}));
        let many = json!({
            "type": "worker", "command": ["a"], "processes": 3, "in_flight": 2, "start_timeout_s": 1, "close_timeout_s": 1,
        });
        assert_eq!(key(many), one);
        assert_ne!(key(json!({"type": "worker", "command": ["b"]})), one);
        // The meaning of these keys is unknown for other kinds.
        let own = |processes: u32| json!({"type": "own", "processes": processes});
        assert_ne!(key(own(1)), key(own(2)));
    }

    #[test]
    fn a_file_that_cannot_be_read_makes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let base = parts(folder.path());
        std::fs::remove_file(folder.path().join("a.csv")).unwrap();
        let input = CacheKeyInput {
            fingerprint: "",
            spec: &Value::Null,
            options: &Map::new(),
            prompt: "",
            sample: &base.sample,
            epoch: 0,
            again: 0,
        };
        assert!(input.key().is_err());
    }
}
