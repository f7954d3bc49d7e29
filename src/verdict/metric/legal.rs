//! Checks of gates that do not depend on the samples.

use super::levels::CONFIDENCE as INTERVAL;
use super::{Takes, Unit};
use crate::error::{Error, Result};
use crate::verdict::gate::figure::LATENCY;
use crate::verdict::gate::{ACCURACY, CORRECTED, DROP, ERROR_RATE, Gate, Op};

const CONFIDENCE: &str =
    "`confidence` belongs to `accuracy >=`, `corrected(…) >=` and `drop(…) <=`";

const MIN_SCORED: &str = "`min_scored` belongs to a threshold for an accuracy or a mean";

/// In seconds.
const HOUR: f64 = 3600.0;

impl Gate {
    /// As [`Gate::validate_alone`], but errors quote the text as written.
    pub(in crate::verdict) fn validate_as(&self, text: &str) -> Result<()> {
        let refused = |why: String| Error::usage(format!("gate `{text}`: {why}"));
        let refuse = |why: String| Err(refused(why));
        if let Some(fault) = self.metric.fault() {
            return refuse(fault.to_owned());
        }
        let entry = self.metric.entry();
        if let (Some(_), Some(hint)) = (&self.slice, entry.whole_run) {
            let why = format!("`{}` exists only for the whole run", self.metric);
            return Err(refused(why).hint(hint));
        }
        let options = [
            ("alpha", self.alpha),
            ("max_drop", self.max_drop),
            ("min_pairs", self.min_pairs),
        ];
        self.validate_test(&refused)?;
        let Some((op, threshold)) = self.bound else {
            for (name, value) in options {
                // NaN is in no range. Only `min_pairs` may be 1.
                let is_one = |value: f64| match name {
                    "min_pairs" => (0.0..=1.0).contains(&value),
                    _ => (0.0..1.0).contains(&value),
                };
                if value.is_some_and(|value| !is_one(value)) {
                    let usual = match name {
                        "alpha" => "alpha=0.05`, or `alpha=5%",
                        "max_drop" => "max_drop=0.02`, or `max_drop=2%",
                        _ => "min_pairs=0.9`, or `min_pairs=90%",
                    };
                    return Err(refused(format!("`{name}` must be between 0 and 1"))
                        .hint(format!("write a share such as `{usual}`")));
                }
            }
            if self.alpha.is_some_and(|alpha| alpha <= 0.0) {
                return Err(refused("`alpha` of 0 never fails".to_owned())
                    .hint("write the accepted rate of false alarms, such as `alpha=0.05`"));
            }
            if self.early_stop && self.max_drop.is_some() {
                let why = "`early_stop` and `max_drop` exclude each other: a drop is known only when all samples are asked";
                return Err(refused(why.to_owned()).hint("remove one of the two"));
            }
            if self.confidence.is_some() {
                return refuse(CONFIDENCE.to_owned());
            }
            if self.min_scored.is_some() {
                return refuse(MIN_SCORED.to_owned());
            }
            return Ok(());
        };
        let given = options.iter().find(|(_, value)| value.is_some());
        let switch = self.mid_p.then_some("mid_p");
        let switch = switch.or(self.early_stop.then_some("early_stop"));
        let switch = switch.or(self.conditional.then_some("exact"));
        let switch = switch.or(self.by.map(|_| "by")).or(self.of.map(|_| "of"));
        if let Some(name) = given.map(|(name, _)| *name).or(switch) {
            return refuse(format!("`{name}` belongs to `no_regression`"));
        }
        if let Some(share) = self.min_scored {
            if !self.metric.is_of_verdicts() {
                return refuse(MIN_SCORED.to_owned());
            }
            if !(0.0..=1.0).contains(&share) {
                return Err(refused("`min_scored` must be between 0 and 1".to_owned())
                    .hint("write a share such as `min_scored=0.5`, or `min_scored=50%`"));
            }
        }
        self.validate_confidence(op, &refused)?;
        if !threshold.is_finite() {
            return refuse("the threshold is not a number".to_owned());
        }
        match entry.unit {
            Unit::Share => return self.validate_share(text, op, threshold),
            Unit::Count if threshold < 0.0 || threshold.fract() != 0.0 => {
                return refuse("the threshold is not a whole number".to_owned());
            }
            Unit::Drop if threshold > 1.0 || op == Op::Above && threshold >= 1.0 => {
                return Err(refused("a drop is at most 1 (everything lost)".to_owned())
                    .hint("write the allowed drop: `0.3`, or `30%`"));
            }
            _ => {}
        }
        if entry.takes == Takes::Threshold && op != Op::AtLeast {
            return refuse(format!("`{}` takes `>=`", self.metric));
        }
        if threshold < entry.unit.range()[0] {
            return refuse("the threshold is below 0".to_owned());
        }
        Ok(())
    }

    /// Refuses a confidence where there is no interval, and one that its interval has not.
    fn validate_confidence(&self, op: Op, refused: &dyn Fn(String) -> Error) -> Result<()> {
        let Some(confidence) = self.confidence else {
            return Ok(());
        };
        if self.metric.is(DROP) && matches!(op, Op::AtMost | Op::Below) {
            let is_known = confidence.total_cmp(&INTERVAL).is_eq();
            let error = || refused("`drop` has only a 95 % interval".to_owned());
            return if is_known {
                Ok(())
            } else {
                Err(error().hint("write `confidence=0.95`"))
            };
        }
        let is_least = matches!(op, Op::AtLeast | Op::Above);
        if ![ACCURACY, CORRECTED].contains(&self.metric.name) || !is_least {
            return Err(refused(CONFIDENCE.to_owned()));
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(refused("`confidence` must be between 0 and 1".to_owned())
                .hint("write a share such as `confidence=0.95`, or `confidence=95%`"));
        }
        Ok(())
    }

    /// Refuses what no comparison with the baseline takes.
    fn validate_test(&self, refused: &dyn Fn(String) -> Error) -> Result<()> {
        if let Some(fault) = self.figure_fault() {
            let error = refused(fault.message().to_owned());
            return Err(match fault.hint_text() {
                Some(hint) => error.hint(hint),
                None => error,
            });
        }
        if self.mid_p && self.conditional {
            let why = "`mid_p` and `exact=conditional` exclude each other: each is a p of the conditional test";
            return Err(refused(why.to_owned()).hint("remove one of the two"));
        }
        Ok(())
    }

    /// Whether it needs no baseline, and is about neither time nor cost.
    pub(crate) fn is_of_quality(&self) -> bool {
        let entry = self.metric.entry();
        !self.needs_baseline() && (entry.unit == Unit::Share || !entry.less_is_better)
    }

    /// A notice if it can never fail, or its threshold is implausible in its unit.
    pub(crate) fn doubt(&self) -> Option<String> {
        if self.figure() == Some(LATENCY) {
            return Some(format!(
                "gate `{self}`: a slow server slows all questions, so an unchanged agent may fail; `steps` and `tokens` do \
                 not depend on the server"
            ));
        }
        let (op, threshold) = self.bound?;
        match self.metric.entry().unit {
            // `error_rate <= 1` turns off the default gate.
            Unit::Share if !self.metric.is(ERROR_RATE) => {
                let can_fail = match op {
                    Op::AtLeast => threshold > 0.0,
                    Op::AtMost => threshold < 1.0,
                    Op::Above | Op::Below => true,
                };
                (!can_fail).then(|| format!("gate `{self}` can never fail"))
            }
            Unit::Seconds if threshold >= HOUR => Some(format!(
                "gate `{self}` allows {} hours; did you mean milliseconds, `{} {op} {}s`?",
                (threshold / HOUR * 10.0).round() / 10.0,
                self.name(),
                threshold / 1000.0
            )),
            _ => None,
        }
    }

    fn validate_share(&self, text: &str, op: Op, threshold: f64) -> Result<()> {
        if !(0.0..=1.0).contains(&threshold) {
            let message = format!(
                "gate `{text}`: the threshold of `{}` must be between 0 and 1",
                self.metric
            );
            let error = Error::usage(message);
            // 60 was most likely meant as 60 %.
            return Err(if threshold > 1.5 && threshold <= 100.0 {
                let meant = format!("{} {op} {}", self.name(), threshold / 100.0);
                error.hint(format!("did you mean `{meant}`?"))
            } else {
                error.hint("write a share such as 0.6, or `60%`")
            });
        }
        let never = match op {
            Op::Above => threshold >= 1.0,
            Op::Below => threshold <= 0.0,
            Op::AtLeast | Op::AtMost => false,
        };
        if never {
            let message = format!("gate `{text}` can never pass");
            return Err(Error::usage(message).hint(if op == Op::Above {
                "write `>=`"
            } else {
                "write `<=`"
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_that_mean_little_are_doubted() {
        let doubt = |gate: &str| gate.parse::<Gate>().unwrap().doubt();
        for gate in [
            "accuracy >= 0",
            "failure_rate <= 1",
            "pass@3[level=1] >= 0%",
        ] {
            let found = doubt(gate).unwrap();
            assert!(found.ends_with("can never fail"), "{found}");
        }
        let found = doubt("latency_p95 <= 20000").unwrap();
        assert!(
            found.contains("5.6 hours") && found.contains("`latency_p95 <= 20s`"),
            "{found}"
        );
        // The way to turn the default gate off.
        for gate in [
            "error_rate <= 1",
            "accuracy >= 0.1",
            "latency_p95 <= 60s",
            "no_regression",
        ] {
            assert_eq!(doubt(gate), None, "{gate}");
        }
    }
}
