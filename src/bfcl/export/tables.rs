//! The leaderboard's tables, `data_*.csv`, with one row: comma-separated without quotes, and without a final newline.

use super::Model;
use crate::bfcl::benchmark::sensitivity::FormCounts;
use crate::bfcl::benchmark::{Aggregates, CategoryCounts, Figure, category};
use crate::bfcl::form::PromptForm;
use crate::stats::as_f64;
use crate::text::py_repr_float;

/// Time and tokens of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs {
    /// Known latencies of answers, in seconds.
    pub(super) latencies: Vec<f64>,
    /// Input and output tokens, if known.
    pub(super) tokens: [Option<u64>; 2],
}

/// The official program assumes this machine for models without prices: US dollars per hour, and concurrent answers.
const MACHINE_HOUR: f64 = 23.92;
const MACHINE_ANSWERS: f64 = 100.0;

const MISSING: &str = "N/A";

/// Names and contents of the tables.
pub(super) fn tables(
    counts: &CategoryCounts,
    forms: &FormCounts,
    costs: &Costs,
    model: &Model,
) -> [(&'static str, String); 6] {
    let all = Aggregates::of(counts);
    let row = Row {
        counts,
        forms,
        all: &all,
        model,
    };
    [
        ("data_overall.csv", row.overall(costs)),
        ("data_non_live.csv", row.non_live()),
        ("data_live.csv", row.live()),
        ("data_multi_turn.csv", row.multi_turn()),
        ("data_agentic.csv", row.agentic()),
        ("data_format_sensitivity.csv", row.format_sensitivity()),
    ]
}

struct Row<'a> {
    counts: &'a CategoryCounts,
    forms: &'a FormCounts,
    all: &'a Aggregates,
    model: &'a Model,
}

type Columns = Vec<(String, String)>;

impl Row<'_> {
    fn non_live(&self) -> String {
        let mut columns = self.start();
        add(
            &mut columns,
            [
                ("Non-Live Overall Acc", official_percent(self.all.non_live)),
                ("AST Summary", complete(self.all.non_live)),
                ("Simple AST", complete(self.all.simple)),
                ("Python Simple AST", self.of("simple_python")),
                ("Java Simple AST", self.of("simple_java")),
                ("JavaScript Simple AST", self.of("simple_javascript")),
                ("Multiple AST", self.of("multiple")),
                ("Parallel AST", self.of("parallel")),
                ("Parallel Multiple AST", self.of("parallel_multiple")),
                ("Irrelevance Detection", self.of("irrelevance")),
            ],
        );
        table(columns)
    }

    fn live(&self) -> String {
        let mut columns = self.start();
        add(
            &mut columns,
            [
                ("Live Overall Acc", official_percent(self.all.live)),
                ("AST Summary", complete(self.all.live)),
                ("Python Simple AST", self.of("live_simple")),
                ("Python Multiple AST", self.of("live_multiple")),
                ("Python Parallel AST", self.of("live_parallel")),
                (
                    "Python Parallel Multiple AST",
                    self.of("live_parallel_multiple"),
                ),
                ("Irrelevance Detection", self.of("live_irrelevance")),
                ("Relevance Detection", self.of("live_relevance")),
            ],
        );
        table(columns)
    }

    fn multi_turn(&self) -> String {
        let mut columns = self.start();
        add(
            &mut columns,
            [
                (
                    "Multi Turn Overall Acc",
                    official_percent(self.all.multi_turn),
                ),
                ("Base", self.of("multi_turn_base")),
                ("Miss Func", self.of("multi_turn_miss_func")),
                ("Miss Param", self.of("multi_turn_miss_param")),
                ("Long Context", self.of("multi_turn_long_context")),
            ],
        );
        table(columns)
    }

    fn agentic(&self) -> String {
        let mut columns = self.start();
        add(
            &mut columns,
            [
                ("Agentic Overall Acc", official_percent(self.all.agentic)),
                ("Web Search Summary", complete(self.all.web_search)),
                ("Web Search Base", self.of("web_search_base")),
                ("Web Search No Snippet", self.of("web_search_no_snippet")),
                ("Memory Summary", complete(self.all.memory)),
                ("Memory KV", self.of("memory_kv")),
                ("Memory Vector", self.of("memory_vector")),
                ("Memory Recursive Summarization", self.of("memory_rec_sum")),
            ],
        );
        table(columns)
    }

    fn format_sensitivity(&self) -> String {
        let mut columns = self.start();
        columns.extend(self.sensitivity());
        columns.extend(PromptForm::all().map(|form| {
            let count = self.forms.of(form);
            let cell = count.map(|count| percent(count.accuracy()));
            let cell = cell.unwrap_or_else(|| MISSING.to_owned());
            (format!("Config {form}"), cell)
        }));
        table(columns)
    }

    /// In percent, without the sign.
    fn sensitivity(&self) -> [(String, String); 2] {
        let figures = [
            ("Max Delta", self.forms.max_delta()),
            ("Standard Deviation", self.forms.std()),
        ];
        figures.map(|(name, figure)| {
            let cell = if self.forms.is_empty() {
                MISSING.to_owned()
            } else {
                cents(figure * 100.0)
            };
            (format!("Format Sensitivity {name}"), cell)
        })
    }

    fn overall(&self, costs: &Costs) -> String {
        let all = self.all;
        let model = self.model;
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| MISSING.to_owned());
        let [mean, deviation, percentile] = latency(&costs.latencies);
        let mut columns = Columns::new();
        add(
            &mut columns,
            [
                ("Rank", "1".to_owned()),
                ("Overall Acc", official_percent(all.overall)),
                ("Model", model.display_name().to_owned()),
                ("Model Link", text(&model.url)),
                ("Total Cost ($)", cost(costs, model)),
                ("Latency Mean (s)", mean),
                ("Latency Standard Deviation (s)", deviation),
                ("Latency 95th Percentile (s)", percentile),
                ("Non-Live AST Acc", complete(all.non_live)),
                ("Non-Live Simple AST", complete(all.simple)),
                ("Non-Live Multiple AST", self.of("multiple")),
                ("Non-Live Parallel AST", self.of("parallel")),
                (
                    "Non-Live Parallel Multiple AST",
                    self.of("parallel_multiple"),
                ),
                ("Live Acc", official_percent(all.live)),
                ("Live Simple AST", self.of("live_simple")),
                ("Live Multiple AST", self.of("live_multiple")),
                ("Live Parallel AST", self.of("live_parallel")),
                (
                    "Live Parallel Multiple AST",
                    self.of("live_parallel_multiple"),
                ),
                ("Multi Turn Acc", official_percent(all.multi_turn)),
                ("Multi Turn Base", self.of("multi_turn_base")),
                ("Multi Turn Miss Func", self.of("multi_turn_miss_func")),
                ("Multi Turn Miss Param", self.of("multi_turn_miss_param")),
                (
                    "Multi Turn Long Context",
                    self.of("multi_turn_long_context"),
                ),
                ("Web Search Acc", complete(all.web_search)),
                ("Web Search Base", self.of("web_search_base")),
                ("Web Search No Snippet", self.of("web_search_no_snippet")),
                ("Memory Acc", complete(all.memory)),
                ("Memory KV", self.of("memory_kv")),
                ("Memory Vector", self.of("memory_vector")),
                ("Memory Recursive Summarization", self.of("memory_rec_sum")),
                ("Relevance Detection", self.of("live_relevance")),
                ("Irrelevance Detection", complete(all.irrelevance)),
            ],
        );
        columns.extend(self.sensitivity());
        add(
            &mut columns,
            [
                ("Organization", text(&model.organization)),
                ("License", text(&model.license)),
            ],
        );
        table(columns)
    }

    fn start(&self) -> Columns {
        let mut columns = Columns::new();
        let name = self.model.display_name().to_owned();
        add(&mut columns, [("Rank", "1".to_owned()), ("Model", name)]);
        columns
    }

    fn of(&self, name: &str) -> String {
        complete(category(self.counts, name))
    }
}

fn add<const N: usize>(columns: &mut Columns, more: [(&str, String); N]) {
    columns.extend(more.map(|(name, cell)| (name.to_owned(), cell)));
}

fn table(columns: Columns) -> String {
    let (names, cells): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    format!("{}\n{}", names.join(","), cells.join(","))
}

fn official_percent(figure: Figure) -> String {
    percent(figure.accuracy)
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

fn complete(figure: Figure) -> String {
    match figure.complete() {
        Some(_) => official_percent(figure),
        None => MISSING.to_owned(),
    }
}

/// The cost of the tokens if prices are known; otherwise that of the machine that the official program assumes for
/// open models.
fn cost(costs: &Costs, model: &Model) -> String {
    let cost = match (model.input_price, model.output_price) {
        (Some(input), Some(output)) => {
            let [Some(read), Some(written)] = costs.tokens else {
                return MISSING.to_owned();
            };
            as_f64(read) * input / 1e6 + as_f64(written) * output / 1e6
        }
        _ if costs.latencies.is_empty() => return MISSING.to_owned(),
        _ => {
            let seconds: f64 = costs.latencies.iter().sum();
            seconds / 3600.0 * MACHINE_HOUR / MACHINE_ANSWERS
        }
    };
    cents(cost)
}

/// Mean, standard deviation and 95th percentile. The official program needs at least two values.
fn latency(values: &[f64]) -> [String; 3] {
    if values.len() < 2 {
        return [MISSING; 3].map(str::to_owned);
    }
    let count: f64 = values.iter().map(|_| 1.0).sum();
    let mean = sum(values.iter().copied()) / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    let deviation = (sum(squares) / (count - 1.0)).sqrt();
    // Python rounds the first two decimally, and numpy rounds the last one by scaling with 100.
    let percentile = (percentile_95(values) * 100.0).round_ties_even() / 100.0;
    [cents(mean), cents(deviation), py_repr_float(percentile)]
}

/// A nearly exact sum, like Python's `statistics` (Neumaier 1974).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() {
            sum - next + value
        } else {
            value - next + sum
        };
        sum = next;
    }
    sum + lost
}

/// Interpolates linearly, numpy's default.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the number of values, rounded down, is a place"
)]
fn percentile_95(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let place = as_f64(last as u64) * 0.95;
    let (low, rest) = (place.floor() as usize, place.fract());
    let (a, b) = (sorted[low.min(last)], sorted[(low + 1).min(last)]);
    if rest >= 0.5 {
        b - (b - a) * (1.0 - rest)
    } else {
        a + (b - a) * rest
    }
}

/// Python's `str(round(value, 2))`.
fn cents(value: f64) -> String {
    py_repr_float(rounded(value))
}

/// Python's `round(value, 2)`.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.2}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_that_was_not_run_is_missing_and_counts_as_nothing() {
        let counts = [("simple_python".to_owned(), (1, 2))].into();
        let model = Model::new("m").unwrap();
        let tables = tables(&counts, &FormCounts::default(), &Costs::default(), &model);
        let (name, text) = &tables[1];
        assert_eq!(*name, "data_non_live.csv");
        let row = text.lines().nth(1).unwrap();
        assert_eq!(row, "1,m,4.17%,N/A,N/A,50.00%,N/A,N/A,N/A,N/A,N/A,N/A");
        for (name, text) in &tables {
            let columns = text.lines().map(|line| line.split(',').count());
            let columns: Vec<_> = columns.collect();
            assert!(columns.len() == 2 && columns[0] == columns[1], "{name}");
            assert!(!text.ends_with('\n'));
        }
    }

    #[test]
    fn latencies_and_costs_are_rounded_as_python_does() {
        let check = |values: &[f64], expect: [&str; 3]| assert_eq!(latency(values), expect);
        check(&[], ["N/A"; 3]);
        check(&[1.5], ["N/A"; 3]);
        check(&[1.0, 2.0], ["1.5", "0.71", "1.95"]);
        check(&[0.5, 0.25, 4.125, 3.0], ["1.97", "1.9", "3.96"]);
        let mut model = Model::new("m").unwrap();
        let costs = Costs {
            latencies: vec![1800.0, 1800.0],
            tokens: [Some(2_000_000), Some(500_000)],
        };
        assert_eq!(cost(&costs, &model), "0.24");
        model.set("input_price=2").unwrap();
        model.set("output_price=10").unwrap();
        assert_eq!(cost(&costs, &model), "9.0");
        assert_eq!(cost(&Costs::default(), &model), "N/A");
    }
}
