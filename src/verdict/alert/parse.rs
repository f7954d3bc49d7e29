//! The grammar of alerts:
//!
//! ```text
//! drop(METRIC, against=baseline|median(5), alpha=NUMBER)    METRIC is as in gates; for drop it is accuracy or
//!                                                           accuracy[DIMENSION=VALUE]
//! trend(METRIC, runs=NUMBER, alpha=NUMBER)
//! stale(days=NUMBER)
//! rise(METRIC, NUMBER[%])
//! METRIC OP NUMBER[%|s] [twice|NUMBER times]                OP is one of >= > <= <
//! ```

use std::str::FromStr;

use super::{ALPHA, Alert, AlertRule, Direction, DropReference};
use crate::error::{Error, Result, nearest};
use crate::verdict::gate::tokens::{bracketed, metric_parts, number_or_percent, slice};
use crate::verdict::gate::{DROP, Metric, Op};
use crate::verdict::metric::{SlicedMetric, Unit, UsedBy};

/// Rules that are written as a call.
const CALLS: [&str; 4] = ["drop", "trend", "stale", "rise"];

/// Default number of runs of `trend`.
const RUNS: usize = 8;

/// Examples for error messages.
const SUCH: &str = "alerts are such as `drop(accuracy, against=baseline)`, `trend(accuracy, runs=8)`, `stale(days=7)`, \
                    `rise(cost_usd, 0.5)` or `error_rate > 0.05 twice`";

impl FromStr for Alert {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let rule = rule(text).and_then(|rule| rule.check().map(|()| rule));
        let rule = rule.map_err(|error| {
            let error = error.at(format_args!("alert `{text}`"));
            match error.hint_text() {
                Some(_) => error,
                None => error.hint(SUCH),
            }
        })?;
        let text = text.to_owned();
        Ok(Self { text, rule })
    }
}

fn rule(text: &str) -> Result<AlertRule> {
    let (name, rest) = text.split_once('(').unwrap_or((text, ""));
    let name = name.trim();
    // A gate has a metric of that name.
    // A metric of gates has the name of a rule.
    let is_metric = rest.is_empty() || name.contains('[') || name != DROP && Metric::is_known(name);
    if is_metric {
        return bound(text);
    }
    let inside = rest.strip_suffix(')').ok_or_else(unclosed)?;
    called(name, &arguments(inside))
}

/// In a spec, YAML probably cut the alert off.
fn unclosed() -> Error {
    Error::usage("`(` without `)`").hint(
        "close it; within `alerts: […]` quote an alert that has a comma: `'drop(accuracy, against=median(5))'`",
    )
}

/// Splits at commas outside of brackets.
fn arguments(inside: &str) -> Vec<&str> {
    let (mut depth, mut from) = (0_usize, 0);
    let mut parts = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(inside[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[from..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn called(name: &str, arguments: &[&str]) -> Result<AlertRule> {
    match name {
        "drop" => {
            let (metric, options) = metric_first(name, arguments)?;
            if let [by] = options
                && option(by).is_none()
            {
                return moved(metric, by, Direction::Down);
            }
            let [against, alpha] = options_of(name, options, ["against", "alpha"])?;
            Ok(AlertRule::Drop {
                metric,
                against: against.map_or(Ok(DropReference::Baseline), reference)?,
                alpha: alpha.map_or(Ok(ALPHA), number_or_percent)?,
            })
        }
        "trend" => {
            let (metric, options) = metric_first(name, arguments)?;
            let [runs, alpha] = options_of(name, options, ["runs", "alpha"])?;
            Ok(AlertRule::Trend {
                metric,
                runs: runs.map_or(Ok(RUNS), count)?,
                alpha: alpha.map_or(Ok(ALPHA), number_or_percent)?,
            })
        }
        "stale" => {
            let [days] = options_of(name, arguments, ["days"])?;
            let days = days.ok_or_else(|| {
                Error::usage("`stale` needs a number of days").hint("write `stale(days=7)`")
            })?;
            Ok(AlertRule::Stale {
                days: number_or_percent(days)?,
            })
        }
        "rise" => {
            let (metric, rest) = metric_first(name, arguments)?;
            let [by] = rest else {
                return Err(Error::usage("`rise` needs a share")
                    .hint("write the share: `rise(cost_usd, 0.5)` is raised at 50 % more"));
            };
            moved(metric, by, Direction::Up)
        }
        _ => {
            let error = Error::usage(format!("unknown rule `{name}`"));
            Err(match nearest(name, CALLS) {
                Some(near) => error.hint(format!("did you mean `{near}`? {SUCH}")),
                None => error.hint(SUCH),
            })
        }
    }
}

fn moved(metric: SlicedMetric, by: &str, direction: Direction) -> Result<AlertRule> {
    Ok(AlertRule::Moved {
        metric,
        by: number_or_percent(by)?,
        direction,
    })
}

fn metric_first<'a, 'b>(
    name: &str,
    arguments: &'b [&'a str],
) -> Result<(SlicedMetric, &'b [&'a str])> {
    match arguments {
        [text, rest @ ..] if option(text).is_none() => match metric(text)? {
            (metric, "") => Ok((metric, rest)),
            (_, more) => Err(Error::usage(format!("unexpected `{more}`"))),
        },
        _ => Err(
            Error::usage(format!("`{name}` needs a figure in parentheses"))
                .hint(format!("name the figure first: `{name}(accuracy, …)`")),
        ),
    }
}

/// Splits `KEY=VALUE` at the `=` outside of brackets.
fn option(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    (!key.contains(['[', '(']) && !key.is_empty()).then_some((key, value))
}

/// The values of the options of these names.
fn options_of<'a, const N: usize>(
    rule: &str,
    given: &[&'a str],
    names: [&str; N],
) -> Result<[Option<&'a str>; N]> {
    let mut values = [None; N];
    let legal = || crate::text::quoted(names);
    for text in given {
        let (key, value) = option(text).ok_or_else(|| {
            Error::usage(format!("unknown option `{text}` of `{rule}`"))
                .hint(format!("`{rule}` takes {}, each with `=`", legal()))
        })?;
        let Some(place) = names.iter().position(|name| *name == key) else {
            let error = Error::usage(format!("unknown option `{key}`"));
            return Err(error.hint(format!("`{rule}` takes {}", legal())));
        };
        if values[place].replace(value).is_some() {
            return Err(Error::usage(format!("option `{key}` is given twice")));
        }
    }
    Ok(values)
}

fn reference(text: &str) -> Result<DropReference> {
    let bare: String = text.split_whitespace().collect();
    match &*bare {
        "baseline" => Ok(DropReference::Baseline),
        "median(5)" => Ok(DropReference::Median),
        _ => Err(
            Error::usage(format!("`{text}` is not something to compare with"))
                .hint("write `against=baseline` or `against=median(5)`"),
        ),
    }
}

/// A metric, and what stands behind it.
fn metric(text: &str) -> Result<(SlicedMetric, &str)> {
    let (name, argument, rest) = metric_parts(text).ok_or_else(unclosed)?;
    let metric = Metric::parse(name, argument, UsedBy::Alerts)?;
    let (brackets, rest) = bracketed(rest)?;
    let slice = brackets.map(slice).transpose()?;
    Ok((SlicedMetric::new(metric, slice)?, rest))
}

/// `METRIC OP NUMBER twice`.
fn bound(text: &str) -> Result<AlertRule> {
    let (metric, rest) = metric(text)?;
    let Some((op, rest)) = Op::first(rest)? else {
        return Err(Error::usage("no operator and threshold")
            .hint(format!("write when it is raised: `{text} > 0.05 twice`")));
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (value, times) = match words[..] {
        [value] | [value, "once"] => (value, 1),
        [value, "twice"] => (value, 2),
        [value, times, "times"] => (value, count(times)?),
        [] => return Err(Error::usage("no number after the operator")),
        [_, ref more @ ..] => {
            let message = format!("unexpected `{}`", more.join(" "));
            return Err(Error::usage(message)
                .hint("after the number, `twice` or `3 times` says how many runs in a row"));
        }
    };
    let is_time = metric.entry().unit == Unit::Seconds;
    let value = value.strip_suffix('s').filter(|_| is_time).unwrap_or(value);
    Ok(AlertRule::Bound {
        metric,
        op,
        threshold: number_or_percent(value)?,
        times,
    })
}

fn count(text: &str) -> Result<usize> {
    let plain = text.chars().all(|c| c.is_ascii_digit());
    let number = text.parse().ok().filter(|_| plain);
    number.ok_or_else(|| Error::usage(format!("`{text}` is not a valid number of runs")))
}
