//! Arguments for a function from the values of a question.
//!
//! Responsibility: give each parameter a value that stands with its name ("a width of 6", "20 percent", "to Oslo"),
//! then the required ones what is left, in order. No value is given twice. Optional parameters that are not
//! mentioned stay out.

use super::function::{Function, Parameter, ParameterKind, Shape};
use super::token::{TextToken, TokenKind, stem};

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ArgumentValue {
    /// As digits.
    Number(String),
    Text(String),
    /// Source, such as the name of a variable.
    Code(String),
    Flag(bool),
    List(Vec<ArgumentValue>),
    Dict(Vec<(String, ArgumentValue)>),
}

/// The arguments of a call: for each parameter its value or none.
pub(super) type FilledArguments = Vec<Option<ArgumentValue>>;

/// How much a parameter asks for before it is given a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// A value that stands with the parameter's name.
    Named,
    /// One of its options is mentioned, or what a boolean is about.
    Mentioned,
    /// Anything of its kind, for a required parameter.
    Left,
}

/// The arguments of a call, if the tokens have all that the function requires.
pub(super) fn fill(function: &Function, tokens: &[TextToken]) -> Option<FilledArguments> {
    let mut filler = Filler {
        tokens,
        used: vec![false; tokens.len()],
    };
    let arguments = filler.all(&function.parameters);
    let is_complete = |(parameter, value): (&Parameter, &Option<ArgumentValue>)| {
        value.is_some() || !parameter.is_required
    };
    let mut pairs = function.parameters.iter().zip(&arguments);
    pairs.all(is_complete).then_some(arguments)
}

/// Words between the name of a parameter and its value.
const BETWEEN: [&str; 16] = [
    "a", "an", "as", "at", "by", "called", "for", "in", "is", "named", "number", "of", "the", "to",
    "vector", "with",
];

struct Filler<'a> {
    tokens: &'a [TextToken],
    used: Vec<bool>,
}

impl Filler<'_> {
    fn all(&mut self, parameters: &[Parameter]) -> FilledArguments {
        let mut values: FilledArguments = vec![None; parameters.len()];
        for (parameter, value) in parameters.iter().zip(&mut values) {
            if parameter.kind == ParameterKind::List {
                *value = self.list(parameter);
            }
        }
        for claim in [Claim::Named, Claim::Mentioned, Claim::Left] {
            for (parameter, value) in parameters.iter().zip(&mut values) {
                if value.is_none() && (claim != Claim::Left || parameter.is_required) {
                    *value = self.one(parameter, claim);
                }
            }
        }
        values
    }

    fn one(&mut self, parameter: &Parameter, claim: Claim) -> Option<ArgumentValue> {
        match (parameter.kind, claim) {
            (
                ParameterKind::Integer
                | ParameterKind::Float
                | ParameterKind::Text
                | ParameterKind::Any,
                _,
            ) => self.single(parameter, claim),
            (ParameterKind::Dict, Claim::Named) => self.dict(parameter),
            (ParameterKind::Boolean, Claim::Mentioned) => self.flag(parameter),
            _ => None,
        }
    }

    fn single(&mut self, parameter: &Parameter, claim: Claim) -> Option<ArgumentValue> {
        if !parameter.options.is_empty() {
            return self.option(parameter, claim);
        }
        let at = match claim {
            Claim::Named => self.after_names(parameter, |at| fits(parameter, &self.tokens[at])),
            Claim::Mentioned => None,
            Claim::Left => self.best_left(parameter),
        };
        at.map(|at| self.take(at))
    }

    /// The fields that are mentioned by name.
    fn dict(&mut self, parameter: &Parameter) -> Option<ArgumentValue> {
        let values = self.all(&parameter.fields);
        let names = parameter.fields.iter().map(|field| field.name.clone());
        let given: Vec<(String, ArgumentValue)> = names
            .zip(values)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        (!given.is_empty()).then_some(ArgumentValue::Dict(given))
    }

    /// Values of one kind in a row, such as `3, 5 and 8`.
    fn list(&mut self, parameter: &Parameter) -> Option<ArgumentValue> {
        let items = parameter.items.as_deref()?;
        let is_free = |at: usize| !self.used[at] && fits(items, &self.tokens[at]);
        let series = series(self.tokens);
        let free = series
            .iter()
            .find(|series| series.iter().all(|&at| is_free(at)));
        let places = if let Some(places) = free {
            places.clone()
        } else {
            let fits = |at: usize| fits_strictly(items, &self.tokens[at]);
            vec![self.after_names(parameter, fits)?]
        };
        Some(ArgumentValue::List(
            places.into_iter().map(|at| self.take(at)).collect(),
        ))
    }

    /// Whether a boolean's words are there, and whether something denies them.
    fn flag(&self, parameter: &Parameter) -> Option<ArgumentValue> {
        let mut mentions = (0..self.tokens.len()).filter(|&at| {
            let mut stems = self.tokens[at].stems.iter();
            stems.any(|stem| stem.len() > 3 && parameter.stems.contains(stem))
        });
        let at = mentions.next()?;
        let before = &self.tokens[at.saturating_sub(3)..at];
        let denies = |token: &TextToken| {
            token.is_any(&["not", "no", "without", "never", "cannot"])
                || token.text.ends_with("n't")
                || token.text.ends_with("n’t")
        };
        Some(ArgumentValue::Flag(!before.iter().any(denies)))
    }

    /// An option of which the question speaks.
    fn option(&mut self, parameter: &Parameter, claim: Claim) -> Option<ArgumentValue> {
        let places: Vec<(usize, usize, &String)> = parameter
            .options
            .iter()
            .flat_map(|option| {
                let words: Vec<&str> = option.split([' ', '_']).collect();
                let found = self.find(&words);
                found.into_iter().map(move |at| (at, words.len(), option))
            })
            .filter(|&(at, _, _)| !self.used[at])
            .collect();
        let chosen = match claim {
            Claim::Named => {
                let is_option = |at: usize| places.iter().any(|&(place, _, _)| place == at);
                let named = self.after_names(parameter, is_option)?;
                places.iter().find(|&&(at, _, _)| at == named)
            }
            _ => places.iter().min_by_key(|&&(at, _, _)| at),
        };
        let &(at, length, option) = chosen?;
        self.used[at..at + length].fill(true);
        Some(ArgumentValue::Text(option.clone()))
    }

    /// Where words stand one after the other, or together as one value.
    fn find(&self, words: &[&str]) -> Vec<usize> {
        let whole = words.join(" ");
        let single = |text: &str| {
            let lower = text.to_lowercase();
            lower.strip_suffix('s').map(str::to_owned).unwrap_or(lower)
        };
        let starts = |at: usize| {
            let token = &self.tokens[at];
            let is_value = matches!(token.kind, TokenKind::Quoted | TokenKind::Name)
                && token.text.eq_ignore_ascii_case(&whole);
            let are_words = words.iter().enumerate().all(|(n, word)| {
                let token = self.tokens.get(at + n);
                token.is_some_and(|token| {
                    token.kind == TokenKind::Word && single(&token.text) == single(word)
                })
            });
            (is_value && words.len() == 1) || are_words
        };
        (0..self.tokens.len()).filter(|&at| starts(at)).collect()
    }

    /// The first free value that stands right before a parameter's name ("20 percent") or after it, with nothing but
    /// small words between.
    fn after_names(
        &self,
        parameter: &Parameter,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let is_free = |at: &usize| !self.used[*at] && is_wanted(*at);
        for cue in self.cues(parameter) {
            let is_number = |at: &usize| self.tokens[*at].kind == TokenKind::Number;
            if let Some(at) = cue.checked_sub(1).filter(is_number).filter(is_free) {
                return Some(at);
            }
            let mut at = cue + 1;
            while let Some(token) = self.tokens.get(at) {
                if is_free(&at) {
                    return Some(at);
                }
                let is_between =
                    token.is_any(&BETWEEN) || (token.kind == TokenKind::Comma && at == cue + 1);
                if !is_between || at > cue + 4 {
                    break;
                }
                at += 1;
            }
        }
        None
    }

    /// The places of words that name a parameter, its whole name first.
    fn cues(&self, parameter: &Parameter) -> Vec<usize> {
        let stems = &parameter.stems;
        let Some(last) = stems.last() else {
            return Vec::new();
        };
        let has = |at: usize, stem: &String| {
            let token = self.tokens.get(at);
            token.is_some_and(|token| token.kind == TokenKind::Word && token.stems.contains(stem))
        };
        let places = 0..self.tokens.len();
        let whole = places.clone().filter(|&at| {
            at + 1 >= stems.len()
                && stems
                    .iter()
                    .zip(at + 1 - stems.len()..)
                    .all(|(stem, at)| has(at, stem))
        });
        let mut cues: Vec<usize> = whole.collect();
        cues.extend(places.clone().filter(|&at| has(at, last)));
        let word = preposition(stems);
        cues.extend(places.filter(|&at| word.is_some_and(|word| self.tokens[at].is(word))));
        cues
    }

    /// Among what is left, the value that fits best: what is quoted before a name, in order.
    fn best_left(&self, parameter: &Parameter) -> Option<usize> {
        let free = (0..self.tokens.len()).filter(|&at| !self.used[at]);
        let fitting = free.filter(|&at| fits_strictly(parameter, &self.tokens[at]));
        fitting.min_by_key(|&at| (order(parameter, &self.tokens[at]), at))
    }

    fn take(&mut self, at: usize) -> ArgumentValue {
        self.used[at] = true;
        let token = &self.tokens[at];
        let text = token.text.clone();
        match token.kind {
            TokenKind::Number => ArgumentValue::Number(text),
            TokenKind::Code => ArgumentValue::Code(text),
            _ => ArgumentValue::Text(text),
        }
    }
}

/// The small word before the value of a parameter that is a start or a goal.
fn preposition(stems: &[String]) -> Option<&'static str> {
    const STARTS: &str = "from source origin start departure sender";
    const GOALS: &str = "to target destination goal end recipient arrival";
    let speaks_of = |words: &str| words.split(' ').any(|word| stems.contains(&stem(word)));
    if speaks_of(STARTS) {
        Some("from")
    } else {
        speaks_of(GOALS).then_some("to")
    }
}

/// Whether a value can be that of a parameter whose name stands with it.
fn fits(parameter: &Parameter, token: &TextToken) -> bool {
    let is_text = parameter.kind == ParameterKind::Text && parameter.shape == Shape::Free;
    fits_strictly(parameter, token) || (is_text && token.kind == TokenKind::Number)
}

fn fits_strictly(parameter: &Parameter, token: &TextToken) -> bool {
    let is_value = matches!(
        token.kind,
        TokenKind::Quoted | TokenKind::Name | TokenKind::Code
    );
    match parameter.kind {
        ParameterKind::Integer => token.kind == TokenKind::Number && !token.text.contains('.'),
        ParameterKind::Float => token.kind == TokenKind::Number,
        ParameterKind::Any => is_value || token.kind == TokenKind::Number,
        ParameterKind::Text => is_value && shape(&token.text) == parameter.shape,
        ParameterKind::Boolean | ParameterKind::List | ParameterKind::Dict => false,
    }
}

fn shape(text: &str) -> Shape {
    let parts = |mark: char| -> Option<Vec<usize>> {
        let parts = text.split(mark);
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        parts
            .map(|part| digits(part).then_some(part.len()))
            .collect()
    };
    match (parts(':').as_deref(), parts('-').as_deref()) {
        (Some([1 | 2, 2]), _) => Shape::Time,
        (_, Some([4, 2, 2])) => Shape::Date,
        _ if text.contains('@') && !text.contains(' ') => Shape::Email,
        _ => Shape::Free,
    }
}

fn order(parameter: &Parameter, token: &TextToken) -> u8 {
    match token.kind {
        TokenKind::Code if parameter.kind == ParameterKind::Any => 0,
        TokenKind::Quoted => 1,
        TokenKind::Code => 2,
        _ => 3,
    }
}

/// Two or more values of one kind in a row, with commas, `and` and `or` between.
pub(super) fn series(tokens: &[TextToken]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut current: Vec<usize> = Vec::new();
    let mut is_joined = false;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Number | TokenKind::Quoted | TokenKind::Name | TokenKind::Code => {
                let goes_on = current
                    .last()
                    .is_some_and(|&last| tokens[last].kind == token.kind);
                if !(goes_on && is_joined) {
                    found.push(std::mem::take(&mut current));
                }
                current.push(at);
                is_joined = false;
            }
            TokenKind::Comma if token.text != ":" => is_joined = true,
            TokenKind::Word if token.is_any(&["and", "or"]) => is_joined = true,
            _ => found.push(std::mem::take(&mut current)),
        }
    }
    found.push(current);
    found.retain(|series| series.len() > 1);
    found
}
