//! One look-up in an attached file: a table, a JSON document, or a text.
//!
//! In a table, rows that match the question are counted, added, compared, or give a cell. JSON is looked up by a path,
//! `a.b[0].c`, or by the keys and neighbours that are named; a text by its lines `key: value`, or by counting.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::format_number;
use super::words::quoted;

/// Larger tables are not read.
const MAX_CELLS: usize = 1_000_000;

/// Named columns and rows of text.
pub(super) struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn parse(text: &str, delimiter: u8) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
        let headers: Vec<String> = texts(reader.headers().ok()?);
        let most = MAX_CELLS / headers.len().max(1);
        let rows: Vec<Vec<String>> = reader
            .records()
            .map_while(Result::ok)
            .take(most)
            .map(|row| texts(&row))
            .collect();
        Some(Self { headers, rows })
    }

    /// The objects of a list that have the keys of the first one.
    fn of_objects(list: &[Value]) -> Option<Self> {
        let headers: Vec<String> = list.first()?.as_object()?.keys().cloned().collect();
        let row = |object: &Value| headers.iter().map(|key| scalar(object.get(key)?)).collect();
        let rows = list.iter().filter_map(row).collect();
        Some(Self { headers, rows })
    }
}

/// A condition on the cells of a column.
type Test<'a> = Box<dyn Fn(&str) -> bool + 'a>;

/// A question to search for names.
pub(super) struct TableQuestion<'a> {
    question: &'a str,
    /// Its words in lower case, with a blank around each.
    words: String,
}

impl<'a> TableQuestion<'a> {
    pub(super) fn new(question: &'a str) -> Self {
        Self {
            question,
            words: words(question),
        }
    }

    /// Where a name is first mentioned.
    fn find(&self, name: &str) -> Option<usize> {
        let name = words(name);
        (name.len() > 2).then(|| self.words.find(&name))?
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Where one of these words first occurs.
    fn first_of(&self, names: &[&str]) -> Option<usize> {
        names.iter().filter_map(|name| self.find(name)).min()
    }

    pub(super) fn of_table(&self, table: &Table) -> Option<String> {
        let columns = 0..table.headers.len();
        let tests: Vec<Option<Test<'_>>> = columns
            .clone()
            .map(|column| self.test(table, column))
            .collect();
        let is_match = |row: &&Vec<String>| {
            tests
                .iter()
                .zip(*row)
                .all(|(test, cell)| test.as_ref().is_none_or(|test| test(cell)))
        };
        let rows: Vec<&Vec<String>> = table.rows.iter().filter(is_match).collect();
        let is_limited = tests.iter().any(Option::is_some);
        if self.has("how many") {
            return is_limited.then(|| rows.len().to_string());
        }
        // The first column without a condition that is named after a word, and its numbers.
        let named_behind = |word: usize| {
            let place = |&column: &usize| self.words[word..].find(&words(&table.headers[column]));
            let free = columns.clone().filter(|&column| tests[column].is_none());
            free.filter(|column| place(column).is_some())
                .min_by_key(place)
        };
        let measure = |word: usize| {
            let column = named_behind(word)?;
            let numbers = rows.iter().map(|row| row.get(column)?.parse().ok());
            numbers.collect::<Option<Vec<f64>>>()
        };
        if let Some(word) = self.first_of(&["largest", "highest"]) {
            let numbers = measure(word)?;
            let name = named_behind(self.find("which")?)?;
            let best = (0..rows.len())
                .rev()
                .max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]))?;
            return Some(rows[best][name].clone());
        }
        if let Some(word) = self.first_of(&["sum", "total"]) {
            return format_number(measure(word)?.iter().sum());
        }
        let mut numbers = measure(self.first_of(&["average", "median"])?)?;
        numbers.sort_by(f64::total_cmp);
        let middle = match &*numbers {
            [] => return None,
            all if self.has("average") => all,
            all => &all[(all.len() - 1) / 2..=all.len() / 2],
        };
        let count = i32::try_from(middle.len()).ok()?;
        format_number(middle.iter().sum::<f64>() / f64::from(count))
    }

    /// The condition on the cells of a column: a number compared after its name, or one of its texts that is mentioned.
    fn test<'t>(&self, table: &'t Table, column: usize) -> Option<Test<'t>> {
        static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^(?:is )?(greater than|at least) (\d+)").expect("a constant pattern")
        });
        let name = words(&table.headers[column]);
        let behind = self
            .words
            .split_once(&name)
            .map_or("", |(_, behind)| behind);
        if let Some(limit) = LIMIT.captures(behind) {
            let is_strict = &limit[1] == "greater than";
            let least: f64 = limit[2].parse().ok()?;
            return Some(Box::new(move |cell| {
                cell.parse()
                    .is_ok_and(|number: f64| number > least || !is_strict && number >= least)
            }));
        }
        let mut cells = table.rows.iter().filter_map(|row| row.get(column));
        let mentioned =
            cells.find(|cell| cell.len() > 2 && cell.parse::<f64>().is_err() && self.has(cell))?;
        Some(Box::new(move |cell| cell == mentioned))
    }

    pub(super) fn of_json(&self, document: &Value) -> Option<String> {
        static PATH: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\w+(?:\[\d+\]|\.\w+)+").expect("a constant pattern"));
        let mut paths = PATH.find_iter(self.question);
        let at_path = |path: &str| {
            scalar(document.pointer(&format!(
                "/{}",
                path.replace(['.', '['], "/").replace(']', "")
            ))?)
        };
        if let Some(found) = paths.find_map(|path| at_path(path.as_str())) {
            return Some(found);
        }
        let mut found = Found::default();
        self.search(document, 0, &mut found);
        found.counted.or(found.best)
    }

    /// Visits all values; `score` is how many names on the path were mentioned.
    fn search(&self, value: &Value, score: usize, found: &mut Found) {
        match value {
            Value::Array(list) => {
                let table = Table::of_objects(list);
                let counted = table.and_then(|table| self.of_table(&table));
                found.counted = found.counted.take().or(counted);
                for item in list {
                    self.search(item, score, found);
                }
            }
            Value::Object(fields) => {
                let texts = fields.values().filter_map(Value::as_str);
                let neighbours = texts.filter(|text| self.has(text)).count();
                for (key, item) in fields {
                    let own = usize::from(self.has(key));
                    let here = score + own + neighbours;
                    let text = scalar(item).filter(|text| own > 0 && here > 1 && !self.has(text));
                    if text.is_some() && here > found.score {
                        found.score = here;
                        found.best = text;
                    }
                    self.search(item, here, found);
                }
            }
            _ => {}
        }
    }

    pub(super) fn of_text(&self, text: &str) -> Option<String> {
        let wanted = quoted(self.question).first().map(|quote| words(quote));
        if let Some(wanted) = wanted.filter(|_| self.has("how many")) {
            let count = |text: &str| {
                let text = words(text);
                let starts = text.match_indices(' ');
                starts
                    .filter(|(at, _)| text[*at..].starts_with(&wanted))
                    .count()
            };
            if self.has("lines") {
                return Some(
                    text.lines()
                        .filter(|line| count(line) > 0)
                        .count()
                        .to_string(),
                );
            }
            return Some(count(text).to_string());
        }
        // The key that is named first is the one asked for.
        let keyed = text.lines().filter_map(|line| {
            let (key, value) = line.split_once(':')?;
            Some((self.find(key)?, value.trim()))
        });
        keyed.min().map(|(_, value)| value.to_owned())
    }
}

/// The result of a search in JSON.
#[derive(Default)]
struct Found {
    counted: Option<String>,
    best: Option<String>,
    score: usize,
}

/// The words of a text in lower case, without plural `s`, with a blank around each.
fn words(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let single = |word: &str| {
        let word = word.to_lowercase();
        match word.strip_suffix('s') {
            Some(single) if single.len() > 2 && !single.ends_with('s') => single.to_owned(),
            _ => word,
        }
    };
    words.fold(String::from(" "), |text, word| text + &single(word) + " ")
}

/// The text of a JSON string, number or truth value.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}
