//! The grammar of gates:
//!
//! ```text
//! METRIC[(ARG)][[DIMENSION=VALUE]] OP NUMBER[%|s]      OP is one of >= > <= <; [tier=NAME] and
//!                                                       [DIMENSION=VALUE, tier=NAME] wherever a slice may stand
//! accuracy[(ARG)][[DIMENSION=VALUE]] >= NUMBER[%] (confidence=NUMBER)
//! corrected(ARG)[[DIMENSION=VALUE]] >= NUMBER[%] (confidence=NUMBER)
//! min_samples(NUMBER)
//! no_regression[(OPTION=VALUE, …)][[DIMENSION=VALUE]]   alpha, max_drop, min_pairs: NUMBER
//!                                                       mid_p, early_stop: true or false
//! ```

use std::str::FromStr;

use super::metric::METRICS;
use super::tier::split_tier;
use super::{Gate, LatencyStatistic, LevelStep, Metric, Op, Slice, WrittenIn};
use crate::error::{Error, Result, nearest};

impl FromStr for Gate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let gate = Parts::of(text).and_then(Parts::into_gate);
        let gate = gate.map_err(|error| error.at(format_args!("gate `{text}`")));
        let checked = gate.and_then(|gate| gate.validate_as(text).map(|()| gate));
        // In a spec, the error is not in the YAML.
        checked.map_err(|error| match error.hint_text() {
            Some(_) => error,
            None => {
                error.hint("gates are such as `accuracy >= 0.6` or `no_regression(alpha=0.05)`")
            }
        })
    }
}

/// The parts of a gate, each trimmed.
struct Parts<'a> {
    metric: &'a str,
    argument: Option<&'a str>,
    slice: Option<Slice>,
    tier: Option<&'a str>,
    bound: Option<(Op, &'a str)>,
    /// The options in parentheses after the number.
    options: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self> {
        let end = text
            .find(|c: char| !(c.is_alphanumeric() || "_.-@^".contains(c)))
            .unwrap_or(text.len());
        let (metric, rest) = text.split_at(end);
        let mut rest = rest.trim_start();
        let mut argument = None;
        if let Some(inner) = rest.strip_prefix('(') {
            let (inside, after) = inner.split_once(')').ok_or_else(unclosed)?;
            argument = Some(inside.trim());
            rest = after.trim_start();
        }
        let (mut slice, mut tier) = (None, None);
        if let Some(inner) = rest.strip_prefix('[') {
            // The last bracket: values may contain brackets, what follows cannot.
            let (inside, after) = inner
                .rsplit_once(']')
                .ok_or_else(|| Error::usage("`[` without `]`"))?;
            let (of_slice, of_tier) = split_tier(inside);
            if let Some(inside) = of_slice {
                let (dimension, value) = pair(inside).ok_or_else(|| {
                    Error::usage(format!("`[{inside}]` is no slice"))
                        .hint("write the dimension and the value: `[level=1]`")
                })?;
                slice = Some(Slice::new(dimension, value));
            }
            tier = of_tier;
            rest = after.trim_start();
        }
        let mut options = None;
        if let Some((before, inner)) = rest.split_once('(') {
            let inside = inner.strip_suffix(')');
            let inside = inside.ok_or_else(unclosed)?;
            options = Some(inside.trim());
            rest = before.trim_end();
        }
        Ok(Self {
            metric,
            argument,
            slice,
            tier,
            bound: bound(rest)?,
            options,
        })
    }

    fn into_gate(self) -> Result<Gate> {
        let metric = metric(self.metric, self.argument)?;
        let mut gate = Gate {
            metric,
            slice: self.slice,
            tier: self.tier.map(str::to_owned),
            ..Gate::no_regression()
        };
        if gate.metric != Metric::NoRegression
            && let Some(options) = self.options
        {
            gate.confidence = Some(confidence(options)?);
        }
        if gate.metric == Metric::NoRegression {
            if self.bound.is_some() {
                return Err(Error::usage("`no_regression` takes no threshold")
                    .hint("its options stand in parentheses: `no_regression(alpha=0.05)`"));
            }
            for option in options(self.argument).chain(options(self.options)) {
                read_option(&mut gate, option)?;
            }
            if self.options.is_some() {
                return Err(Error::usage("its options stand before the slice")
                    .hint(format!("write `{gate}`")));
            }
            return Ok(gate);
        }
        // `min_samples(30)` is short for `min_samples >= 30`.
        let short = (gate.metric == Metric::MinSamples)
            .then_some(self.argument)
            .flatten();
        let (op, number) = match (self.bound, short) {
            (Some(_), Some(_)) => {
                return Err(Error::usage("two thresholds")
                    .hint("write `min_samples(30)` or `min_samples >= 30`"));
            }
            (None, Some(number)) => (Op::AtLeast, number),
            (Some(bound), None) => bound,
            (None, None) => {
                return Err(Error::usage("no operator and threshold").hint(format!(
                    "write how `{}` must compare: `>=`, `>`, `<=` or `<`, and a number",
                    gate.name()
                )));
            }
        };
        let threshold = number_for(&gate.metric, number)?;
        gate.bound = Some((op, threshold));
        if number.ends_with('%') {
            gate.unit = WrittenIn::Percent;
        }
        Ok(gate)
    }
}

/// The end of a metric and its argument; `None` if the argument is not closed.
pub(super) fn metric_end(text: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || "_.-@^".contains(c);
    let rest = text.trim_start_matches(is_name).trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(')')?.1.trim_start(),
        None => rest,
    };
    Some(text.len() - rest.len())
}

/// In a spec, YAML probably cut the gate off.
fn unclosed() -> Error {
    Error::usage("`(` without `)`").hint(
        "close it; within `gates: […]` quote a gate that has a comma: `'no_regression(alpha=0.05, max_drop=0.1)'`",
    )
}

/// Parses `confidence=0.95`.
fn confidence(options: &str) -> Result<f64> {
    let refuse = || {
        Error::usage(format!("`({options})` says nothing here"))
            .hint("a threshold may have a confidence: `accuracy >= 0.6 (confidence=0.95)`")
    };
    let (_, value) = pair(options)
        .filter(|(name, _)| *name == "confidence")
        .ok_or_else(refuse)?;
    match value.strip_suffix('%') {
        Some(percent) => percentage(percent),
        None => number(value),
    }
}

/// Splits `KEY=VALUE`, both trimmed and not empty.
pub(super) fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !value.is_empty()).then_some((key, value))
}

fn bound(rest: &str) -> Result<Option<(Op, &str)>> {
    if rest.is_empty() {
        return Ok(None);
    }
    // Longer operators first.
    let ops = [
        (">=", Op::AtLeast),
        ("<=", Op::AtMost),
        (">", Op::Above),
        ("<", Op::Below),
    ];
    let found = ops
        .iter()
        .find_map(|(sign, op)| Some((*op, rest.strip_prefix(sign)?.trim())));
    match found {
        Some((_, "")) => Err(Error::usage("no number after the operator")),
        Some(found) => Ok(Some(found)),
        None => Err(
            Error::usage(format!("`{rest}` does not start with an operator"))
                .hint("the operators are `>=`, `>`, `<=` and `<`"),
        ),
    }
}

fn metric(name: &str, argument: Option<&str>) -> Result<Metric> {
    let metric = match name {
        "accuracy" => return Ok(Metric::Accuracy(named(name, argument)?)),
        "macro_f1" => return Ok(Metric::MacroF1(named(name, argument)?)),
        "majority" => return Ok(Metric::Majority(named(name, argument)?)),
        _ if name.starts_with("pass@") || name.starts_with("pass^") => {
            return pass(name, named(name, argument)?);
        }
        "mean" => {
            return named(name, argument)?.map(Metric::Mean).ok_or_else(|| {
                Error::usage("`mean` of what").hint("name a detail of the scorer: `mean(value)`")
            });
        }
        "corrected" => {
            return named(name, argument)?.map(Metric::Corrected).ok_or_else(|| {
                Error::usage("`corrected` of what")
                    .hint("name a judge and its figure: `corrected(judge.total)`, or `corrected(judge)` for its accuracy")
            });
        }
        "metric" => {
            return named(name, argument)?.map(Metric::Own).ok_or_else(|| {
                Error::usage("`metric` of what")
                    .hint("name an aggregate of the benchmark: `metric(overall)`")
            });
        }
        "difficulty_drop" => {
            let step = named(name, argument)?;
            let step = step.as_deref().map(LevelStep::parse).transpose()?;
            return Ok(Metric::DifficultyDrop(step));
        }
        "no_regression" => return Ok(Metric::NoRegression),
        "min_samples" | "samples" => return Ok(Metric::MinSamples),
        "cost" => Metric::CostUsd,
        _ if name
            .strip_prefix("reviewed.")
            .is_some_and(|of| !of.is_empty()) =>
        {
            Metric::Reviewed(name["reviewed.".len()..].to_owned())
        }
        _ => match (plain(name), name.strip_prefix("latency_p").map(str::parse)) {
            (Some(metric), _) => metric,
            (_, Some(Ok(percent))) => Metric::Latency(LatencyStatistic::Percentile(percent)),
            _ => return Err(unknown(name)),
        },
    };
    match argument {
        None => Ok(metric),
        Some(argument) => Err(Error::usage(format!("`{name}` takes no `({argument})`"))),
    }
}

/// A metric without an argument.
fn plain(name: &str) -> Option<Metric> {
    METRICS
        .iter()
        .find(|entry| entry.form == name)?
        .plain
        .clone()
}

/// `pass@3` and `pass^3`.
fn pass(name: &str, scorer: Option<String>) -> Result<Metric> {
    let (sign, k) = name.split_at("pass@".len());
    let plain = !k.starts_with(['0', '+']);
    match k.parse().ok().filter(|_| plain) {
        Some(k) if sign == "pass@" => Ok(Metric::PassAt(k, scorer)),
        Some(k) => Ok(Metric::PassHat(k, scorer)),
        None => Err(Error::usage(format!("`{k}` is no number of answers"))
            .hint(format!("write a whole number from 1: `{sign}3`"))),
    }
}

fn named(metric: &str, argument: Option<&str>) -> Result<Option<String>> {
    match argument {
        Some("") => Err(Error::usage(format!(
            "nothing in the parentheses of `{metric}`"
        ))),
        argument => Ok(argument.map(str::to_owned)),
    }
}

fn unknown(name: &str) -> Error {
    let names = || METRICS.iter().map(|entry| entry.form);
    let legal: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let legal = legal.join(", ");
    let bare = names().map(|name| name.split('(').next().unwrap_or(name));
    let hint = match nearest(name, bare) {
        // `judge.total`: metrics have no dot.
        _ if name
            .split_once('.')
            .is_some_and(|(scorer, detail)| !scorer.is_empty() && !detail.is_empty()) =>
        {
            format!("a figure of a scorer is written `mean({name})`; the metrics are {legal}")
        }
        Some(near) => format!("did you mean `{near}`? the metrics are {legal}"),
        None => format!("the metrics are {legal}"),
    };
    Error::usage(format!("unknown metric `{name}`")).hint(hint)
}

fn options(argument: Option<&str>) -> impl Iterator<Item = &str> {
    argument
        .filter(|argument| !argument.is_empty())
        .into_iter()
        .flat_map(|argument| argument.split(',').map(str::trim))
}

fn read_option(gate: &mut Gate, option: &str) -> Result<()> {
    const OPTIONS: &str = "`no_regression` takes `alpha`, `max_drop`, `min_pairs`, `mid_p` and `early_stop`: \
                           `alpha=0.05, mid_p=true`";
    let (name, value) = pair(option)
        .ok_or_else(|| Error::usage(format!("`{option}` is no option")).hint(OPTIONS))?;
    let slot = match name {
        "alpha" => &mut gate.alpha,
        "max_drop" => &mut gate.max_drop,
        "min_pairs" => &mut gate.min_pairs,
        "mid_p" | "early_stop" => {
            let is_on = value.parse().map_err(|_| {
                let message = format!("`{name}` is `true` or `false`, not `{value}`");
                Error::usage(message).hint(OPTIONS)
            })?;
            let switch = match name {
                "mid_p" => &mut gate.mid_p,
                _ => &mut gate.early_stop,
            };
            *switch = is_on;
            return Ok(());
        }
        _ => return Err(Error::usage(format!("unknown option `{name}`")).hint(OPTIONS)),
    };
    if slot.is_some() {
        return Err(Error::usage(format!("option `{name}` is given twice")));
    }
    *slot = Some(match value.strip_suffix('%') {
        Some(percent) => percentage(percent)?,
        None => number(value)?,
    });
    Ok(())
}

/// A threshold with the unit that the metric allows.
fn number_for(metric: &Metric, text: &str) -> Result<f64> {
    if let Some(percent) = text.strip_suffix('%') {
        if metric.is_rate()
            || matches!(
                metric,
                Metric::Mean(_) | Metric::Corrected(_) | Metric::Own(_) | Metric::DifficultyDrop(_)
            )
        {
            return percentage(percent);
        }
        return Err(Error::usage(format!(
            "`{metric}` is no share, so `%` has no meaning"
        )));
    }
    if let (Metric::Latency(_), Some(seconds)) = (metric, text.strip_suffix('s')) {
        return number(seconds).map_err(|error| error.hint("latencies are in seconds: `2.5s`"));
    }
    number(text)
}

fn percentage(text: &str) -> Result<f64> {
    let text = text.trim();
    number(text)?;
    // Shifts the decimal point in the text: 0.1 / 100 is not the float nearest to 0.001.
    number(&format!("{text}e-2")).or_else(|_| Ok(number(text)? / 100.0))
}

/// A finite number in plain or scientific notation; not `inf` or `nan`, which Rust would accept.
fn number(text: &str) -> Result<f64> {
    let text = text.trim();
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && text.chars().all(numeric))
        .ok_or_else(|| Error::usage(format!("`{text}` is no number")))
}

#[cfg(test)]
mod tests;
