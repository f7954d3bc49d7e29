//! `TraceFilter`: which traces are imported, as `--where` names them.

use jiff::Timestamp;
use serde_json::Value;

use super::trace::{Trace, parse_time};
use crate::error::{Error, Result};
use crate::text::unquoted;

/// The legal forms, for errors.
const FORMS: &str = "write `score(NAME) < 0.5`, `score(NAME) == LABEL`, `tag(NAME)`, `tag(NAME) == VALUE`, `tag == NAME`, or \
                     `time >= 2026-11-01`, joined by `and`; the operators are `<`, `<=`, `>`, `>=`, `==` and `!=`";

/// The operators, the longer ones first.
const OPERATORS: [(&str, Operator); 6] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<", Operator::Below),
    (">", Operator::Above),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    AtMost,
    AtLeast,
    Equal,
    Unequal,
    Below,
    Above,
}

impl Operator {
    fn holds<T: PartialOrd>(self, value: &T, other: &T) -> bool {
        match self {
            Self::AtMost => value <= other,
            Self::AtLeast => value >= other,
            Self::Equal => value == other,
            Self::Unequal => value != other,
            Self::Below => value < other,
            Self::Above => value > other,
        }
    }
}

/// Conditions that all hold.
#[derive(Clone, Debug)]
pub struct TraceFilter(Vec<Condition>);

#[derive(Clone, Debug)]
enum Condition {
    /// The number of a verdict, or its label.
    Score(String, Operator, Wanted),
    /// There is a tag, or an entry of this name.
    Tag(String),
    /// An entry has this value.
    Entry(String, Operator, String),
    /// There is such a tag, or not.
    AnyTag(Operator, String),
    Time(Operator, Timestamp),
}

#[derive(Clone, Debug)]
enum Wanted {
    Number(f64),
    Label(String),
}

impl TraceFilter {
    /// Reads conditions.
    ///
    /// # Errors
    /// With the place that cannot be read, and the legal forms.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0 };
        let mut conditions = vec![parser.condition()?];
        loop {
            parser.skip();
            if parser.rest().is_empty() {
                return Ok(Self(conditions));
            }
            let begin = parser.at;
            if parser.name()? != "and" {
                return Err(parser.wrong_at(begin, "`and` or the end"));
            }
            conditions.push(parser.condition()?);
        }
    }

    pub(super) fn passes(&self, trace: &Trace) -> bool {
        self.0.iter().all(|condition| condition.holds(trace))
    }
}

impl Condition {
    fn holds(&self, trace: &Trace) -> bool {
        let tags = trace.metadata.get("tags");
        let tags = match tags {
            Some(Value::Array(tags)) => tags.as_slice(),
            Some(tag) => std::slice::from_ref(tag),
            None => &[],
        };
        let has_tag = |name: &str| tags.iter().any(|tag| unquoted(tag) == name);
        let entry = |name: &str| {
            trace
                .attributes
                .get(name)
                .or_else(|| trace.metadata.get(name))
        };
        match self {
            Self::Score(name, operator, wanted) => {
                let mut scores = trace.scores.iter().filter(|score| score.name == *name);
                scores.any(|score| match wanted {
                    Wanted::Number(number) => score
                        .value
                        .is_some_and(|value| operator.holds(&value, number)),
                    Wanted::Label(label) => score
                        .label
                        .as_ref()
                        .is_some_and(|own| operator.holds(own, label)),
                })
            }
            Self::Tag(name) => has_tag(name) || entry(name).is_some_and(|value| !value.is_null()),
            Self::Entry(name, operator, wanted) => {
                entry(name).is_some_and(|value| operator.holds(&unquoted(value), wanted))
            }
            Self::AnyTag(operator, name) => has_tag(name) == (*operator == Operator::Equal),
            Self::Time(operator, wanted) => {
                trace.times[0] > 0 && operator.holds(&trace.times[0], &wanted.as_nanosecond())
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Whether a text follows, which is then read.
    fn takes(&mut self, text: &str) -> bool {
        self.skip();
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    fn wrong(&self, wanted: &str) -> Error {
        self.wrong_at(self.at, wanted)
    }

    fn wrong_at(&self, at: usize, wanted: &str) -> Error {
        let rest = self.text[at..].trim_start();
        let place = self.text[..self.text.len() - rest.len()].chars().count() + 1;
        let found = match rest {
            "" => "the end".to_owned(),
            rest => format!(
                "`{}`",
                rest.chars().take(20).collect::<String>().escape_debug()
            ),
        };
        let message = format!("`--where`: character {place}: expected {wanted}, found {found}");
        Error::usage(message).hint(FORMS)
    }

    /// A word without blanks and operators, or a text in quotes.
    fn word(&mut self, is_end: impl Fn(char) -> bool, wanted: &str) -> Result<String> {
        self.skip();
        let rest = self.rest();
        if let Some(quote) = rest
            .chars()
            .next()
            .filter(|letter| matches!(letter, '"' | '\''))
        {
            let inside = &rest[1..];
            let Some(end) = inside.find(quote) else {
                return Err(self.wrong("a closing quotation mark"));
            };
            let word = inside[..end].to_owned();
            self.at += end + 2;
            return Ok(word);
        }
        let end = rest
            .find(|letter: char| letter.is_whitespace() || is_end(letter))
            .unwrap_or(rest.len());
        if end == 0 {
            return Err(self.wrong(wanted));
        }
        let word = rest[..end].to_owned();
        self.at += end;
        Ok(word)
    }

    fn name(&mut self) -> Result<String> {
        self.word(
            |letter| "()<>=!\"'".contains(letter),
            "`score(NAME)`, `tag` or `time`",
        )
    }

    fn operator(&mut self) -> Option<Operator> {
        OPERATORS
            .iter()
            .find(|(text, _)| self.takes(text))
            .map(|(_, operator)| *operator)
    }

    /// The name in brackets, if there is one.
    fn argument(&mut self) -> Result<Option<String>> {
        if !self.takes("(") {
            return Ok(None);
        }
        let close = self.rest().find(')').map(|end| self.at + end);
        let quoted = self.rest().trim_start().starts_with(['"', '\'']);
        let name = if quoted {
            self.word(|_| false, "a name")?
        } else {
            let Some(close) = close else {
                return Err(self.wrong("`NAME)`"));
            };
            let name = self.text[self.at..close].trim().to_owned();
            if name.is_empty() {
                return Err(self.wrong("a name"));
            }
            self.at = close;
            name
        };
        if self.takes(")") {
            Ok(Some(name))
        } else {
            Err(self.wrong("`)`"))
        }
    }

    fn condition(&mut self) -> Result<Condition> {
        self.skip();
        let begin = self.at;
        let subject = self.name()?;
        let argument = self.argument()?;
        let operator = self.operator();
        let wanted = |parser: &mut Self| parser.word(|letter| "()<>=!".contains(letter), "a value");
        match (&*subject, argument, operator) {
            ("score", Some(name), Some(operator)) => {
                self.skip();
                let place = self.at;
                let is_text = self.rest().starts_with(['"', '\'']);
                let value = wanted(self)?;
                let number = value
                    .parse::<f64>()
                    .ok()
                    .filter(|number| number.is_finite() && !is_text);
                let wanted = number.map_or(Wanted::Label(value), Wanted::Number);
                let is_order = !matches!(operator, Operator::Equal | Operator::Unequal);
                if is_order && matches!(wanted, Wanted::Label(_)) {
                    return Err(self.wrong_at(place, "a number"));
                }
                Ok(Condition::Score(name, operator, wanted))
            }
            ("tag", Some(name), None) => Ok(Condition::Tag(name)),
            ("tag", Some(name), Some(operator @ (Operator::Equal | Operator::Unequal))) => {
                Ok(Condition::Entry(name, operator, wanted(self)?))
            }
            ("tag", None, Some(operator @ (Operator::Equal | Operator::Unequal))) => {
                Ok(Condition::AnyTag(operator, wanted(self)?))
            }
            ("tag", ..) => Err(self.wrong("`==` or `!=`")),
            ("time", None, Some(operator)) => {
                self.skip();
                let place = self.at;
                let text = wanted(self)?;
                let time = parse_time(&text);
                let time =
                    time.ok_or_else(|| self.wrong_at(place, "a date or a time as in RFC 3339"))?;
                Ok(Condition::Time(operator, time))
            }
            ("score", Some(_), None) | ("time", None, None) => Err(self.wrong("an operator")),
            ("score", None, _) => Err(self.wrong_at(begin, "`score(NAME)`")),
            _ => Err(self.wrong_at(begin, "`score(NAME)`, `tag` or `time`")),
        }
    }
}
