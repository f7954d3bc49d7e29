//! Decodes a model's answer to calls: `[{name: {argument: value}}, …]`.

use std::borrow::Cow;

use super::half;
use super::json::JsonFault;
use super::{DecodeResult, encoded};
use super::{Dict, JsonValue as _, Value};
use super::{java, javascript, json_calls, xml};
use crate::calls;
use crate::text::is_py_space;

pub(crate) use super::DecodeFault;

/// How answers write calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFormat {
    /// `[f(a=1)]`.
    Python,
    /// `f(a=1)` in Java.
    Java,
    /// `f(a=1)` in JavaScript.
    JavaScript,
    /// `[{"function": "f", "parameters": {"a": 1}}]`.
    Json,
    /// `<functions><function name="f"><params><param name="a" value="1" type="integer"/>…`.
    VerboseXml,
    /// `<functions><function name="f"><param name="a" type="integer">1</param>…`.
    ConciseXml,
}

impl CallFormat {
    /// The format by its name in the official program: `python`, `java`, `javascript`, `json`, `verbose_xml`,
    /// `concise_xml`.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "python" => Self::Python,
            "java" => Self::Java,
            "javascript" => Self::JavaScript,
            "json" => Self::Json,
            "verbose_xml" => Self::VerboseXml,
            "concise_xml" => Self::ConciseXml,
            _ => return None,
        })
    }
}

/// Decodes the text of a model without native tool calling. With `has_tool_call_tag` the calls are between `<TOOLCALL>`
/// and `</TOOLCALL>`.
pub(crate) fn prompt(
    text: &str,
    format: CallFormat,
    has_tool_call_tag: bool,
) -> DecodeResult<Value> {
    let text = text.trim_matches(['`', '\n', ' ']);
    let bracketed = match (text.starts_with('['), text.ends_with(']')) {
        (true, true) => Cow::Borrowed(text),
        (true, false) => Cow::Owned([text, "]"].concat()),
        (false, true) => Cow::Owned(["[", text].concat()),
        (false, false) => Cow::Owned(["[", text, "]"].concat()),
    };
    let text = if has_tool_call_tag {
        let tagged = between(&bracketed, "<TOOLCALL>", "</TOOLCALL>").ok_or_else(|| {
            DecodeFault::new(format!(
                "No tool call tag found in input string: {bracketed}"
            ))
        })?;
        bracketed[tagged].trim_matches(is_py_space)
    } else {
        &bracketed
    };
    match format {
        CallFormat::Python => calls::calls(&encoded(text)?),
        // Java and JavaScript are parsed without the brackets.
        CallFormat::Java => java::calls(&encoded(half::without_ends(text))?),
        CallFormat::JavaScript => javascript::calls(&encoded(half::without_ends(text))?),
        CallFormat::Json => json_calls::calls(text),
        CallFormat::VerboseXml | CallFormat::ConciseXml => {
            let functions = between(text, "<functions>", "</functions>").ok_or_else(|| {
                DecodeFault::new(format!(
                    "No XML function call found in input string: {text}. Missing <functions> tag."
                ))
            })?;
            let start = functions.start - "<functions>".len();
            let end = functions.end + "</functions>".len();
            let text = encoded(&text[start..end])?;
            match format {
                CallFormat::VerboseXml => xml::verbose_calls(&text),
                _ => xml::concise_calls(&text),
            }
        }
    }
}

/// The range of the text between the first opening mark and the next closing one.
fn between(text: &str, open: &str, close: &str) -> Option<std::ops::Range<usize>> {
    let start = text.find(open)? + open.len();
    let end = start + text[start..].find(close)?;
    Some(start..end)
}

/// Decodes the calls of a model with native tool calling: a list of `{name: arguments as JSON text}`.
pub(crate) fn native(result: &Value) -> DecodeResult<Value> {
    let items = match result {
        Value::List(items) => &**items,
        // Python iterates over an empty string or dict without an error.
        Value::Str(text) if text.is_empty() => &[],
        Value::Dict(dict) if dict.is_empty() => &[],
        Value::Str(_) | Value::Dict(_) => {
            return Err(DecodeFault::new("'str' object has no attribute 'keys'"));
        }
        other => {
            let class = other.type_name();
            return Err(DecodeFault::new(format!(
                "'{class}' object is not iterable"
            )));
        }
    };
    items
        .iter()
        .map(native_call)
        .collect::<DecodeResult<_>>()
        .map(Value::List)
}

fn native_call(item: &Value) -> DecodeResult<Value> {
    let Value::Dict(dict) = item else {
        let class = item.type_name();
        return Err(DecodeFault::new(format!(
            "'{class}' object has no attribute 'keys'"
        )));
    };
    let (name, arguments) = dict
        .iter()
        .next()
        .ok_or_else(|| DecodeFault::new("list index out of range"))?;
    let Value::Str(arguments) = arguments else {
        let class = arguments.type_name();
        return Err(DecodeFault::new(format!(
            "the JSON object must be str, bytes or bytearray, not {class}"
        )));
    };
    let arguments = Value::from_encoded_json(arguments).map_err(|fault| {
        DecodeFault::new(match fault {
            JsonFault::Syntax => "the arguments are no JSON",
            JsonFault::TooManyDigits => {
                "Exceeds the limit (4300 digits) for integer string conversion"
            }
            JsonFault::TooDeep => "maximum recursion depth exceeded while decoding a JSON array",
        })
    })?;
    Ok(Value::Dict(Dict::of(name.clone(), arguments)))
}

/// Whether it is a list of `{name: {…}}`, each with one name. An empty list is.
pub(crate) fn is_well_formed(decoded: &Value) -> bool {
    decoded.as_list().is_some_and(|calls| {
        calls.iter().all(|call| {
            let mut entries = call.as_dict().into_iter().flat_map(Dict::iter);
            matches!(
                (entries.next(), entries.next()),
                (Some((_, Value::Dict(_))), None)
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, format: CallFormat, tag: bool, expect: Option<&str>) {
        let got = prompt(text, format, tag);
        let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
        assert_eq!(repr.as_deref(), expect, "{text:?} {got:?}");
    }

    #[test]
    fn what_stands_around_the_calls() {
        let python = |text, expect| check(text, CallFormat::Python, false, expect);
        python("", Some("[]"));
        python("f(a=1)", Some("[{'f': {'a': 1}}]"));
        python("f(a=1), g()", Some("[{'f': {'a': 1}}, {'g': {}}]"));
        python("```\n[f(a=1)]\n```", Some("[{'f': {'a': 1}}]"));
        python("```python\n[f(a=1)]\n```", None);
        python("[f(a=1)]\t", None);
        python("The answer: [f(a=1)]", None);
        python("'[f(a=1)]'", None);
        check(
            "ok <TOOLCALL> '[f(a=1)]' </TOOLCALL> </TOOLCALL>",
            CallFormat::Python,
            true,
            Some("[{'f': {'a': 1}}]"),
        );
        check("[f(a=1)]", CallFormat::Python, true, None);
        check("<TOOLCALL>[f(a=1)]", CallFormat::Python, true, None);
        // Half of a surrogate pair cannot be encoded for a parser.
        let half = half::stand_in(0xd800);
        let call = format!("f(a='{half}')");
        check(&call, CallFormat::Python, false, None);
        check(&format!("A.{call}"), CallFormat::Java, false, None);
        check(&call, CallFormat::JavaScript, false, None);
        let xml = |text| format!("<functions><function name=\"f\">{text}</function></functions>");
        check(&xml(half.to_string()), CallFormat::ConciseXml, false, None);
        // The internal stand-ins for halves keep their own meaning in an answer.
        let real = half::encode("f(a='\u{10f800}\u{10f7ff}')");
        let expect = Some("[{'f': {'a': '\\U0010f800\\U0010f7ff'}}]");
        check(&real, CallFormat::Python, false, expect);
        // A character of four bytes shifts the end of a Java value.
        let shifted = Some("[{'f': {'a': \"\\U0010f800\\U0010f7ff')\"}}]");
        check(&format!("{real};"), CallFormat::Java, false, shifted);
        check(&real, CallFormat::JavaScript, false, expect);
        let before = format!("{half}{}", xml(String::new()));
        check(&before, CallFormat::ConciseXml, false, Some("[{'f': {}}]"));
    }

    #[test]
    fn native_calls() {
        fn check(json: &str, expect: Option<&str>) {
            let got = native(&Value::from_json(json).unwrap());
            let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
            assert_eq!(repr.as_deref(), expect, "{json}");
        }
        check("[]", Some("[]"));
        check("\"\"", Some("[]"));
        check("{}", Some("[]"));
        check(
            r#"[{"f": "{\"a\": 1}"}, {"g": "[]"}]"#,
            Some("[{'f': {'a': 1}}, {'g': []}]"),
        );
        check(r#"[{"f": " {} ", "g": "no JSON"}]"#, Some("[{'f': {}}]"));
        check(r#""f(a=1)""#, None);
        check("null", None);
        check("[{}]", None);
        check("[[]]", None);
        check(r#"[{"f": {"a": 1}}]"#, None);
        check(r#"[{"f": "{'a': 1}"}]"#, None);
        check(r#"{"f": "{}"}"#, None);
    }

    #[test]
    fn shape() {
        let check = |json: &str, expect| {
            assert_eq!(
                is_well_formed(&Value::from_json(json).unwrap()),
                expect,
                "{json}"
            );
        };
        check("[]", true);
        check(r#"[{"f": {}}]"#, true);
        check(r#"[{"f": []}]"#, false);
        check(r#"[{"f": {}, "g": {}}]"#, false);
        check("[{}]", false);
        check("{}", false);
        check("[1]", false);
    }
}
