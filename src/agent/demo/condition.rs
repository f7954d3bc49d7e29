//! Which columns a question names and which rows it means.
//!
//! Responsibility: find column names and turn `where column is value`, plain
//! mentions of a cell and comparisons with a number into conditions. Limits: a
//! condition is a comparison right after the column's name or a cell that is
//! mentioned word for word; two-letter cells must follow a word like `is`.

use std::collections::HashSet;

use super::number::Number;
use super::phrases::{Phrases, Span};
use super::table::TextTable;

/// Mentions of one column that are looked at.
const MAX_MENTIONS: usize = 16;

/// A column name found in the question.
#[derive(Clone, Copy)]
pub(super) struct Mention {
    /// The column.
    pub(super) column: usize,
    /// Where its name stands.
    pub(super) span: Span,
}

/// A condition on one column.
pub(super) enum Test {
    /// The cell's text is one of these, or with `false` none of these.
    Cell(HashSet<String>, bool),
    /// The cell compares to this number in one of these ways.
    Compare(Number, &'static [std::cmp::Ordering]),
}

impl Test {
    /// Whether a cell meets the condition.
    pub(super) fn holds(&self, cell: &str) -> bool {
        match self {
            Self::Cell(cells, wanted) => cells.contains(cell) == *wanted,
            Self::Compare(value, orderings) => Number::parse(cell).is_some_and(|number| {
                let ordering = number.to_f64().partial_cmp(&value.to_f64());
                ordering.is_some_and(|ordering| orderings.contains(&ordering))
            }),
        }
    }
}

/// The columns that are named, in question order, without names inside longer names.
pub(super) fn mentions(phrases: &Phrases, table: &TextTable) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    for (column, header) in table.headers.iter().enumerate() {
        let spans = phrases.find_all(header).take(MAX_MENTIONS);
        found.extend(spans.map(|span| Mention { column, span }));
    }
    found.sort_by_key(|mention| (mention.span.start, mention.column));
    let spans: Vec<Span> = found.iter().map(|mention| mention.span).collect();
    found
        .into_iter()
        .filter(|mention| !spans.iter().any(|span| span.swallows(mention.span)))
        .collect()
}

/// The conditions that rows must meet, by column.
pub(super) fn conditions(
    phrases: &Phrases,
    table: &TextTable,
    columns: &[Mention],
) -> Vec<(usize, Test)> {
    let mut tests: Vec<(usize, Test)> = columns
        .iter()
        .filter_map(|mention| Some((mention.column, comparison(phrases, mention.span.end)?)))
        .collect();
    for column in 0..table.headers.len() {
        let mut found: Vec<(Span, &str)> = Vec::new();
        let mut seen = HashSet::new();
        for cell in table.rows.iter().map(|row| TextTable::cell(row, column)) {
            if seen.insert(cell)
                && Number::parse(cell).is_none()
                && let Some(span) = phrases.find(cell)
                && (cell.chars().count() > 2 || is_equality(phrases.before(span.start)))
                && !columns
                    .iter()
                    .any(|mention| mention.span.swallows(span) || mention.span == span)
                && found.len() < 32
            {
                found.push((span, cell));
            }
        }
        let spans: Vec<Span> = found.iter().map(|(span, _)| *span).collect();
        found.retain(|(span, _)| !spans.iter().any(|other| other.swallows(*span)));
        if let Some((span, _)) = found.first() {
            let wanted = !matches!(phrases.before(span.start), "not" | "except");
            let cells = found.iter().map(|(_, cell)| (*cell).to_owned()).collect();
            tests.push((column, Test::Cell(cells, wanted)));
        }
    }
    tests
}

/// Whether `word` may stand between a column and the value it equals.
fn is_equality(word: &str) -> bool {
    matches!(
        word,
        "is" | "are" | "was" | "equal" | "to" | "=" | "of" | "exactly"
    )
}

/// A comparison with a number that begins at word `index`.
fn comparison(phrases: &Phrases, index: usize) -> Option<Test> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let mut kind: Option<&'static [std::cmp::Ordering]> = None;
    for at in index..index + 6 {
        let word = phrases.word(at);
        let symbol = word.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        let value = word.get(symbol.len()..).and_then(Number::parse);
        match symbol {
            "" => {
                let value = value?;
                return kind.map(|orderings| Test::Compare(value, orderings));
            }
            "than" | "the" | "value" | "at" => {}
            "greater" | "more" | "larger" | "higher" | "bigger" | "over" | "above" | "longer"
            | "heavier" | "after" | ">" => kind = Some(&[Greater]),
            "less" | "fewer" | "smaller" | "lower" | "under" | "below" | "shorter" | "lighter"
            | "before" | "<" => kind = Some(&[Less]),
            "least" | ">=" => kind = Some(&[Greater, Equal]),
            "most" | "<=" => kind = Some(&[Less, Equal]),
            "not" => kind = Some(&[Greater, Less]),
            other if is_equality(other) => kind = kind.or(Some(&[Equal])),
            _ => return None,
        }
        if let (Some(value), Some(orderings)) = (value, kind) {
            return Some(Test::Compare(value, orderings));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a fixed table that a question means, by their first cell.
    fn check(question: &str, expected: &str) {
        let csv = "lot,shade,price\nw1,sea green,5\nw2,green,7.5\nw3,no,-2\n";
        let table = TextTable::parse(csv, b',').expect("a table");
        let phrases = Phrases::new(question);
        let tests = conditions(&phrases, &table, &mentions(&phrases, &table));
        let meant = table.rows.iter().filter(|row| {
            tests
                .iter()
                .all(|(column, test)| test.holds(TextTable::cell(row, *column)))
        });
        let names: Vec<_> = meant.map(|row| TextTable::cell(row, 0)).collect();
        assert_eq!(names.join(" "), expected, "{question}");
    }

    #[test]
    fn finds_conditions() {
        check("everything", "w1 w2 w3");
        check("the green ones", "w2");
        check("the sea green ones", "w1");
        check("where shade is no", "w3");
        check("no idea", "w1 w2 w3");
        check("where shade is not green", "w1 w3");
        check("where price is 7.5", "w2");
        check("with a price of at least 5", "w1 w2");
        check("with price < 0", "w3");
        check("with price under the value of nothing", "w1 w2 w3");
    }
}
