//! Parses the reply on one line.

use evaltest::engine::judge::{
    self, ReadStatus, Reading, Regex, Unread, helloagents_judge, helloagents_winner,
};
use evaltest::engine::text::Cursor;
use evaltest::{Error, Result};
use serde::Serialize;

use crate::answers::{Fields, Line};

/// The added member.
const READING: &str = "reading";

/// A parser for replies.
#[derive(Debug)]
pub(super) enum ReplyReader {
    /// Dimensions and their scale.
    Rubric(Vec<String>, [i64; 2]),
    Choices(Vec<String>),
    Patterns {
        patterns: Vec<(String, Regex)>,
        first_match: bool,
    },
    Rating,
    HelloAgentsJudge,
    HelloAgentsWinner,
}

impl ReplyReader {
    fn read(&self, reply: &str) -> Reading {
        match self {
            Self::Rubric(dimensions, scale) => {
                let dimensions = dimensions.iter().map(|name| (&**name, *scale));
                judge::rubric(reply, &dimensions.collect::<Vec<_>>())
            }
            Self::Choices(choices) => {
                let choices: Vec<_> = choices.iter().map(String::as_str).collect();
                judge::choices(reply, &choices)
            }
            Self::Patterns {
                patterns,
                first_match,
            } => judge::patterns(reply, patterns, *first_match),
            Self::Rating => judge::rating(reply),
            Self::HelloAgentsJudge => helloagents_judge(reply),
            Self::HelloAgentsWinner => helloagents_winner(reply),
        }
    }
}

/// Reads the replies of lines.
pub(super) struct LineReader {
    reader: ReplyReader,
    fields: Fields,
    /// Whether a line may already have a reading.
    replace: bool,
}

impl LineReader {
    pub(super) fn new(reader: ReplyReader, replace: bool) -> Self {
        Self {
            reader,
            fields: Fields::named(&["reply"]),
            replace,
        }
    }

    /// Writes a line with its reading. `open` is a reusable buffer.
    pub(super) fn line(&self, text: &str, open: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
        let mut cursor = Cursor::new(text, std::mem::take(open));
        cursor.skip_space();
        if cursor.peek() != Some(b'{') {
            return Err(cursor.expected("an object, as `{\"reply\":…}`"));
        }
        *open = cursor.into_buffer();
        let line = Line::<1>::parse(text, &self.fields, 1, READING, open)?;
        if line.has_old() && !self.replace {
            return Err(Error::usage(format!("the line already has a `{READING}`"))
                .hint(format!("add `--replace` to write a new `{READING}`")));
        }
        let Some(reply) = line.field(0) else {
            return Err(Error::usage("`reply` is missing"));
        };
        let reading = match reply.text() {
            Some((reply, _)) => self.reader.read(&reply),
            None if reply.is_null() => match &self.reader {
                // These programs treat it as ordinary text.
                ReplyReader::HelloAgentsJudge | ReplyReader::HelloAgentsWinner => {
                    self.reader.read("")
                }
                _ => Reading::unreadable(Unread::NoResponse),
            },
            None => {
                let kind = reply.kind();
                let message = format!("`reply` must be a string or null, not {kind}");
                return Err(Error::usage(message));
            }
        };
        line.splice(READING, out, |out| write(&reading, out))
    }
}

fn write(reading: &Reading, out: &mut Vec<u8>) -> Result<()> {
    let (status, reason) = match reading.status {
        ReadStatus::Read => ("read", None),
        ReadStatus::Unreadable(reason) => ("unreadable", Some(reason)),
    };
    out.extend_from_slice(b"{\"status\":\"");
    out.extend_from_slice(status.as_bytes());
    out.extend_from_slice(b"\",\"reason\":");
    json(&reason, out)?;
    out.extend_from_slice(b",\"verdict\":");
    json(&reading.verdict, out)?;
    out.extend_from_slice(b",\"values\":");
    json(&reading.values, out)?;
    out.extend_from_slice(b",\"repaired\":");
    json(&reading.repaired, out)?;
    out.push(b'}');
    Ok(())
}

fn json(value: &impl Serialize, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(out, value)
        .map_err(|error| Error::usage(format!("the reading cannot be written: {error}")))
}
