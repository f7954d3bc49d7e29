//! Whether a run meets its expectation, with metrics.

use std::collections::HashMap;

use super::expectation::Expectation;
use crate::calls::read::Call;
use crate::data::Score;
use crate::text::snippet;

/// Limit of faults named in the details.
const NAMED: usize = 20;

/// A run and its expectation.
pub(super) struct TrajectoryRun<'a> {
    pub(super) expected: &'a Expectation,
    pub(super) steps: &'a [Vec<Call>],
    /// How many of the expected calls were made.
    pub(super) matched: usize,
    /// The first of those that were not, for display.
    pub(super) missing: Vec<String>,
}

/// How often a tool was called, and when first.
#[derive(Clone, Copy, Debug)]
struct Calls {
    first: usize,
    count: usize,
}

/// The number of things checked, and of those as expected.
#[derive(Clone, Copy, Debug, Default)]
struct Checks {
    passed: usize,
    all: usize,
}

impl Checks {
    fn add(&mut self, is_passed: bool) {
        self.all += 1;
        self.passed += usize::from(is_passed);
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    fn share(self) -> f64 {
        match self.all {
            0 => 1.0,
            all => self.passed as f64 / all as f64,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            all: self.all + other.all,
        }
    }
}

impl TrajectoryRun<'_> {
    pub(super) fn score(&self) -> Score {
        let mut calls: HashMap<&str, Calls> = HashMap::new();
        for (step, call) in self
            .steps
            .iter()
            .enumerate()
            .flat_map(|(step, calls)| calls.iter().map(move |call| (step, call)))
        {
            let entry = calls.entry(call.name.as_str());
            entry
                .or_insert(Calls {
                    first: step,
                    count: 0,
                })
                .count += 1;
        }
        let count: usize = self.steps.iter().map(Vec::len).sum();
        let mut faults: Vec<(&'static str, String)> = Vec::new();

        let (allowed, forbidden_calls) = self.allowed(&calls, &mut faults);
        let mut required = Checks {
            passed: self.matched,
            all: self.expected.calls.len(),
        };
        if required.passed < required.all {
            let missing: Vec<String> = self.missing.iter().map(|call| snippet(call)).collect();
            let more = match required.all - required.passed - missing.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = format!(
                "{} of {} expected calls were made; missing: `{}`{more}",
                required.passed,
                required.all,
                missing.join("`, `")
            );
            faults.push(("missing_call", message));
        }
        for name in &self.expected.required {
            let is_made = calls.contains_key(name.as_str());
            required.add(is_made);
            if !is_made {
                faults.push((
                    "missing_call",
                    format!("`{}` was not called", snippet(name)),
                ));
            }
        }
        let order = self.order(&calls, &mut faults);
        let efficiency = self
            .expected
            .minimal()
            .map(|minimal| efficiency(minimal, count));
        let mut thrift = Checks::default();
        if let Some((least, efficiency)) = self.expected.min_efficiency.zip(efficiency) {
            thrift.add(efficiency >= least);
            if efficiency < least {
                faults.push((
                    "inefficient",
                    format!("efficiency is {efficiency:.2}, less than {least}"),
                ));
            }
        }

        let all = allowed.and(required).and(order).and(thrift);
        let reason = faults.first().map_or("as_expected", |fault| fault.0);
        let mut score = Score::new(all.share(), faults.is_empty(), reason)
            .detail("calls", count)
            .detail("required_rate", required.share())
            .detail("order_rate", order.share())
            .detail("forbidden_calls", forbidden_calls);
        if let Some(efficiency) = efficiency {
            score.details.insert("efficiency", efficiency);
        }
        let faults = faults.into_iter().take(NAMED).map(|fault| fault.1);
        score.detail("faults", faults.collect::<Vec<_>>())
    }

    /// What must not be, and how often forbidden tools were called.
    fn allowed(
        &self,
        calls: &HashMap<&str, Calls>,
        faults: &mut Vec<(&'static str, String)>,
    ) -> (Checks, usize) {
        let mut allowed = Checks::default();
        let mut forbidden_calls = 0;
        for name in &self.expected.forbidden {
            let made = calls.get(name.as_str()).map_or(0, |calls| calls.count);
            forbidden_calls += made;
            allowed.add(made == 0);
            if made > 0 {
                faults.push((
                    "forbidden_call",
                    format!("`{}` is forbidden, and was called", snippet(name)),
                ));
            }
        }
        // A call that cannot be read may be any of those that must not be made.
        let unread = calls.get("").map_or(0, |calls| calls.count);
        let expected = self.expected;
        let is_absence = !expected.forbidden.is_empty()
            || !expected.after.is_empty()
            || expected.min_efficiency.is_some();
        if is_absence && unread > 0 {
            allowed.add(false);
            let message = match unread {
                1 => "a call cannot be read".to_owned(),
                _ => format!("{unread} calls cannot be read"),
            };
            faults.push(("unreadable_call", message));
        }
        (allowed, forbidden_calls)
    }

    fn order(
        &self,
        calls: &HashMap<&str, Calls>,
        faults: &mut Vec<(&'static str, String)>,
    ) -> Checks {
        // A tool that was not called did not come too early.
        let mut order = Checks::default();
        for (earlier, later) in &self.expected.after {
            let Some(later_calls) = calls.get(later.as_str()) else {
                continue;
            };
            let earlier_calls = calls.get(earlier.as_str());
            let is_passed = earlier_calls.is_some_and(|calls| calls.first < later_calls.first);
            order.add(is_passed);
            if !is_passed {
                let how = match earlier_calls {
                    None => "without",
                    Some(calls) if calls.first == later_calls.first => "together with",
                    Some(_) => "before",
                };
                faults.push((
                    "wrong_order",
                    format!(
                        "`{}` was called {how} `{}`",
                        snippet(later),
                        snippet(earlier)
                    ),
                ));
            }
        }
        order
    }
}

/// The number of calls of the shortest run divided by that of calls made, at most 1.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn efficiency(minimal: u64, made: usize) -> f64 {
    match (minimal, made) {
        (0, 0) => 1.0,
        (_, 0) => 0.0,
        (minimal, made) => (minimal as f64 / made as f64).min(1.0),
    }
}
