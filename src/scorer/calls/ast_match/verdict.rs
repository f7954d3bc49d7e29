//! Builds the score from a pairing: reason, metrics and the first difference in words.

use std::collections::{HashMap, HashSet};

use super::known::{ExpectedCall, Interner, Made, Text};
use super::pairing::{CallOverlap, CallPairing, Rule, ratio};
use crate::calls::read::TooComplex;
use crate::data::Score;
use crate::text::snippet;

/// Limit of calls named in the details.
const NAMED: usize = 20;

pub(super) struct CallVerdict<'a> {
    pub(super) names: &'a Interner,
    pub(super) expected: &'a [ExpectedCall],
    pub(super) made: &'a [Made],
    pub(super) rule: Rule,
    pub(super) pairing: CallPairing,
    /// The form in which calls were found.
    pub(super) found: Result<Option<&'static str>, &'a TooComplex>,
    /// Whether calls besides the expected ones are allowed.
    pub(super) may_be_more: bool,
    /// Whether the agent answered.
    pub(super) has_answer: bool,
}

impl CallVerdict<'_> {
    /// The score; with `partial` its value is the share that is right.
    pub(super) fn score(&self, partial: bool) -> Score {
        let (expected, made) = (self.expected.len(), self.made.len());
        let matched = self.pairing.matched;
        // If no call is expected, none may be made in either case.
        let may_be_more = self.may_be_more && expected > 0;
        let correct = self.found.is_ok() && matched == expected && (may_be_more || matched == made);
        let wanted = if may_be_more {
            expected
        } else {
            expected.max(made).max(1)
        };
        let value = match () {
            () if correct => 1.0,
            () if partial => self.weight() / ratio(wanted, 1),
            () => 0.0,
        };
        let missing = self.pairing.missing(expected);
        let extra = self.extra();
        let made_texts: Vec<String> = self.made.iter().map(|call| self.names.show(call)).collect();
        let expected_texts: Vec<String> = self
            .expected
            .iter()
            .map(|call| self.names.show_expected(call))
            .collect();
        let [named, expected_names, made_names] = self.function_names();
        let mut score = Score::new(value, correct, self.reason(correct))
            .detail("ast_match_rate", if correct { 1.0 } else { 0.0 })
            .detail("parameter_accuracy", self.parameter_accuracy())
            .detail("precision", share(matched, made, expected))
            .detail("recall", share(matched, expected, made))
            .detail("f1", share(2 * matched, expected + made, 0))
            .detail("name_precision", share(named, made_names, expected_names))
            .detail("name_recall", share(named, expected_names, made_names))
            .detail("name_f1", share(2 * named, expected_names + made_names, 0));
        if let Ok(Some(form)) = self.found {
            score.details.insert("found_in", form);
        }
        if let Some(difference) = self.difference(correct, &missing, &extra) {
            score.details.insert("difference", difference);
        }
        let named = |places: &[usize], texts: &[String]| {
            let named = places.iter().take(NAMED);
            named
                .map(|&place| snippet(&texts[place]))
                .collect::<Vec<_>>()
        };
        score
            .detail("missing", named(&missing, &expected_texts))
            .detail("extra", named(&extra, &made_texts))
            .normalized(made_texts, expected_texts)
    }

    /// Counts of distinct function names: common ones, expected ones, called ones.
    fn function_names(&self) -> [usize; 3] {
        let expected: HashSet<Text> = self.expected.iter().map(|call| call.name).collect();
        let made: HashSet<Text> = self.made.iter().map(|call| call.name).collect();
        let both = expected.intersection(&made).count();
        [both, expected.len(), made.len()]
    }

    /// The total weight of all pairs.
    fn weight(&self) -> f64 {
        self.pairing
            .pairs
            .iter()
            .map(|(_, _, overlap)| overlap.share())
            .sum()
    }

    /// The share of arguments that agree, of those expected or present.
    fn parameter_accuracy(&self) -> f64 {
        let overlaps = self.pairing.pairs.iter().map(|pair| pair.2);
        let sum = overlaps.fold(CallOverlap { right: 0, all: 0 }, |sum, overlap| {
            CallOverlap {
                right: sum.right + overlap.right,
                all: sum.all + overlap.all,
            }
        });
        let missing = self.unpaired().into_iter();
        let missing = missing.map(|place| {
            let arguments = &self.expected[place].arguments;
            arguments
                .iter()
                .filter(|argument| !argument.1.is_optional)
                .count()
        });
        share(sum.right, sum.all + missing.sum::<usize>(), 0)
    }

    /// Expected calls without a counterpart.
    fn unpaired(&self) -> Vec<usize> {
        let mut is_paired = vec![false; self.expected.len()];
        for (place, _, _) in &self.pairing.pairs {
            is_paired[*place] = true;
        }
        (0..self.expected.len())
            .filter(|&place| !is_paired[place])
            .collect()
    }

    /// Calls without a full match.
    fn extra(&self) -> Vec<usize> {
        let mut is_matched = vec![false; self.made.len()];
        for (_, place, overlap) in &self.pairing.pairs {
            is_matched[*place] = overlap.right == overlap.all;
        }
        (0..self.made.len())
            .filter(|&place| !is_matched[place])
            .collect()
    }

    fn reason(&self, correct: bool) -> &'static str {
        match self.found {
            _ if correct && self.made.len() > self.expected.len() => "all_found",
            _ if correct => "exact_match",
            _ if !self.has_answer => "no_prediction",
            Err(TooComplex) => "too_complex",
            Ok(_) if self.expected.is_empty() => "unexpected_call",
            Ok(_) if self.made.is_empty() => "no_call",
            Ok(_) if self.has_wrong_count() => "wrong_count",
            Ok(_) if self.has_other_names() => "wrong_function",
            Ok(_) if self.pairing.is_incomplete => "too_complex",
            Ok(_) if self.rule.ordered && self.is_same_set() => "wrong_order",
            Ok(_) => "wrong_arguments",
        }
    }

    /// Whether there are too few calls, or too many if extra ones are not allowed.
    fn has_wrong_count(&self) -> bool {
        let (expected, made) = (self.expected.len(), self.made.len());
        made < expected || made > expected && !self.may_be_more
    }

    /// Whether a function is called too rarely, or too often if extra calls are not allowed.
    fn has_other_names(&self) -> bool {
        let mut counts: HashMap<Text, isize> = HashMap::new();
        for call in self.expected {
            *counts.entry(call.name).or_default() += 1;
        }
        for call in self.made {
            *counts.entry(call.name).or_default() -= 1;
        }
        let is_wrong = |count: isize| count > 0 || count < 0 && !self.may_be_more;
        counts.values().any(|&count| is_wrong(count))
    }

    fn is_same_set(&self) -> bool {
        let rule = Rule {
            ordered: false,
            ..self.rule
        };
        rule.pair(self.expected, self.made).matched == self.expected.len()
    }

    /// The first difference, in words.
    fn difference(&self, correct: bool, missing: &[usize], extra: &[usize]) -> Option<String> {
        if correct {
            return None;
        }
        if self.found.is_err() {
            return Some("finding calls in this text takes too long".to_owned());
        }
        let pairs = &self.pairing.pairs;
        let pair = pairs
            .iter()
            .find(|(_, _, overlap)| overlap.right < overlap.all);
        if let Some(&(expected, made, _)) = pair {
            return self.argument_difference(&self.expected[expected], &self.made[made]);
        }
        let first = |places: &[usize]| places.first().copied();
        match (first(missing), first(extra)) {
            (Some(place), _) if self.made.is_empty() => {
                let call = self.names.show_expected(&self.expected[place]);
                Some(format!("got no call, expected `{}`", snippet(&call)))
            }
            (Some(expected), Some(made)) => Some(format!(
                "got `{}`, expected `{}`",
                snippet(&self.names.show(&self.made[made])),
                snippet(&self.names.show_expected(&self.expected[expected]))
            )),
            (Some(place), None) => {
                let call = self.names.show_expected(&self.expected[place]);
                Some(format!("`{}` is missing", snippet(&call)))
            }
            (None, Some(place)) if self.names.text(self.made[place].name).is_empty() => {
                Some("a call cannot be read".to_owned())
            }
            (None, Some(place)) => {
                let call = self.names.show(&self.made[place]);
                Some(format!("`{}` is not expected", snippet(&call)))
            }
            (None, None) => None,
        }
    }

    fn argument_difference(&self, expected: &ExpectedCall, made: &Made) -> Option<String> {
        let names = self.names;
        let function = names.text(made.name);
        for (name, accepted) in &expected.arguments {
            let wanted = names.show_accepted(accepted);
            let wanted = snippet(&wanted);
            let argument = names.text(*name);
            match made.arguments.iter().find(|(other, _)| other == name) {
                Some((_, value)) if !accepted.values.contains(value) => {
                    let got = snippet(names.text(*value));
                    return Some(format!(
                        "`{function}`: `{argument}`: got `{got}`, expected `{wanted}`"
                    ));
                }
                None if !accepted.is_optional => {
                    return Some(format!(
                        "`{function}`: `{argument}` is missing, expected `{wanted}`"
                    ));
                }
                _ => {}
            }
        }
        let is_extra =
            |(name, _): &&(Text, Text)| expected.arguments.iter().all(|(other, _)| other != name);
        let (name, value) = made.arguments.iter().find(is_extra)?;
        let (argument, value) = (names.text(*name), names.text(*value));
        Some(format!(
            "`{function}`: `{argument}` is not expected, got `{}`",
            snippet(value)
        ))
    }
}

/// `part` of `whole`. If `whole` is 0, it is 1 if `other` is 0 too, and 0 otherwise.
fn share(part: usize, whole: usize, other: usize) -> f64 {
    match (whole, other) {
        (0, 0) => 1.0,
        (0, _) => 0.0,
        _ => ratio(part, whole),
    }
}
