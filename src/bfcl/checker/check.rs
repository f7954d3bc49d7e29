//! Checks one answer: decodes it, validates its shape and compares it.

use super::entry::AnswerKey;
use super::kind::{Check, Language};
use super::{BfclVerdict, CRASH};
use crate::bfcl::checker::ast::Checker;
use crate::calls::Value;
use crate::calls::decode::{self, CallFormat, DecodeFault};

/// A model's answer.
#[derive(Clone, Copy, Debug)]
pub enum ModelAnswer<'a> {
    /// The text of a model without native tool calls.
    Prompt(&'a Value),
    /// Native tool calls: a list of `{name: arguments as JSON text}`.
    Native(&'a Value),
}

/// An answer, with options for parsing and checking.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// The data it is checked against.
    pub entry: &'a AnswerKey,
    /// The category, such as `simple_python` or `live_parallel`: it sets the language and the kind of check. For
    /// format sensitivity it is the id of the original entry.
    pub category: &'a str,
    /// The answer.
    pub answer: ModelAnswer<'a>,
    /// Whether the model's API does not allow dots in function names, so that `a_b` is right for `a.b`.
    pub underscore_to_dot: bool,
    /// The format of the calls; by default that of the category's language.
    pub format: Option<CallFormat>,
    /// Whether the calls are enclosed in `<TOOLCALL>` and `</TOOLCALL>`.
    pub has_tool_call_tag: bool,
}

impl<'a> CheckRequest<'a> {
    /// A request with dots in names, the category's format, and no tag.
    pub fn new(entry: &'a AnswerKey, category: &'a str, answer: ModelAnswer<'a>) -> Self {
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
pub fn check(request: &CheckRequest<'_>) -> BfclVerdict {
    let kind = Check::of_category(request.category);
    if let Check::Irrelevance | Check::Relevance = kind {
        return check_relevance(request, kind);
    }
    let language = Language::of_category(request.category);
    let format = request.format.unwrap_or(match language {
        Language::Python => CallFormat::Python,
        Language::Java => CallFormat::Java,
        Language::JavaScript => CallFormat::JavaScript,
    });
    let decoded = match read(request.answer, format, request.has_tool_call_tag) {
        Ok(decoded) => decoded,
        Err(fault) => {
            let message = format!("Invalid syntax. Failed to decode AST. {}", fault.message());
            return BfclVerdict {
                limit: fault.limit(),
                ..BfclVerdict::wrong("ast_decoder:decoder_failed", message, None)
            };
        }
    };
    let Some(calls) = decoded
        .as_list()
        .filter(|_| decode::is_well_formed(&decoded))
    else {
        let message = "Did not output in the specified format. Note: the model_result is wrapped in a string \
                       to ensure json serializability.";
        let kind = "ast_decoder:decoder_wrong_output_format";
        return BfclVerdict::wrong(kind, message.to_owned(), Some(decoded));
    };
    let checker = Checker {
        entry: request.entry,
        language,
        underscore_to_dot: request.underscore_to_dot,
    };
    let mut fits = Vec::new();
    match checker.check(kind, calls, &mut fits) {
        Ok(Ok(())) => BfclVerdict {
            fits,
            ..BfclVerdict::right(Some(decoded))
        },
        Ok(Err(fault)) => BfclVerdict {
            valid: false,
            error_type: Some(fault.kind),
            error: fault.messages,
            decoded: Some(decoded),
            fits,
            limit: None,
        },
        Err(crash) => BfclVerdict {
            fits,
            ..BfclVerdict::wrong(CRASH, crash.message(), Some(decoded))
        },
    }
}

fn read(answer: ModelAnswer<'_>, format: CallFormat, tag: bool) -> Result<Value, DecodeFault> {
    match answer {
        ModelAnswer::Prompt(Value::Str(text)) => decode::prompt(text, format, tag),
        ModelAnswer::Prompt(other) => {
            let class = other.type_name();
            Err(DecodeFault::new(format!(
                "'{class}' object has no attribute 'strip'"
            )))
        }
        ModelAnswer::Native(calls) => decode::native(calls),
    }
}

/// Irrelevance requires that there is no call, relevance that there is one. An answer that cannot be decoded contains
/// none.
fn check_relevance(request: &CheckRequest<'_>, kind: Check) -> BfclVerdict {
    let decoded = read(request.answer, CallFormat::Python, false);
    let has_call = decoded.as_ref().is_ok_and(|decoded| {
        decode::is_well_formed(decoded) && decoded.as_list().is_some_and(|calls| !calls.is_empty())
    });
    let wants_none = kind == Check::Irrelevance;
    let fault = decoded
        .as_ref()
        .err()
        .map_or("None", DecodeFault::message)
        .to_owned();
    let limit = decoded.as_ref().err().and_then(DecodeFault::limit);
    let decoded = decoded.ok();
    if has_call != wants_none {
        return BfclVerdict {
            limit,
            ..BfclVerdict::right(decoded)
        };
    }
    if wants_none {
        let message = "Valid syntax. Successfully decode AST when it should not.";
        return BfclVerdict::wrong(
            "irrelevance_error:decoder_success",
            message.to_owned(),
            decoded,
        );
    }
    let message = format!("Invalid syntax. Failed to decode AST when it should have. {fault}");
    BfclVerdict {
        limit,
        ..BfclVerdict::wrong("relevance_error:decoder_failed", message, decoded)
    }
}
