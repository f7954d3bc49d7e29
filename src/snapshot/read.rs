//! Parses snapshots.

use std::io::ErrorKind;
use std::path::Path;

use super::broken;
use super::content::{AnswerForm, Content, InputHash, MASKED};
use crate::error::{Error, Result};
use crate::text::{excerpt, yaml};
use crate::verdict::baseline::figures::AnswerFigures;
use crate::verdict::baseline::ways;
use crate::verdict::gate::Slice;

/// The lines with the answer.
pub(super) const ANSWER: [&str; 3] = ["answer", "prediction", "normalized_prediction"];

/// The others that are no figures; those of later versions are passed over.
const LINES: [&str; 7] = [
    "verdict", "answers", "found_by", "question", "input", "target", "slices",
];

/// The conflict markers of version control.
const CONFLICT: [&str; 3] = ["<<<<<<<", "=======", ">>>>>>>"];

/// A snapshot with the id in its header; `None` if there is none.
pub(super) fn snapshot(path: &Path) -> Result<Option<(String, Content)>> {
    let text = match crate::system::file::read_plain(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path, &error)),
    };
    let text = String::from_utf8(text).map_err(|_| broken(path, "it is not UTF-8"))?;
    let read = parse(&text).map_err(|reason| broken(path, &reason))?;
    Ok(Some(read))
}

/// A snapshot with the id in its header, or what is wrong with it.
///
/// Parsed by hand: ten thousand are read before the first sample starts, and insta's parser takes several times as
/// long. It also accepts what is not one of our snapshots.
pub(super) fn parse(text: &str) -> std::result::Result<(String, Content), String> {
    // A checkout may have converted line ends.
    let lf;
    let text = if text.contains('\r') {
        lf = text.replace("\r\n", "\n");
        &lf
    } else {
        text
    };
    if text
        .lines()
        .any(|line| CONFLICT.iter().any(|mark| line.starts_with(mark)))
    {
        return Err("it has the marks of a merge conflict".to_owned());
    }
    let rest = text.strip_prefix("---\n").ok_or("it has no header")?;
    let (header, body) = rest.split_once("\n---\n").ok_or("its header has no end")?;
    let id = header
        .lines()
        .find_map(|line| line.strip_prefix("expression: "));
    let id = id.ok_or("its header has no `expression`, the id of the sample")?;
    // insta rewrites the header on acceptance, with YAML quoting.
    let id = serde_json::from_str(id).or_else(|_| yaml::read::<String>(id));
    let id = id.map_err(|_| "its `expression` cannot be read")?;
    Ok((id, content(&fields(body)?)?))
}

/// The names and values of the lines below the header.
fn fields(text: &str) -> std::result::Result<Vec<(&str, &str)>, String> {
    let mut fields = Vec::<(&str, &str)>::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let field = line
            .split_once(':')
            .map(|(name, value)| (name, value.trim()));
        let (name, value) =
            field.ok_or_else(|| format!("`{}` is not a line of a snapshot", excerpt(line)))?;
        if fields.iter().any(|(known, _)| *known == name) {
            return Err(format!("it has the line `{}` twice", excerpt(name)));
        }
        fields.push((name, value));
    }
    Ok(fields)
}

/// Parses the lines below the header.
pub(super) fn content(fields: &[(&str, &str)]) -> std::result::Result<Content, String> {
    let field = |name: &str| {
        let field = fields.iter().find(|(known, _)| *known == name);
        field.map(|(_, value)| (*value).to_owned())
    };
    let needed = |name: &str| field(name).ok_or_else(|| format!("it has no `{name}`"));
    let correct = match needed("verdict")?.as_str() {
        "correct" => Some(true),
        "incorrect" => Some(false),
        "unscored" => None,
        other => return Err(format!("`{}` is not a verdict", excerpt(other))),
    };
    let target_hash = needed("target")?;
    let answers = match field("answers") {
        Some(answers) => verdicts(&answers)?,
        None => vec![correct],
    };
    let ways = match field("found_by") {
        Some(text) => ways::read(&text, &answers).ok_or_else(|| {
            format!(
                "its `found_by` is `{}`, expected one value or as many as `answers`",
                excerpt(&text)
            )
        })?,
        None => Vec::new(),
    };
    let mut figures = AnswerFigures::unknown(&answers);
    let is_other = |name: &str| LINES.contains(&name) || ANSWER.contains(&name);
    for (name, value) in fields.iter().filter(|(name, _)| !is_other(name)) {
        figures.read(name, value)?;
    }
    let answer = match (field("prediction"), field("answer")) {
        (Some(prediction), _) => match prediction.strip_prefix(MASKED) {
            Some(digest) => AnswerForm::Masked(digest.to_owned()),
            None => AnswerForm::Plain {
                prediction,
                normalized: needed("normalized_prediction")?,
            },
        },
        (None, Some(answer)) => AnswerForm::Normalized(answer),
        (None, None) => return Err("it has no `prediction`".to_owned()),
    };
    let input = match (field("question"), field("input")) {
        (Some(hash), _) => InputHash::Question(hash),
        (None, Some(hash)) => InputHash::Rendered(hash),
        (None, None) => return Err("it has no `question`".to_owned()),
    };
    let slices = match field("slices") {
        Some(text) => slices(&text)?,
        None => Vec::new(),
    };
    Ok(Content {
        correct,
        answers,
        ways,
        figures,
        answer,
        input,
        target_hash,
        slices,
    })
}

fn slices(text: &str) -> std::result::Result<Vec<Slice>, String> {
    let parsed: Option<Vec<String>> = serde_json::from_str(text).ok();
    let slices = parsed.and_then(|slices| {
        let slices = slices.iter().map(|slice| slice.split_once('='));
        let slices = slices.map(|slice| slice.map(|(of, value)| Slice::new(of, value)));
        slices.collect()
    });
    slices.ok_or_else(|| {
        format!(
            "its `slices` are {}, expected a list such as [\"level=1\"]",
            excerpt(text)
        )
    })
}

fn verdicts(text: &str) -> std::result::Result<Vec<Option<bool>>, String> {
    let digit = |digit: char| match digit {
        '1' => Some(Some(true)),
        '0' => Some(Some(false)),
        '.' => Some(None),
        _ => None,
    };
    let digits = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let answers: Option<Vec<_>> = digits.and_then(|digits| digits.chars().map(digit).collect());
    let answers = answers.filter(|answers| !answers.is_empty());
    answers.ok_or_else(|| {
        format!(
            "its `answers` are {}, expected verdicts such as \"11011\"",
            excerpt(text)
        )
    })
}
