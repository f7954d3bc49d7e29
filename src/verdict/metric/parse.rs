//! The grammar of gates:
//!
//! ```text
//! METRIC[(ARG)][[DIMENSION=VALUE]] OP NUMBER[%|s]      OP is one of >= > <= <; [tier=NAME] and
//!                                                       [DIMENSION=VALUE, tier=NAME] wherever a slice may stand
//! accuracy[(ARG)][[DIMENSION=VALUE]] >= NUMBER[%] (confidence=NUMBER)
//! any metric of verdicts >= NUMBER[%] (min_scored=NUMBER)
//! corrected(ARG)[[DIMENSION=VALUE]] >= NUMBER[%] (confidence=NUMBER)
//! min_samples(NUMBER)
//! no_increase(FIGURE[, OPTION=VALUE, …])[[DIMENSION=VALUE]]   no_decrease, no_regression; by, alpha, min_pairs: NUMBER
//!                                                       of: all or correct
//! no_change(trajectory[, OPTION=VALUE, …])[[DIMENSION=VALUE]]
//! no_regression[(OPTION=VALUE, …)][[DIMENSION=VALUE]]   alpha, max_drop, min_pairs: NUMBER
//!                                                       mid_p, early_stop: true or false
//!                                                       exact: conditional or unconditional
//! ```
//!
//! Gates and alerts have the same grammar of metrics.

use std::str::FromStr;

use super::{METRICS, MetricEntry, Takes, Unit, UsedBy};
use crate::error::{Error, Result, nearest};
use crate::text::quoted;
use crate::verdict::gate::figure::{FigureScale, OfAnswers, TRAJECTORY, compared};
use crate::verdict::gate::tokens::{
    bracketed, metric_parts, number, number_or_percent, pair, slice,
};
use crate::verdict::gate::{
    Gate, LevelStep, MIN_SAMPLES, Metric, NO_CHANGE, NO_DECREASE, NO_INCREASE, NO_REGRESSION, Op,
    Slice, Suffix, WrittenIn, split_tier,
};

impl FromStr for Gate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let gate = Parts::of(text).and_then(Parts::into_gate);
        let gate = gate.map_err(|error| error.at(format_args!("gate `{text}`")));
        let checked = gate.and_then(|gate| gate.validate_as(text).map(|()| gate));
        // In a spec it is not the YAML that is wrong.
        checked.map_err(|error| match error.hint_text() {
            Some(_) => error,
            None => {
                error.hint("gates are such as `accuracy >= 0.6` or `no_regression(alpha=0.05)`")
            }
        })
    }
}

/// The parts of a gate's text, trimmed.
struct Parts<'a> {
    metric: &'a str,
    argument: Option<&'a str>,
    slice: Option<Slice>,
    tier: Option<&'a str>,
    bound: Option<(Op, &'a str)>,
    /// The text in parentheses after the number.
    options: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self> {
        let (metric, argument, rest) = metric_parts(text).ok_or_else(unclosed)?;
        let (brackets, mut rest) = bracketed(rest)?;
        let (of_slice, tier) = brackets.map_or((None, None), split_tier);
        let slice = of_slice.map(slice).transpose()?;
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
            bound: Op::first(rest)?,
            options,
        })
    }

    /// The gate, if it compares a figure with the baseline: `no_increase(tokens, by=10%)`.
    fn of_figure(&self) -> Result<Option<Gate>> {
        let name = self.metric;
        if ![NO_INCREASE, NO_DECREASE, NO_CHANGE, NO_REGRESSION].contains(&name) {
            return Ok(None);
        }
        let mut words = options(self.argument);
        let is_option = |word: &&str| {
            word.contains('=') || name == NO_REGRESSION && OPTION_NAMES.contains(word)
        };
        let figure = words.next().filter(|word| !is_option(word));
        let figure = match figure {
            Some(figure) => figure,
            None if name == NO_REGRESSION => return Ok(None),
            None => {
                let example = if name == NO_CHANGE {
                    TRAJECTORY
                } else {
                    "tokens"
                };
                return Err(
                    Error::usage(format!("`{name}` needs a figure in parentheses"))
                        .hint(format!("name a figure first: `{name}({example})`")),
                );
            }
        };
        let mut gate = Gate {
            slice: self.slice.clone(),
            tier: self.tier.map(str::to_owned),
            ..compared(name, figure)?
        };
        if self.bound.is_some() || self.options.is_some() {
            return Err(
                Error::usage(format!("`{name}` takes no threshold")).hint(format!(
                    "its options go inside the parentheses: `{name}({figure}, by=10%)`"
                )),
            );
        }
        for option in words {
            read_figure_option(&mut gate, figure, option)?;
        }
        Ok(Some(gate))
    }

    fn into_gate(self) -> Result<Gate> {
        if let Some(gate) = self.of_figure()? {
            return Ok(gate);
        }
        let mut gate = Gate {
            metric: Metric::parse(self.metric, self.argument, UsedBy::Gates)?,
            slice: self.slice,
            tier: self.tier.map(str::to_owned),
            ..Gate::no_regression()
        };
        if gate.metric.is(NO_REGRESSION) {
            if self.bound.is_some() {
                return Err(Error::usage("`no_regression` takes no threshold")
                    .hint("its options go into parentheses: `no_regression(alpha=0.05)`"));
            }
            for option in options(self.argument).chain(options(self.options)) {
                read_option(&mut gate, option)?;
            }
            if self.options.is_some() {
                return Err(
                    Error::usage("its options go before the slice").hint(format!("write `{gate}`"))
                );
            }
            return Ok(gate);
        }
        for option in options(self.options) {
            read_bound_option(&mut gate, option)?;
        }
        // `min_samples(30)` is short for `min_samples >= 30`.
        let short = self.argument.filter(|_| gate.metric.is(MIN_SAMPLES));
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
        gate.bound = Some((op, threshold(&gate.metric, number)?));
        if number.ends_with('%') {
            gate.unit = WrittenIn::Percent;
        }
        Ok(gate)
    }
}

/// In a spec, a comma in a list of YAML is the likely cause.
fn unclosed() -> Error {
    Error::usage("`(` without `)`").hint(
        "close it; within `gates: […]` quote a gate that has a comma: `'no_regression(alpha=0.05, max_drop=0.1)'`",
    )
}

/// An option after a threshold: `confidence=0.95`, `min_scored=0.5`.
fn read_bound_option(gate: &mut Gate, option: &str) -> Result<()> {
    let slot = match pair(option) {
        Some(("confidence", value)) => Some((&mut gate.confidence, value)),
        Some(("min_scored", value)) => Some((&mut gate.min_scored, value)),
        _ => None,
    };
    let (slot, value) = slot.ok_or_else(|| {
        Error::usage(format!("unknown option `({option})`")).hint(
            "a threshold takes the options `confidence` and `min_scored`: `accuracy >= 0.6 (confidence=0.95)`",
        )
    })?;
    set_once(slot, option, value)
}

/// Sets an option that may be given once.
fn set_once(slot: &mut Option<f64>, option: &str, value: &str) -> Result<()> {
    if slot.is_some() {
        let (name, _) = pair(option).unwrap_or((option, ""));
        return Err(Error::usage(format!("option `{name}` is given twice")));
    }
    *slot = Some(number_or_percent(value)?);
    Ok(())
}

impl Metric {
    /// Parses a name and the argument in parentheses after it.
    pub(in crate::verdict) fn parse(
        name: &str,
        argument: Option<&str>,
        user: UsedBy,
    ) -> Result<Self> {
        let entries = METRICS.iter().filter(|entry| entry.is_for(user));
        let read = entries.clone().find_map(|entry| entry.read(name));
        let (entry, metric) = read.unwrap_or_else(|| Err(unknown(name, user, entries)))?;
        let argument = entry.argument(name, argument, user)?;
        Ok(Self { argument, ..metric })
    }

    /// Whether a metric has this name.
    pub(in crate::verdict) fn is_known(name: &str) -> bool {
        METRICS.iter().any(|entry| entry.read(name).is_some())
    }
}

impl MetricEntry {
    /// The metric of this name, if it is one of the entry; an error where only the end of the name is wrong.
    fn read(&self, name: &str) -> Option<Result<(&Self, Metric)>> {
        let rest = name.strip_prefix(self.name);
        let metric = match self.takes {
            Takes::Percent => Metric::latency_percentile(rest?.parse().ok()?),
            Takes::Answers => {
                let count = rest?;
                let is_plain = !count.starts_with(['0', '+']);
                let Some(count) = count.parse().ok().filter(|_| is_plain) else {
                    let why = format!("`{count}` is not a valid number of answers");
                    let hint = format!("write a whole number from 1: `{}3`", self.name);
                    return Some(Err(Error::usage(why).hint(hint)));
                };
                Metric {
                    suffix: Suffix::Count(count),
                    ..Metric::plain(self.name)
                }
            }
            Takes::Word(words) => {
                let word = rest.filter(|word| !word.is_empty())?;
                if !words.is_empty() && !words.contains(&word) {
                    return None;
                }
                Metric::reviewed(word.to_owned())
            }
            _ if rest == Some("") || self.alias == Some(name) => Metric::plain(self.name),
            _ => return None,
        };
        Some(Ok((self, metric)))
    }

    /// What stands in parentheses, if that may be.
    fn argument(&self, name: &str, argument: Option<&str>, user: UsedBy) -> Result<Option<String>> {
        // What they take in parentheses is said of the gate, not of the metric.
        let is_of_gate = matches!(self.takes, Takes::Options | Takes::Threshold);
        match (self.takes, argument) {
            _ if is_of_gate && user == UsedBy::Gates => Ok(None),
            (Takes::Name(hint), None | Some("")) => {
                Err(Error::usage(format!("`{name}` needs a figure in parentheses")).hint(hint))
            }
            (_, None) => Ok(None),
            (
                Takes::Nothing
                | Takes::Percent
                | Takes::Word(_)
                | Takes::Threshold
                | Takes::Options,
                Some(given),
            ) => Err(Error::usage(format!("`{name}` takes no `({given})`"))),
            (_, Some("")) => {
                let message = format!("empty parentheses after `{name}`");
                Err(Error::usage(message))
            }
            (Takes::Levels, Some(given)) => Ok(Some(LevelStep::parse(given)?.to_string())),
            (Takes::Scorer | Takes::Answers | Takes::Name(_), Some(given)) => {
                Ok(Some(given.to_owned()))
            }
        }
    }
}

fn unknown<'a>(
    name: &str,
    user: UsedBy,
    entries: impl Iterator<Item = &'a MetricEntry> + Clone,
) -> Error {
    let forms = entries.flat_map(|entry| entry.forms.iter().map(|form| form.form));
    let (error, title) = if user == UsedBy::Alerts {
        let error = format!("the history does not record `{name}`");
        (error, "the figures are")
    } else {
        (format!("unknown metric `{name}`"), "the metrics are")
    };
    let legal = format!("{title} {}", quoted(forms.clone()));
    let mut bare = forms.map(|form| form.split('(').next().unwrap_or(form));
    let hint = match nearest(name, &mut bare) {
        // `judge.total`: no metric has a dot.
        _ if name
            .split_once('.')
            .is_some_and(|(scorer, detail)| !scorer.is_empty() && !detail.is_empty()) =>
        {
            format!("write `mean({name})` for a figure of a scorer; {legal}")
        }
        Some(near) => format!("did you mean `{near}`? {legal}"),
        None => legal,
    };
    Error::usage(error).hint(hint)
}

fn options(argument: Option<&str>) -> impl Iterator<Item = &str> {
    argument
        .filter(|argument| !argument.is_empty())
        .into_iter()
        .flat_map(|argument| argument.split(',').map(str::trim))
}

fn read_option(gate: &mut Gate, option: &str) -> Result<()> {
    const OPTIONS: &str = "`no_regression` takes `alpha`, `max_drop`, `min_pairs`, `exact`, `mid_p` and `early_stop`: \
                           `alpha=0.05, mid_p=true`";
    let (name, value) = pair(option)
        .ok_or_else(|| Error::usage(format!("unknown option `{option}`")).hint(OPTIONS))?;
    let slot = match name {
        "alpha" => &mut gate.alpha,
        "max_drop" => &mut gate.max_drop,
        "min_pairs" => &mut gate.min_pairs,
        "exact" => {
            gate.conditional = match value {
                "conditional" => true,
                "unconditional" => false,
                _ => {
                    let message =
                        format!("`exact` is `conditional` or `unconditional`, not `{value}`");
                    return Err(Error::usage(message).hint(OPTIONS));
                }
            };
            return Ok(());
        }
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
    set_once(slot, option, value)
}

/// The options of `no_regression`.
const OPTION_NAMES: [&str; 6] = [
    "alpha",
    "max_drop",
    "min_pairs",
    "exact",
    "mid_p",
    "early_stop",
];

/// An option of a gate on a figure.
fn read_figure_option(gate: &mut Gate, figure: &str, option: &str) -> Result<()> {
    const OPTIONS: &str =
        "gates on figures take `by`, `of`, `alpha` and `min_pairs`: `by=10%, of=correct`";
    match pair(option) {
        Some((name @ ("by" | "of"), _)) if gate.metric.is(NO_CHANGE) => Err(Error::usage(format!(
            "`{NO_CHANGE}({TRAJECTORY})` takes no `{name}`"
        ))
        .hint("its options are `alpha` and `min_pairs`")),
        Some(("by", value)) if value.ends_with('%') && !FigureScale::of(figure).is_ratio() => Err(
            Error::usage(format!("`{figure}` is not an amount, so it takes no `%`"))
                .hint("write the allowed change in points, such as `by=0.2`"),
        ),
        Some(("by", value)) => set_once(&mut gate.by, option, value),
        Some(("of", _)) if gate.of.is_some() => Err(Error::usage("option `of` is given twice")),
        Some(("of", value)) => {
            gate.of = Some(match value {
                "all" => OfAnswers::All,
                "correct" => OfAnswers::Correct,
                _ => {
                    let why = format!("`of` is `all` or `correct`, not `{value}`");
                    return Err(Error::usage(why).hint(OPTIONS));
                }
            });
            Ok(())
        }
        Some((name, _)) if OPTION_NAMES.contains(&name) => read_option(gate, option),
        _ => Err(Error::usage(format!("unknown option `{option}`")).hint(OPTIONS)),
    }
}

/// A threshold with the unit that the metric allows.
fn threshold(metric: &Metric, text: &str) -> Result<f64> {
    let unit = metric.entry().unit;
    if text.ends_with('%') && !unit.takes_percent() {
        return Err(Error::usage(format!(
            "`{metric}` is not a share, so it takes no `%`"
        )));
    }
    match text.strip_suffix('s').filter(|_| unit == Unit::Seconds) {
        Some(seconds) => {
            number(seconds).map_err(|error| error.hint("latencies are in seconds: `2.5s`"))
        }
        None => number_or_percent(text),
    }
}

#[cfg(test)]
mod tests;
