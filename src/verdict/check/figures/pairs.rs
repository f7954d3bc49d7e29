//! `FigurePairs`: the values of a figure, of the samples that baseline and run have in common.

use std::collections::BTreeMap;

use super::pair::{FigurePair, FigureValue};
use super::{Compared, FigureScale, OfAnswers};
use crate::figure::Percent;
use crate::printable::on_one_line;
use crate::stats::{self, Arrangements, RunningMean, SplitMix64};
use crate::verdict::baseline::figures::columns::FiguresRow;
use crate::verdict::baseline::{Baseline, BaselineRow, CurrentRow};
use crate::verdict::check::no_regression::{Repetition, runs_of};
use crate::verdict::facts::Facts;
use crate::verdict::gate::figure::VALUE;
use crate::verdict::gate::{Gate, Slice};
use crate::verdict::result::FigureChange;

/// How many samples a message and a result name.
const NAMED: usize = 5;

/// The samples that are compared, and why others are not.
pub(super) struct FigurePairs<'a> {
    pub(super) compared: Compared,
    pub(super) pairs: Vec<FigurePair<'a>>,
    /// Whether it is about numbers or tools.
    pub(super) value_type: ValueType,
    /// Whether an answer of now did not come from the cache.
    pub(super) has_fresh: bool,
    /// How far epochs repeat each other, if they count as one.
    pub(super) repetition: Option<Repetition>,
    /// Samples of the baseline that should be compared.
    expected: usize,
    /// Samples that are not compared, by reason.
    left_out: [usize; NotCompared::ALL.len()],
    /// Whether any answer of each side tells the figure.
    is_known: [bool; 2],
}

/// What is compared of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Numbers,
    Tools,
}

/// Why a sample of the baseline is not compared.
#[derive(Clone, Copy)]
enum NotCompared {
    Gone,
    Moved,
    Changed,
    NotBefore,
    NotNow,
}

impl NotCompared {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Gone, "gone"),
        (Self::Moved, "in another slice"),
        (Self::Changed, "changed"),
        (Self::NotBefore, "without it in the baseline"),
        (Self::NotNow, "without it now"),
    ];
}

impl<'a> FigurePairs<'a> {
    pub(super) fn of(
        compared: Compared,
        slice: Option<&Slice>,
        baseline: &'a Baseline,
        facts: &'a Facts<'_>,
    ) -> Self {
        let is_trajectory = compared.is_trajectory();
        let mut pairs = Self {
            compared,
            pairs: Vec::new(),
            value_type: if is_trajectory {
                ValueType::Tools
            } else {
                ValueType::Numbers
            },
            has_fresh: false,
            repetition: None,
            expected: 0,
            left_out: [0; NotCompared::ALL.len()],
            is_known: [false; 2],
        };
        let epochs: Vec<u32> = baseline.runs.iter().map(|run| run.epochs).collect();
        let decides = facts.summary.scorer.as_deref();
        let gone = baseline.join(&facts.current, &mut |sample, before| {
            let Some(before) = before else {
                return;
            };
            if sample.is_in(slice) {
                pairs.add(sample, before, &epochs, decides);
            } else if before.is_in(slice) {
                pairs.leave_out(before, NotCompared::Moved);
            }
        });
        for before in gone.filter(|before| before.is_in(slice)) {
            pairs.leave_out(before, NotCompared::Gone);
        }
        pairs.find_repetition();
        pairs
    }

    fn leave_out(&mut self, before: BaselineRow<'_>, why: NotCompared) {
        if self.is_expected(before) {
            self.expected += 1;
            self.left_out[why as usize] += 1;
        }
    }

    /// Whether a sample of the baseline should be compared.
    fn is_expected(&self, before: BaselineRow<'_>) -> bool {
        match self.compared.of {
            OfAnswers::Correct => before.answers().contains(&Some(true)),
            OfAnswers::All => before.has_verdict() || !before.figures().is_empty(),
        }
    }

    fn add(
        &mut self,
        sample: CurrentRow<'a>,
        before: BaselineRow<'a>,
        epochs: &[u32],
        decides: Option<&str>,
    ) {
        if !sample.is_same_as(before) {
            return self.leave_out(before, NotCompared::Changed);
        }
        let was = self.values_of(before.figures(), decides);
        let is = self.values_of(sample.figures(), decides);
        self.is_known[0] |= was.iter().any(Option::is_some);
        self.is_known[1] |= is.iter().any(Option::is_some);
        let runs = runs_of(&was, epochs);
        let known = |answers: &[Option<FigureValue>]| answers.iter().flatten().cloned().collect();
        let runs: Vec<Vec<FigureValue>> = runs.into_iter().map(known).collect();
        let now: Vec<FigureValue> = known(&is);
        if runs.iter().all(Vec::is_empty) {
            return self.leave_out(before, NotCompared::NotBefore);
        }
        if now.is_empty() {
            // Where right answers are compared, one that is wrong now is no want of figures.
            let is_wrong = self.compared.of == OfAnswers::Correct
                && sample.answers().contains(&Some(false))
                && !sample.answers().contains(&Some(true));
            if !is_wrong {
                self.leave_out(before, NotCompared::NotNow);
            }
            return;
        }
        self.expected += 1;
        self.has_fresh |= sample.answers().is_empty() || sample.has_fresh();
        self.pairs.push(FigurePair {
            id: sample.id(),
            cluster: sample.cluster(),
            before: runs,
            now,
        });
    }

    /// The figure of each answer that counts; `None` where it is not known.
    fn values_of(
        &self,
        figures: FiguresRow<'_>,
        decides: Option<&str>,
    ) -> Vec<Option<FigureValue>> {
        let all: Vec<Option<FigureValue>> = match self.value_type {
            ValueType::Tools => {
                let tools = figures.tools();
                tools.map(|tools| tools.map(FigureValue::Tools)).collect()
            }
            ValueType::Numbers => {
                let values = figures.get(&self.compared.name, decides);
                let is_on_scale = |value: &f64| self.compared.scale.scaled(*value).is_some();
                values
                    .map(|value| value.filter(is_on_scale).map(FigureValue::Number))
                    .collect()
            }
        };
        let counts = |verdict: Option<bool>| match self.compared.of {
            OfAnswers::All => true,
            OfAnswers::Correct => verdict == Some(true),
        };
        let all = all.into_iter().zip(figures.verdicts());
        all.map(|(value, verdict)| value.filter(|_| counts(*verdict)))
            .collect()
    }

    /// Finds whether epochs repeat each other, and then keeps one answer of each run.
    fn find_repetition(&mut self) {
        let mut repetition = Repetition::default();
        for pair in &self.pairs {
            let before: Vec<&[FigureValue]> = pair.before.iter().map(Vec::as_slice).collect();
            repetition.add_values(&before, &pair.now);
        }
        if !repetition.counts_as_one() {
            return;
        }
        self.repetition = Some(repetition);
        for pair in &mut self.pairs {
            for run in pair.before.iter_mut().chain([&mut pair.now]) {
                run.truncate(1);
            }
        }
    }

    /// Why nothing can be compared, if no answer of a side tells the figure.
    pub(super) fn missing(&self, facts: &Facts<'_>, is_masked: bool) -> Option<String> {
        if !self.pairs.is_empty() {
            return None;
        }
        let name = &self.compared.name;
        let lacks = |side: usize| !self.is_known[side] && self.expected > 0;
        let what = match self.value_type {
            ValueType::Tools => "tools".to_owned(),
            ValueType::Numbers => format!("`{name}`"),
        };
        let detail = name.split_once('.');
        let is_of_scorer = detail.is_some();
        let is_measure = detail.is_none_or(|(scorer, detail)| {
            let bounds = facts.detail_bounds.get(scorer);
            detail == VALUE || bounds.is_some_and(|bounds| bounds.contains_key(detail))
        });
        Some(
            if lacks(0) && is_masked && (!is_measure || name == "output_length") {
                format!(
                    "masked snapshots do not store `{name}`, which may reveal an answer: compare another figure, or write \
                 `snapshot: {{ answers: plain }}`"
                )
            } else if lacks(0) && lacks(1) && is_of_scorer {
                format!(
                    "no score has {what}, neither in the baseline nor now: name a figure that a scorer reports"
                )
            } else if name == super::LATENCY && (lacks(0) || lacks(1) && facts.summary.cached == 0)
            {
                let side = if lacks(0) { "the baseline" } else { "this run" };
                format!(
                    "no answer of {side} has a measured latency: replayed answers have none; use a run that calls the agent"
                )
            } else if lacks(0) {
                format!(
                    "no answer of the baseline reports its {what}: accept a run that does with `cargo evaltest accept`"
                )
            } else if lacks(1) && facts.summary.cached > 0 && name == super::LATENCY {
                "cached answers have no measured latency: ask the agent with `cargo evaltest run --refresh`".to_owned()
            } else if lacks(1) && is_of_scorer {
                format!("no score of this run has `{name}`: name a figure that its scorers report")
            } else if lacks(1) {
                format!(
                    "no answer of this run reports its {what}: have the agent reply with `usage`, `steps` or `messages`, see the \
                 page \"What a reply can be\""
                )
            } else if self.compared.of == OfAnswers::Correct {
                format!(
                    "no sample has a correct answer with {what} in both runs: write `of=all` to compare wrong answers too"
                )
            } else {
                "no sample has the figure both in the baseline and now".to_owned()
            },
        )
    }

    /// Why too few of the baseline's samples can be compared.
    pub(super) fn short(&self, gate: &Gate) -> Option<String> {
        let compared = self.pairs.len();
        let share = stats::ratio(compared as u64, self.expected as u64);
        if share.is_none_or(|share| share >= gate.least_pairs()) {
            return None;
        }
        let rows = NotCompared::ALL.into_iter().zip(self.left_out);
        let rows = rows.filter(|(_, count)| *count > 0);
        let rows: Vec<_> = rows
            .map(|((_, row), count)| format!("{count} {row}"))
            .collect();
        Some(format!(
            "only {compared} of the baseline's {} samples can be compared, fewer than {} ({}): accept a run on the \
             current samples with `cargo evaltest accept`, or write `min_pairs=SHARE`",
            self.expected,
            Percent(gate.least_pairs()),
            rows.join(", ")
        ))
    }

    /// The arrangements of the answers of each sample; an error is why they show nothing.
    pub(super) fn arrangements(
        &self,
        random: &mut SplitMix64,
    ) -> Result<Vec<Arrangements>, String> {
        let has_clusters = self.pairs.iter().any(|pair| pair.cluster.is_some());
        if self.value_type == ValueType::Tools {
            let several = |pair: &FigurePair<'_>| pair.all_before().len().max(pair.now.len()) > 1;
            if !self.pairs.iter().any(several) {
                return Err(match self.repetition {
                    Some(_) => "epochs repeat each other and count as one answer per sample, which cannot show chance: \
                                accept two runs with `cargo evaltest accept RUN_DIR RUN_DIR`"
                        .to_owned(),
                    None => "one answer per sample and run cannot show chance: accept two runs with `cargo \
                             evaltest accept RUN_DIR RUN_DIR`"
                        .to_owned(),
                });
            }
            return self.arrangements_of_tools(has_clusters, random);
        }
        if has_clusters {
            return self.arrangements_of_clusters();
        }
        let values = self.pairs.iter().map(|pair| pair.scaled(&self.compared));
        Ok(values
            .map(|[before, now]| Arrangements::mean_now(&before, &now, random))
            .collect())
    }

    /// Whole groups are swapped.
    fn arrangements_of_clusters(&self) -> Result<Vec<Arrangements>, String> {
        let mut groups = BTreeMap::<(bool, &str), f64>::new();
        for pair in &self.pairs {
            let [before, now] = pair.scaled(&self.compared);
            if before.len() != now.len() {
                return Err(format!(
                    "samples in groups need as many answers now as in the baseline: sample `{}` has {} now and {} in the \
                     baseline; run as many epochs as the baseline has",
                    on_one_line(pair.id),
                    now.len(),
                    before.len()
                ));
            }
            let mean = |values: &[f64]| stats::mean(values).unwrap_or_default();
            *groups.entry(pair.group()).or_default() += mean(&now) - mean(&before);
        }
        Ok(groups.into_values().map(Arrangements::swapped).collect())
    }

    /// How far the tools of both sides lie apart. The samples of a group are arranged alike.
    fn arrangements_of_tools(
        &self,
        has_clusters: bool,
        random: &mut SplitMix64,
    ) -> Result<Vec<Arrangements>, String> {
        if !has_clusters {
            return Ok(self
                .pairs
                .iter()
                .map(|pair| pair.tool_arrangements(random))
                .collect());
        }
        let mut groups = BTreeMap::<(bool, &str), Arrangements>::new();
        for pair in &self.pairs {
            let arrangements = pair.tool_arrangements(random);
            let Some(group) = groups.get_mut(&pair.group()) else {
                groups.insert(pair.group(), arrangements);
                continue;
            };
            if !group.add(&arrangements) {
                return Err("the samples of a group have different numbers of answers".to_owned());
            }
        }
        Ok(groups.into_values().collect())
    }

    /// The scale of what is told: ratios of the amounts themselves, unless one of them is 0.
    fn shown_scale(&self) -> FigureScale {
        let all = self.pairs.iter();
        let mut all = all.flat_map(|pair| pair.before.iter().flatten().chain(&pair.now));
        match self.compared.scale {
            FigureScale::RatioFromZero if all.all(|value| value.number() > 0.0) => {
                FigureScale::Ratio
            }
            scale => scale,
        }
    }

    /// The difference of each sample on a scale, without the margin.
    pub(super) fn differences(&self, scale: FigureScale) -> Vec<f64> {
        let plain = Compared {
            by: 0.0,
            scale,
            ..self.compared.clone()
        };
        let mean = |values: &[f64]| stats::mean(values).unwrap_or_default();
        // Signed values: the difference of now and before.
        let of = |pair: &FigurePair<'_>| {
            let [before, now] = pair.scaled(&plain);
            plain.sign * (mean(&now) - mean(&before))
        };
        self.pairs.iter().map(of).collect()
    }

    /// The change in numbers; `None` without pairs. Tools have no ratio and no difference, only who differs most.
    pub(super) fn change(&self, baseline_runs: &str) -> Option<FigureChange> {
        if self.pairs.is_empty() {
            return None;
        }
        let is_tools = self.value_type == ValueType::Tools;
        let differences = if is_tools {
            let mut random = SplitMix64(1);
            let pairs = self.pairs.iter();
            pairs
                .map(|pair| pair.tool_arrangements(&mut random).observed())
                .collect()
        } else {
            self.differences(self.shown_scale())
        };
        let mut mean = RunningMean::default();
        for difference in &differences {
            mean.add(*difference);
        }
        let has_groups = self.pairs.iter().any(|pair| pair.cluster.is_some());
        let ci95 = if has_groups {
            let mut groups = BTreeMap::<(bool, &str), Vec<f64>>::new();
            for (pair, difference) in self.pairs.iter().zip(&differences) {
                groups.entry(pair.group()).or_default().push(*difference);
            }
            let groups: Vec<_> = groups.into_values().collect();
            stats::grouped_mean95(&groups)
        } else {
            mean.ci95()
        };
        let mean = mean.mean()?;
        let is_ratio = self.compared.scale.is_ratio();
        let [before, now] = self.totals();
        let mut rose: Vec<(f64, &str)> = differences
            .iter()
            .map(|difference| self.compared.sign * difference)
            .zip(self.pairs.iter().map(|pair| pair.id))
            .filter(|(difference, _)| *difference > 1e-12)
            .collect();
        rose.sort_by(|a, b| b.0.total_cmp(&a.0));
        Some(FigureChange {
            baseline_run: baseline_runs.to_owned(),
            n: self.pairs.len() as u64,
            ratio: is_ratio.then(|| mean.exp()),
            ratio_ci95: ci95.filter(|_| is_ratio).map(|ends| ends.map(f64::exp)),
            ratio_of_totals: (is_ratio && before > 0.0).then(|| now / before),
            difference: (!is_ratio && !is_tools).then_some(mean),
            difference_ci95: ci95.filter(|_| !is_ratio && !is_tools),
            p: None,
            p_adjusted: None,
            smallest_change: None,
            rose: rose
                .iter()
                .take(NAMED)
                .map(|(_, id)| (*id).to_owned())
                .collect(),
        })
    }

    /// The sums of the means of the samples, before and now.
    pub(super) fn totals(&self) -> [f64; 2] {
        let mean = |answers: &[&FigureValue]| {
            let all: Vec<f64> = answers.iter().map(|value| value.number()).collect();
            stats::mean(&all).unwrap_or_default()
        };
        let mut totals = [0.0; 2];
        for pair in &self.pairs {
            totals[0] += mean(&pair.all_before());
            totals[1] += mean(&pair.now.iter().collect::<Vec<_>>());
        }
        totals
    }

    /// The means of a sample before and now: geometric ones where ratios are told.
    pub(super) fn means_of(&self, id: &str) -> Option<[f64; 2]> {
        let scale = self.shown_scale();
        let pair = self.pairs.iter().find(|pair| pair.id == id)?;
        let mean = |answers: Vec<&FigureValue>| {
            let all = answers
                .iter()
                .filter_map(|value| scale.scaled(value.number()));
            scale.unscaled(stats::mean(&all.collect::<Vec<_>>()).unwrap_or_default())
        };
        Some([mean(pair.all_before()), mean(pair.now.iter().collect())])
    }
}
