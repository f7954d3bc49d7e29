//! Questions about a table.
//!
//! Responsibility: find out from the wording which rows are meant (`where
//! column is value`, a cell that is simply mentioned, comparisons) and what is
//! wanted of them: a sum, mean, median, extreme, count, the row with an extreme
//! value, or a single cell. Limits: one table, no grouping, no joins, all
//! conditions must hold together (several mentioned cells of one column: any).

use std::collections::HashSet;

use super::condition::{Mention, conditions, mentions};
use super::number::{Number, rounding};
use super::phrases::Phrases;
use super::table::TextTable;

const LARGEST: &[&str] = &[
    "largest", "highest", "most", "greatest", "maximum", "biggest", "longest", "heaviest",
    "tallest", "deepest", "oldest",
];
const SMALLEST: &[&str] = &[
    "smallest",
    "lowest",
    "least",
    "fewest",
    "minimum",
    "shortest",
    "lightest",
    "cheapest",
    "shallowest",
    "youngest",
];
const WHICH: &[&str] = &["which", "who", "what is the name", "name the"];
const COUNT: &[&str] = &["how many", "number of", "count"];
const TOTAL: &[&str] = &["sum", "total", "combined", "altogether"];
const MEAN: &[&str] = &["average", "mean"];

/// Answers a question about `table`, or `None` when it is not understood.
pub(super) fn answer(question: &str, phrases: &Phrases, table: &TextTable) -> Option<String> {
    let columns = mentions(phrases, table);
    let tests = conditions(phrases, table, &columns);
    let rows: Vec<&Vec<String>> = table
        .rows
        .iter()
        .filter(|row| {
            tests
                .iter()
                .all(|(column, test)| test.holds(TextTable::cell(row, *column)))
        })
        .collect();
    let free: Vec<Mention> = columns
        .iter()
        .copied()
        .filter(|mention| tests.iter().all(|(column, _)| *column != mention.column))
        .collect();
    let view = View {
        phrases,
        rows,
        free,
        headers: table.headers.len(),
    };
    let digits = rounding(question);
    // A word is an operation unless it is part of a column's name or of `at least`.
    let operation = |any: &[&str]| {
        let places = phrases
            .all_of(any)
            .filter(|&index| phrases.before(index) != "at");
        places
            .filter(|&index| !columns.iter().any(|mention| mention.span.holds(index)))
            .min()
    };

    if let Some(index) = operation(COUNT) {
        if phrases.has(&["distinct", "different", "unique"]) {
            let column = view.column_after(index)?;
            let values: HashSet<_> = view
                .rows
                .iter()
                .map(|row| TextTable::cell(row, column))
                .collect();
            return Number::count(values.len()).render(None);
        }
        let counted = view
            .free
            .iter()
            .find(|mention| mention.span.start == index + 2);
        if let Some(mention) = counted
            && let Some(values) = view.numbers(mention.column)
        {
            return total(&values)?.render(digits);
        }
        let whole_rows = phrases.has(&["row", "record", "entrie", "line"]);
        return (whole_rows || !tests.is_empty())
            .then(|| Number::count(view.rows.len()).render(None))?;
    }
    let extreme = operation(LARGEST)
        .map(|index| (index, true))
        .or_else(|| operation(SMALLEST).map(|index| (index, false)));
    if let Some((index, largest)) = extreme {
        return view.extreme(index, largest, digits);
    }
    if let Some(index) = operation(TOTAL) {
        return total(&view.measure(index)?)?.render(digits);
    }
    if let Some(index) = operation(MEAN) {
        let values = view.measure(index)?;
        return total(&values)?
            .div(Number::count(values.len()))?
            .render(digits);
    }
    if let Some(index) = operation(&["median"]) {
        return median(view.measure(index)?)?.render(digits);
    }
    if tests.is_empty() {
        None
    } else {
        view.single()
    }
}

/// The rows that are meant and the columns still free to be asked for.
struct View<'a> {
    phrases: &'a Phrases,
    rows: Vec<&'a Vec<String>>,
    free: Vec<Mention>,
    headers: usize,
}

impl View<'_> {
    /// The first free column named after `index`, else the only free one.
    fn column_after(&self, index: usize) -> Option<usize> {
        let later = self.free.iter().find(|mention| mention.span.start > index);
        let only = match self.free.as_slice() {
            [only] => Some(only),
            _ => None,
        };
        later.or(only).map(|mention| mention.column)
    }

    /// The numbers of a column; `None` if it has none or holds other text.
    fn numbers(&self, column: usize) -> Option<Vec<Number>> {
        let cells = self.rows.iter().map(|row| TextTable::cell(row, column));
        let values: Option<Vec<_>> = cells
            .filter(|cell| !cell.is_empty())
            .map(Number::parse)
            .collect();
        values.filter(|values| !values.is_empty())
    }

    /// The numbers of the first column of numbers that is named after the
    /// operation at `index`, else before it.
    fn measure(&self, index: usize) -> Option<Vec<Number>> {
        let (before, after): (Vec<&Mention>, Vec<&Mention>) = self
            .free
            .iter()
            .partition(|mention| mention.span.start < index);
        after
            .iter()
            .chain(&before)
            .find_map(|mention| self.numbers(mention.column))
    }

    /// The largest or smallest value, or what names the row that has it.
    fn extreme(&self, index: usize, largest: bool, digits: Option<u8>) -> Option<String> {
        let column = self.column_after(index)?;
        let value =
            |row: &[String]| Number::parse(TextTable::cell(row, column)).map(Number::to_f64);
        let valued = self.rows.iter().filter_map(|row| Some((value(row)?, *row)));
        let best = valued.reduce(|best, next| {
            let better = if largest {
                next.0 > best.0
            } else {
                next.0 < best.0
            };
            if better { next } else { best }
        })?;
        let Some(which) = self.phrases.first_of(WHICH) else {
            return Number::parse(TextTable::cell(best.1, column))?.render(digits);
        };
        let mut between = self
            .free
            .iter()
            .filter(|m| m.span.start > which && m.span.start < index);
        let named = between.next().map(|mention| mention.column);
        let target = named.or_else(|| (0..self.headers).find(|other| *other != column))?;
        Some(TextTable::cell(best.1, target).to_owned())
    }

    /// The one cell that all meant rows agree on.
    fn single(&self) -> Option<String> {
        let target = self.free.first()?.column;
        let mut cells = self.rows.iter().map(|row| TextTable::cell(row, target));
        let first = cells.next()?;
        cells.all(|cell| cell == first).then(|| first.to_owned())
    }
}

/// The sum of all values.
fn total(values: &[Number]) -> Option<Number> {
    values
        .iter()
        .try_fold(Number::Whole(0), |sum, value| sum.add(*value))
}

/// The middle value, or the mean of the two in the middle.
pub(super) fn median(mut values: Vec<Number>) -> Option<Number> {
    values.sort_by(|left, right| left.to_f64().total_cmp(&right.to_f64()));
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    values
        .get(values.len() / 2 - 1)?
        .add(upper)?
        .div(Number::Whole(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "item,kind,unit_price,stock,town\n\
        rope,deck,4.50,30,Old Quay\nlamp,cabin,12.25,8,Quay\nbell,deck,20.1,2,Quay\n\
        hook,deck,0.2,,Old Quay\n";

    fn check(question: &str, expected: Option<&str>) {
        let table = TextTable::parse(SHOP, b',').expect("a table");
        let answered = answer(question, &Phrases::new(question), &table);
        assert_eq!(answered.as_deref(), expected, "{question}");
    }

    #[test]
    fn sums_and_means() {
        check("What is the sum of the stock column?", Some("40"));
        check(
            "What is the total unit price where kind is deck?",
            Some("24.8"),
        );
        check(
            "Give the average unit price, rounded to one decimal place.",
            Some("9.3"),
        );
        check("What is the median unit price?", Some("8.375"));
        check("How much stock is there in total in Old Quay?", Some("30"));
        check("What is the sum of the item column?", None);
        check(
            "In the town list, what is the average stock in Quay?",
            Some("5"),
        );
        check(
            "The sum of unit price where stock is at least 8?",
            Some("16.75"),
        );
    }

    #[test]
    fn counts() {
        check("How many rows are there?", Some("4"));
        check("How many items have kind equal to \"deck\"?", Some("3"));
        check("How many items where kind is not deck?", Some("1"));
        check(
            "How many items have a unit price greater than 4.5?",
            Some("2"),
        );
        check(
            "How many items have a unit price >= 4.5 and stock below 10?",
            Some("2"),
        );
        check("How many different kinds are sold?", Some("2"));
        check("How many zebras?", None);
    }

    #[test]
    fn extremes_and_cells() {
        check("Which item has the highest unit price?", Some("bell"));
        check(
            "Which item of kind deck has the lowest unit price?",
            Some("hook"),
        );
        check(
            "In which town is the item with the largest stock?",
            Some("Old Quay"),
        );
        check("What is the maximum stock?", Some("30"));
        check("What is the unit price of the lamp?", Some("12.25"));
        check("What is the unit price in Quay?", None);
        check("Where is it?", None);
    }
}
