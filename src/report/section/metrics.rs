//! The benchmark's own metrics in JSON: numbers, texts, lists and tables.

use serde_json::{Map, Value};

use super::overview::titled as heading;
use super::source::Source;
use crate::report::document::{Block, Table, list};
use crate::report::render::terminal::truncate;
use crate::verdict::check::BOUNDS;

/// Maximum rows of a table, and characters of a text, on a terminal.
const ROWS: usize = 5;
const TEXT: usize = 200;

/// The metrics by type.
#[derive(Debug, Default)]
struct Metrics {
    /// Name, value, and range over all possible missing verdicts.
    numbers: Vec<(String, String, Option<[String; 2]>)>,
    /// Names of unknown numbers.
    unknown: Vec<String>,
    /// Other values in one line: title and text.
    texts: Vec<(String, String)>,
    /// Lists of objects, with titles.
    tables: Vec<(String, Table)>,
}

/// The benchmark's own metrics.
pub(super) fn metrics(source: &Source<'_>) -> Vec<Block> {
    if source.summary.metrics.is_empty() {
        return Vec::new();
    }
    let metrics = Metrics::of(&source.summary.metrics);
    if source.is_brief() {
        return metrics.brief();
    }
    // If samples are known, wrong parameters have a section of their own.
    let has_parameters = source
        .run
        .is_some_and(|(_, figures)| !figures.wrong_parameters.is_empty());
    metrics.full(|title| has_parameters && title == "wrong parameters")
}

impl Metrics {
    fn of(metrics: &Map<String, Value>) -> Self {
        let mut found = Self::default();
        let bounds = metrics.get(BOUNDS);
        for (name, value) in metrics {
            let bounds = bounds.and_then(|bounds| bounds.get(name));
            found.add(name, value, bounds);
        }
        found
    }

    fn add(&mut self, name: &str, value: &Value, bounds: Option<&Value>) {
        let title = titled(name);
        match value {
            Value::Null => self.unknown.push(name.to_owned()),
            Value::Number(_) => {
                let ends = |bounds: &Value| Some([text(bounds.get(0)?), text(bounds.get(1)?)]);
                let bounds = bounds.and_then(ends).filter(|[low, high]| low != high);
                self.numbers.push((name.to_owned(), text(value), bounds));
            }
            // Shown with the numbers.
            Value::Object(_) if name == BOUNDS => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) => {
                if let Some(table) = table(items) {
                    self.tables.push((title, table));
                } else {
                    let items: Vec<String> = items.iter().map(plain).collect();
                    self.texts.push((title, items.join(", ")));
                }
            }
            Value::Object(entries) => {
                let entries = entries.iter();
                let entries = entries.map(|(key, value)| format!("{key} {}", plain(value)));
                self.texts
                    .push((title, entries.collect::<Vec<_>>().join(", ")));
            }
            other => self.texts.push((title, text(other))),
        }
    }

    fn has_bounds(&self) -> bool {
        self.numbers.iter().any(|(_, _, bounds)| bounds.is_some())
    }

    fn brief(self) -> Vec<Block> {
        let with = if self.has_bounds() {
            ", with their range over missing verdicts"
        } else {
            ""
        };
        let mut table = Table::of_numbers(["", "", ""]);
        for (name, value, bounds) in self.numbers {
            let bounds = bounds.map(|[low, high]| format!("{low} to {high}"));
            table.row([name, value, bounds.unwrap_or_default()]);
        }
        let numbers = table.block();
        let unknown = (!self.unknown.is_empty())
            .then(|| format!("N/A: {}", truncate(&self.unknown.join(", "), TEXT)));
        let texts = self.texts.into_iter();
        let texts = texts.map(|(title, text)| format!("{title}: {}", truncate(&text, TEXT)));
        let below = numbers
            .into_iter()
            .chain(list(unknown.into_iter().chain(texts)));
        let mut blocks = vec![Block::group(
            format!("metrics of the benchmark{with}:"),
            below,
        )];
        for (title, mut table) in self.tables {
            let count = table.rows.len();
            table.rows.truncate(ROWS);
            let more = (count > ROWS)
                .then(|| Block::paragraph(format!("… and {} more, see summary.md", count - ROWS)));
            let below = [Block::Table(table)].into_iter().chain(more);
            blocks.push(Block::group(format!("{title} ({count}):"), below));
        }
        blocks
    }

    fn full(self, is_excluded: impl Fn(&str) -> bool) -> Vec<Block> {
        let mut heads = vec!["metric", "value"];
        if self.has_bounds() {
            heads.push("range over missing verdicts");
        }
        let mut table = Table::of_numbers(heads);
        for (name, value, bounds) in self.numbers {
            let bounds = bounds.map(|[low, high]| format!("{low} to {high}"));
            table.row([name, value].into_iter().chain(bounds));
        }
        for name in self.unknown {
            table.row([name, "N/A".to_owned()]);
        }
        let mut blocks = vec![Block::section("The benchmark's own metrics")];
        blocks.extend(table.block());
        let texts = self.texts.into_iter();
        let texts = texts.map(|(title, text)| format!("{}: {text}", heading(&title)));
        blocks.extend(texts.map(Block::paragraph));
        for (title, table) in self.tables {
            if !is_excluded(&title) {
                blocks.push(Block::Heading(3, heading(&title)));
                blocks.push(Block::Table(table));
            }
        }
        blocks
    }
}

/// A list of objects as a table; `None` if any element is not an object.
fn table(items: &[Value]) -> Option<Table> {
    let objects: Option<Vec<_>> = items.iter().map(Value::as_object).collect();
    let objects = objects?;
    let heads: Vec<&String> = objects.first()?.keys().collect();
    let mut table = Table::of_numbers(heads.iter().map(|head| titled(head)));
    for object in objects {
        let cells = heads.iter().map(|head| object.get(*head));
        table.row(cells.map(|cell| cell.map(text).unwrap_or_default()));
    }
    Some(table)
}

/// `wrong_parameters` as `wrong parameters`.
fn titled(name: &str) -> String {
    name.replace('_', " ")
}

/// A number without insignificant decimals.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().unwrap_or_default().to_string(),
        other => text(other),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "N/A".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            format!("{number:.4}")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::section::Detail;
    use crate::report::section::tests::on_terminal;
    use crate::verdict::summary::Summary;

    #[test]
    fn metrics_are_numbers_lists_and_tables() {
        let mut summary = Summary::of("e", &[]);
        let row = |name: &str| json!({"function_name": name, "samples": 3, "share": 0.25});
        let rows = ["f", "g", "h", "i", "j", "k"].map(row);
        let metrics = json!({
            "overall": 0.12345, "count": 3, "live": null, "memory": null,
            "counted_as_zero": ["a", "b\u{1b}"], "weights": {"x": 0.5},
            "wrong": rows,
            "nothing": [],
            "bounds": {"overall": [0.1, 0.2]},
        });
        summary.metrics = metrics.as_object().unwrap().clone();
        let out = on_terminal(super::metrics(&Source::of(&summary, Detail::Brief)));
        let expect = "  metrics of the benchmark, with their range over missing verdicts:
    overall  0.1235  0.1000 to 0.2000
    count         3
    N/A: live, memory
    counted as zero: a, b\\u{1b}
    weights: x 0.5
  wrong (6):
    function name  samples   share
    f                    3  0.2500
    g                    3  0.2500
    h                    3  0.2500
    i                    3  0.2500
    j                    3  0.2500
    … and 1 more, see summary.md
";
        assert_eq!(out, expect);
    }
}
