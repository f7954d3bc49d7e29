//! Calls of functions that a question asks for.
//!
//! Responsibility: decide which functions a question is about, by the words of their names and descriptions, and what
//! their arguments are. A question falls into sentences and these into parts, each of which may ask for a call; values
//! in a row ("in Oslo, Rome and Kyiv") ask for one call each where a function takes one of them.
//!
//! Limits: general rules over English words, with no knowledge of the world and no arithmetic. A value that is not
//! in the question as the function wants it ("an hour" in minutes, a city's airport) is not found, nor is an optional
//! one that another sentence tells. When no function fits, or one that fits lacks what it requires, there is no
//! call.

mod fill;
mod function;
mod token;
mod write;

use std::collections::HashSet;

use serde_json::Value;

use crate::data::Task;
use fill::FilledArguments;
use function::{Function, ParameterKind};
use token::{TextToken, TokenKind};
use write::CallLanguage;

/// Values in a row that become calls are not more than this.
const MAX_SERIES: usize = 50;

type Call<'a> = (&'a Function, FilledArguments);

/// The calls that a task asks for, as text in the language of its functions.
pub(super) fn solve(task: &Task, asked: &str) -> Option<String> {
    let documents: Vec<&Value> = match task.metadata().get("function").and_then(Value::as_array) {
        Some(documents) => documents.iter().collect(),
        None => task
            .tools()
            .iter()
            .filter_map(|tool| tool.get("function"))
            .collect(),
    };
    let functions: Vec<Function> = documents.into_iter().filter_map(Function::read).collect();
    let category = task.metadata().get("category").and_then(Value::as_str);
    let calls = plan(&functions, &token::tokens(asked));
    (!calls.is_empty()).then(|| CallLanguage::of(category.unwrap_or_default()).calls(&calls))
}

/// The calls of all sentences; of the whole text if no sentence alone asks for one.
fn plan<'a>(functions: &'a [Function], tokens: &[TextToken]) -> Vec<Call<'a>> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    for sentence in tokens.split(|token| token.kind == TokenKind::Stop) {
        let more = parts_of(functions, sentence)
            .or_else(|| part(functions, sentence))
            .or_else(|| again(calls.last()?.0, functions, sentence));
        calls.extend(more.unwrap_or_default());
    }
    if calls.is_empty() {
        calls = part(functions, tokens).unwrap_or_default();
    }
    calls
}

/// The calls of a sentence each of whose parts asks for one. Values in a row stay together.
fn parts_of<'a>(functions: &'a [Function], sentence: &[TextToken]) -> Option<Vec<Call<'a>>> {
    let series = fill::series(sentence);
    let is_inside = |at: usize| {
        let mut series = series.iter();
        series.any(|places| places[0] < at && places.last().is_some_and(|&last| at < last))
    };
    let mut parts: Vec<&[TextToken]> = Vec::new();
    let mut start = 0;
    for (at, token) in sentence.iter().enumerate() {
        if token.is_any(&["and", "then"]) && !is_inside(at) {
            parts.push(&sentence[start..at]);
            start = at + 1;
        }
    }
    parts.push(&sentence[start..]);
    parts.retain(|part| !part.iter().all(is_comma));
    if parts.len() < 2 {
        return None;
    }
    let mut calls: Vec<Call<'_>> = Vec::new();
    for tokens in parts {
        let more = part(functions, tokens).or_else(|| again(calls.last()?.0, functions, tokens))?;
        calls.extend(more);
    }
    Some(calls)
}

fn is_comma(token: &TextToken) -> bool {
    token.kind == TokenKind::Comma
}

/// The calls of the function that the tokens speak of most.
fn part<'a>(functions: &'a [Function], tokens: &[TextToken]) -> Option<Vec<Call<'a>>> {
    let stems = stems(tokens);
    let mut ranked: Vec<(usize, &Function)> = functions
        .iter()
        .map(|function| (function.relevance(&stems), function))
        .collect();
    ranked.sort_by_key(|(relevance, _)| std::cmp::Reverse(*relevance));
    let best = ranked.first()?.0;
    let mut likely = ranked
        .into_iter()
        .take_while(|(relevance, _)| *relevance >= 2 && 3 * relevance >= 2 * best);
    likely.find_map(|(_, function)| each_of_series(function, tokens))
}

/// One more call of the function before, of a part that speaks of no function.
fn again<'a>(
    function: &'a Function,
    functions: &[Function],
    tokens: &[TextToken],
) -> Option<Vec<Call<'a>>> {
    let stems = stems(tokens);
    let speaks_of_other = functions
        .iter()
        .any(|other| other.name != function.name && other.relevance(&stems) >= 2);
    if speaks_of_other || function.parameters.is_empty() {
        return None;
    }
    each_of_series(function, tokens)
}

fn stems(tokens: &[TextToken]) -> HashSet<&str> {
    let stems = tokens.iter().flat_map(|token| &token.stems);
    stems.map(String::as_str).collect()
}

/// A call, or several where a function takes one value and there are some in a row.
fn each_of_series<'a>(function: &'a Function, tokens: &[TextToken]) -> Option<Vec<Call<'a>>> {
    let takes_list = function
        .parameters
        .iter()
        .any(|parameter| parameter.kind == ParameterKind::List);
    let one_of = |kind: TokenKind| {
        let required = function.parameters.iter().filter(|parameter| {
            let is_number = matches!(
                parameter.kind,
                ParameterKind::Integer | ParameterKind::Float
            );
            let is_text = matches!(parameter.kind, ParameterKind::Text | ParameterKind::Any);
            let is_it = if kind == TokenKind::Number {
                is_number
            } else {
                is_text && parameter.options.is_empty()
            };
            parameter.is_required && is_it
        });
        required.count() == 1
    };
    let series = fill::series(tokens);
    let series = series
        .iter()
        .find(|series| one_of(tokens[series[0]].kind) && series.len() <= MAX_SERIES);
    let Some(series) = series.filter(|_| !takes_list) else {
        return Some(vec![(function, fill::fill(function, tokens)?)]);
    };
    let call = |chosen: &usize| {
        let others = tokens.iter().enumerate();
        let tokens: Vec<TextToken> = others
            .filter(|(at, _)| at == chosen || !series.contains(at))
            .map(|(_, token)| token.clone())
            .collect();
        Some((function, fill::fill(function, &tokens)?))
    };
    series.iter().map(call).collect()
}

#[cfg(test)]
mod tests;
