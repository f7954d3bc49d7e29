//! Arithmetic in symbols and in words: evaluates the expression of a question with the most operations.
//!
//! `+ - * / ^ %` and brackets, `15 percent of`, `reduced by 35 percent`, sums of lists and ranges, square roots and
//! remainders. Without an expression there are two naive rules for stories: `in total` adds all numbers, `are left`
//! subtracts the others from the first.

use std::sync::LazyLock;

use regex::Regex;

use super::format_number;

/// Tokens beyond these are ignored, to bound time and nesting.
const MAX_TOKENS: usize = 500;

/// Dates, numbers, words and signs.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\d+-\d+-\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|\d+(?:\.\d+)?\b|\w+|\S")
        .expect("a constant pattern")
});

/// Computes the arithmetic in a question.
pub(super) fn solve(question: &str) -> Option<String> {
    let lower = question.to_lowercase();
    let tokens: Vec<&str> = TOKEN
        .find_iter(&lower)
        .map(|found| found.as_str())
        .collect();
    let tokens = &tokens[..tokens.len().min(MAX_TOKENS)];
    let mut best: Option<(usize, f64)> = None;
    for start in 0..tokens.len() {
        let mut expression = Expression {
            tokens: &tokens[start..],
            operations: 0,
        };
        if let Some(value) = expression.changed()
            && expression.operations > best.map_or(0, |(operations, _)| operations)
        {
            best = Some((expression.operations, value));
        }
    }
    let value = best
        .map(|(_, value)| value)
        .or_else(|| story(&lower, tokens));
    value
        .filter(|value| value.is_finite())
        .and_then(format_number)
}

/// Naive sums and differences of all numbers of a story.
fn story(question: &str, tokens: &[&str]) -> Option<f64> {
    let numbers: Vec<f64> = tokens.iter().filter_map(|token| number(token)).collect();
    let (first, others) = numbers
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let others: f64 = others.iter().sum();
    if !question.contains("how many") {
        None
    } else if question.contains("in total") {
        Some(first + others)
    } else {
        question.contains("are left").then_some(first - others)
    }
}

fn number(token: &str) -> Option<f64> {
    let is_number = token.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| token.replace(',', "").parse().ok())?
}

/// The unread rest of an expression.
struct Expression<'a> {
    tokens: &'a [&'a str],
    operations: usize,
}

type Operation = fn(f64, f64) -> f64;

impl Expression<'_> {
    /// Skips tokens, if all of them are next.
    fn takes(&mut self, wanted: &str) -> bool {
        let mut rest = self.tokens;
        for word in wanted.split(' ') {
            match rest.split_first() {
                Some((next, behind)) if *next == word => rest = behind,
                _ => return false,
            }
        }
        self.tokens = rest;
        true
    }

    /// Reads operands and operators, left-associative.
    fn chain(
        &mut self,
        operators: &[(&str, Operation)],
        side: fn(&mut Self) -> Option<f64>,
    ) -> Option<f64> {
        let mut value = side(self)?;
        loop {
            let before = self.tokens;
            let Some((_, operation)) = operators.iter().find(|(sign, _)| self.takes(sign)) else {
                return Some(value);
            };
            let Some(other) = side(self) else {
                self.tokens = before;
                return Some(value);
            };
            value = operation(value, other);
            self.operations += 1;
        }
    }

    /// An expression, optionally followed by `is reduced by 5 percent`.
    fn changed(&mut self) -> Option<f64> {
        let value = self.sum()?;
        let _ = self.takes("is");
        if !self.takes("reduced by") {
            return Some(value);
        }
        let percent = self.sum().filter(|_| self.takes("percent"))?;
        self.operations += 1;
        Some(value - value * percent / 100.0)
    }

    fn sum(&mut self) -> Option<f64> {
        self.chain(
            &[
                ("+", |a, b| a + b),
                ("plus", |a, b| a + b),
                ("-", |a, b| a - b),
                ("minus", |a, b| a - b),
            ],
            Self::product,
        )
    }

    fn product(&mut self) -> Option<f64> {
        let of: Operation = |percent, whole| percent * whole / 100.0;
        self.chain(
            &[
                ("*", |a, b| a * b),
                ("times", |a, b| a * b),
                ("/", |a, b| a / b),
                ("percent of", of),
                ("%", f64::rem_euclid),
            ],
            Self::power,
        )
    }

    fn power(&mut self) -> Option<f64> {
        if self.takes("-") {
            return Some(-self.power()?);
        }
        let base = self.atom()?;
        let before = self.tokens;
        if self.takes("^") {
            // Right-associative.
            if let Some(exponent) = self.power() {
                self.operations += 1;
                return Some(base.powf(exponent));
            }
            self.tokens = before;
        }
        Some(base)
    }

    /// A number, brackets or a named operation.
    fn atom(&mut self) -> Option<f64> {
        if let Some((first, rest)) = self.tokens.split_first()
            && let Some(value) = number(first)
        {
            self.tokens = rest;
            return Some(value);
        }
        if self.takes("(") {
            return self.sum().filter(|_| self.takes(")"));
        }
        let _ = self.takes("the");
        if self.takes("square root of") {
            self.operations += 1;
            return Some(self.power()?.sqrt());
        }
        if self.takes("remainder when") {
            let value = self.sum()?;
            let divisor = self.takes("is divided by").then(|| self.power())??;
            self.operations += 1;
            return Some(value.rem_euclid(divisor));
        }
        if self.takes("sum of all odd integers from") {
            let first = self.power()?;
            let last = self.takes("to").then(|| self.power())??;
            self.operations += 1;
            let (first, last) = ((first / 2.0).floor(), (last / 2.0 + 0.5).floor());
            return Some(last * last - first * first);
        }
        self.takes("sum of").then(|| self.list())?
    }

    /// The sum of `3, 4 and 5`.
    fn list(&mut self) -> Option<f64> {
        let _ = self.takes("the");
        let mut sum = self.sum()?;
        let before = self.operations;
        while self.takes(",") || self.takes("and") {
            sum += self.sum()?;
            self.operations += 1;
        }
        (self.operations > before).then_some(sum)
    }
}
