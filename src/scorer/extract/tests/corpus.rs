//! Replies in natural form, with the answer that a person reads in them.

use serde::Deserialize;
use serde_json::Value;

use super::super::*;
use crate::data::Target;
use crate::scorer::ask::judge::reading;
use crate::scorer::{AimeScorer, Answer, Numeric, Units};

/// A line of `fixtures/answers/*.jsonl`.
#[derive(Deserialize)]
struct Line {
    reader: String,
    reply: String,
    /// `None` where a person reads none.
    answer: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Read {
    Right,
    /// No answer is found in a reply that has one.
    Nothing,
    Wrong(String),
}

impl Line {
    fn read(&self) -> Read {
        let expect = self.answer.as_deref();
        let (found, found_by) = match self.reader.as_str() {
            "json" => {
                let found = find_json(&self.reply).map(|found| found.to_string());
                (found, FoundBy::Json)
            }
            "judge" => {
                let read = reading::choices(&self.reply, &["correct", "wrong"]);
                let verdict = read.verdict.as_ref().and_then(Value::as_str);
                (verdict.map(str::to_owned), FoundBy::Label)
            }
            name => {
                let extract = Extract::by_name(name, &Map::new()).unwrap();
                let (found, by) = extract.read(&self.reply);
                (found.map(Cow::into_owned), by)
            }
        };
        let is_found = match found_by {
            FoundBy::Nothing => false,
            FoundBy::WholeAnswer => self.reader == "choice",
            _ => true,
        };
        let found = found.filter(|_| is_found);
        let found = match (self.reader.as_str(), found) {
            ("number", Some(found)) => number(&found, expect),
            ("aime", Some(found)) => integer(&found, expect),
            (_, found) => found,
        };
        let is_same = |found: &str, expect: &str| match self.reader.as_str() {
            "choice" => found.eq_ignore_ascii_case(expect),
            "json" => {
                let value = |text| serde_json::from_str::<Value>(text).unwrap();
                value(found) == value(expect)
            }
            "final_answer" => found.trim_end_matches('.') == expect.trim_end_matches('.'),
            _ => found == expect,
        };
        match (found, expect) {
            (None, None) => Read::Right,
            (None, Some(_)) => Read::Nothing,
            (Some(found), Some(expect)) if is_same(&found, expect) => Read::Right,
            (Some(found), _) => Read::Wrong(found),
        }
    }
}

/// What `numeric` reads: the expected number if it is equal; `None` if it is no number.
fn number(found: &str, expect: Option<&str>) -> Option<String> {
    let numeric = Numeric {
        units: Units::Ignore,
        ..Numeric::default()
    };
    let target = Target::from(expect.unwrap_or("0"));
    let score = numeric.score(&Answer::new(found, &target)).unwrap();
    match (&*score.reason, expect) {
        ("not_a_number", _) => None,
        (_, Some(expect)) if score.correct => Some(expect.to_owned()),
        _ => Some(found.to_owned()),
    }
}

fn integer(found: &str, expect: Option<&str>) -> Option<String> {
    let target = Target::from(expect.unwrap_or("0"));
    let score = AimeScorer.score(&Answer::new(found, &target)).unwrap();
    match (&*score.reason, expect) {
        ("not_an_integer", _) => None,
        (_, Some(expect)) if score.correct => Some(expect.to_owned()),
        _ => Some(found.to_owned()),
    }
}

/// The short way to a final label finds the one that the long way finds.
#[test]
fn final_label_of_the_last_line_is_the_last_one_of_all() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/answers");
    let text = std::fs::read_to_string(format!("{folder}/final_answer.jsonl")).unwrap();
    let mut found = 0;
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        if let Some(label) = labels::final_in_last_line(&line.reply) {
            let all = labels::labels(&line.reply).into_iter();
            let last = all.rev().find(|label| label.is_final).unwrap();
            assert_eq!((last.start, last.value), (label.start, label.value));
            found += 1;
        }
    }
    assert!(found > 50, "{found}");
}

/// At most 1 % are read wrongly; the rest is read, or honestly nothing.
#[test]
fn replies_are_read_as_a_person_reads_them() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/answers");
    let (mut all, mut wrong, mut unread) = (0, Vec::new(), Vec::new());
    for name in ["aime", "choice", "final_answer", "json", "judge", "number"] {
        let text = std::fs::read_to_string(format!("{folder}/{name}.jsonl")).unwrap();
        for (number, line) in text.lines().enumerate() {
            all += 1;
            let line: Line = serde_json::from_str(line).unwrap();
            let place = format!("{name}.jsonl:{}", number + 1);
            match line.read() {
                Read::Right => {}
                Read::Nothing => unread.push(place),
                Read::Wrong(found) => wrong.push(format!("{place}: {found:?}")),
            }
        }
    }
    assert!(all >= 600, "{all}");
    assert!(wrong.len() * 100 <= all, "of {all}: {wrong:#?}");
    // What a person reads and the reader does not.
    assert!(unread.len() * 20 <= all, "of {all}: {unread:#?}");
}
