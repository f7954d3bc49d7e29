//! What the gates compare with the baseline that are about a figure: `no_increase(tokens, by=10%)`.

use std::fmt;

use super::{Gate, Metric, NO_CHANGE, NO_DECREASE, NO_INCREASE, NO_REGRESSION};
use crate::error::{Error, Result, nearest};
use crate::figure::Percent;
use crate::text::quoted;

/// Seconds of the last attempt.
pub(crate) const LATENCY: &str = "latency";

/// The score itself, as a figure of a scorer.
pub(crate) const VALUE: &str = "value";

/// The figures of an answer that do not come from a scorer; figures of scorers are called `SCORER.NAME`.
pub(crate) const NAMES: [&str; 9] = [
    "tokens",
    "input_tokens",
    CACHED,
    "output_tokens",
    "cost_usd",
    "steps",
    "tool_calls",
    "output_length",
    LATENCY,
];

/// Input that a provider had in its cache, which swings by itself and is stored apart.
pub(crate) const CACHED: &str = "cached_tokens";

/// The order of the tools, which `no_change` compares.
pub(crate) const TRAJECTORY: &str = "trajectory";

/// The smallest margin of a latency: a server that is slower today is slower for all questions.
const LATENCY_BY: f64 = 0.25;

/// The least amount that is compared by its ratio.
const LEAST: f64 = 1e-6;

/// A larger margin of a ratio is most likely meant in percent.
const LARGEST_BY: f64 = 5.0;

/// How two values of a figure are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigureScale {
    /// By their ratio; 0 counts as a millionth.
    Ratio,
    /// By the ratio of 1 more than each, as 0 is a value.
    RatioFromZero,
    /// By their difference.
    Difference,
}

/// Which answers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfAnswers {
    /// All that tell the figure.
    All,
    /// Those that are right, of samples with right answers on both sides.
    Correct,
}

impl fmt::Display for OfAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Correct => "correct",
        })
    }
}

impl FigureScale {
    /// That of a figure of this name.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "steps" | "tool_calls" | "output_length" => Self::RatioFromZero,
            name if NAMES.contains(&name) => Self::Ratio,
            _ => Self::Difference,
        }
    }

    /// A value on the scale on which differences are taken; `None` for one that the scale does not have.
    pub(crate) fn scaled(self, value: f64) -> Option<f64> {
        match self {
            Self::Ratio => (value >= 0.0).then(|| value.max(LEAST).ln()),
            Self::RatioFromZero => (value >= 0.0).then(|| value.ln_1p()),
            Self::Difference => Some(value),
        }
    }

    /// The value that [`scaled`](Self::scaled) took there.
    pub(crate) fn unscaled(self, value: f64) -> f64 {
        match self {
            Self::Ratio => value.exp(),
            Self::RatioFromZero => value.exp_m1(),
            Self::Difference => value,
        }
    }

    /// Whether margins are shares.
    pub(crate) fn is_ratio(self) -> bool {
        self != Self::Difference
    }
}

impl Gate {
    /// The figure did not rise since the baseline, by a permutation test over all answers: `tokens`, `input_tokens`,
    /// `output_tokens`, `cost_usd`, `steps`, `tool_calls`, `output_length`, `latency`, or `SCORER.NAME`.
    pub fn no_increase(figure: impl Into<String>) -> Self {
        Self::comparing(NO_INCREASE, figure.into())
    }

    /// The figure did not fall since the baseline, as [`no_increase`](Self::no_increase).
    pub fn no_decrease(figure: impl Into<String>) -> Self {
        Self::comparing(NO_DECREASE, figure.into())
    }

    /// The agent takes the same tools in the same order as in the baseline, or differs from it no more than from itself.
    pub fn no_change() -> Self {
        Self::comparing(NO_CHANGE, TRAJECTORY.to_owned())
    }

    /// The margin of `no_increase` and `no_decrease`: 0.1 allows for 10 % of the baseline's value, or of a figure of a
    /// scorer for 0.1 points.
    #[must_use]
    pub fn by(mut self, margin: f64) -> Self {
        self.by = Some(margin);
        self
    }

    /// Whether a figure is compared over right answers alone, or over all. By default `steps` and `tool_calls` are of
    /// right answers, and other figures of all.
    #[must_use]
    pub fn of_correct(mut self, only: bool) -> Self {
        self.of = Some(if only {
            OfAnswers::Correct
        } else {
            OfAnswers::All
        });
        self
    }

    fn comparing(name: &'static str, figure: String) -> Self {
        Self {
            metric: Metric::of(name, Some(figure)),
            ..Self::no_regression()
        }
    }

    /// The figure that it compares with the baseline, if it is about one.
    pub(crate) fn figure(&self) -> Option<&str> {
        let is_one = [NO_INCREASE, NO_DECREASE, NO_CHANGE].contains(&self.metric.name);
        self.metric.argument.as_deref().filter(|_| is_one)
    }

    /// Which answers it compares.
    pub(crate) fn of_answers(&self) -> OfAnswers {
        self.of.unwrap_or(match self.figure() {
            Some("steps" | "tool_calls") => OfAnswers::Correct,
            _ => OfAnswers::All,
        })
    }

    /// What is wrong with a gate on a figure, with what to write.
    pub(crate) fn figure_fault(&self) -> Option<Error> {
        let figure = self.figure()?;
        let fault = |why: String, hint: String| Some(Error::usage(why).hint(hint));
        let options = [
            ("max_drop", self.max_drop.is_some()),
            ("mid_p", self.mid_p),
            ("exact", self.conditional),
            ("early_stop", self.early_stop),
        ];
        if let Some((name, _)) = options.iter().find(|(_, is_given)| *is_given) {
            let hint = "gates on figures take `by`, `of`, `alpha` and `min_pairs`";
            return fault(
                format!("`{name}` is an option of `no_regression` without a figure"),
                hint.to_owned(),
            );
        }
        if self.metric.is(NO_CHANGE) {
            if self.by.is_some() || self.of.is_some() {
                return fault(
                    "`no_change(trajectory)` takes neither `by` nor `of`".to_owned(),
                    "its options are `alpha` and `min_pairs`".to_owned(),
                );
            }
            return None;
        }
        let name = self.metric.name;
        let by = self.by.unwrap_or_default();
        if figure == LATENCY && by < LATENCY_BY {
            return fault(
                "a latency gate needs `by` of 25 % or more: a slow server slows all questions, so an unchanged agent would \
                 fail"
                    .to_owned(),
                format!(
                    "write `{name}(latency, by=25%)`, or compare `steps` and `tokens`, which do not depend on the server"
                ),
            );
        }
        if by < 0.0 || !by.is_finite() {
            return fault(
                "`by` is below 0".to_owned(),
                format!("write how much the figure may change: `{name}({figure}, by=10%)`"),
            );
        }
        if FigureScale::of(figure).is_ratio() && by > LARGEST_BY {
            return fault(
                format!("`by={by}` allows a change of {}", Percent(by)),
                format!("did you mean `{name}({figure}, by={by}%)`?"),
            );
        }
        if name == NO_DECREASE && FigureScale::of(figure).is_ratio() && by >= 1.0 {
            return fault(
                "a figure cannot fall by 100 % or more".to_owned(),
                format!("write `{name}({figure}, by=10%)`"),
            );
        }
        None
    }
}

/// The gate on a figure that these words begin: `no_increase` and `tokens`, `no_regression` and `steps`.
pub(crate) fn compared(gate: &str, figure: &str) -> Result<Gate> {
    let figure = match figure {
        "cost" => "cost_usd",
        figure => figure,
    };
    if gate == NO_CHANGE {
        return match figure {
            TRAJECTORY => Ok(Gate::no_change()),
            _ => Err(Error::usage(format!("`{NO_CHANGE}` cannot compare `{figure}`")).hint(
                "write `no_change(trajectory)` for the order of the tools, or `no_increase(FIGURE)`, `no_decrease(FIGURE)`",
            )),
        };
    }
    let is_own = NAMES.contains(&figure) && figure != CACHED;
    let of_scorer = figure
        .split_once('.')
        .is_some_and(|(scorer, name)| !scorer.is_empty() && !name.is_empty());
    if !is_own && !of_scorer && figure != VALUE {
        let names = NAMES.iter().copied().filter(|name| *name != CACHED);
        let legal = format!(
            "the figures are {}, and `SCORER.NAME` of a scorer",
            quoted(names.clone())
        );
        return Err(
            Error::usage(format!("unknown figure `{figure}` of `{gate}`")).hint(
                match (nearest(figure, names), figure) {
                    (_, "accuracy") => "write `no_regression` to compare accuracy".to_owned(),
                    (_, TRAJECTORY) => "write `no_change(trajectory)`".to_owned(),
                    (Some(near), _) => format!("did you mean `{near}`? {legal}"),
                    (None, _) => legal,
                },
            ),
        );
    }
    match gate {
        NO_REGRESSION if is_own => Ok(Gate::no_increase(figure)),
        NO_REGRESSION if figure.rsplit('.').next() == Some(VALUE) => Ok(Gate::no_decrease(figure)),
        NO_REGRESSION => Err(Error::usage(format!(
            "`no_regression` cannot know whether a higher `{figure}` is better"
        ))
        .hint(format!(
            "write `no_decrease({figure})` if it is, or `no_increase({figure})`"
        ))),
        NO_INCREASE => Ok(Gate::no_increase(figure)),
        _ => Ok(Gate::no_decrease(figure)),
    }
}
