//! Checks that a leaderboard file has every sample once, with an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// The faults of a file; all lists are empty if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Number of samples in the dataset.
    pub samples: usize,
    /// Number of non-blank lines in the file.
    pub lines: usize,
    /// Ids of the dataset that are missing in the file.
    pub missing: Vec<String>,
    /// Duplicate ids.
    pub duplicate: Vec<String>,
    /// Ids that are not in the dataset.
    pub unknown: Vec<String>,
    /// Ids whose answer is empty.
    pub empty: Vec<String>,
    /// Lines that are not an object with texts `task_id` and `model_answer`, with the reason.
    pub malformed: Vec<(usize, String)>,
}

impl Checked {
    /// Whether there are no faults.
    pub fn is_clean(&self) -> bool {
        let ids = [&self.missing, &self.duplicate, &self.unknown, &self.empty];
        self.malformed.is_empty() && ids.iter().all(|ids| ids.is_empty())
    }
}

/// Checks a file against the ids of a dataset.
///
/// # Errors
/// If the file cannot be read.
pub fn check<'a>(path: &Path, ids: impl IntoIterator<Item = &'a str>) -> Result<Checked> {
    let text = fs::read(path).map_err(|error| Error::io("read", path, &error))?;
    Ok(of_text(&text, ids))
}

fn of_text<'a>(text: &[u8], ids: impl IntoIterator<Item = &'a str>) -> Checked {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut checked = Checked {
        samples: ids.len(),
        ..Checked::default()
    };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (line, number) in text.split(|&byte| byte == b'\n').zip(1..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        checked.lines += 1;
        match parse(line) {
            Err(why) => checked.malformed.push((number, why)),
            Ok((id, answer)) => {
                if answer.trim().is_empty() {
                    checked.empty.push(id.clone());
                }
                *seen.entry(id).or_default() += 1;
            }
        }
    }
    let missing = ids.iter().filter(|id| !seen.contains_key(**id));
    checked.missing = missing.map(|id| (*id).to_owned()).collect();
    for (id, times) in seen {
        if times > 1 {
            checked.duplicate.push(id.clone());
        }
        if !ids.contains(id.as_str()) {
            checked.unknown.push(id);
        }
    }
    checked
}

/// The id and the answer on a line.
fn parse(line: &[u8]) -> Result<(String, String), String> {
    let mut value: Value = serde_json::from_slice(line).map_err(|_| "no JSON".to_owned())?;
    let mut text = |key: &str| match value.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{key}` is no text")),
        None => Err(format!("no `{key}`")),
    };
    Ok((text("task_id")?, text("model_answer")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_is_wrong() {
        let text = "\u{feff}{\"task_id\":\"a\",\"model_answer\":\"1\"}\r\n\n\
                    {\"task_id\":\"b\",\"model_answer\":\" \",\"x\":1}\n\
                    {\"task_id\":\"a\",\"model_answer\":\"2\"}\n\
                    {\"task_id\":\"z\",\"model_answer\":\"3\"}\n\
                    [1]\n{\"task_id\":7,\"model_answer\":\"\"}\n{\"task_id\":\"c\"}\nx";
        let checked = of_text(text.as_bytes(), ["a", "b", "c", "d"]);
        let ids = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        let wrong = [
            (6, "no `task_id`"),
            (7, "`task_id` is no text"),
            (8, "no `model_answer`"),
            (9, "no JSON"),
        ];
        let expect = Checked {
            samples: 4,
            lines: 8,
            missing: ids(&["c", "d"]),
            duplicate: ids(&["a"]),
            unknown: ids(&["z"]),
            empty: ids(&["b"]),
            malformed: wrong.map(|(line, why)| (line, why.to_owned())).to_vec(),
        };
        assert_eq!(checked, expect);
        assert!(!checked.is_clean());
    }

    #[test]
    fn nothing_is_wrong_with_every_id_once() {
        let text = "{\"model_answer\":\"\u{1F600}\",\"task_id\":\"b\"}\n{\"task_id\":\"a\",\"model_answer\":\"0\"}";
        let checked = of_text(text.as_bytes(), ["a", "b"]);
        assert!(checked.is_clean(), "{checked:?}");
        assert_eq!((checked.samples, checked.lines), (2, 2));
        assert!(!of_text(b"", ["a"]).is_clean());
    }
}
