//! Calls of functions that a question asks for, as text in the functions' language.
//!
//! A question is split into sentences and these into parts, each of which may ask for a call of the best matching
//! function; a series of values ("in Oslo, Rome and Kyiv") asks for one call each if a function takes one of them. A
//! parameter gets the value next to its name ("a width of 6", "20 percent"), then the required ones get the remaining
//! values, in order. If no function matches, or a required value is missing, there is no call.

mod fill;
mod token;

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::data::Task;
use fill::{Language, Parameter, fill, parameters};
use token::{Kind, Token, series, stems, tokens};

/// Words without information about what is asked for.
const COMMON: &str = "a all an and another any are as at be by can code current default do each for from get give \
    given has have how i if in is it its made make many me more much my name not now of on one only or other please \
    show some such syntax tell than that the their them then there they this to two use what when where whether which \
    who will with you your";

static COMMON_STEMS: LazyLock<Vec<String>> = LazyLock::new(|| stems(COMMON));

/// The calls that a task asks for.
pub(super) fn solve(task: &Task, question: &str) -> Option<String> {
    let documents: Vec<&Value> = match task.metadata().get("function").and_then(Value::as_array) {
        Some(documents) => documents.iter().collect(),
        None => task
            .tools()
            .iter()
            .filter_map(|tool| tool.get("function"))
            .collect(),
    };
    let category = task.metadata().get("category").and_then(Value::as_str);
    let language = Language::of(category.unwrap_or_default());
    let functions = documents.into_iter();
    let functions = functions
        .filter_map(|document| Function::read(document, language))
        .collect();
    let calls = Functions(functions).calls(&tokens(question));
    (!calls.is_empty()).then(|| language.calls(&calls))
}

/// A function that can be called.
struct Function<'a> {
    name: &'a str,
    language: Language,
    parameters: Vec<Parameter<'a>>,
    /// The expected stems in a question about it, from its name and description.
    named: HashSet<String>,
    described: HashSet<String>,
}

impl<'a> Function<'a> {
    /// `None` if the document does not describe a function.
    fn read(document: &'a Value, language: Language) -> Option<Self> {
        let name = document.get("name")?.as_str()?;
        let description = document.get("description").and_then(Value::as_str);
        let meaningful = |text: &str| -> HashSet<String> {
            stems(text)
                .into_iter()
                .filter(|stem| !COMMON_STEMS.contains(stem))
                .collect()
        };
        let named = meaningful(name);
        let parameters = document
            .get("parameters")
            .map(parameters)
            .unwrap_or_default();
        let mut described = meaningful(description.unwrap_or_default());
        described.extend(
            parameters
                .iter()
                .flat_map(|parameter| stems(parameter.name)),
        );
        described.retain(|stem| !named.contains(stem));
        Some(Self {
            name,
            language,
            parameters,
            named,
            described,
        })
    }

    /// How well tokens match this function: two for each word of its name, one for each other word of its description.
    fn relevance(&self, tokens: &[Token]) -> usize {
        let question: HashSet<String> = tokens.iter().flat_map(Token::stems).collect();
        2 * self.named.intersection(&question).count()
            + self.described.intersection(&question).count()
    }

    fn call(&self, tokens: &[Token]) -> Option<String> {
        Some(format!(
            "{}({})",
            self.name,
            fill(&self.parameters, tokens, self.language)?
        ))
    }

    /// A call, or several if it takes one value and there is a series of them.
    fn each_of_series(&self, tokens: &[Token]) -> Option<Vec<String>> {
        let takes_list = self.parameters.iter().any(Parameter::is_list);
        let is_one = |series: &&Vec<usize>| {
            let required = self
                .parameters
                .iter()
                .filter(|parameter| parameter.is_required);
            let taking = required.filter(|parameter| parameter.fits(&tokens[series[0]]));
            taking.count() == 1
        };
        let found = series(tokens);
        let Some(series) = found.iter().find(is_one).filter(|_| !takes_list) else {
            return Some(vec![self.call(tokens)?]);
        };
        let call = |chosen: &usize| {
            let others = tokens.iter().enumerate();
            let others = others.filter(|(at, _)| at == chosen || !series.contains(at));
            self.call(&others.map(|(_, token)| token.clone()).collect::<Vec<_>>())
        };
        series.iter().map(call).collect()
    }
}

/// The function and the calls that a part asks for.
type RequestedCalls<'a> = (&'a Function<'a>, Vec<String>);

struct Functions<'a>(Vec<Function<'a>>);

impl<'a> Functions<'a> {
    /// The calls of all sentences; of the whole text if no sentence alone asks for one.
    fn calls(&'a self, tokens: &[Token]) -> Vec<String> {
        let mut last = None;
        let mut calls = Vec::new();
        for sentence in tokens.split(|token| token.kind == Kind::Stop) {
            let found = self.each_part(sentence).or_else(|| self.of(sentence, last));
            if let Some((function, more)) = found {
                last = Some(function);
                calls.extend(more);
            }
        }
        if calls.is_empty() {
            calls = self
                .of(tokens, None)
                .map_or_else(Vec::new, |(_, calls)| calls);
        }
        calls
    }

    /// The calls of a sentence each of whose parts asks for one.
    fn each_part(&'a self, sentence: &[Token]) -> Option<RequestedCalls<'a>> {
        let parts = sentence.split(|token| token.is_any("and then"));
        let parts: Vec<&[Token]> = parts
            .filter(|part| part.iter().any(|token| token.kind != Kind::Comma))
            .collect();
        let (mut last, mut calls) = (None, Vec::new());
        for part in parts.iter().filter(|_| parts.len() > 1) {
            let (function, more) = self.of(part, last)?;
            last = Some(function);
            calls.extend(more);
        }
        Some((last?, calls))
    }

    /// The calls of the best matching function; or another call of the last one.
    fn of(
        &'a self,
        tokens: &[Token],
        last: Option<&'a Function<'a>>,
    ) -> Option<RequestedCalls<'a>> {
        let likely = self
            .0
            .iter()
            .rev()
            .max_by_key(|function| function.relevance(tokens));
        let likely = likely.filter(|function| function.relevance(tokens) >= 2);
        let again = last.filter(|last| !last.parameters.is_empty());
        let mut functions = likely.into_iter().chain(again);
        functions.find_map(|function| Some((function, function.each_of_series(tokens)?)))
    }
}
