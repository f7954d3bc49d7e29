//! How the answers of a run were read, and notices where the extraction, and not the agent, may be at fault.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Summary, shortfall};
use crate::data::Record;
use crate::data::record::reading::{FoundBy, MissedPart};
use crate::text::{shell_word, unquoted};

/// What may be wrong with the reading of the answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadingFigures {
    /// The extraction, as in a spec, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<Value>,
    /// The first sample with an answer that was taken whole, and with one that gave nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub first: BTreeMap<FoundBy, String>,
    /// What the extraction did not take, by what it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missed: BTreeMap<MissedPart, MissedCount>,
    /// Whether all ground truths that the extraction did not take are numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub numbers_missed: bool,
}

/// How many answers have something that the extraction did not take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MissedCount {
    /// How many answers.
    pub answers: u64,
    /// The first sample.
    pub first: String,
}

/// The counts behind the figures.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadingTally {
    pub(super) extract: Option<Value>,
    found_by: BTreeMap<FoundBy, u64>,
    first: BTreeMap<FoundBy, String>,
    missed: BTreeMap<MissedPart, MissedCount>,
    missed_texts: bool,
}

impl ReadingTally {
    pub(super) fn add(&mut self, record: &Record) {
        let Some(by) = record.result.found_by else {
            return;
        };
        let count = self.found_by.entry(by).or_default();
        *count += 1;
        if *count == 1 && matches!(by, FoundBy::WholeAnswer | FoundBy::Nothing) {
            self.first.insert(by, record.sample_id.clone());
        }
        for part in record.result.missed.parts() {
            let missed = self.missed.entry(part).or_default();
            missed.answers += 1;
            if missed.answers == 1 {
                missed.first.clone_from(&record.sample_id);
            }
            self.missed_texts |=
                part == MissedPart::GroundTruth && !is_number(&record.ground_truth);
        }
    }

    /// The number of answers by the way they were read; and figures for notices, if there are any.
    pub(super) fn finish(mut self) -> (BTreeMap<FoundBy, u64>, Option<ReadingFigures>) {
        if self.found_by.len() < 2 {
            // All were taken whole.
            self.first.remove(&FoundBy::WholeAnswer);
        }
        let is_plain = self.first.is_empty() && self.missed.is_empty();
        let figures = ReadingFigures {
            numbers_missed: self.missed.contains_key(&MissedPart::GroundTruth)
                && !self.missed_texts,
            extract: self.extract,
            first: self.first,
            missed: self.missed,
        };
        (self.found_by, (!is_plain).then_some(figures))
    }
}

fn is_number(truth: &Value) -> bool {
    let truth = unquoted(truth).replace([',', '$', '€', '%'], "");
    truth.contains(|c: char| c.is_ascii_digit()) && truth.trim().parse::<f64>().is_ok()
}

/// `label 18, box 1, nothing 1`, the most frequent first. `None` where there is nothing to tell: no answer, or all of
/// them whole.
pub(crate) fn found_by_counts(found_by: &BTreeMap<FoundBy, u64>) -> Option<String> {
    if found_by.keys().all(|by| *by == FoundBy::WholeAnswer) {
        return None;
    }
    let mut counts: Vec<_> = found_by.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let counts = counts.into_iter();
    let counts = counts.map(|(by, count)| format!("{} {count}", by.words()));
    Some(counts.collect::<Vec<_>>().join(", "))
}

/// Notices about the reading of the answers of a run, each with what to write. `run` is its name in commands. They have
/// no text of an answer or a ground truth, for the eval may be masked.
pub(crate) fn reading_notices(summary: &Summary, run: &str) -> Vec<String> {
    let mut all = shortfall::notices(summary, run);
    let Some(figures) = &summary.reading else {
        return all;
    };
    let of = Reading {
        figures,
        found_by: &summary.found_by,
        all: summary.found_by.values().sum(),
        run,
    };
    let notices = [of.nothing(), of.whole(), of.truths(), of.thoughts()];
    all.extend(notices.into_iter().flatten());
    all
}

struct Reading<'a> {
    figures: &'a ReadingFigures,
    found_by: &'a BTreeMap<FoundBy, u64>,
    all: u64,
    run: &'a str,
}

impl Reading<'_> {
    fn count(&self, by: FoundBy) -> u64 {
        self.found_by.get(&by).copied().unwrap_or_default()
    }

    /// The number of answers that were read this way, if it is more than a tenth.
    fn often(&self, by: FoundBy) -> Option<u64> {
        let count = self.count(by);
        (count * 10 > self.all).then_some(count)
    }

    fn show(&self, id: &str) -> String {
        format!("`cargo evaltest show {} {}`", self.run, shell_word(id))
    }

    /// The extraction as a spec has it, with `strip_think` if asked for.
    fn extract(&self, strip_think: bool) -> String {
        let mut members = match &self.figures.extract {
            Some(Value::Object(members)) => members.clone(),
            Some(name) if !strip_think => {
                return name.as_str().unwrap_or_default().to_owned();
            }
            name => {
                let name = name.clone().unwrap_or_else(|| "none".into());
                std::iter::once(("type".to_owned(), name)).collect()
            }
        };
        if strip_think {
            members.insert("strip_think".to_owned(), true.into());
        }
        let members = members.iter().map(|(key, value)| match value {
            Value::String(text) if key == "type" => format!("{key}: {text}"),
            value => format!("{key}: {value}"),
        });
        format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
    }

    /// More than a tenth gave nothing.
    fn nothing(&self) -> Option<String> {
        let count = self.often(FoundBy::Nothing)?;
        let first = self.figures.first.get(&FoundBy::Nothing)?;
        let how = match &self.figures.extract {
            Some(_) => format!("`extract: {}`", self.extract(false)),
            None => "the extraction".to_owned(),
        };
        let show = self.show(first);
        let them = if count == 1 { "it" } else { "them" };
        let notice = format!(
            "nothing was extracted from {count} of {} answers: {how} finds {} in {them}; see one: {show}",
            self.all,
            self.wanted()
        );
        let others = MissedPart::ALL.into_iter().rev().filter_map(|part| {
            let found = self.figures.missed.get(&part)?.answers;
            Some((part.extraction()?, found))
        });
        // Of equal ones the last is taken, which is the preferred one.
        let best = others.max_by_key(|(_, found)| *found);
        Some(match best.filter(|(_, found)| found * 2 > count) {
            Some((name, found)) if found == count => {
                format!("{notice}, or write `extract: {name}`, which finds something in {them}")
            }
            Some((name, found)) => {
                format!(
                    "{notice}, or write `extract: {name}`, which finds something in {found} of them"
                )
            }
            None => notice,
        })
    }

    /// The name of the extraction.
    fn name(&self) -> Option<&str> {
        match self.figures.extract.as_ref()? {
            Value::Object(members) => members.get("type")?.as_str(),
            name => name.as_str(),
        }
    }

    /// What the extraction looks for.
    fn wanted(&self) -> &'static str {
        match self.name() {
            Some("boxed") => "no box",
            Some("number" | "gsm8k" | "aime") => "no number",
            Some("choice") => "no letter",
            Some("after") => "no marker",
            Some("regex") => "no match",
            Some("json_pointer") => "no such member",
            _ => "nothing",
        }
    }

    /// More than a tenth were taken whole, although others mark their result.
    fn whole(&self) -> Option<String> {
        let count = self.often(FoundBy::WholeAnswer)?;
        let first = self.figures.first.get(&FoundBy::WholeAnswer)?;
        let claims: u64 = self
            .found_by
            .iter()
            .filter(|(by, _)| by.is_claim())
            .map(|(_, count)| count)
            .sum();
        let (were, have) = (
            if count == 1 { "was" } else { "were" },
            if claims == 1 { "has" } else { "have" },
        );
        (claims > 0).then(|| {
            format!(
                "{count} of {} answers {were} used as a whole, although {claims} {have} a label, box or tag: see one: {}, and have \
                 the prompt ask each answer to end with `FINAL ANSWER: …`",
                self.all,
                self.show(first)
            )
        })
    }

    /// Wrong answers contain the ground truth.
    fn truths(&self) -> Option<String> {
        let MissedCount { answers, first } = self.figures.missed.get(&MissedPart::GroundTruth)?;
        let what = match answers {
            1 => "1 wrong answer contains".to_owned(),
            answers => format!("{answers} wrong answers contain"),
        };
        let others = ["final_answer", "number"].into_iter();
        let others = others.filter(|name| self.name() != Some(name));
        let others = others.filter(|name| *name != "number" || self.figures.numbers_missed);
        let others: Vec<_> = others.map(|name| format!("`extract: {name}`")).collect();
        let ask = ", and have the prompt ask each answer to end with `FINAL ANSWER: …`";
        let write = match (&*others.join(" or "), self.figures.numbers_missed) {
            _ if self.count(FoundBy::WholeAnswer) != self.all => String::new(),
            ("", _) => ask.to_owned(),
            (others, true) => format!(", and write {others}"),
            (others, false) => format!("{ask}, with {others}"),
        };
        Some(format!(
            "{what} the ground truth as a whole word or number: perhaps the extraction misses it; see one: {}{write}",
            self.show(first)
        ))
    }

    /// Answers begin with thoughts that are not taken off.
    fn thoughts(&self) -> Option<String> {
        let MissedCount { answers, first } = self.figures.missed.get(&MissedPart::Thoughts)?;
        let what = match answers {
            1 => "1 answer begins".to_owned(),
            answers => format!("{answers} answers begin"),
        };
        Some(format!(
            "{what} with thoughts (such as `<think>`), which count as a part of the answer: write `extract: {}`; see one: {}",
            self.extract(true),
            self.show(first)
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Score;
    use crate::verdict::summary::SummaryBuilder;

    /// The summary of answers that were read in these ways and missed these parts.
    fn summary(extract: Value, answers: &[(FoundBy, &[MissedPart])]) -> Summary {
        let mut builder = SummaryBuilder::new("e").extract(Some(extract));
        for (place, (by, missed)) in answers.iter().enumerate() {
            let mut record = Record::scored(format!("q{place}"), Score::binary(false));
            record.result.found_by = Some(*by);
            record.result.missed = missed.to_vec().into();
            builder.add(&record);
        }
        builder.finish()
    }

    fn notices(extract: Value, answers: &[(FoundBy, &[MissedPart])]) -> Vec<String> {
        reading_notices(&summary(extract, answers), "r")
    }

    const BOX: (FoundBy, &[MissedPart]) = (FoundBy::Box, &[]);
    const WHOLE: (FoundBy, &[MissedPart]) = (FoundBy::WholeAnswer, &[]);

    #[test]
    fn answers_with_nothing_to_take_are_reported_with_another_extraction() {
        let number: (_, &[_]) = (FoundBy::Nothing, &[MissedPart::Number, MissedPart::Boxed]);
        let expect = "nothing was extracted from 2 of 3 answers: `extract: boxed` finds no box in them; see one: \
                      `cargo evaltest show r q1`, or write `extract: number`, which finds something in them";
        assert_eq!(notices(json!("boxed"), &[BOX, number, number]), [expect]);
        let expect = "nothing was extracted from 1 of 1 answers: `extract: { type: after, after: \"#\" }` finds no marker in it; see \
                      one: `cargo evaltest show r q0`";
        let after = json!({"type": "after", "after": "#"});
        assert_eq!(notices(after, &[(FoundBy::Nothing, &[])]), [expect]);
        // One of ten is no more than a tenth.
        let mut answers = vec![BOX; 9];
        answers.push(number);
        assert!(notices(json!("boxed"), &answers).is_empty());
    }

    #[test]
    fn whole_answers_are_reported_beside_marked_ones() {
        let expect = "1 of 2 answers was used as a whole, although 1 has a label, box or tag: see one: `cargo evaltest show r q1`, \
                      and have the prompt ask each answer to end with `FINAL ANSWER: …`";
        assert_eq!(notices(json!("final_answer"), &[BOX, WHOLE]), [expect]);
        assert!(notices(json!("final_answer"), &[WHOLE, WHOLE]).is_empty());
        let last = (FoundBy::LastNumber, &[][..]);
        assert!(notices(json!("final_answer"), &[last, WHOLE]).is_empty());
    }

    #[test]
    fn ground_truths_and_thoughts_are_reported() {
        let both: (_, &[_]) = (
            FoundBy::WholeAnswer,
            &[MissedPart::GroundTruth, MissedPart::Thoughts],
        );
        let expect = [
            "1 wrong answer contains the ground truth as a whole word or number: perhaps the extraction misses it; see one: \
             `cargo evaltest show r q1`, and have the prompt ask each answer to end with `FINAL ANSWER: …`, with `extract: \
             final_answer`",
            "1 answer begins with thoughts (such as `<think>`), which count as a part of the answer: write \
             `extract: { type: none, strip_think: true }`; see one: `cargo evaltest show r q1`",
        ];
        assert_eq!(notices(json!("none"), &[WHOLE, both]), expect);
    }

    #[test]
    fn numbers_are_advised_for_numbers_also_from_a_file() {
        let mut record = Record::scored("q0", Score::binary(false));
        record.result.found_by = Some(FoundBy::WholeAnswer);
        record.result.missed = vec![MissedPart::GroundTruth].into();
        record.ground_truth = json!("42");
        let mut builder = SummaryBuilder::new("e").extract(Some(json!("none")));
        builder.add(&record);
        let found = builder.finish();
        let read: Summary = serde_json::from_value(serde_json::to_value(&found).unwrap()).unwrap();
        for summary in [found, read] {
            let notices = reading_notices(&summary, "r");
            assert!(notices[0].contains("`extract: number`"), "{notices:?}");
        }
    }

    #[test]
    fn numbers_are_distinguished_from_texts() {
        for (truth, expect) in [
            (json!("1,234.5 %"), true),
            (json!(-3), true),
            (json!("NaN"), false),
            (json!("3 apples"), false),
            (json!(null), false),
        ] {
            assert_eq!(is_number(&truth), expect, "{truth}");
        }
    }

    #[test]
    fn counts_are_in_files_and_for_people() {
        let answers = [BOX, WHOLE, WHOLE];
        let found = summary(json!("final_answer"), &answers);
        assert_eq!(
            found_by_counts(&found.found_by).unwrap(),
            "whole answer 2, box 1"
        );
        let written = serde_json::to_value(&found).unwrap();
        assert_eq!(written["found_by"], json!({"box": 1, "whole_answer": 2}));
        assert_eq!(serde_json::from_value::<Summary>(written).unwrap(), found);
        let whole = summary(json!("none"), &[WHOLE]);
        assert_eq!(found_by_counts(&whole.found_by), None);
        assert_eq!(whole.reading, None);
        // An older run has neither.
        let mut builder = SummaryBuilder::new("e");
        builder.add(&Record::scored("a", Score::binary(true)));
        let written = serde_json::to_value(builder.finish()).unwrap();
        assert!(written.get("found_by").is_none() && written.get("reading").is_none());
    }
}
