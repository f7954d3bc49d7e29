//! Looking things up in JSON documents and in plain text.
//!
//! Responsibility: JSON by an explicit path (`a.b[0].c`), as a table where it
//! holds a list of objects, or by the keys and neighbouring values that a
//! question mentions; text by `key: value` lines and by counting lines and
//! words. Limits: the value must stand in the file, nothing is inferred.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::number::Number;
use super::phrases::Phrases;
use super::query;
use super::table::{TextTable, scalar};
use super::words::quoted;

/// Lists of objects that are tried as tables.
const MAX_TABLES: usize = 50;
/// Longer text before a colon is not a key.
const MAX_KEY_CHARS: usize = 60;

/// A dotted path such as `station.sensors[1].unit`.
static PATH: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_][\w-]*(?:\[\d+\]|\.[A-Za-z0-9_][\w-]*)+").ok());

/// Answers a question about a JSON document.
pub(super) fn in_json(question: &str, phrases: &Phrases, document: &Value) -> Option<String> {
    let paths = PATH.as_ref()?.find_iter(question).take(20);
    let mut targets = paths.filter_map(|path| follow(document, path.as_str()));
    match targets.next() {
        Some(Value::Array(list)) if phrases.has(&["how many", "number of"]) => {
            return Number::count(list.len()).render(None);
        }
        Some(Value::Array(_) | Value::Object(_)) | None => {}
        Some(other) => return scalar(other),
    }
    let mut tables = Vec::new();
    object_lists(document, &mut tables);
    let from_tables = tables
        .iter()
        .filter_map(|list| TextTable::from_objects(list))
        .find_map(|table| query::answer(question, phrases, &table));
    from_tables.or_else(|| {
        let mut best = Best::default();
        best.search(phrases, document, 0, 0);
        if best.tied { None } else { best.text }
    })
}

/// The value at a dotted path.
fn follow<'a>(document: &'a Value, path: &str) -> Option<&'a Value> {
    let steps = path
        .split(['.', '['])
        .map(|step| step.trim_end_matches(']'));
    steps
        .filter(|step| !step.is_empty())
        .try_fold(document, |value, step| match value {
            Value::Object(fields) => fields.get(step),
            Value::Array(list) => list.get(step.parse::<usize>().ok()?),
            _ => None,
        })
}

/// Collects the lists that hold objects. The parser bounds the nesting depth.
fn object_lists<'a>(value: &'a Value, found: &mut Vec<&'a [Value]>) {
    if found.len() >= MAX_TABLES {
        return;
    }
    match value {
        Value::Array(list) => {
            if list.iter().any(Value::is_object) {
                found.push(list);
            }
            for item in list {
                object_lists(item, found);
            }
        }
        Value::Object(fields) => {
            for item in fields.values() {
                object_lists(item, found);
            }
        }
        _ => {}
    }
}

/// The value whose keys and neighbours the question mentions most.
#[derive(Default)]
struct Best {
    score: usize,
    text: Option<String>,
    tied: bool,
}

impl Best {
    /// Visits every named value; `score` counts the mentions on the way to it
    /// and `depth` how many keys on the way were mentioned at all.
    fn search(&mut self, phrases: &Phrases, value: &Value, score: usize, depth: usize) {
        match value {
            Value::Array(list) => {
                for item in list {
                    self.search(phrases, item, score, depth);
                }
            }
            Value::Object(fields) => {
                let neighbours = fields.values().filter_map(Value::as_str);
                let mentioned = neighbours
                    .filter(|text| phrases.find(text).is_some())
                    .count();
                for (key, item) in fields {
                    let own = phrases.find(key).map_or(0, |span| span.end - span.start);
                    let here = score + own + mentioned;
                    if own > 0 && here > 1 && depth + mentioned > 0 {
                        self.offer(phrases, item, here);
                    }
                    self.search(phrases, item, here, depth + own);
                }
            }
            _ => {}
        }
    }

    /// Takes a value that scores at least as well as the best one so far.
    fn offer(&mut self, phrases: &Phrases, value: &Value, score: usize) {
        let Some(text) = scalar(value)
            .filter(|text| Number::parse(text).is_some() || phrases.find(text).is_none())
        else {
            return;
        };
        if score > self.score {
            *self = Self {
                score,
                text: Some(text),
                tied: false,
            };
        } else if score == self.score && self.text.as_ref() != Some(&text) {
            self.tied = true;
        }
    }
}

/// Answers a question about a text file.
pub(super) fn in_text(question: &str, phrases: &Phrases, text: &str) -> Option<String> {
    let needle = quoted(question).into_iter().max_by_key(String::len);
    if phrases.has(&["how many line", "number of line", "count the line"]) {
        if needle.is_none() && phrases.has(&["contain", "containing", "mention", "with"]) {
            return None;
        }
        let whole = phrases.has(&["word"]);
        let lines = text.lines().filter(|line| match &needle {
            Some(needle) if whole => occurrences(line, needle) > 0,
            Some(needle) => line.to_lowercase().contains(&needle.to_lowercase()),
            None => !line.trim().is_empty(),
        });
        return Number::count(lines.count()).render(None);
    }
    if phrases.has(&["how many time", "how often"]) {
        return Number::count(occurrences(text, &needle?)).render(None);
    }
    if phrases.has(&["how many word", "number of word"]) {
        return Number::count(text.split_whitespace().count()).render(None);
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    if phrases.has(&["last line"]) {
        return lines.next_back().map(str::to_owned);
    }
    if phrases.has(&["first line"]) {
        return lines.next().map(str::to_owned);
    }
    // The key that is named first after the question word is the one asked for.
    let asked = phrases
        .first_of(&["which", "what", "who", "when", "where", "how"])
        .unwrap_or(0);
    let keyed = lines.filter_map(|line| {
        let (key, value) = line.split_once([':', '='])?;
        let short = key.chars().count() <= MAX_KEY_CHARS && !value.trim().is_empty();
        let spans = phrases
            .find_all(key)
            .filter(|span| short && span.start >= asked);
        let span = spans
            .min_by_key(|span| span.start)
            .or_else(|| phrases.find(key))?;
        let rank = (span.start < asked, span.start, usize::MAX - span.end);
        Some((rank, value.trim())).filter(|_| short)
    });
    Some(keyed.min_by_key(|(rank, _)| *rank)?.1.to_owned())
}

/// How often `word` stands in `text` as whole words, ignoring case.
fn occurrences(text: &str, word: &str) -> usize {
    let wanted = word.trim().to_lowercase();
    if wanted.contains(|c: char| !c.is_alphanumeric()) {
        return text.to_lowercase().matches(&wanted).count();
    }
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|other| !other.is_empty() && other.to_lowercase() == wanted)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, question: &str, expected: Option<&str>) {
        let phrases = Phrases::new(question);
        let answered = match serde_json::from_str(file) {
            Ok(document) => in_json(question, &phrases, &document),
            Err(_) => in_text(question, &phrases, file),
        };
        assert_eq!(answered.as_deref(), expected, "{question}");
    }

    const PORT: &str = r#"{"port": {"name": "Vell", "piers": [
        {"id": "P1", "length_m": 40, "covered": false}, {"id": "P2", "length_m": 65, "covered": true}],
        "tide": {"high": {"depth": 9.5}, "low": {"depth": 3}}, "tags": ["a", "b", "c"]},
        "staff": {"s1": {"name": "Oda Pell", "role": "pilot"}, "s2": {"name": "Ib Ram", "role": "cook"}}}"#;

    #[test]
    fn json_by_path() {
        check(PORT, "What is at `port.tide.low.depth`?", Some("3"));
        check(PORT, "How many values has port.tags?", Some("3"));
        check(PORT, "What is port.piers[1].id, please", Some("P2"));
        check(
            PORT,
            "What is port.piers[99999999999].zzz or e.g. this",
            None,
        );
    }

    #[test]
    fn json_by_wording() {
        check(PORT, "What is the length m of pier P2?", Some("65"));
        check(
            PORT,
            "What is the total length_m of the piers?",
            Some("105"),
        );
        check(
            PORT,
            "What is the depth of the port at low tide?",
            Some("3"),
        );
        check(PORT, "Which role has Oda Pell?", Some("pilot"));
        check(PORT, "What is the depth?", None);
        check("[]", "What is the depth of the port?", None);
    }

    const NOTE: &str = "Ship: Heron\nHome port: Vell\n\nrain, rain and Rainfall\nno rain today\n";

    #[test]
    fn text_by_key_and_count() {
        check(NOTE, "What is the home port of the ship?", Some("Vell"));
        check(
            NOTE,
            "On which ship of that home port was it?",
            Some("Heron"),
        );
        check(NOTE, "How many lines contain the word \"rain\"?", Some("2"));
        check(
            NOTE,
            "How many lines contain the text \"rainfall\"?",
            Some("1"),
        );
        check(
            NOTE,
            "How many times does the word 'rain' occur?",
            Some("3"),
        );
        check(NOTE, "How many lines are there?", Some("4"));
        check(NOTE, "What does the last line say?", Some("no rain today"));
        check(NOTE, "Who is the captain?", None);
        check("{ not json", "How many times does it occur?", None);
    }
}
