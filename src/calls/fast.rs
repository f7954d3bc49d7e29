//! Shortcuts: give the same result as a full parser, in a fraction of the time.
//!
//! * [`plain_python`], [`plain_call`]: read the usual calls without a syntax tree;
//! * [`rejected_early`]: rejects texts that cannot be Java or JavaScript, by their tokens;
//! * [`feasibility`], [`beginnings`]: detect a beginning after which a parse must fail.
//!
//! Nothing here decides what a text means. The functions of this file are the only entry points, and when the shortcuts
//! are switched off each returns "unknown": then the parsers read everything, and must give the same values, faults and
//! messages. `tests` compares the two, and so does every parity test.

mod beginnings;
mod cursor;
#[cfg(test)]
mod derived_texts;
mod feasibility;
mod plain_call;
mod plain_python;
mod rejected_early;
#[cfg(test)]
pub(crate) mod switch;
#[cfg(test)]
mod tests;

use super::Value;
use super::fault::{DecodeResult, no_call};
use plain_python::Plain;

pub(super) use beginnings::{Beginnings, Reach};
pub(super) use feasibility::Feasibility;

/// Whether shortcuts are used; only tests switch them off.
#[cfg(not(test))]
const fn is_on() -> bool {
    true
}
#[cfg(test)]
use switch::is_on;

/// The calls of a bracketed Python text, or the fault that it holds none; `None` if unknown.
pub(super) fn python_calls(text: &str) -> Option<DecodeResult<Value>> {
    if !is_on() {
        return None;
    }
    match plain_python::calls(text) {
        Plain::Calls(calls) => Some(Ok(Value::List(calls))),
        Plain::Constants => Some(Err(no_call())),
        Plain::Other => None,
    }
}

/// Reads a Java text that is a single call.
pub(super) fn java_call(text: &str) -> Option<Value> {
    is_on().then(|| plain_call::java(text))?
}

/// Reads a JavaScript text that is a single call, or an object instead of a call.
pub(super) fn javascript_call(text: &str) -> Option<Value> {
    is_on().then(|| plain_call::javascript(text))?
}

/// Whether a text certainly has no Java tree.
pub(super) fn is_no_java(text: &str) -> bool {
    is_on() && rejected_early::in_java(text)
}

/// Whether a text certainly has no JavaScript tree.
pub(super) fn is_no_javascript(text: &str) -> bool {
    is_on() && rejected_early::in_javascript(text)
}

/// Whether a text begins like one whose parse failed.
pub(super) fn begins_lost(text: &str, beginnings: &Beginnings) -> bool {
    is_on() && beginnings.begin(text)
}

/// Whether there will be no tree, whatever follows.
pub(super) fn is_lost(feasibility: Feasibility) -> bool {
    is_on() && feasibility.is_lost()
}
