//! Arithmetic in symbols and in words.
//!
//! Responsibility: find the largest expression in a question and work it out:
//! `+ - * / ^ %`, brackets, `percent of`, `reduced by 10 percent`, `the sum
//! of 3, 4 and 5`, `the square root of ...` and their combinations. Without an
//! expression, two naive story rules apply: `in total` adds all numbers up and
//! `are left` subtracts the rest from the first, which is at times wrong.
//! Limits: no units, no unknowns; nesting and work are bounded (see `parser`).

mod operation;
mod parser;
mod token;

use super::number::{Number, rounding, without_rounding};
use parser::Parser;
use token::{MathToken, tokens};

/// Works out the arithmetic in a question.
pub(super) fn solve(question: &str) -> Option<String> {
    let read = tokens(&without_rounding(question));
    let mut parser = Parser::new(&read);
    let found = parser.largest();
    if parser.broken() {
        return None;
    }
    let value = found.or_else(|| story(question, &read))?;
    value.render(rounding(question))
}

/// Naive sums and differences over all numbers of a story.
fn story(question: &str, read: &[MathToken]) -> Option<Number> {
    let numbers: Vec<Number> = read.iter().filter_map(MathToken::number).collect();
    let (first, rest) = numbers.split_first()?;
    if rest.is_empty() {
        return None;
    }
    let lower = question.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|part| lower.contains(part));
    if !has(&["how many", "how much"]) {
        None
    } else if has(&["in total", "altogether", "in all"]) {
        rest.iter().try_fold(*first, |sum, number| sum.add(*number))
    } else if has(&["are left", "is left", "remain"]) {
        rest.iter()
            .try_fold(*first, |left, number| left.sub(*number))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expected: Option<&str>) {
        assert_eq!(solve(question).as_deref(), expected, "{question}");
    }

    #[test]
    fn symbols() {
        check("What is 2 + 3 * (4 - 1)^2?", Some("29"));
        check("Compute 0.1 + 0.2.", Some("0.3"));
        check("1,250 / 8 and nothing else", Some("156.25"));
        check("17 % 5 × 2", Some("4"));
        check("-2^2 and 2^-1", Some("-4"));
        check("2^3^2", Some("512"));
        check("5 + 10 / 0", None);
        check("7 +", None);
        check("123456789 * 987654321", Some("121932631112635269"));
    }

    #[test]
    fn wordings() {
        check("What is the sum of 3, 4 and 5?", Some("12"));
        check("the product of 2, 3 and the sum of 1 and 4", Some("30"));
        check("the difference between 4 and 19.5", Some("15.5"));
        check("the average of 1, 2, and 6, please", Some("3"));
        check("What is the square root of the sum of 9 and 16?", Some("5"));
        check("How much is 12 percent of 250?", Some("30"));
        check("12.5% of (8 + 8)", Some("2"));
        check("80 is reduced by 15 percent", Some("68"));
        check("the remainder when 2^10 is divided by 7", Some("2"));
        check("the sum of all odd integers from 1 to 9", Some("25"));
        check("the sum of the even numbers between 1 and 9", Some("20"));
        check("the sum of the digits of 2^10", Some("7"));
        check("the factorial of 5 minus twenty-one", Some("99"));
        check("the least common multiple of 4, 6 and 10", Some("60"));
        check("7 squared plus three times 2", Some("55"));
        check(
            "2 divided by 3, rounded to two decimal places",
            Some("0.67"),
        );
    }

    #[test]
    fn stories_and_nonsense() {
        check(
            "There are 3 cats and four dogs. How many pets in total?",
            Some("7"),
        );
        check("Of 20 eggs 6 broke. How many are left?", Some("14"));
        check("It opened on 2031-05-06 at 10:30. How many in total?", None);
        check("How many are left?", None);
        check(&"9^".repeat(3_000), None);
        check(&"-".repeat(50_000), None);
        check(&"5% of ".repeat(5_000), None);
        check(
            &format!("{}1{}", "(".repeat(9_000), ")".repeat(9_000)),
            None,
        );
    }
}
