//! What happens to a chunk of lines: each line is scored or found malformed.

use std::str;
use std::sync::Arc;

use evaltest::scorer::{Answer, Scorer};
use evaltest::{Error, Extraction, Output, Result, Target};
use serde_json::{Map, Value, json};

use super::chunks::Chunk;
use super::json::Raw;
use super::line::Line;

/// Scores lines.
pub(super) struct Judge {
    /// At least one. The results of one go into `score`, of several into `scores`, by name.
    pub(super) scorers: Vec<Arc<dyn Scorer>>,
    pub(super) extraction: Extraction,
    /// Whether a line may already have a score.
    pub(super) replace: bool,
    /// Whether a malformed line gets an `error` object and the next one is looked at.
    pub(super) keep_going: bool,
}

/// The results of a chunk.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) bytes: Vec<u8>,
    /// The malformed line that ended it all.
    pub(super) fault: Option<Fault>,
    /// How many malformed lines were passed over.
    pub(super) malformed: u64,
    /// The number of the first of them.
    pub(super) first_malformed: Option<u64>,
}

/// What is wrong with a line.
pub(super) struct Fault {
    pub(super) line: u64,
    pub(super) error: Error,
}

/// Buffers that are filled anew for each line.
struct Buffers {
    open: Vec<u8>,
    target: Target,
    output: Output,
    metadata: Map<String, Value>,
}

impl Judge {
    /// Scores the lines of a chunk, up to the first malformed one unless it is to keep going.
    pub(super) fn chunk(&self, chunk: &Chunk) -> Judged {
        let mut judged = Judged {
            // A score is about as long as a short line.
            bytes: Vec::with_capacity(chunk.bytes.len() * 2),
            ..Judged::default()
        };
        let mut buffers = Buffers {
            open: Vec::new(),
            target: Target(Value::Null),
            output: Output::default(),
            metadata: Map::new(),
        };
        let mut line_number = chunk.first_line;
        let mut next = |line: Result<&str>, line_break: &str| {
            let length = judged.bytes.len();
            let done = line.and_then(|line| self.line(line, &mut buffers, &mut judged.bytes));
            if let Err(error) = done {
                judged.bytes.truncate(length);
                judged.first_malformed.get_or_insert(line_number);
                judged.malformed += 1;
                if !self.keep_going {
                    let line = line_number;
                    judged.fault = Some(Fault { line, error });
                    return false;
                }
                let object = json!({"line": line_number, "error": error.message()});
                let object = object.to_string() + line_break;
                judged.bytes.extend_from_slice(object.as_bytes());
            }
            line_number += 1;
            true
        };
        if let Ok(text) = str::from_utf8(&chunk.bytes) {
            let _ = text
                .split_inclusive('\n')
                .all(|line| next(Ok(line), line_break(line.as_bytes())));
        } else {
            // Some line is no UTF-8; the others still count.
            let _ = chunk
                .bytes
                .split_inclusive(|&byte| byte == b'\n')
                .all(|line| next(utf8(line), line_break(line)));
        }
        judged
    }

    /// Writes the scored line to `out`, or nothing for a blank one.
    fn line(&self, text: &str, buffers: &mut Buffers, out: &mut Vec<u8>) -> Result<()> {
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        let member = if self.scorers.len() == 1 {
            "score"
        } else {
            "scores"
        };
        let line = Line::parse(text, member, &mut buffers.open)?;
        if line.has_old() && !self.replace {
            return Err(Error::usage(format!("the line already has a `{member}`"))
                .hint(format!("add `--replace` to write a new `{member}`")));
        }
        let prediction = match line.prediction {
            None | Some(Raw::Other("null")) => None,
            Some(Raw::String(text)) => Some(text.decode().0),
            Some(Raw::Other(value)) => {
                return Err(Error::usage(format!(
                    "`prediction` must be a string or null, not {}",
                    kind(value)
                )));
            }
        };
        fill_target(&mut buffers.target.0, line.ground_truth)?;
        match &prediction {
            None => buffers.output.text = None,
            Some(prediction) => {
                let text = buffers.output.text.get_or_insert_default();
                text.clear();
                text.push_str(prediction);
            }
        }
        let answer = Answer {
            prediction: prediction.as_deref(),
            target: &buffers.target,
            output: &buffers.output,
            metadata: &buffers.metadata,
            sample: None,
            extract_is_given: self.extraction.is_given,
        };
        line.splice(member, out, |out| self.scores(&answer, out))
    }

    fn scores(&self, answer: &Answer<'_>, out: &mut Vec<u8>) -> Result<()> {
        if let [scorer] = &self.scorers[..] {
            return self.score(&**scorer, answer, out);
        }
        for (place, scorer) in self.scorers.iter().enumerate() {
            out.push(if place == 0 { b'{' } else { b',' });
            write_json(scorer.name(), out)?;
            out.push(b':');
            self.score(&**scorer, answer, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Extracts and scores; `answer` holds the raw prediction.
    fn score(&self, scorer: &dyn Scorer, answer: &Answer<'_>, out: &mut Vec<u8>) -> Result<()> {
        let extract = self.extraction.of(scorer);
        let prediction = answer.prediction.and_then(|raw| extract.apply(raw));
        let score = scorer.score(&Answer {
            prediction: prediction.as_deref(),
            ..*answer
        })?;
        write_json(&score, out)
    }
}

fn write_json<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(out, value)
        .map_err(|error| Error::usage(format!("the score cannot be written: {error}")))
}

/// Puts the ground truth into `target`, whose buffer is used again.
fn fill_target(target: &mut Value, ground_truth: Option<Raw<'_>>) -> Result<()> {
    match ground_truth {
        None => return Err(Error::usage("`ground_truth` is missing")),
        Some(Raw::String(text)) => {
            let (text, replaced) = text.decode();
            if replaced {
                // In a prediction U+FFFD differs from any ground truth, as the half itself does. Here it
                // would make different texts equal.
                return Err(Error::usage("`ground_truth` has half of a surrogate pair"));
            }
            if let Value::String(buffer) = target {
                buffer.clear();
                buffer.push_str(&text);
            } else {
                *target = Value::String(text.into_owned());
            }
        }
        // No scorer's ground truth needs Python's `NaN`, so the standard's reader will do.
        Some(Raw::Other(value)) => {
            *target = serde_json::from_str(value)
                .map_err(|_| Error::usage("`ground_truth` is no standard JSON"))?;
        }
    }
    Ok(())
}

/// What a value that is no string is, for messages.
fn kind(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn utf8(line: &[u8]) -> Result<&str> {
    str::from_utf8(line).map_err(|error| {
        let byte = error.valid_up_to() + 1;
        Error::usage(format!("invalid UTF-8 at byte {byte} of the line"))
    })
}

/// How the line ends.
fn line_break(line: &[u8]) -> &'static str {
    if line.ends_with(b"\r\n") {
        "\r\n"
    } else if line.ends_with(b"\n") {
        "\n"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use evaltest::{Extract, Score};

    use super::*;

    fn judge(keep_going: bool) -> Judge {
        let long = |answer: &Answer<'_>| {
            if answer.prediction == Some("?") {
                return Err(Error::usage("cannot judge"));
            }
            Ok(Score::binary(
                answer.prediction.is_some_and(|text| text.len() > 1),
            ))
        };
        let target = |answer: &Answer<'_>| Ok(Score::binary(answer.target.0 == json!([1])));
        Judge {
            scorers: vec![Arc::new(("long", long)), Arc::new(("target", target))],
            extraction: Extraction {
                extract: Extract::none(),
                is_given: false,
            },
            replace: true,
            keep_going,
        }
    }

    fn chunk(text: &str) -> Chunk {
        Chunk {
            bytes: text.as_bytes().to_vec(),
            first_line: 10,
        }
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
        let judged = judge(false).chunk(&chunk(&format!("{line}\n{old}")));
        assert_eq!(
            String::from_utf8(judged.bytes),
            Ok(format!("{expect}\n{expect}"))
        );
        assert!(judged.fault.is_none());
    }

    #[test]
    fn a_scorer_that_cannot_judge_leaves_no_half_line() {
        let text = "\n{\"prediction\":\"?\",\"ground_truth\":1}\n";
        let judged = judge(false).chunk(&chunk(text));
        assert!(judged.bytes.is_empty());
        let fault = judged.fault.expect("a fault");
        assert_eq!((fault.line, fault.error.message()), (11, "cannot judge"));

        let judged = judge(true).chunk(&chunk(text));
        let expect = "{\"line\":11,\"error\":\"cannot judge\"}\n";
        assert_eq!(judged.bytes, expect.as_bytes());
        assert_eq!((judged.malformed, judged.first_malformed), (1, Some(11)));
    }
}
