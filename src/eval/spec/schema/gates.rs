//! Gates: texts, with their grammar as a pattern.

use serde_json::{Value, json};

use crate::verdict::gate::figure::{CACHED, NAMES, TRAJECTORY, VALUE};
use crate::verdict::gate::{NO_CHANGE, NO_DECREASE, NO_INCREASE, NO_REGRESSION};
use crate::verdict::metric::{METRICS, MetricEntry, Takes, Unit};

/// A number, in plain or scientific notation.
pub(super) const NUMBER: &str = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?";
const ARGUMENT: &str = r"\s*\(\s*[^)\s][^)]*\)";
pub(super) const SLICE: &str = r"(\s*\[\s*[^=\s][^=]*=\s*[^\s].*\])?";
pub(super) const OP: &str = r"\s*(>=|<=|>|<)\s*";

pub(super) fn gate() -> Value {
    let forms = METRICS.iter().filter(|entry| entry.is_of_gates());
    let forms = forms.flat_map(|entry| entry.forms);
    let examples: Vec<_> = forms.map(|form| form.example).collect();
    json!({
        "type": "string",
        "pattern": pattern(),
        "description": "A metric, an operator (`>=`, `>`, `<=`, `<`) and a number: `accuracy >= 0.6`, \
                        `accuracy[level=1] >= 75%`, `latency_p95 <= 20s`; or `no_regression(alpha=0.05)`.",
        "examples": examples,
    })
}

/// What the parser of gates accepts; it checks itself whether a threshold makes sense.
fn pattern() -> String {
    let gates = || METRICS.iter().filter(|entry| entry.is_of_gates());
    let bounded = |has_slice: bool, end: Option<&'static str>| {
        let of_kind = gates().filter(|it| it.whole_run.is_none() == has_slice && suffix(it) == end);
        let metrics: Vec<_> = of_kind.filter_map(metric).collect();
        let slice = if has_slice { SLICE } else { "" };
        let end = end.map_or_else(String::new, |end| format!(r"\s*{end}?"));
        (!metrics.is_empty()).then(|| format!("({}){slice}{OP}{NUMBER}{end}", metrics.join("|")))
    };
    let ends = [Some("%"), Some("s"), None];
    let bounds = [true, false].map(|has_slice| ends.map(|end| bounded(has_slice, end)));
    let bounds: Vec<_> = bounds.into_iter().flatten().flatten().collect();
    let bounds = bounds.join("|");
    let option = format!(r"\s*(confidence|min_scored)\s*=\s*{NUMBER}\s*%?\s*");
    let options = format!(r"(\s*\({option}(,{option})*\))?");
    let samples = format!(r"(min_samples|samples)\s*\(\s*{NUMBER}\s*\){SLICE}");
    let number = format!(r"(alpha|max_drop|min_pairs)\s*=\s*{NUMBER}\s*%?");
    let option = format!(
        r"\s*({number}|(mid_p|early_stop)\s*=\s*(true|false)|exact\s*=\s*(un)?conditional)\s*"
    );
    let regression = format!(r"no_regression(\s*\((\s*|{option}(,{option})*)\))?{SLICE}");
    let numbers = format!(r"(by|alpha|min_pairs)\s*=\s*{NUMBER}\s*%?");
    let option = format!(r"\s*,\s*({numbers}|of\s*=\s*(all|correct))\s*");
    let own = NAMES.iter().filter(|name| **name != CACHED).copied();
    let own = own.chain(["cost", VALUE]).collect::<Vec<_>>().join("|");
    let of_scorer = |name: &str| format!(r"[^\s,()=.]+\.{name}");
    let (any, value) = (of_scorer(r"[^\s,()=]+"), of_scorer(VALUE));
    let level = format!(r"\s*,\s*(alpha|min_pairs)\s*=\s*{NUMBER}\s*%?\s*");
    let compared = format!(
        r"(({NO_INCREASE}|{NO_DECREASE})\s*\(\s*({own}|{any})|{NO_REGRESSION}\s*\(\s*({own}|{value}))\s*({option})*\){SLICE}|{NO_CHANGE}\s*\(\s*{TRAJECTORY}\s*({level})*\){SLICE}"
    );
    format!(r"^\s*(({bounds}){options}|{samples}|{regression}|{compared})\s*$")
}

/// What may stand behind the number.
fn suffix(entry: &MetricEntry) -> Option<&'static str> {
    match entry.unit {
        Unit::Seconds => Some("s"),
        unit => unit.takes_percent().then_some("%"),
    }
}

/// A metric with its argument; `None` of one without a threshold.
pub(super) fn metric(entry: &MetricEntry) -> Option<String> {
    let name = entry.name.replace('^', r"\^").replace('.', r"\.");
    Some(match entry.takes {
        Takes::Options => return None,
        Takes::Nothing | Takes::Threshold => match entry.alias {
            Some(alias) => format!("{name}|{alias}"),
            None => name,
        },
        Takes::Scorer => format!("{name}({ARGUMENT})?"),
        Takes::Name(_) => format!("{name}{ARGUMENT}"),
        Takes::Levels => {
            format!(r"{name}(\s*\(\s*[^)\s]([^)]*[^)\s])?\s*->\s*[^)\s][^)]*\))?")
        }
        Takes::Percent => format!(r"{name}([0-9]+\.?[0-9]*|\.[0-9]+)"),
        Takes::Answers => format!("{name}[1-9][0-9]*({ARGUMENT})?"),
        Takes::Word([]) => format!("{name}[A-Za-z0-9_.@^-]+"),
        Takes::Word(words) => format!("{name}({})", words.join("|")),
    })
}
