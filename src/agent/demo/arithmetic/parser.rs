//! The grammar of arithmetic in symbols and words.
//!
//! Responsibility: read the longest sensible expression from each place and
//! keep the one with the most operations. Limits: [`MAX_DEPTH`] nested parts
//! and [`MAX_FUEL`] steps for one question.

use super::super::number::Number;
use super::operation::{KINDS, digit_sum, factorial, fold, range_sum};
use super::token::MathToken;

/// Deeper nesting is not followed.
const MAX_DEPTH: usize = 48;
/// Steps spent on one question, so odd input cannot take long.
const MAX_FUEL: usize = 200_000;

/// A recursive-descent parser that stops where the words stop making sense.
pub(super) struct Parser<'a> {
    tokens: &'a [MathToken],
    at: usize,
    steps: usize,
    depth: usize,
    fuel: usize,
    /// Something has no result (a division by zero, say) or nests too deep.
    broken: bool,
}

impl<'a> Parser<'a> {
    /// A parser at the beginning of a question.
    pub(super) fn new(tokens: &'a [MathToken]) -> Self {
        Self {
            tokens,
            at: 0,
            steps: 0,
            depth: 0,
            fuel: MAX_FUEL,
            broken: false,
        }
    }

    /// Whether some part of the question has no result.
    pub(super) fn broken(&self) -> bool {
        self.broken
    }

    /// The value of the expression with the most operations, the first of equals.
    pub(super) fn largest(&mut self) -> Option<Number> {
        let mut best: Option<(usize, Number)> = None;
        let mut start = 0;
        while start < self.tokens.len() && self.fuel > 0 {
            (self.at, self.steps, self.depth) = (start, 0, 0);
            let found = self.changed();
            start += 1;
            if let Some(value) = found {
                if self.steps > best.map_or(0, |(steps, _)| steps) {
                    best = Some((self.steps, value));
                }
                start = start.max(self.at);
            }
        }
        best.map(|(_, value)| value)
    }

    /// Spends one step and says whether parsing has to stop here.
    fn exhausted(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        let exhausted = self.depth >= MAX_DEPTH || self.fuel == 0;
        self.broken |= exhausted;
        exhausted
    }

    /// Takes the sign `sign` if it is next.
    fn sign(&mut self, sign: char) -> bool {
        let here =
            matches!(self.tokens.get(self.at), Some(MathToken::Sign(found)) if *found == sign);
        self.at += usize::from(here);
        here
    }

    /// Takes all the `words` if they are next.
    fn words(&mut self, words: &str) -> bool {
        let mut at = self.at;
        for word in words.split(' ') {
            match self.tokens.get(at) {
                Some(MathToken::Word(found)) if found == word => at += 1,
                _ => return false,
            }
        }
        self.at = at;
        true
    }

    /// Takes the first of several wordings that is next.
    fn any(&mut self, wordings: &[&str]) -> bool {
        wordings.iter().any(|wording| self.words(wording))
    }

    /// Runs `right` after an operator and applies it; steps back if that fails.
    fn operate(
        &mut self,
        left: Number,
        right: fn(&mut Self) -> Option<Number>,
        apply: fn(Number, Number) -> Option<Number>,
        before: usize,
    ) -> Option<Number> {
        let steps = self.steps;
        let value = right(self).and_then(|right| {
            let value = apply(left, right);
            self.broken |= value.is_none();
            value
        });
        if value.is_some() {
            self.steps += 1;
        } else {
            (self.at, self.steps) = (before, steps);
        }
        value
    }

    /// An expression, perhaps `increased by 5 percent`.
    fn changed(&mut self) -> Option<Number> {
        let value = self.expression()?;
        let before = self.at;
        let _ = self.any(&["is", "was", "are", "were", "be"]);
        let factor = if self.any(&["increased by", "raised by", "plus a surcharge of"]) {
            Number::Whole(1)
        } else if self.any(&["decreased by", "reduced by", "lowered by", "discounted by"]) {
            Number::Whole(-1)
        } else {
            self.at = before;
            return Some(value);
        };
        let change = self.expression().and_then(|amount| {
            let part = if self.sign('%') || self.any(&["percent", "per cent"]) {
                value.mul(amount)?.div(Number::Whole(100))?
            } else {
                amount
            };
            value.add(part.mul(factor)?)
        });
        if change.is_some() {
            self.steps += 1;
        } else {
            self.at = before;
        }
        change.or(Some(value))
    }

    /// Sums and differences.
    fn expression(&mut self) -> Option<Number> {
        if self.exhausted() {
            return None;
        }
        self.depth += 1;
        let mut value = self.term();
        while let Some(left) = value {
            let before = self.at;
            let next = if self.sign('+') || self.words("plus") {
                self.operate(left, Self::term, Number::add, before)
            } else if self.sign('-') || self.words("minus") {
                self.operate(left, Self::term, Number::sub, before)
            } else {
                None
            };
            if next.is_none() {
                break;
            }
            value = next;
        }
        self.depth -= 1;
        value
    }

    /// Products, quotients and remainders.
    fn term(&mut self) -> Option<Number> {
        let mut value = self.signed()?;
        loop {
            let before = self.at;
            let next = if self.sign('*') || self.any(&["times", "multiplied by", "x"]) {
                self.operate(value, Self::signed, Number::mul, before)
            } else if self.sign('/') || self.words("divided by") {
                self.operate(value, Self::signed, Number::div, before)
            } else if self.sign('%') || self.any(&["modulo", "mod"]) {
                self.operate(value, Self::signed, Number::rem, before)
            } else {
                None
            };
            let Some(next) = next else { return Some(value) };
            value = next;
        }
    }

    /// A power with an optional minus sign before it.
    fn signed(&mut self) -> Option<Number> {
        if self.exhausted() {
            return None;
        }
        self.depth += 1;
        let value = if self.sign('-') {
            self.signed().and_then(|value| Number::Whole(0).sub(value))
        } else {
            self.power()
        };
        self.depth -= 1;
        value
    }

    /// Powers, binding to the right.
    fn power(&mut self) -> Option<Number> {
        let mut base = self.atom()?;
        loop {
            let exponent = if self.words("squared") {
                2
            } else if self.words("cubed") {
                3
            } else {
                break;
            };
            base = base.pow(Number::Whole(exponent))?;
            self.steps += 1;
        }
        let before = self.at;
        if self.sign('^') || self.any(&["to the power of", "raised to the power of"]) {
            return self
                .operate(base, Self::signed, Number::pow, before)
                .or(Some(base));
        }
        Some(base)
    }

    /// A number, a percentage of something, brackets or a named operation.
    fn atom(&mut self) -> Option<Number> {
        let start = self.at;
        if let Some(value) = self.tokens.get(self.at).and_then(MathToken::number) {
            self.at += 1;
            let after = self.at;
            if (self.sign('%') || self.any(&["percent", "per cent"])) && self.words("of") {
                let _ = self.words("the");
                let part = |left: Number, right: Number| left.mul(right)?.div(Number::Whole(100));
                return self
                    .operate(value, Self::signed, part, after)
                    .or(Some(value));
            }
            self.at = after;
            return Some(value);
        }
        let value = if self.sign('(') {
            self.expression().filter(|_| self.sign(')'))
        } else {
            self.named()
        };
        if value.is_none() {
            self.at = start;
        }
        value
    }

    /// A named operation such as `the product of 4, 5 and 6`.
    fn named(&mut self) -> Option<Number> {
        let _ = self.words("the");
        let one = if self.words("square root of") {
            Number::sqrt as fn(Number) -> Option<Number>
        } else if self.words("square of") {
            |value: Number| value.pow(Number::Whole(2))
        } else if self.words("cube of") {
            |value: Number| value.pow(Number::Whole(3))
        } else if self.any(&["sum of the digits of", "digit sum of"]) {
            digit_sum
        } else if self.words("factorial of") {
            factorial
        } else {
            return self.listed();
        };
        let value = one(self.signed()?)?;
        self.steps += 1;
        Some(value)
    }

    /// A named operation on several numbers.
    fn listed(&mut self) -> Option<Number> {
        if self.words("remainder when") {
            let left = self.expression()?;
            let _ = self.words("is");
            return self
                .words("divided by")
                .then(|| self.signed())?
                .and_then(|right| {
                    self.steps += 1;
                    left.rem(right)
                });
        }
        let kind = KINDS.into_iter().find(|kind| self.words(kind))?;
        if !self.any(&["of", "between"]) {
            return None;
        }
        let _ = self.words("all");
        let _ = self.words("the");
        let parity = ["even", "odd"]
            .into_iter()
            .position(|word| self.words(word));
        let _ = self.any(&["whole numbers", "numbers", "integers", "values"]);
        if self.any(&["from", "between"]) {
            let range = self.range(parity)?;
            return (kind == "sum").then_some(range);
        }
        let mut values = vec![self.expression()?];
        loop {
            let before = self.at;
            let comma = self.sign(',');
            if !self.words("and") && !comma {
                break;
            }
            let Some(value) = self.expression() else {
                self.at = before;
                break;
            };
            values.push(value);
        }
        self.steps += values.len() - 1;
        if values.len() < 2 {
            None
        } else {
            fold(kind, values)
        }
    }

    /// The sum of all (even, odd) whole numbers of `1 to 10`.
    fn range(&mut self, parity: Option<usize>) -> Option<Number> {
        let first = self.signed()?.whole()?;
        if !self.any(&["to", "and", "through"]) {
            return None;
        }
        let last = self.signed()?.whole()?;
        self.steps += 1;
        range_sum(first, last, parity)
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    fn check(input: &str, expected: Option<i128>) {
        let read = tokens(input);
        let found = Parser::new(&read).largest().and_then(Number::whole);
        assert_eq!(found, expected, "{input}");
    }

    #[test]
    fn keeps_the_largest_expression() {
        check("not 1 + 1 but 2 * (3 + 4) here", Some(14));
        check("just 7", None);
        check("2 + and 3 *", None);
        check("(((2)))^3 )", Some(8));
    }
}
