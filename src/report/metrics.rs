//! A benchmark's own metrics as reports show them: numbers, lists and tables. The texts in it are as the
//! benchmark gave them; each report makes them harmless in its own way.

use serde_json::{Map, Value};

use crate::verdict::check::BOUNDS;
use crate::verdict::summary::Summary;

/// The metrics by what can be made of them.
#[derive(Debug, Default)]
pub(super) struct ReportedMetrics {
    pub(super) numbers: Vec<MetricNumber>,
    /// The names of those that cannot be told.
    pub(super) unknown: Vec<String>,
    /// Anything else on a line: title and text.
    pub(super) texts: Vec<(String, String)>,
    pub(super) tables: Vec<MetricTable>,
}

/// A number.
#[derive(Debug)]
pub(super) struct MetricNumber {
    pub(super) name: String,
    /// Four decimals at most.
    pub(super) value: String,
    /// What it could be had every sample a verdict.
    pub(super) bounds: Option<[String; 2]>,
}

/// A list of objects with the same keys.
#[derive(Debug)]
pub(super) struct MetricTable {
    pub(super) title: String,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl ReportedMetrics {
    /// Those of a summary.
    pub(super) fn of(summary: &Summary) -> Self {
        let mut metrics = Self::default();
        let bounds = summary.metrics.get(BOUNDS);
        for (name, value) in &summary.metrics {
            let bounds = bounds.and_then(|bounds| bounds.get(name));
            metrics.add(name, value, bounds);
        }
        metrics
    }

    fn add(&mut self, name: &str, value: &Value, bounds: Option<&Value>) {
        match value {
            Value::Null => self.unknown.push(name.to_owned()),
            Value::Number(_) => self.numbers.push(MetricNumber {
                name: name.to_owned(),
                value: shown(value),
                bounds: bounds
                    .and_then(|bounds| Some([shown(bounds.get(0)?), shown(bounds.get(1)?)])),
            }),
            // They stand beside the numbers.
            Value::Object(_) if name == BOUNDS => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) => {
                if let Some(table) = MetricTable::of(name, items) {
                    self.tables.push(table);
                } else {
                    let items: Vec<String> = items.iter().map(plain).collect();
                    self.texts.push((titled(name), items.join(", ")));
                }
            }
            Value::Object(entries) => {
                let entries = entries.iter();
                let entries: Vec<String> = entries
                    .map(|(key, value)| format!("{key} {}", plain(value)))
                    .collect();
                self.texts.push((titled(name), entries.join(", ")));
            }
            other => self.texts.push((titled(name), shown(other))),
        }
    }
}

impl MetricTable {
    /// `None` unless all are objects.
    fn of(name: &str, items: &[Value]) -> Option<Self> {
        let objects: Vec<&Map<String, Value>> =
            items.iter().map(Value::as_object).collect::<Option<_>>()?;
        let heads: Vec<&String> = objects.first()?.keys().collect();
        let row = |object: &&Map<String, Value>| {
            let cells = heads
                .iter()
                .map(|head| object.get(*head).map(shown).unwrap_or_default());
            cells.collect()
        };
        Some(Self {
            title: titled(name),
            rows: objects.iter().map(row).collect(),
            heads: heads.into_iter().map(|head| titled(head)).collect(),
        })
    }
}

/// `wrong_parameters` as `wrong parameters`.
fn titled(name: &str) -> String {
    name.replace('_', " ")
}

/// Numbers without decimals that say nothing.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().unwrap_or_default().to_string(),
        other => shown(other),
    }
}

fn shown(value: &Value) -> String {
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
