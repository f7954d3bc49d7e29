//! Scores a chunk of lines, or finds them malformed.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard};

use evaltest::engine::system::lock::lock;
use evaltest::engine::text::is_json_plain;
use evaltest::scorer::Scorer;
use evaltest::{Error, Extract, Extraction, Normalized, Result, Score};
use serde::Serialize;
use serde_json::Value;

use super::calls::CallChecker;
use crate::answers::{
    AnsweredSample, DoneLines, Fields, InputChunk, Layout, Line, RecordedAnswer, Wanted,
};

/// Scores lines.
pub(super) struct LineJudge {
    /// Scores function-calling answers, in place of all scorers.
    checker: Option<CallChecker>,
    /// Not empty unless there is a checker. One scorer's result goes into `score`; those of several into `scores`, by
    /// name.
    scorers: Vec<Way>,
    layout: Layout,
    wanted: Wanted,
    /// Whether a line may already have a score.
    replace: bool,
    /// Whether to write an `error` object for a malformed line and continue.
    keep_going: bool,
    /// Pool of result buffers to reuse.
    spare: Mutex<Vec<Vec<u8>>>,
}

/// A scorer with its extraction.
struct Way {
    scorer: Arc<dyn Scorer>,
    extract: Extract,
    extract_is_given: bool,
}

/// Counts of lines for warnings.
#[derive(Default)]
pub(super) struct LineCounts {
    /// How many lines were read.
    pub(super) lines: u64,
    /// Which fields any line has, see [`Line::add_found`].
    pub(super) found: u16,
    /// Records without an answer.
    pub(super) unanswered: u64,
    /// Records without a ground truth.
    pub(super) hidden: u64,
    /// Records whose answer was redacted.
    pub(super) lost: u64,
}

/// Buffers reused for each line.
#[derive(Default)]
struct Buffers {
    open: Vec<u8>,
    answered: AnsweredSample,
}

impl LineJudge {
    /// Scores lines of a layout; lines must not have a score yet.
    pub(super) fn new(
        scorers: Vec<Arc<dyn Scorer>>,
        extraction: &Extraction,
        layout: Layout,
    ) -> Self {
        let wanted = Wanted::by(&scorers);
        let way = |scorer: Arc<dyn Scorer>| Way {
            extract: extraction.of(&*scorer).into_owned(),
            extract_is_given: extraction.is_given,
            scorer,
        };
        Self {
            checker: None,
            scorers: scorers.into_iter().map(way).collect(),
            layout: layout.wanting(wanted),
            wanted,
            replace: false,
            keep_going: false,
            spare: Mutex::default(),
        }
    }

    /// Sets whether lines may already have a score.
    pub(super) fn replace(self, replace: bool) -> Self {
        Self { replace, ..self }
    }

    /// Sets the checker for function-calling answers.
    pub(super) fn checker(self, checker: Option<CallChecker>) -> Self {
        Self { checker, ..self }
    }

    /// Sets whether to continue after malformed lines.
    pub(super) fn keep_going(self, keep_going: bool) -> Self {
        Self { keep_going, ..self }
    }

    /// Returns a result buffer to the pool, because repeated allocation is slow.
    pub(super) fn recycle(&self, mut bytes: Vec<u8>) {
        bytes.clear();
        self.spare().push(bytes);
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        lock(&self.spare)
    }

    /// Checks for missing fields, see [`Fields::missing`].
    pub(super) fn missing(&self, counts: &LineCounts) -> Result<Vec<String>> {
        match &self.layout {
            Layout::Lines(fields) if counts.lines > 0 => fields.missing(counts.found, self.wanted),
            _ => Ok(Vec::new()),
        }
    }

    /// Scores the lines of a chunk, up to the first malformed one unless `keep_going` is set.
    pub(super) fn chunk(&self, chunk: &InputChunk) -> (DoneLines, LineCounts) {
        let mut buffers = Buffers::default();
        let mut counts = LineCounts::default();
        let bytes = self.spare().pop().unwrap_or_default();
        let done = DoneLines::of(chunk, bytes, self.keep_going, |line, out| {
            self.line(line, &mut buffers, &mut counts, out)
        });
        (done, counts)
    }

    /// Writes the scored line.
    fn line(
        &self,
        text: &str,
        buffers: &mut Buffers,
        counts: &mut LineCounts,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(checker) = &self.checker {
            return checker.line(text, &mut buffers.open, out);
        }
        match &self.layout {
            Layout::Lines(fields) => self.object(text, fields, buffers, (counts, out)),
            Layout::Records => self.record(text, buffers, (counts, out)),
        }
    }

    /// Copies the line and inserts the score.
    fn object(
        &self,
        text: &str,
        fields: &Fields,
        buffers: &mut Buffers,
        (counts, out): (&mut LineCounts, &mut Vec<u8>),
    ) -> Result<()> {
        let Buffers { open, answered } = buffers;
        let member = self.member();
        let line = Line::parse(text, fields, self.wanted.fields(), member, open)?;
        if line.has_old() && !self.replace {
            return Err(Error::usage(format!("the line already has a `{member}`"))
                .hint(format!("add `--replace` to write a new `{member}`")));
        }
        counts.lines += 1;
        line.add_found(self.wanted.fields(), &mut counts.found);
        answered.fill(&line, fields, self.wanted)?;
        line.splice(member, out, |out| self.scores(answered, out))
    }

    /// Writes the answer of a run's record and its score.
    fn record(
        &self,
        text: &str,
        buffers: &mut Buffers,
        (counts, out): (&mut LineCounts, &mut Vec<u8>),
    ) -> Result<()> {
        let answered = &mut buffers.answered;
        if !answered.fill_from_record(text)? {
            return Ok(());
        }
        let Some(entry) = answered.entry.as_ref().filter(|entry| entry.is_answered()) else {
            counts.unanswered += 1;
            return Ok(());
        };
        let is_hidden = answered.target.0.is_null();
        if is_hidden && self.scorers.iter().all(|way| way.scorer.needs_target()) {
            counts.hidden += 1;
            return Ok(());
        }
        if answered.is_lost() {
            counts.lost += 1;
            return Ok(());
        }
        self.write_entry(entry, answered, out)?;
        key(self.member(), out);
        self.scores(answered, out)?;
        out.extend_from_slice(b"}\n");
        Ok(())
    }

    /// Writes everything of a record's line except the score.
    fn write_entry(
        &self,
        entry: &RecordedAnswer,
        answered: &AnsweredSample,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend_from_slice(b"{\"sample_id\":");
        json(&entry.sample_id, out)?;
        if entry.epoch > 0 {
            key("epoch", out);
            json(&entry.epoch, out)?;
        }
        key("prediction", out);
        let prediction = self.scorers.first().and_then(|way| way.extract(answered));
        json(&prediction, out)?;
        key("ground_truth", out);
        json(&answered.target.0, out)?;
        Ok(())
    }

    /// Name of the added member.
    fn member(&self) -> &'static str {
        if self.scorers.len() == 1 {
            "score"
        } else {
            "scores"
        }
    }

    fn scores(&self, answered: &AnsweredSample, out: &mut Vec<u8>) -> Result<()> {
        if let [way] = &self.scorers[..] {
            return way.score(answered, out);
        }
        let is_hidden = answered.entry.is_some() && answered.target.0.is_null();
        let able = |way: &&Way| !is_hidden || !way.scorer.needs_target();
        for (place, way) in self.scorers.iter().filter(able).enumerate() {
            out.push(if place == 0 { b'{' } else { b',' });
            json(way.scorer.name(), out)?;
            out.push(b':');
            way.score(answered, out)?;
        }
        out.push(b'}');
        Ok(())
    }
}

impl Way {
    fn extract<'a>(&self, answered: &'a AnsweredSample) -> Option<Cow<'a, str>> {
        let raw = answered.output.text.as_deref();
        raw.and_then(|raw| self.extract.apply(raw))
    }

    fn score(&self, answered: &AnsweredSample, out: &mut Vec<u8>) -> Result<()> {
        let prediction = self.extract(answered);
        let answer = answered.answer(prediction.as_deref(), self.extract_is_given);
        let score = self.scorer.score(&answer)?;
        write_score(&score, out)
    }
}

impl LineCounts {
    /// Adds the counts of another chunk.
    pub(super) fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.found |= other.found;
        self.unanswered += other.unanswered;
        self.hidden += other.hidden;
        self.lost += other.lost;
    }
}

// Writes scores as JSON, byte for byte like `serde_json`.
//
// There is one score per line, and nearly all texts need no escapes: not checking every byte saves a quarter of the
// time.

/// Writes a score.
pub(super) fn write_score(score: &Score, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"{\"value\":");
    number(score.value, out)?;
    out.extend_from_slice(if score.correct {
        b",\"correct\":true,\"reason\":"
    } else {
        b",\"correct\":false,\"reason\":"
    });
    text(&score.reason, out)?;
    out.extend_from_slice(b",\"normalized_prediction\":");
    normalized(&score.normalized_prediction, out)?;
    out.extend_from_slice(b",\"normalized_ground_truth\":");
    normalized(&score.normalized_ground_truth, out)?;
    out.extend_from_slice(b",\"details\":{");
    for (place, (name, value)) in score.details.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        text(name, out)?;
        out.push(b':');
        match value {
            Value::String(value) => text(value, out)?,
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Number(value) if value.is_f64() => {
                number(value.as_f64().unwrap_or_default(), out)?;
            }
            other => json(other, out)?,
        }
    }
    out.extend_from_slice(b"}}");
    Ok(())
}

/// Writes any value with `serde_json`.
pub(super) fn json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(out, value)
        .map_err(|error| Error::usage(format!("the score cannot be written: {error}")))
}

/// Writes a comma, a key that needs no escapes, and a colon.
pub(super) fn key(key: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn normalized(value: &Normalized, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Normalized::Text(value) => text(value, out),
        other => json(other, out),
    }
}

fn text(value: &str, out: &mut Vec<u8>) -> Result<()> {
    if !is_json_plain(value.as_bytes()) {
        return json(value, out);
    }
    out.reserve(value.len() + 2);
    out.push(b'"');
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
    Ok(())
}

/// Fast path for the two most common numbers.
fn number(value: f64, out: &mut Vec<u8>) -> Result<()> {
    if value.to_bits() == 0 {
        out.extend_from_slice(b"0.0");
    } else if value.to_bits() == 1.0_f64.to_bits() {
        out.extend_from_slice(b"1.0");
    } else {
        return json(&value, out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use evaltest::{Answer, Score};
    use serde_json::json;

    use super::*;

    fn judge(keep_going: bool) -> LineJudge {
        let long = |answer: &Answer<'_>| {
            if answer.prediction == Some("?") {
                return Err(Error::usage("cannot judge"));
            }
            Ok(Score::binary(
                answer.prediction.is_some_and(|text| text.len() > 1),
            ))
        };
        let target = |answer: &Answer<'_>| Ok(Score::binary(answer.target.0 == json!([1])));
        let scorers: [Arc<dyn Scorer>; 2] =
            [Arc::new(("long", long)), Arc::new(("target", target))];
        let fields = Fields::parse(&[]).expect("the usual names");
        let extraction = Extraction {
            extract: Extract::none(),
            is_given: false,
        };
        LineJudge::new(scorers.into(), &extraction, Layout::Lines(fields))
            .replace(true)
            .keep_going(keep_going)
    }

    fn chunk(text: &str) -> InputChunk {
        InputChunk::new(text.as_bytes().to_vec(), 10)
    }

    #[test]
    fn several_scores_go_into_one_member_by_name() {
        let line = r#"{"prediction":"ab","score":1,"ground_truth":[1]}"#;
        let old = r#"{"prediction":"ab","score":1,"scores":{},"ground_truth":[1]}"#;
        let score = r#"{"value":1.0,"correct":true,"reason":"exact_match","normalized_prediction":null,"normalized_ground_truth":null,"details":{}}"#;
        let expect = format!(
            "{},\"scores\":{{\"long\":{score},\"target\":{score}}}}}",
            &line[..line.len() - 1]
        );
        let (judged, _) = judge(false).chunk(&chunk(&format!("{line}\n{old}")));
        assert_eq!(
            String::from_utf8(judged.bytes),
            Ok(format!("{expect}\n{expect}"))
        );
        assert!(judged.fault.is_none());
    }

    #[test]
    fn a_scorer_that_cannot_judge_leaves_no_half_line() {
        let text = "\n{\"prediction\":\"?\",\"ground_truth\":1}\n";
        let (judged, _) = judge(false).chunk(&chunk(text));
        assert!(judged.bytes.is_empty());
        let fault = judged.fault.expect("a fault");
        assert_eq!((fault.line, fault.error.message()), (11, "cannot judge"));

        let (judged, _) = judge(true).chunk(&chunk(text));
        let expect = "{\"line\":11,\"error\":\"cannot judge\"}\n";
        assert_eq!(judged.bytes, expect.as_bytes());
        let malformed = judged.malformed;
        assert_eq!((malformed.count, malformed.first), (1, Some(11)));
    }
}

#[cfg(test)]
mod write_tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn every_byte_is_that_of_serde() {
        let texts = [
            "",
            "a",
            "plain text of some length",
            "quote \"",
            "back\\slash",
            "line\nbreak",
            "\0\u{1}\u{8}\u{c}\u{1f}\u{7f}",
            "é 東京 😀 \u{2028}",
            "12345678\"",
            "1234567\t",
        ];
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.0 / 3.0,
            1e300,
            f64::NAN,
            f64::INFINITY,
        ];
        for sample_text in texts {
            for value in numbers {
                let details = json!({
                    "text": sample_text, "number": value, "whole": 7, "yes": true, "no": false, "null": null,
                    "list": [sample_text, value], "map": {"a": sample_text}, sample_text: 1,
                });
                let details: Map<_, _> = details.as_object().expect("a map").clone();
                for side in [
                    Normalized::None,
                    Normalized::Text(sample_text.into()),
                    Normalized::List(vec![sample_text.into(), "a".into()]),
                ] {
                    let mut given =
                        Score::new(value, value > 0.0, sample_text).normalized(side, sample_text);
                    given.details = details.clone().into();
                    let mut out = Vec::new();
                    write_score(&given, &mut out).expect("written");
                    assert_eq!(
                        String::from_utf8(out).expect("UTF-8"),
                        serde_json::to_string(&given).expect("JSON")
                    );
                }
            }
        }
        let empty = Score::binary(true);
        let mut out = Vec::new();
        write_score(&empty, &mut out).expect("written");
        assert_eq!(out, serde_json::to_vec(&empty).expect("JSON"));
    }
}
