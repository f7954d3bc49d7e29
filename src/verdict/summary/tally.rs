//! `Tally`: the running sums behind a [`Group`], for the whole run and for each slice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::StepTally;
use super::conversations::ConversationTally;
use super::epochs::EpochTally;
use super::group::{AnswerMean, Group, Latency, Range, ScorerSummary, UnknownUsage, UsageTotal};
use super::labels::LabelTally;
use super::{SortedLatencies, timed};
use super::{accuracy_bounds, both_bounds, mirrored};
use crate::data::{Record, Status, Usage};
use crate::stats::{self, Clusters, Sum};
use crate::verdict::poll::Poll;

/// The name of the score among the means.
pub(crate) const VALUE: &str = "value";

/// Running sums over records.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    samples: u64,
    errors: u64,
    unscored: u64,
    skipped: u64,
    cached: u64,
    recorded: u64,
    failed_as_wrong: u64,
    /// Of the scorer that decides.
    first: ScorerTally,
    /// Of each of several scorers by name.
    scorers: BTreeMap<String, ScorerTally>,
    /// Records that errored, and so have no verdict of any scorer.
    missing: u64,
    /// Samples whose epochs all errored.
    missing_samples: u64,
    usage: UsageTotal,
    unknown: UnknownUsage,
    costs: Sum,
    steps: StepTally,
    conversations: ConversationTally,
    tool_calls: Sum,
    output_length: Sum,
    /// All of them, for percentiles.
    latencies: Latencies,
    /// Whether the caller stores them instead.
    pub(super) skips_latencies: bool,
}

/// Right answers and answers by group, if samples have groups.
#[derive(Clone, Debug, Default)]
struct Groups(BTreeMap<String, [u64; 2]>);

impl Groups {
    fn add(&mut self, group: Option<&str>, correct: bool) {
        let Some(group) = group else { return };
        if !self.0.contains_key(group) {
            self.0.insert(group.to_owned(), [0; 2]);
        }
        if let Some([right, all]) = self.0.get_mut(group) {
            *right += u64::from(correct);
            *all += 1;
        }
    }

    /// The interval of the accuracy, clustered by group; `None` without groups.
    fn interval95(&self) -> Option<[f64; 2]> {
        let mut clusters = Clusters::default();
        for [right, all] in self.0.values() {
            clusters.add(*right, *all);
        }
        clusters.interval95()
    }
}

impl Tally {
    pub(super) fn add(&mut self, record: &Record) {
        let (outcome, group) = (&record.result, record.cluster.as_deref());
        self.samples += 1;
        match outcome.status {
            Status::Scored => self.first.add_verdict(outcome.is_correct(), group),
            Status::Unscored => self.unscored += 1,
            Status::Skipped => self.skipped += 1,
            Status::AgentFailed
            | Status::TimedOut
            | Status::ScorerFailed
            | Status::UserFailed
            | Status::EnvironmentFailed => self.errors += 1,
        }
        self.first.unjudged += u64::from(outcome.status == Status::ScorerFailed);
        if let (Status::Scored, Some(score)) = (outcome.status, &outcome.score) {
            self.first.means.add(score.value, score.details.iter());
            self.first.labels.add(|name| score.details.get(name));
        }
        self.missing += u64::from(wants_verdict(outcome.status) && outcome.scores.is_empty());
        for (name, score) in &outcome.scores {
            if !self.scorers.contains_key(name) {
                self.scorers.insert(name.clone(), ScorerTally::default());
            }
            if let Some(tally) = self.scorers.get_mut(name) {
                tally.add(score, group);
            }
        }
        if let Some(usage) = &outcome.usage {
            let usage = if outcome.cached {
                nothing(usage)
            } else {
                *usage
            };
            add_usage(&mut self.usage, &mut self.costs, &usage);
        }
        if outcome.is_answered() && !outcome.cached {
            self.unknown.add(outcome.usage.as_ref());
        }
        let paid = outcome.refused.iter().filter(|refused| !refused.cached);
        for usage in paid.map(|refused| refused.usage.as_ref()) {
            self.unknown.add(usage);
            if let Some(usage) = usage {
                add_usage(&mut self.usage, &mut self.costs, usage);
            }
        }
        self.steps.add(record);
        self.conversations.add(outcome);
        if let Some(tools) = &outcome.tools {
            self.tool_calls.add(stats::as_f64(tools.len() as u64));
        }
        if let Some(length) = outcome.output_length {
            self.output_length.add(stats::as_f64(length));
        }
        self.cached += u64::from(outcome.cached);
        self.recorded += u64::from(outcome.recorded);
        self.failed_as_wrong += u64::from(outcome.is_failure_as_wrong());
        if let Some(latency) = timed(outcome).filter(|_| !self.skips_latencies) {
            self.latencies.add(latency);
        }
    }

    /// Adds the votes of all epochs of a sample, by the deciding scorer and by each of several.
    pub(super) fn add_sample(&mut self, epochs: u32, poll: &Poll, others: &BTreeMap<String, Poll>) {
        let new = || Box::new(EpochTally::new(epochs));
        let has_verdict = !others.is_empty() || poll.scored() + poll.unknown() == 0;
        self.missing_samples += u64::from(!has_verdict);
        self.first.epochs.get_or_insert_with(new).add(poll);
        for (name, poll) in others {
            if let Some(scorer) = self.scorers.get_mut(name) {
                scorer.epochs.get_or_insert_with(new).add(poll);
            }
        }
    }

    pub(super) fn finish(mut self) -> Group {
        let first = self.first;
        let asked = first.scored + self.errors + self.unscored;
        let unknown = self.errors + self.skipped;
        let missing = [self.missing, self.missing_samples];
        let interval = first.interval95();
        let [right, wrong] = both_bounds(first.correct, first.scored, self.unscored, unknown);
        let mut usage = UsageTotal {
            cost_usd: self.costs.total().map(round_cost),
            ..self.usage
        };
        usage.unknown = self.unknown.of(&usage);
        Group {
            samples: self.samples,
            scored: first.scored,
            correct: first.correct,
            errors: self.errors,
            unscored: self.unscored,
            skipped: self.skipped,
            cached: self.cached,
            recorded: self.recorded,
            failed_as_wrong: self.failed_as_wrong,
            unjudged: first.unjudged,
            accuracy: stats::ratio(first.correct, first.scored),
            accuracy_bounds: right,
            accuracy_ci95: interval,
            failure_rate: stats::ratio(first.scored.saturating_sub(first.correct), first.scored),
            failure_rate_bounds: wrong,
            failure_rate_ci95: interval.map(mirrored),
            error_rate: stats::ratio(self.errors, asked),
            means: first.means.means(),
            mean_ranges: first.means.ranges(),
            labels: first.labels.finish(),
            scorers: self
                .scorers
                .into_iter()
                .map(|(name, scorer)| (name, scorer.finish(missing, self.skipped)))
                .collect(),
            epochs: first.epochs.map(|epochs| epochs.finish()),
            usage,
            latency_s: self.latencies.finish(),
            steps: self.steps.finish(),
            tool_calls: AnswerMean::of(&self.tool_calls),
            output_length: AnswerMean::of(&self.output_length),
            conversations: self.conversations.finish(),
        }
    }
}

/// Whether a sample with this status has, or should have, a verdict of the first scorer.
fn wants_verdict(status: Status) -> bool {
    status == Status::Scored || status.is_error()
}

/// The sums of a scorer.
#[derive(Clone, Debug, Default)]
struct ScorerTally {
    /// Answers that it could not judge.
    unjudged: u64,
    scored: u64,
    correct: u64,
    means: Means,
    labels: LabelTally,
    /// With several epochs, what those of each sample say together.
    epochs: Option<Box<EpochTally>>,
    groups: Groups,
}

impl ScorerTally {
    fn add_verdict(&mut self, correct: bool, group: Option<&str>) {
        self.groups.add(group, correct);
        self.scored += 1;
        self.correct += u64::from(correct);
    }

    /// The interval of the accuracy.
    fn interval95(&self) -> Option<[f64; 2]> {
        self.groups.interval95().or_else(|| match &self.epochs {
            Some(epochs) => epochs.interval95(),
            None => stats::wilson95(self.correct, self.scored),
        })
    }

    /// Adds a `Score` in its JSON form. Without a verdict, the scorer could not judge.
    fn add(&mut self, score: &Value, group: Option<&str>) {
        let Some(correct) = score.get("correct").and_then(Value::as_bool) else {
            self.unjudged += 1;
            return;
        };
        self.add_verdict(correct, group);
        let value = score.get("value").and_then(Value::as_f64);
        let details = score.get("details").and_then(Value::as_object);
        self.labels.add(|name| details?.get(name));
        let details = details.into_iter().flatten();
        let details = details.map(|(name, entry)| (name.as_str(), entry));
        self.means.add(value.unwrap_or(f64::NAN), details);
    }

    fn finish(mut self, [missing, missing_samples]: [u64; 2], skipped: u64) -> ScorerSummary {
        if let Some(epochs) = &mut self.epochs {
            epochs.add_unknown(missing_samples);
        }
        // Errors name no scorer. An answer with only other scorers was not for this one, such as a pair that was not
        // drawn.
        let errors = missing + self.unjudged;
        ScorerSummary {
            scored: self.scored,
            correct: self.correct,
            errors,
            unjudged: self.unjudged,
            accuracy: stats::ratio(self.correct, self.scored),
            accuracy_bounds: accuracy_bounds(self.correct, self.scored, 0, errors + skipped),
            accuracy_ci95: self.interval95(),
            means: self.means.means(),
            mean_ranges: self.means.ranges(),
            labels: self.labels.finish(),
            epochs: self.epochs.map(|epochs| epochs.finish()),
        }
    }
}

/// Sums by name.
#[derive(Clone, Debug, Default)]
struct Means(BTreeMap<String, ValueTally>);

impl Means {
    /// Adds a score and the numeric and boolean entries of its details. The score takes precedence over a detail called
    /// `value`.
    fn add<'a>(&mut self, value: f64, details: impl Iterator<Item = (&'a str, &'a Value)>) {
        self.add_one(VALUE, value);
        for (name, entry) in details {
            let number = match entry {
                Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
                Value::Number(number) => number.as_f64(),
                _ => None,
            };
            if let Some(number) = number.filter(|_| name != VALUE) {
                self.add_one(name, number);
            }
        }
    }

    fn add_one(&mut self, name: &str, number: f64) {
        if !number.is_finite() {
            return;
        }
        if !self.0.contains_key(name) {
            let entry = ValueTally {
                sum: Sum::default(),
                min: number,
                max: number,
            };
            self.0.insert(name.to_owned(), entry);
        }
        if let Some(entry) = self.0.get_mut(name) {
            entry.add(number);
        }
    }

    fn means(&self) -> BTreeMap<String, f64> {
        let entries = self.0.iter();
        entries
            .filter_map(|(name, entry)| Some((name.clone(), entry.sum.mean()?)))
            .collect()
    }

    fn ranges(&self) -> BTreeMap<String, Range> {
        let entries = self.0.iter();
        entries
            .filter_map(|(name, entry)| Some((name.clone(), entry.range()?)))
            .collect()
    }
}

/// The sum and extremes of one name.
#[derive(Clone, Debug)]
struct ValueTally {
    sum: Sum,
    min: f64,
    max: f64,
}

impl ValueTally {
    fn add(&mut self, number: f64) {
        self.sum.add(number);
        self.min = self.min.min(number);
        self.max = self.max.max(number);
    }

    /// `None` if the sum overflowed; then there is no mean either.
    fn range(&self) -> Option<Range> {
        self.sum.mean().map(|_| Range {
            count: self.sum.count(),
            min: self.min,
            max: self.max,
        })
    }
}

/// The usage of a cached answer: zero where the answer has a number.
fn nothing(usage: &Usage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens.map(|_| 0),
        output_tokens: usage.output_tokens.map(|_| 0),
        cost_usd: usage.cost_usd.map(|_| 0.0),
        cached_tokens: usage.cached_tokens.map(|_| 0),
    }
}

pub(super) fn add_usage(total: &mut UsageTotal, costs: &mut Sum, usage: &Usage) {
    let plus = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
        (None, more) => more,
        (sum, None) => sum,
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
    };
    // Reported by agents: non-finite amounts are ignored.
    let cost = usage.cost_usd.filter(|cost| cost.is_finite());
    total.input_tokens = plus(total.input_tokens, usage.input_tokens);
    total.output_tokens = plus(total.output_tokens, usage.output_tokens);
    if let Some(cost) = cost {
        costs.add(cost);
    }
    let is_reported =
        usage.input_tokens.is_some() || usage.output_tokens.is_some() || cost.is_some();
    total.samples += u64::from(is_reported);
}

/// Rounds to 1e-12 dollars: three times 0.1 should be 0.3, not a sum of floats near 0.1.
pub(super) fn round_cost(cost: f64) -> f64 {
    let rounded = (cost * 1e12).round() / 1e12;
    if rounded.is_finite() { rounded } else { cost }
}

/// Latencies in seconds, most of them in five bytes: those of all samples and of each slice are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    /// Whole nanoseconds, the first byte the highest, so that they sort like numbers.
    nanoseconds: Vec<[u8; 5]>,
    /// Those with a part of a nanosecond, or too many for five bytes.
    others: Vec<f64>,
}

impl Latencies {
    pub(super) fn add(&mut self, latency: f64) {
        let duration = Duration::try_from_secs_f64(latency).ok();
        let duration = duration.filter(|it| it.as_secs_f64().to_bits() == latency.to_bits());
        let nanoseconds = duration.and_then(|it| u64::try_from(it.as_nanos()).ok());
        match nanoseconds.map(u64::to_be_bytes) {
            Some([0, 0, 0, rest @ ..]) => self.nanoseconds.push(rest),
            _ => self.others.push(latency),
        }
    }

    pub(super) fn finish(&mut self) -> Option<Latency> {
        self.nanoseconds.sort_unstable();
        self.others.sort_unstable_by(f64::total_cmp);
        let seconds = self.nanoseconds.iter().map(|[a, b, c, d, e]| {
            let nanoseconds = u64::from_be_bytes([0, 0, 0, *a, *b, *c, *d, *e]);
            Duration::from_nanos(nanoseconds).as_secs_f64()
        });
        let count = self.nanoseconds.len() + self.others.len();
        let mut sorted = SortedLatencies::new(count as u64);
        let mut others = self.others.iter().copied().peekable();
        for latency in seconds {
            while let Some(other) = others.next_if(|other| *other <= latency) {
                sorted.add(other);
            }
            sorted.add(latency);
        }
        others.for_each(|other| sorted.add(other));
        sorted.finish()
    }
}

#[cfg(test)]
mod latency_tests {
    use super::*;

    #[test]
    fn latencies_of_any_number_of_digits_are_sorted_exactly() {
        let seconds = |text: &str| text.parse::<f64>().unwrap();
        let all = [
            "0",
            "0.000000001",
            "0.25",
            "0.1234567891",
            "1099.5",
            "1e4",
            "7.000000001",
        ];
        let mut latencies = Latencies::default();
        for text in all.into_iter().rev() {
            latencies.add(seconds(text));
        }
        assert_eq!(latencies.others.len(), 2, "{:?}", latencies.others);
        let mut sorted = all.map(seconds);
        sorted.sort_by(f64::total_cmp);
        let mut expect = SortedLatencies::new(all.len() as u64);
        for latency in sorted {
            expect.add(latency);
        }
        assert_eq!(latencies.finish(), expect.finish());
        assert_eq!(Latencies::default().finish(), None);
    }
}
