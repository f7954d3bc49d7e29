//! The rule `drop`: compares the answers of the last runs with those of a reference, sample by sample.

use std::borrow::Cow;

use super::AlertFinding;
use super::DropReference;
use super::Era;
use crate::data::history::{HistoryAnswers, HistoryLine};
use crate::figure::{P, Share};
use crate::stats::{
    AnswerCounts, ComparedSample, CountedSamples, MOVING, conditional_test_of, percentile, ratio,
    windows,
};
use crate::verdict::gate::Slice;
use crate::verdict::result::AlertVerdict;

/// The options of `drop`.
#[derive(Clone, Copy)]
pub(super) struct DropRule<'a> {
    pub(super) slice: Option<&'a Slice>,
    pub(super) against: DropReference,
}

/// The threshold for p, given how many answers the reference has for one of a run.
pub(super) type Threshold<'a> = &'a dyn Fn(f64) -> f64;

/// A window compared with its reference.
struct ComparedWindow<'a> {
    /// Its first run.
    first: &'a HistoryLine,
    runs: usize,
    /// The shares of right answers before and now, over the compared samples.
    shares: [f64; 2],
    /// `None` if there are at least as many right answers as before.
    p: Option<f64>,
    needed: f64,
    /// Whether individual samples could not be compared.
    is_unpaired: bool,
}

impl DropRule<'_> {
    pub(super) fn judge(self, era: &Era<'_>, threshold: Threshold<'_>) -> AlertFinding {
        if let Some(why) = era.why_not_counted() {
            return AlertFinding::silent(why);
        }
        let compared: Result<Vec<_>, _> = match self.against {
            DropReference::Baseline => self.by_baseline(era, threshold),
            DropReference::Median => self.by_runs(era, threshold),
        };
        match compared {
            Ok(compared) => self.finding(era, compared),
            Err(why) => AlertFinding::silent(why),
        }
    }

    fn by_baseline<'a>(
        self,
        era: &Era<'a>,
        threshold: Threshold<'_>,
    ) -> Result<Vec<ComparedWindow<'a>>, Cow<'static, str>> {
        let baseline = era.baseline.ok_or(
            "the history has no accepted baseline of this dataset and scorer; `cargo evaltest accept` adds one",
        )?;
        let all = windows(era.analysis).map(|window| {
            let now = era.last(window.runs);
            self.compared(&[baseline], now, window.part, threshold)
        });
        all.collect()
    }

    /// Compares with the five runs before each window, which may be of the previous era.
    fn by_runs<'a>(
        self,
        era: &Era<'a>,
        threshold: Threshold<'_>,
    ) -> Result<Vec<ComparedWindow<'a>>, Cow<'static, str>> {
        let mut all = Vec::new();
        for window in windows(era.analysis) {
            let before = era.analyses.len() - window.runs;
            let Some(from) = before.checked_sub(MOVING) else {
                continue;
            };
            let five = &era.analyses[from..before];
            let mut compared =
                self.compared(five, era.last(window.runs), window.part, threshold)?;
            // The median, so that one very good run among the five does not count.
            let mut accuracies: Vec<f64> =
                five.iter().filter_map(|line| self.share(line)).collect();
            accuracies.sort_by(f64::total_cmp);
            if percentile(&accuracies, 50.0).is_none_or(|median| compared.shares[1] >= median) {
                compared.p = None;
            }
            all.push(compared);
        }
        if all.is_empty() {
            let before = era.analyses.len() - 1;
            return Err(format!("needs {MOVING} earlier runs, the history has {before}").into());
        }
        Ok(all)
    }

    /// The share of right answers of a run.
    fn share(self, line: &HistoryLine) -> Option<f64> {
        let pooled = Pooled::of(&[line], self.slice);
        ratio(pooled.right, pooled.known)
    }

    fn compared<'a>(
        self,
        before: &[&HistoryLine],
        now: &[&'a HistoryLine],
        part: f64,
        threshold: Threshold<'_>,
    ) -> Result<ComparedWindow<'a>, Cow<'static, str>> {
        let first = *now.first().ok_or("the history has no run")?;
        let runs = now.len();
        let [before, now] = [before, now].map(|lines| Pooled::of(lines, self.slice));
        let pairs = before.pair_with(&now)?;
        let sums = pairs.kinds().fold(RightSums::default(), RightSums::add);
        let (Some(share_before), Some(share)) = (
            ratio(sums.before, sums.of_before),
            ratio(sums.now, sums.of_now),
        ) else {
            return Err("no sample has a verdict in both runs".into());
        };
        #[expect(clippy::cast_precision_loss, reason = "a few answers for one of a run")]
        let answers = sums.of_before as f64 * runs as f64 / sums.of_now as f64;
        // p is not small if there are at least as many right answers as expected by chance.
        let p = (sums.fallen > 0.0).then(|| conditional_test_of(&pairs).p);
        Ok(ComparedWindow {
            first,
            runs,
            shares: [share_before, share],
            p,
            needed: threshold(answers) * part,
            is_unpaired: before.samples.is_none() || now.samples.is_none(),
        })
    }

    fn finding(self, era: &Era<'_>, compared: Vec<ComparedWindow<'_>>) -> AlertFinding {
        let strength = |one: &ComparedWindow<'_>| one.p.map_or(f64::INFINITY, |p| p / one.needed);
        let strongest = compared
            .into_iter()
            .min_by(|one, other| strength(one).total_cmp(&strength(other)));
        let Some(found) = strongest else {
            return AlertFinding::silent("the history has no run");
        };
        let [before, now] = found.shares;
        let of_runs = match found.runs {
            1 => String::new(),
            runs => format!(" in the last {runs} runs"),
        };
        let reference = match self.against {
            DropReference::Baseline => "the baseline",
            DropReference::Median => "the previous five runs",
        };
        let tested = found.p.map_or_else(String::new, |p| {
            let (p, needed) = (P(p).cell_at_level(found.needed), P(found.needed).level());
            format!(
                "; p {p}, raised if p is below {needed} (look {})",
                era.analysis
            )
        });
        let (now_text, before_text) = (Share(now), Share(before));
        let mut message =
            format!("accuracy {now_text}{of_runs}, {before_text} in {reference}{tested}");
        if found.is_unpaired {
            message += "; only totals are compared, because the history lacks single samples; this detects less";
        }
        let raised = found.p.is_some_and(|p| p < found.needed);
        let finding = AlertFinding::of(raised, now, before, message).since(&found.first.id);
        debug_assert!(finding.verdict != AlertVerdict::Silent);
        AlertFinding {
            p: found.p.map(|p| [p, found.needed]),
            ..finding
        }
    }
}

/// Sums over the compared samples.
#[derive(Default)]
struct RightSums {
    before: u64,
    of_before: u64,
    now: u64,
    of_now: u64,
    /// The expected right answers now minus the observed ones.
    fallen: f64,
}

impl RightSums {
    fn add(mut self, (sample, times): (&ComparedSample, u64)) -> Self {
        let ComparedSample { before, now } = sample;
        self.before += u64::from(before.right) * times;
        self.of_before += u64::from(before.of) * times;
        self.now += u64::from(now.right) * times;
        self.of_now += u64::from(now.of) * times;
        let [b, m, n, k] = [before.right, before.of, now.right, now.of].map(f64::from);
        let expected = (b + n) * k / (m + k);
        #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
        let times = times as f64;
        self.fallen += (expected - n) * times;
        self
    }
}

/// The pooled answers of several lines.
struct Pooled<'a> {
    /// The samples (by hash) and their answers, if all lines have them.
    samples: Option<(&'a str, Vec<AnswerCounts>)>,
    right: u64,
    known: u64,
    /// Why they cannot be compared even in total.
    fault: Option<&'static str>,
}

impl<'a> Pooled<'a> {
    fn of(lines: &[&'a HistoryLine], slice: Option<&Slice>) -> Self {
        let mut pooled = Self {
            samples: None,
            right: 0,
            known: 0,
            fault: None,
        };
        let answers: Option<Vec<&HistoryAnswers>> =
            lines.iter().map(|line| line.answers.as_ref()).collect();
        let one = answers.filter(|all| {
            let mut pairs = all.windows(2);
            slice.is_none()
                && pairs.all(|pair| {
                    (&pair[0].samples, pair[0].count) == (&pair[1].samples, pair[1].count)
                })
        });
        if let Some(answers) = one {
            pooled.add_samples(&answers);
            return pooled;
        }
        for line in lines {
            let (right, known, cached) = match slice {
                None => (line.correct, line.scored, line.cached),
                Some(slice) => {
                    let values = line.slices.get(&slice.dimension);
                    match values.and_then(|values| values.get(&slice.value)) {
                        Some(slice) => (slice.correct, slice.scored, slice.cached),
                        None => (0, 0, 0),
                    }
                }
            };
            if cached > 0 {
                pooled.fault = Some(
                    "some answers are cached, which is no new evidence, and the history does not say which",
                );
            }
            pooled.right += right;
            pooled.known += known;
        }
        pooled
    }

    fn add_samples(&mut self, answers: &[&'a HistoryAnswers]) {
        let Some(first) = answers.first() else {
            return;
        };
        // A line without rows has the number of samples, but no data on them.
        let count = if answers.iter().any(|answers| !answers.runs.is_empty()) {
            first.count
        } else {
            0
        };
        let mut samples = vec![AnswerCounts::default(); count];
        for answers in answers.iter().filter(|answers| !answers.runs.is_empty()) {
            for (place, sample) in samples.iter_mut().enumerate() {
                let (right, known) = answers.of_sample(place);
                sample.right = sample.right.saturating_add(right);
                sample.of = sample.of.saturating_add(known);
                self.right += u64::from(right);
                self.known += u64::from(known);
            }
        }
        self.samples = Some((&first.samples, samples));
    }

    /// The samples with answers on both sides.
    fn pair_with(&self, now: &Self) -> Result<CountedSamples, Cow<'static, str>> {
        if let Some(fault) = self.fault.or(now.fault) {
            return Err(fault.into());
        }
        let whole = |pooled: &Self| {
            let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
            AnswerCounts::new(small(pooled.right), small(pooled.known))
        };
        let pairs: Vec<ComparedSample> = match (&self.samples, &now.samples) {
            (Some((of_before, before)), Some((of_now, now))) => {
                if of_before != of_now || before.len() != now.len() {
                    return Err(
                        "the run has other samples than the runs that it is compared with".into(),
                    );
                }
                let pairs = before.iter().zip(now);
                pairs
                    .map(|(before, now)| ComparedSample {
                        before: *before,
                        now: *now,
                    })
                    .collect()
            }
            _ => vec![ComparedSample {
                before: whole(self),
                now: whole(now),
            }],
        };
        let both = pairs
            .into_iter()
            .filter(|pair| pair.before.of > 0 && pair.now.of > 0);
        Ok(both.collect())
    }
}
