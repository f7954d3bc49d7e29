//! One answer to one verdict: decode, look at the shape, check.

use super::entry::Entry;
use super::kind::{Check, Language};
use super::verdict::{CRASH, Verdict};
use crate::bfcl::checker::ast::Checker;
use crate::calls::Value;
use crate::calls::decode::{self, DecodeFault, Format};

/// What a model answered.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// The text of a model without native tool calling.
    Prompt(&'a Value),
    /// The calls of a model with it: a list of `{name: arguments as JSON text}`.
    Native(&'a Value),
}

/// An answer, and how it is to be read and checked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What it is checked against.
    pub entry: &'a Entry,
    /// The category, such as `simple_python` or `live_parallel`: it decides language and kind of check. For
    /// format sensitivity it is the id of the original entry.
    pub category: &'a str,
    /// The answer.
    pub answer: Answer<'a>,
    /// Whether the model's interface has no dots in names of functions, so that `a_b` is right for `a.b`.
    pub underscore_to_dot: bool,
    /// How the calls are written; by default as the language of the category asks for.
    pub format: Option<Format>,
    /// Whether the calls stand between `<TOOLCALL>` and `</TOOLCALL>`.
    pub has_tool_call_tag: bool,
}

impl<'a> Request<'a> {
    /// With dots in names, the format of the category, and no tag.
    pub fn new(entry: &'a Entry, category: &'a str, answer: Answer<'a>) -> Self {
        Self {
            entry,
            category,
            answer,
            underscore_to_dot: false,
            format: None,
            has_tool_call_tag: false,
        }
    }
}

/// The verdict of the official checker.
pub fn check(request: &Request<'_>) -> Verdict {
    let kind = Check::of_category(request.category);
    if let Check::Irrelevance | Check::Relevance = kind {
        return check_relevance(request, kind);
    }
    let language = Language::of_category(request.category);
    let format = request.format.unwrap_or(match language {
        Language::Python => Format::Python,
        Language::Java => Format::Java,
        Language::JavaScript => Format::JavaScript,
    });
    let decoded = match read(request.answer, format, request.has_tool_call_tag) {
        Ok(decoded) => decoded,
        Err(fault) => {
            let message = format!("Invalid syntax. Failed to decode AST. {}", fault.message());
            return Verdict::wrong("ast_decoder:decoder_failed", message, None);
        }
    };
    let Some(calls) = decoded
        .as_list()
        .filter(|_| decode::is_well_formed(&decoded))
    else {
        let message = "Did not output in the specified format. Note: the model_result is wrapped in a string \
                       to ensure json serializability.";
        let kind = "ast_decoder:decoder_wrong_output_format";
        return Verdict::wrong(kind, message.to_owned(), Some(decoded));
    };
    let checker = Checker {
        entry: request.entry,
        language,
        underscore_to_dot: request.underscore_to_dot,
    };
    let mut fits = Vec::new();
    match checker.check(kind, calls, &mut fits) {
        Ok(Ok(())) => Verdict {
            fits,
            ..Verdict::right(Some(decoded))
        },
        Ok(Err(fault)) => Verdict {
            valid: false,
            error_type: Some(fault.kind),
            error: fault.messages,
            decoded: Some(decoded),
            fits,
        },
        Err(crash) => Verdict {
            fits,
            ..Verdict::wrong(CRASH, crash.message(), Some(decoded))
        },
    }
}

fn read(answer: Answer<'_>, format: Format, tag: bool) -> Result<Value, DecodeFault> {
    match answer {
        Answer::Prompt(Value::Str(text)) => decode::prompt(text, format, tag),
        Answer::Prompt(other) => {
            let class = other.type_name();
            Err(DecodeFault::new(format!(
                "'{class}' object has no attribute 'strip'"
            )))
        }
        Answer::Native(calls) => decode::native(calls),
    }
}

/// Irrelevance passes without a call, relevance with any: what cannot be decoded holds none.
fn check_relevance(request: &Request<'_>, kind: Check) -> Verdict {
    let decoded = read(request.answer, Format::Python, false);
    let has_call = decoded.as_ref().is_ok_and(|decoded| {
        decode::is_well_formed(decoded) && decoded.as_list().is_some_and(|calls| !calls.is_empty())
    });
    let wants_none = kind == Check::Irrelevance;
    let fault = decoded
        .as_ref()
        .err()
        .map_or("None", DecodeFault::message)
        .to_owned();
    let decoded = decoded.ok();
    if has_call != wants_none {
        return Verdict::right(decoded);
    }
    if wants_none {
        let message = "Valid syntax. Successfully decode AST when it should not.";
        return Verdict::wrong(
            "irrelevance_error:decoder_success",
            message.to_owned(),
            decoded,
        );
    }
    let message = format!("Invalid syntax. Failed to decode AST when it should have. {fault}");
    Verdict::wrong("relevance_error:decoder_failed", message, decoded)
}
