//! `Pattern`: a custom syntax for calls.

use regex::Regex;

use super::{Brackets, Outside};
use super::{Call, Effort, TooComplex, arguments, is_name};
use crate::calls::{JsonValue as _, Value};
use crate::error::{Error, Result};
use crate::text::{MatchScope, compile, snippet};

const NAMES: [&str; 2] = ["{name}", "{tool_name}"];
const ARGUMENTS: [&str; 3] = ["{args}", "{arguments}", "{parameters}"];

/// The longest name, in bytes.
const LONGEST_NAME: usize = 256;

/// Limit of the bytes that all searches for a regular expression may examine; each search counts up to the end of the
/// text.
const SEARCHED: usize = 1 << 26;

/// Where the name and the arguments of a call are.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// `[TOOL_CALL:{name}:{args}]`: the text before the name, between name and arguments, and after the arguments.
    /// Without `{args}` only before and after the name.
    Template {
        before: String,
        between: Option<String>,
        behind: String,
    },
    /// A regular expression with the groups `name` and `args`.
    Regex(Regex),
}

impl Pattern {
    /// Parses a pattern.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let Some((name, name_end)) = place_in(text, &NAMES) else {
            let regex = compile(text, MatchScope::Part, false)?;
            if regex.capture_names().flatten().any(|group| group == "name") {
                return Ok(Self::Regex(regex));
            }
            return Err(Error::usage(format!(
                "`{}` does not show the place of a call's name",
                snippet(text)
            ))
            .hint("write `[TOOL_CALL:{name}:{args}]`, or a regular expression with the groups `(?<name>…)` and `(?<args>…)`"));
        };
        if let Some(second) = place_in(&text[name_end..], &NAMES) {
            return Err(
                Error::usage(format!("`{}` has the name of a call twice", snippet(text))).hint(
                    format!(
                        "delete everything after the first arguments: `{}`",
                        snippet(&text[..name_end + second.0])
                    ),
                ),
            );
        }
        let before = &text[..name];
        let (between, behind) = match place_in(text, &ARGUMENTS) {
            None => (None, &text[name_end..]),
            Some((args, _)) if args < name => {
                return Err(Error::usage(format!(
                    "`{}` has the arguments before the name",
                    snippet(text)
                ))
                .hint("write a regular expression with the groups `(?<name>…)` and `(?<args>…)`"));
            }
            Some((args, end)) => (Some(&text[name_end..args]), &text[end..]),
        };
        if before.is_empty() || between == Some("") || (between.is_none() && behind.is_empty()) {
            return Err(Error::usage(format!(
                "`{}` needs some text before and after the name",
                snippet(text)
            ))
            .hint("write `[TOOL_CALL:{name}:{args}]`, or a regular expression with the groups `(?<name>…)` and `(?<args>…)`"));
        }
        Ok(Self::Template {
            before: before.to_owned(),
            between: between.map(str::to_owned),
            behind: behind.to_owned(),
        })
    }

    /// Every call in a text.
    pub(crate) fn find(&self, text: &str) -> Result<Vec<Call>, TooComplex> {
        match self {
            Self::Template {
                before,
                between,
                behind,
            } => by_template(text, before, between.as_deref(), behind),
            Self::Regex(regex) => by_regex(text, regex),
        }
    }
}

/// The position of the first of these marks in a template, and its end.
fn place_in(text: &str, marks: &[&str]) -> Option<(usize, usize)> {
    let found = marks
        .iter()
        .filter_map(|mark| Some((text.find(mark)?, mark.len())));
    found.min().map(|(start, length)| (start, start + length))
}

fn by_regex(text: &str, regex: &Regex) -> Result<Vec<Call>, TooComplex> {
    let mut calls = Vec::new();
    let mut effort = Effort(SEARCHED.max(2 * text.len()));
    let mut place = 0;
    while place <= text.len() {
        effort.spend(text.len() - place)?;
        let Some(found) = regex.captures_at(text, place) else {
            break;
        };
        if let Some(name) = found
            .name("name")
            .filter(|name| is_name(name.as_str().trim()))
        {
            let arguments = found.name("args").map_or("", |args| args.as_str());
            calls.push(arguments::call(name.as_str().trim(), arguments));
        }
        let end = found.get(0).map_or(place, |whole| whole.end());
        // After an empty match the search continues after the next character.
        let step = text[end..].chars().next().map_or(1, char::len_utf8);
        place = if found.get(0).is_none_or(|whole| whole.is_empty()) {
            end + step
        } else {
            end
        };
    }
    Ok(calls)
}

fn by_template(
    text: &str,
    before: &str,
    between: Option<&str>,
    behind: &str,
) -> Result<Vec<Call>, TooComplex> {
    let mut calls = Vec::new();
    let mut effort = Effort::for_text(text);
    let mut rest = text;
    while let Some(start) = rest.find(before) {
        rest = &rest[start + before.len()..];
        effort.spend(LONGEST_NAME)?;
        let Some((name, tail)) = name(rest, between.unwrap_or(behind)) else {
            continue;
        };
        if between.is_none() {
            calls.push(arguments::call(name, ""));
            rest = tail;
        } else if let Some((arguments, tail)) = arguments(tail, before, behind, &mut effort)? {
            calls.push(arguments::call(name, arguments));
            rest = tail;
        } else {
            // The end of the arguments does not occur any more.
            break;
        }
    }
    Ok(calls)
}

fn name<'a>(text: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    let mut near = (LONGEST_NAME + end.len()).min(text.len());
    while !text.is_char_boundary(near) {
        near -= 1;
    }
    // The shortest candidate may be the start of a name that contains such a text.
    let (name, _) = text[..near].split_once(end)?;
    let rest = &text[name.len() + end.len()..];
    let name = name.trim();
    is_name(name).then_some((name, rest))
}

/// The arguments up to the text that follows them, which may also occur within JSON, brackets and quoted values; up to
/// the end of the line if nothing follows.
fn arguments<'a>(
    text: &'a str,
    before: &str,
    behind: &str,
    effort: &mut Effort,
) -> Result<Option<(&'a str, &'a str)>, TooComplex> {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['{', '[', '"']) {
        let (value, end) = Value::from_json_start(trimmed);
        effort.spend(end)?;
        let (json, tail) = trimmed.split_at(end);
        let tail = if behind.is_empty() {
            Some(tail)
        } else {
            tail.trim_start().strip_prefix(behind)
        };
        if let (Ok(_), Some(tail)) = (value, tail) {
            return Ok(Some((json, tail)));
        }
    }
    if !behind.is_empty() {
        // An unclosed bracket is not part of the arguments: do not search the next call for its end.
        let here = &text[..text.find(before).unwrap_or(text.len())];
        effort.spend(here.len())?;
        if let Some(end) = end_outside(here, behind) {
            return Ok(Some((&text[..end], &text[end + behind.len()..])));
        }
    }
    let end = if behind.is_empty() { "\n" } else { behind };
    match text.split_once(end) {
        Some(found) => {
            effort.spend(found.0.len())?;
            Ok(Some(found))
        }
        None => Ok(behind.is_empty().then_some((text, ""))),
    }
}

/// The first position of `behind` outside of brackets of its kind and of quotes.
fn end_outside(text: &str, behind: &str) -> Option<usize> {
    let mut outside = Outside::of(Brackets::closed_by(behind.chars().next()));
    for (place, c) in text.char_indices() {
        if outside.is_here() && text[place..].starts_with(behind) {
            return Some(place);
        }
        outside.pass(c);
    }
    None
}
