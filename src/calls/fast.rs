//! Shortcuts: what the parsers of whole languages would say of a text, in a fraction of the time.
//!
//! * [`plain_python`], [`plain_call`]: the calls that nearly all answers are, read without a syntax tree;
//! * [`hopeless`]: what is no Java or JavaScript by a look at its signs;
//! * [`outlook`], [`beginnings`]: a text after whose beginning a parser mends nothing any more.
//!
//! Nothing here decides what a text means. The functions of this file are the only way in, and with the folder
//! switched off each says that it does not know: then the parsers read everything, and have to come to the same
//! values, faults and messages. `tests` compares the two, and so does every test of parity.

mod beginnings;
mod cursor;
#[cfg(test)]
mod derived_texts;
mod hopeless;
mod outlook;
mod plain_call;
mod plain_python;
#[cfg(test)]
pub(crate) mod switch;
#[cfg(test)]
mod tests;

use super::Value;
use super::fault::{DecodeResult, no_call};
use plain_python::Plain;

pub(super) use beginnings::{Beginnings, Reach};
pub(super) use outlook::Outlook;

/// Whether the folder is used; only tests switch it off.
#[cfg(not(test))]
const fn is_on() -> bool {
    true
}
#[cfg(test)]
use switch::is_on;

/// The calls of a Python text in brackets, or that there are none.
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

/// A whole Java text that is one call.
pub(super) fn java_call(text: &str) -> Option<Value> {
    is_on().then(|| plain_call::java(text))?
}

/// A whole JavaScript text that is one call, or an object in its place.
pub(super) fn javascript_call(text: &str) -> Option<Value> {
    is_on().then(|| plain_call::javascript(text))?
}

/// Whether a text has no Java tree for certain.
pub(super) fn is_no_java(text: &str) -> bool {
    is_on() && hopeless::in_java(text)
}

/// Whether a text has no JavaScript tree for certain.
pub(super) fn is_no_javascript(text: &str) -> bool {
    is_on() && hopeless::in_javascript(text)
}

/// Whether a text begins as one that was lost.
pub(super) fn begins_lost(text: &str, beginnings: &Beginnings) -> bool {
    is_on() && beginnings.begin(text)
}

/// Whether there will be no tree, whatever comes.
pub(super) fn is_lost(outlook: Outlook) -> bool {
    is_on() && outlook.is_lost()
}
