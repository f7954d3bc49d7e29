//! [`Evidence`]: the variance, latency and cost of a finished run, to plan the next ones.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::data::{Record, Status};
use crate::error::Result;
use crate::eval::Limits;
use crate::run::record::reload::gates_of;
use crate::snapshot;
use crate::snapshot::Roll;
use crate::stats::{AnswerCounts, ComparedSample, RunGroup, Sum, as_f64, design_effect};
use crate::store::files::RECORDS;
use crate::store::{Manifest, RunDir, RunStatus, read_records};
use crate::verdict::baseline::{Baseline, CurrentRow, CurrentSample, CurrentSamples, right_of};

/// The variance, latency and cost of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The samples that could get a verdict, in dataset order, with the right answers in the baseline (if these count)
    /// and in the run.
    pub samples: Vec<ComparedSample>,
    /// How many samples have an answer or an error, including those that can get no verdict.
    pub seen: u64,
    /// Whether the answers of the baseline count.
    pub baseline: BaselineAnswers,
    /// Right answers of the run.
    pub answers: AnswerCounts,
    /// The cost of an answer.
    pub price: AnswerPrice,
    /// Whether it is a whole run that asked everything itself, and so may be part of a baseline.
    pub is_acceptable: bool,
    /// Variance relative to samples that flip independently: above 1 if the samples of a `cluster` flip together.
    pub spread: f64,
    /// The level of its `no_regression` gate, if any; if several, of the one on the whole run.
    pub alpha: Option<f64>,
    /// The number of such gates that share the level.
    pub gates: usize,
}

/// The average latency and cost of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerPrice {
    /// Seconds per answer; `None` without answers. Cached answers count with their original latency.
    pub latency_s: Option<f64>,
    /// US dollars per answer, over those that report it.
    pub cost_usd: Option<f64>,
    /// Tokens per answer, over those that report it.
    pub tokens: Option<f64>,
    /// The most answers in flight, from its spec.
    pub concurrency: u64,
    /// How many answers the run requested itself: neither cached nor skipped.
    pub requested: u64,
}

/// Whether the answers of a baseline show how often samples flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineAnswers {
    /// There is no baseline.
    Missing,
    /// It was judged differently, was changed since it was accepted, or has none of the samples.
    Unfit,
    /// It contains answers of this run: only the side with more answers per sample counts.
    Shared,
    /// They count in addition to the run's.
    Counted,
}

/// Reads the variance, latency and cost of a run and its baseline.
///
/// # Errors
/// When the run was killed before its end, or the run or its baseline cannot be read.
pub fn evidence(dir: &RunDir) -> Result<Evidence> {
    let manifest = dir.manifest()?;
    let mut tally = Tally::new(&manifest);
    for record in read_records(&dir.file(RECORDS))? {
        tally.add(&record?);
    }
    let samples = tally.samples();
    let folder = manifest.snapshot_folder();
    let baseline = snapshot::read_baseline(&folder)?;
    let is_shared = snapshot::shares_answers(&folder, tally.roll)?;
    let is_fit = |baseline: &&Baseline| {
        baseline.scorer_hash == manifest.scorer_hash && baseline.digest_matches
    };
    let fit = baseline.as_ref().filter(is_fit);
    let (found, sides) = pair_with_baseline(fit, &samples, is_shared);
    let found = match (&baseline, found) {
        (Some(_), BaselineAnswers::Missing) => BaselineAnswers::Unfit,
        (_, found) => found,
    };
    let gates = gates_of(&manifest)?.unwrap_or_default();
    let gates: Vec<_> = gates.iter().filter(|gate| gate.needs_baseline()).collect();
    let whole = gates.iter().find(|gate| gate.name() == "no_regression");
    let counted = samples.iter();
    let counted = counted.map(|sample| right_of(sample.answers()));
    Ok(Evidence {
        samples: sides.iter().map(AnswerSides::counts).collect(),
        seen: tally.seen,
        baseline: found,
        answers: counted.fold(AnswerCounts::default(), |all, one| {
            AnswerCounts::new(all.right + one.right, all.of + one.of)
        }),
        price: AnswerPrice {
            latency_s: tally.latency_s.mean(),
            cost_usd: tally.cost_usd.mean(),
            tokens: tally.tokens.mean(),
            requested: tally.requested,
            concurrency: concurrency(&manifest),
        },
        is_acceptable: tally.is_anew
            && manifest.whole
            && manifest.status == RunStatus::Finished
            && !manifest.mixed
            && manifest
                .early_stop
                .as_ref()
                .is_none_or(|early| early.analysis == early.analyses)
            && manifest.answers_from().len() == 1,
        spread: spread(&sides),
        alpha: whole.or(gates.first()).map(|gate| gate.level()),
        gates: gates.len(),
    })
}

/// Pairs the baseline's answers with the run's, as far as they count.
fn pair_with_baseline<'a>(
    baseline: Option<&'a Baseline>,
    samples: &'a CurrentSamples,
    is_shared: bool,
) -> (BaselineAnswers, Vec<AnswerSides<'a>>) {
    let mut sides: Vec<_> = samples.iter().map(AnswerSides::of_now).collect();
    let pairing = baseline.map(|baseline| baseline.pair(samples, None, false));
    let pairs = pairing.map(|pairing| pairing.pairs).unwrap_or_default();
    if pairs.is_empty() {
        return (BaselineAnswers::Missing, sides);
    }
    let answers = |side: &[Option<bool>]| side.iter().flatten().count();
    let before: usize = pairs.iter().map(|pair| answers(pair.before)).sum();
    let now: usize = sides.iter().map(|sides| answers(sides.now)).sum();
    if is_shared && before <= now {
        return (BaselineAnswers::Shared, sides);
    }
    // Pairs are in the order of the samples.
    let mut pairs = pairs.iter().peekable();
    for (sample, sides) in samples.iter().zip(&mut sides) {
        if let Some(pair) = pairs.next_if(|pair| pair.id == sample.id()) {
            sides.before = pair.before;
        }
        if is_shared {
            sides.now = &[];
        }
    }
    let found = if is_shared {
        BaselineAnswers::Shared
    } else {
        BaselineAnswers::Counted
    };
    (found, sides)
}

fn concurrency(manifest: &Manifest) -> u64 {
    let configured = manifest.config.pointer("/limits/concurrency");
    let configured = configured
        .and_then(Value::as_u64)
        .filter(|number| *number > 0);
    configured.unwrap_or(Limits::default().concurrency as u64)
}

/// Totals over the records.
struct Tally {
    roll: Roll,
    samples: CurrentSamples,
    /// The last sample.
    last: Option<CurrentSample>,
    latency_s: Sum,
    cost_usd: Sum,
    tokens: Sum,
    requested: u64,
    seen: u64,
    is_anew: bool,
}

impl Tally {
    fn new(manifest: &Manifest) -> Self {
        Self {
            roll: Roll::of(manifest),
            samples: CurrentSamples::default(),
            last: None,
            latency_s: Sum::default(),
            cost_usd: Sum::default(),
            tokens: Sum::default(),
            requested: 0,
            seen: 0,
            is_anew: true,
        }
    }

    /// Adds a sample, unless no verdict is expected of it.
    fn end_sample(&mut self, sample: Option<CurrentSample>) {
        if let Some(sample) = sample.filter(|sample| !sample.answers.is_empty()) {
            self.samples.push(sample);
        }
    }

    /// The samples of which a verdict is expected.
    fn samples(&mut self) -> CurrentSamples {
        let last = self.last.take();
        self.end_sample(last);
        std::mem::take(&mut self.samples)
    }

    /// Adds the next record; those of a sample are adjacent.
    fn add(&mut self, record: &Record) {
        self.roll.ask(record);
        let outcome = &record.result;
        self.is_anew &= !outcome.cached;
        if outcome.status == Status::Skipped {
            return;
        }
        match &mut self.last {
            Some(last) if last.id == record.sample_id => last.add(record),
            _ => {
                self.seen += 1;
                let last = self.last.replace(CurrentSample::of(record));
                self.end_sample(last);
            }
        }
        self.requested += u64::from(!outcome.cached);
        if outcome.latency_s.is_finite() && outcome.latency_s >= 0.0 {
            self.latency_s.add(outcome.latency_s);
        }
        let Some(usage) = &outcome.usage else {
            return;
        };
        if let Some(cost) = usage.cost_usd {
            self.cost_usd.add(cost);
        }
        if usage.input_tokens.or(usage.output_tokens).is_some() {
            let tokens = [usage.input_tokens, usage.output_tokens];
            let tokens = tokens.iter().flatten().map(|tokens| as_f64(*tokens)).sum();
            self.tokens.add(tokens);
        }
    }
}

/// The verdicts on the answers to a sample that count, in the order of runs and epochs.
struct AnswerSides<'a> {
    before: &'a [Option<bool>],
    now: &'a [Option<bool>],
    cluster: Option<&'a str>,
}

impl<'a> AnswerSides<'a> {
    /// Of this run only.
    fn of_now(sample: CurrentRow<'a>) -> Self {
        Self {
            before: &[],
            now: sample.answers(),
            cluster: sample.cluster(),
        }
    }

    fn counts(&self) -> ComparedSample {
        ComparedSample {
            before: right_of(self.before),
            now: right_of(self.now),
        }
    }

    /// The verdict in a column of all answers.
    fn answer(&self, column: usize) -> Option<bool> {
        let both = self.before.iter().chain(self.now);
        both.copied().nth(column).flatten()
    }
}

/// Variance relative to samples that flip independently: at least 1, and 1 without groups. If single answers cannot
/// show it, groups are assumed to flip as one.
fn spread(sides: &[AnswerSides<'_>]) -> f64 {
    let mut groups = BTreeMap::<&str, Vec<&AnswerSides<'_>>>::new();
    let mut alone = 0;
    for side in sides {
        match side.cluster {
            Some(name) => groups.entry(name).or_default().push(side),
            None => alone += 1,
        }
    }
    if groups.is_empty() {
        return 1.0;
    }
    let answers = sides.iter().map(|side| side.before.len() + side.now.len());
    let columns = answers.max().unwrap_or(0);
    if columns < 2 {
        let sizes = groups.values().map(|members| as_f64(members.len() as u64));
        let squares: f64 = sizes.map(|size| size * size).sum();
        let alone = as_f64(alone);
        return (squares + alone) / as_f64(sides.len() as u64);
    }
    let column = |members: &[&AnswerSides<'_>], place: usize| {
        let answers = members.iter().map(|side| side.answer(place));
        let count = |answer: Option<bool>| {
            AnswerCounts::new(u32::from(answer == Some(true)), u32::from(answer.is_some()))
        };
        answers.map(count).collect::<Vec<_>>()
    };
    // All columns are equivalent; use the first as the current run.
    let whole = groups.values().map(|members| RunGroup {
        now: vec![column(members, 0)],
        before: (1..columns).map(|place| column(members, place)).collect(),
    });
    let lone = sides.iter().filter(|side| side.cluster.is_none());
    let lone = lone.map(|side| RunGroup {
        now: vec![column(&[side], 0)],
        before: (1..columns).map(|place| column(&[side], place)).collect(),
    });
    design_effect(&whole.chain(lone).collect::<Vec<_>>()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_flip_as_one_count_as_one() {
        let right: Vec<Vec<Option<bool>>> = (0..30)
            .map(|group: u32| {
                (0..4)
                    .map(|epoch| Some((group * 7 + epoch * 3) % 5 < 3))
                    .collect()
            })
            .collect();
        let names: Vec<_> = (0..30).map(|group| format!("g{group}")).collect();
        let sides = |epochs: usize, together: bool| -> Vec<_> {
            let side = |sample: usize| AnswerSides {
                before: &[],
                now: &right[if together { sample / 5 } else { sample % 30 }][..epochs],
                cluster: Some(&names[sample / 5]),
            };
            (0..150).map(side).collect()
        };
        let four = spread(&sides(4, true));
        assert!((four - 5.0).abs() < 1e-6, "{four}");
        // Single answers cannot show it.
        assert!((spread(&sides(1, true)) - 5.0).abs() < 1e-9);
        assert!(spread(&sides(4, false)) < 3.0);
        let mut alone = sides(4, true);
        for side in &mut alone {
            side.cluster = None;
        }
        assert!((spread(&alone) - 1.0).abs() < 1e-9);
    }
}
