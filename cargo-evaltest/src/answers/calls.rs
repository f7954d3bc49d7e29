//! `Calls`: an answer to an entry of the Berkeley Function Calling Leaderboard, parsed from a line.

use std::borrow::Cow;

use evaltest::engine::leaderboard::bfcl::form::PromptForm;
use evaltest::engine::leaderboard::calls::{CallFormat, JsonFault, JsonValue as _, Value};
use evaltest::engine::text::Raw;
use evaltest::{Error, Result};

use super::fields::Fields;
use super::line::Line;

const NAMES: [&str; 9] = [
    "id",
    "category",
    "mode",
    "underscore_to_dot",
    "model_result",
    "return_format",
    "has_tool_call_tag",
    "function",
    "ground_truth",
];

const ID: usize = 0;
const CATEGORY: usize = 1;
const MODE: usize = 2;
const UNDERSCORE_TO_DOT: usize = 3;
const MODEL_RESULT: usize = 4;
const RETURN_FORMAT: usize = 5;
const HAS_TOOL_CALL_TAG: usize = 6;
const FUNCTION: usize = 7;
const GROUND_TRUTH: usize = 8;

/// A line with these fields.
pub(super) type CallsLine<'a> = Line<'a, { NAMES.len() }>;

/// An answer to an entry.
pub(crate) struct Calls<'a> {
    /// Id of the entry.
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) category: Cow<'a, str>,
    /// Whether the answer is a list of native calls rather than a text.
    pub(crate) is_native: bool,
    pub(crate) underscore_to_dot: bool,
    /// The model's output.
    model_result: Raw<'a>,
    pub(crate) format: Option<CallFormat>,
    pub(crate) has_tool_call_tag: bool,
    /// Function definitions that replace those of the data.
    pub(crate) function: Option<Value>,
    pub(crate) ground_truth: Option<Value>,
}

impl<'a> Calls<'a> {
    /// The fields of a line.
    pub(crate) fn fields() -> Fields {
        Fields::named(&NAMES)
    }

    /// Reads a line.
    pub(crate) fn parse(
        text: &'a str,
        fields: &Fields,
        output: &str,
        open: &mut Vec<u8>,
    ) -> Result<(CallsLine<'a>, Self)> {
        let line = CallsLine::parse(text, fields, NAMES.len(), output, open)?;
        let calls = Self::of(&line)?;
        Ok((line, calls))
    }

    fn of(line: &CallsLine<'a>) -> Result<Self> {
        let model_result = line
            .field(MODEL_RESULT)
            .ok_or_else(|| Error::usage("`model_result` is missing"))?;
        let is_native = match word(line, MODE)?.as_deref() {
            Some("prompt") => false,
            Some("fc") => true,
            // Without native calls the model's output is a text.
            None => model_result.text().is_none(),
            Some(other) => {
                return Err(Error::usage(format!(
                    "`mode` is `{}`, expected `prompt` or `fc`",
                    other.escape_debug()
                )));
            }
        };
        let format = match word(line, RETURN_FORMAT)? {
            None => None,
            Some(name) => Some(CallFormat::by_name(&name).ok_or_else(|| {
                Error::usage(format!(
                    "`return_format` is `{}`, expected `python`, `java`, `javascript`, `json`, \
                     `verbose_xml` or `concise_xml`",
                    name.escape_debug()
                ))
            })?),
        };
        let category = word(line, CATEGORY)?;
        let category = category.ok_or_else(|| Error::usage("`category` is missing"))?;
        let id = word(line, ID)?;
        // The id of a format-sensitivity entry says what is checked and how the answer is parsed.
        let form = id.as_deref().filter(|_| category == "format_sensitivity");
        let form = form.and_then(PromptForm::of_id);
        let form = form.map(|(form, original)| (form, original.to_owned()));
        let (form, category) = match form {
            Some((form, original)) => (Some(form), Cow::Owned(original)),
            None => (None, category),
        };
        Ok(Self {
            id,
            category,
            is_native,
            underscore_to_dot: flag(line, UNDERSCORE_TO_DOT)?,
            model_result,
            format: format.or(form.map(PromptForm::call_format)),
            has_tool_call_tag: flag(line, HAS_TOOL_CALL_TAG)?
                || form.is_some_and(PromptForm::has_tool_call_tag),
            function: inline(line, FUNCTION)?,
            ground_truth: inline(line, GROUND_TRUTH)?,
        })
    }
}

impl<'a> Calls<'a> {
    /// The model's output as Python would parse it: lone surrogates and numbers of any size are preserved. An error if
    /// the official program could not parse it.
    pub(crate) fn model_result(&self) -> Result<Value, JsonFault> {
        match self.model_result {
            Raw::Plain(text) => Ok(Value::text(text)),
            Raw::Escaped(text) => Value::from_json_string(text),
            Raw::Other(text) => Value::from_json(text),
        }
    }

    /// The model's output as raw JSON text, and whether that is the inside of a string literal.
    pub(crate) fn raw_result(&self) -> (&'a str, bool) {
        match self.model_result {
            Raw::Plain(text) | Raw::Escaped(text) => (text, true),
            Raw::Other(text) => (text, false),
        }
    }
}

fn given<'a>(line: &CallsLine<'a>, field: usize) -> Option<Raw<'a>> {
    line.field(field).filter(|raw| !raw.is_null())
}

fn wrong(field: usize, what: &str, raw: Raw<'_>) -> Error {
    let (name, kind) = (NAMES[field], raw.kind());
    Error::usage(format!("`{name}` must be {what}, not {kind}"))
}

fn word<'a>(line: &CallsLine<'a>, field: usize) -> Result<Option<Cow<'a, str>>> {
    let Some(raw) = given(line, field) else {
        return Ok(None);
    };
    let (text, _) = raw.text().ok_or_else(|| wrong(field, "a string", raw))?;
    Ok(Some(text))
}

fn flag(line: &CallsLine<'_>, field: usize) -> Result<bool> {
    match given(line, field) {
        None => Ok(false),
        Some(raw) => match &*raw.content() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong(field, "true or false", raw)),
        },
    }
}

/// An object or array; in CSV cells it is JSON text inside a string.
fn inline(line: &CallsLine<'_>, field: usize) -> Result<Option<Value>> {
    let Some(raw) = given(line, field) else {
        return Ok(None);
    };
    match Value::from_json(&raw.content()) {
        Ok(value) => Ok(Some(value)),
        Err(JsonFault::Syntax) => Err(wrong(field, "an array", raw)),
        Err(JsonFault::TooDeep) => Err(Error::usage(format!(
            "`{}` is nested too deeply",
            NAMES[field]
        ))),
        Err(JsonFault::TooManyDigits) => Err(Error::usage(format!(
            "`{}` has a number of more than 4300 digits",
            NAMES[field]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn parse(text: &str) -> Result<bool> {
        let (line, calls) = Calls::parse(text, &Calls::fields(), "score", &mut Vec::new())?;
        let mut out = Vec::new();
        line.splice("score", &mut out, |out| {
            out.push(b'7');
            Ok(())
        })?;
        assert!(out.trim_ascii_end().ends_with(b"7}"), "{text}");
        Ok(calls.model_result().is_ok())
    }

    #[test]
    fn results_of_any_depth_and_size_are_read() {
        let check = |result: &str, is_read: bool| {
            let line = format!(r#"{{"category":"simple_python","model_result":{result}}}"#);
            assert_eq!(parse(&line).ok(), Some(is_read), "{}", &line[..80]);
        };
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        check(&deep(900), true);
        check(&deep(10_000), false);
        check(&deep(1 << 19), false);
        check(
            &format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000)),
            false,
        );
        check(&format!("\"{}\"", "[".repeat(1 << 20)), true);
        check(&format!("\"{}\"", r"\ud800\u0000".repeat(1 << 17)), true);
        check(&"9".repeat(1 << 20), false);
        check(&format!("0.{}", "9".repeat(1 << 20)), true);
        for field in ["function", "ground_truth"] {
            let line = format!(
                r#"{{"category":"simple_python","model_result":"","{field}":{}}}"#,
                deep(10_000)
            );
            let error = parse(&line).expect_err("too deep");
            assert_eq!(error.message(), format!("`{field}` is nested too deeply"));
        }
    }

    #[rustfmt::skip]
    const PIECES: [&str; 48] = [
        "{", "}", "[", "]", ",", ":", "\"", "\"id\":", "\"category\":", "\"mode\":", "\"model_result\":", "\"return_format\":",
        "\"underscore_to_dot\":", "\"has_tool_call_tag\":", "\"function\":", "\"ground_truth\":", "\"score\":", "\"x\"",
        "\"simple_java\"", "\"fc\"", "\"prompt\"", "\"json\"", "true", "false", "null", "NaN", "-Infinity", "1", "-0.5e9",
        "01", "1.", "\\", "\\u", "\\ud800", "\\n", "\"\\udc00\"", "\u{1}", "\0", " ", "\t", "\r", "é", "😀", "\u{10f800}",
        "[{\"f\":\"{}\"}]", "\"[f(a=1)]\"", "{\"category\":\"a\",\"model_result\":", "'",
    ];

    /// Set `EVALTEST_FUZZ_CASES=1000000` for a million cases.
    #[test]
    fn no_line_makes_it_panic() {
        let requested = std::env::var("EVALTEST_FUZZ_CASES").ok();
        let cases = requested.map_or(2_000, |cases| cases.parse().expect("a number of cases"));
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |end: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 33) % end
        };
        let mut read = 0;
        for _ in 0..cases {
            let mut line = String::new();
            for _ in 0..below(12) {
                line += PIECES[usize::try_from(below(48)).expect("small")];
            }
            if below(2) > 0 {
                line = format!("{{\"category\":\"a\",\"model_result\":{line}}}");
            }
            read += u64::from(parse(&line).is_ok());
        }
        let _ = writeln!(std::io::stderr(), "{cases} lines, {read} read");
        assert!(read > 0);
    }
}
