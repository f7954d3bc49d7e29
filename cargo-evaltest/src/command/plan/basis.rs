//! `Basis`: the flip rate of samples and the time per answer, with their evidence.

use evaltest::engine::figure::Share;
use evaltest::engine::run::rescore::BaselineAnswers;
use evaltest::engine::stats::{
    AnswerCounts, ComparedSample, Rates, accuracy_interval, regression_p,
};

use super::PastRun;

/// The evidence for the flip rate.
pub(super) enum FlipSource {
    /// Several answers per sample, for this number of samples.
    Several { samples: u64, answers: u64 },
    /// One answer in the baseline and one in the run, for this number of samples.
    Pairs { samples: u64 },
    /// No evidence: assumes that each sample is correct with this probability.
    Assumed { rate: f64 },
}

/// The estimates that a plan is based on.
pub(super) struct Basis {
    pub(super) rates: Rates,
    pub(super) source: FlipSource,
    /// Whether nothing flipped, in which case one flipping sample was added.
    never_flipped: bool,
    /// Samples of the eval that would get a verdict.
    pub(super) samples: u64,
    /// All samples of the eval.
    pub(super) requested: u64,
    /// Wall-clock seconds per answer, including concurrency; `None` if unknown.
    pub(super) seconds: Option<f64>,
}

impl Basis {
    pub(super) fn of(run: &PastRun) -> Self {
        let evidence = &run.evidence;
        let samples = even_handed(&evidence.samples);
        let known = known(&samples);
        // A run without flips does not prove that nothing flips.
        let never_flipped = matches!(known, Some((_, 0)));
        let known = known.and_then(|(source, _)| {
            let mut samples = samples;
            samples.extend(never_flipped.then(|| one_that_flips(&source)));
            Some((Rates::of(&samples)?, source))
        });
        let (rates, source) = known.unwrap_or_else(|| {
            let rate = assumed(&evidence.samples);
            (Rates::uniform(rate), FlipSource::Assumed { rate })
        });
        let requested = run.manifest.samples as u64;
        let judged = evidence.samples.len() as u64;
        let seen = evidence.seen.max(1);
        Self {
            rates,
            source,
            never_flipped,
            // For a partial run, extrapolate from its part.
            samples: (requested * judged + seen / 2) / seen,
            requested,
            seconds: duration_s(run),
        }
    }

    /// The share of verdicts that change when an unchanged agent runs again.
    pub(super) fn flips(&self) -> f64 {
        2.0 * self.rates.noise()
    }

    /// Describes the evidence.
    pub(super) fn text(&self, run: &PastRun) -> String {
        let flips = Share(self.flips());
        let differ = if self.never_flipped {
            "are assumed to differ"
        } else {
            "differ"
        };
        match self.source {
            FlipSource::Several { samples, answers } => format!(
                "{flips} of the verdicts of an unchanged agent {differ} when it is asked again ({answers} answers to {samples} \
                 samples)"
            ),
            FlipSource::Pairs { samples } => format!(
                "{flips} of the verdicts of an unchanged agent {differ} when it is asked again ({samples} samples, \
                 answered once in this run and once in its baseline)"
            ),
            FlipSource::Assumed { .. } => format!("unknown: {}", why_unknown(run)),
        }
    }

    /// Further remarks on the evidence.
    pub(super) fn notes(&self, run: &PastRun) -> Vec<String> {
        let mut notes = Vec::new();
        if let FlipSource::Assumed { rate } = self.source {
            notes.push(format!(
                "assuming the worst that fits the data: the true accuracy is {:.0} % ({}), and {} of the verdicts change \
                 when asked again; most agents flip far less",
                100.0 * rate,
                place_in_interval(&run.evidence.samples),
                Share(self.flips())
            ));
        }
        if self.never_flipped {
            let why = match one_way(&run.evidence.samples) {
                (0, 0) => "no sample flipped, possibly by chance".to_owned(),
                (0, better) => one_sided(better, "correct"),
                (worse, _) => one_sided(worse, "wrong"),
            };
            notes.push(format!(
                "{why}; to be safe, the plan counts one more sample, whose verdict changes half of the time"
            ));
        }
        if !matches!(self.source, FlipSource::Assumed { .. }) {
            match run.evidence.baseline {
                BaselineAnswers::Unfit => notes.push(
                    "its baseline cannot be used: scored differently, changed since it was accepted, or of other \
                     samples"
                        .to_owned(),
                ),
                BaselineAnswers::Missing | BaselineAnswers::Shared | BaselineAnswers::Counted => {}
            }
        }
        if run.evidence.spread > 1.05 {
            notes.push(format!(
                "samples of a group flip together: the variance is {:.1} times that of independent samples",
                run.evidence.spread
            ));
        }
        if run.evidence.gates > 1 {
            notes.push(format!(
                "{} gates `no_regression` share their alpha (Holm); the plan uses the smallest share that one may get",
                run.evidence.gates
            ));
        }
        if run.manifest.selected < run.manifest.samples {
            notes.push(format!(
                "the run covers {} of {} samples; the plan is for all",
                run.manifest.selected, run.manifest.samples
            ));
        } else if !run.manifest.whole {
            notes.push(format!(
                "the run covers only a part of its eval; the plan is for {} samples",
                run.manifest.samples
            ));
        }
        notes
    }
}

impl FlipSource {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Several { .. } => "several_answers",
            Self::Pairs { .. } => "baseline",
            Self::Assumed { .. } => "assumed",
        }
    }
}

/// The evidence for the flip rate, with the number of samples that flipped; `None` if there is none.
fn known(samples: &[ComparedSample]) -> Option<(FlipSource, u64)> {
    let sides = samples.iter().flat_map(|both| [both.before, both.now]);
    let several: Vec<AnswerCounts> = sides.filter(|side| side.of > 1).collect();
    if !several.is_empty() {
        let has_several = |both: &&ComparedSample| both.before.of > 1 || both.now.of > 1;
        let flipped = several
            .iter()
            .filter(|side| side.right > 0 && side.right < side.of);
        let source = FlipSource::Several {
            samples: samples.iter().filter(has_several).count() as u64,
            answers: several.iter().map(|side| u64::from(side.of)).sum(),
        };
        return Some((source, flipped.count() as u64));
    }
    let count = pairs(samples).count() as u64;
    let (worse, better) = one_way(samples);
    // Samples that became wrong without a counterpart may be a real regression.
    (count > 0).then(|| (FlipSource::Pairs { samples: count }, worse.min(better)))
}

/// All flips went one way.
fn one_sided(count: u64, became: &str) -> String {
    match count {
        1 => format!(
            "the one that became {became} is taken as a real change and left out of the flip rate"
        ),
        _ => format!(
            "the {count} that became {became} are taken as a real change and left out of the flip rate"
        ),
    }
}

/// Samples with one answer on each side.
fn pairs(samples: &[ComparedSample]) -> impl Iterator<Item = &ComparedSample> {
    let is_pair = |both: &&ComparedSample| both.before.of == 1 && both.now.of == 1;
    samples.iter().filter(is_pair)
}

/// The number of pairs that became wrong, and that became correct.
fn one_way(samples: &[ComparedSample]) -> (u64, u64) {
    let worse = pairs(samples).filter(|both| both.before.right > both.now.right);
    let better = pairs(samples).filter(|both| both.before.right < both.now.right);
    (worse.count() as u64, better.count() as u64)
}

/// Balances flips in both directions, if the run is not significantly worse than its baseline: then flips are due to
/// chance, and the order of the two answers carries no information.
fn even_handed(samples: &[ComparedSample]) -> Vec<ComparedSample> {
    let is_worse = regression_p(samples) < 0.05;
    let mut became_right = false;
    let turn = |both: &ComparedSample| {
        let ComparedSample { before, now } = *both;
        let is_flipped = before.of == 1 && now.of == 1 && before != now;
        if is_worse || !is_flipped {
            return *both;
        }
        became_right = !became_right;
        let [low, high] = [before.min(now), before.max(now)];
        let [before, now] = if became_right {
            [low, high]
        } else {
            [high, low]
        };
        ComparedSample { before, now }
    };
    samples.iter().map(turn).collect()
}

/// A sample that flips half of the time, in the form of this evidence.
fn one_that_flips(source: &FlipSource) -> ComparedSample {
    match source {
        FlipSource::Pairs { .. } => ComparedSample {
            before: AnswerCounts::new(0, 1),
            now: AnswerCounts::new(1, 1),
        },
        FlipSource::Several { .. } | FlipSource::Assumed { .. } => ComparedSample {
            before: AnswerCounts::new(1, 2),
            now: AnswerCounts::default(),
        },
    }
}

/// The plausible accuracy (within its 95 % interval) at which samples flip most.
fn assumed(samples: &[ComparedSample]) -> f64 {
    interval(samples).map_or(0.5, |[low, high]| 0.5_f64.clamp(low, high))
}

/// The interval of the accuracy.
fn interval(samples: &[ComparedSample]) -> Option<[f64; 2]> {
    let answers = samples.iter().map(|both| both.now);
    let answers = answers.filter(|now| now.of > 0).map(|now| (now, 1));
    accuracy_interval(answers, 0.95)
}

/// Where the assumed accuracy is in the interval.
fn place_in_interval(samples: &[ComparedSample]) -> &'static str {
    match interval(samples) {
        Some([low, _]) if low > 0.5 => "the lower end of its interval",
        Some([_, high]) if high < 0.5 => "the upper end of its interval",
        Some(_) => "within its interval",
        None => "which is unknown",
    }
}

fn why_unknown(run: &PastRun) -> &'static str {
    match run.evidence.baseline {
        BaselineAnswers::Missing => "each sample was answered once and there is no baseline",
        BaselineAnswers::Unfit => {
            "each sample was answered once and its baseline cannot be used (scored differently, changed since it was \
             accepted, or of other samples)"
        }
        BaselineAnswers::Shared | BaselineAnswers::Counted => {
            "each sample was answered once, and the baseline has the same answers"
        }
    }
}

/// Seconds that each answer adds to a run: from the run's duration, including pauses and retries, but at least its
/// latency divided by the concurrency. A resumed run only has the duration of its last part.
fn duration_s(run: &PastRun) -> Option<f64> {
    let evidence = &run.evidence;
    let together = evidence.price.latency_s? / float(evidence.price.concurrency);
    // A rescored run has the duration of scoring only.
    let has_requests = run.manifest.parent.is_none() && evidence.price.requested > 0;
    let taken = run.manifest.duration_s.filter(|_| has_requests);
    Some(taken.map_or(together, |taken| {
        together.max(taken / float(evidence.price.requested))
    }))
}

/// A count as a float.
pub(super) fn float(count: u64) -> f64 {
    // Realistic counts fit into `u32`.
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}
