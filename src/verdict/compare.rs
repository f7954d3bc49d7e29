//! Two runs side by side: `RunSide`, what is compared of a run, and `RunsComparison`, what came of it.
//!
//! Run A is a baseline as it would be if it were accepted, run B is held against it as `no_regression` does. So p, the
//! difference and its interval are those of that gate, with epochs and groups as it takes them.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use serde::Serialize;
use serde_json::Map;

use crate::data::{Record, Status};
use crate::stats;
use crate::verdict::baseline::{Baseline, BaselineSample, CurrentSample, Pair, flipped, right_of};
use crate::verdict::check::{CountedPairs, PairedFigures, SeenDrop, ServedJudges};
use crate::verdict::gate::Gate;
use crate::verdict::gather::Gathered;
use crate::verdict::summary::{Summary, SummaryBuilder};

/// What is compared of a run, and its figures. Of the texts of its samples nothing is kept.
pub(crate) struct RunSide {
    pub(crate) summary: Summary,
    samples: Vec<CurrentSample>,
    /// Of samples with an answer that has no verdict to get, all answers: such a one keeps its place in a baseline.
    gaps: HashMap<String, Vec<Option<bool>>>,
}

/// A [`RunSide`] while records are added to it, in dataset order.
pub(crate) struct RunSideBuilder {
    gathered: Gathered<'static>,
    id: String,
    answers: Vec<Option<bool>>,
    has_gap: bool,
    gaps: HashMap<String, Vec<Option<bool>>>,
}

/// Run B beside run A.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunsComparison {
    /// Over all samples.
    pub whole: PairedFigures,
    /// The smallest loss that it sees.
    pub seen: SeenDrop,
    /// The ids of those that changed sides.
    pub flips: FlippedIds,
    /// The same figures by dimension and value.
    pub slices: BTreeMap<String, BTreeMap<String, PairedFigures>>,
    /// The same figures by the name of the scorer, where there are several.
    pub scorers: BTreeMap<String, PairedFigures>,
    /// What has no counterpart.
    pub unpaired: UnpairedIds,
    /// Says of a judge that decides that another model serves it in B: what changed may be the judge.
    pub judge: Option<String>,
}

/// Samples that changed sides: more than half of the answers were right in one of the two runs, and at most half in the
/// other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FlippedIds {
    /// Those that are wrong in B.
    pub worse: Vec<String>,
    /// Those that are correct in B.
    pub better: Vec<String>,
}

/// Samples that cannot be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnpairedIds {
    /// Those that B does not have.
    pub only_in_a: Vec<String>,
    /// Those that A does not have.
    pub only_in_b: Vec<String>,
    /// Those whose question, file or ground truth is another one.
    pub changed: Vec<String>,
    /// Those without a verdict in A or in B: they errored, were skipped, or have none to get.
    pub without_verdict: Vec<String>,
}

impl RunSideBuilder {
    /// Of no records yet, of a run of this eval.
    pub(crate) fn new(eval: &str, scorer: Option<&str>, epochs: u32) -> Self {
        let summary = SummaryBuilder::new(eval).scorer(scorer).epochs(epochs);
        Self {
            gathered: Gathered::new(summary, &[Gate::no_regression()], None),
            id: String::new(),
            answers: Vec::new(),
            has_gap: false,
            gaps: HashMap::new(),
        }
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        self.gathered.add(record);
        if record.sample_id != self.id {
            self.end_sample();
            self.id.clone_from(&record.sample_id);
        }
        let outcome = &record.result;
        let verdict = (outcome.status == Status::Scored).then(|| outcome.is_correct());
        self.answers.push(verdict);
        self.has_gap |= outcome.status == Status::Unscored;
    }

    fn end_sample(&mut self) {
        let answers = mem::take(&mut self.answers);
        if mem::take(&mut self.has_gap) {
            self.gaps.insert(mem::take(&mut self.id), answers);
        }
    }

    /// The run as it is compared.
    pub(crate) fn finish(mut self) -> RunSide {
        self.end_sample();
        let (mut facts, _) = self.gathered.finish(Map::new());
        // Two runs of a hundred thousand samples are in memory together.
        for sample in &mut facts.current {
            sample.latencies_s = Vec::new();
            sample.slices.shrink_to_fit();
            sample.marks.questions.shrink_to_fit();
        }
        RunSide {
            summary: facts.summary,
            samples: facts.current,
            gaps: self.gaps,
        }
    }
}

impl RunSide {
    /// The run as the baseline that it would be.
    fn baseline(&self) -> Baseline {
        let sample = |sample: &CurrentSample| {
            let answers = self.gaps.get(&sample.id).unwrap_or(&sample.answers);
            // The hash of the question alone, which stands last; older runs have none.
            let question = sample.marks.questions.last();
            let known = BaselineSample {
                answers: answers.clone(),
                input_hash: question.unwrap_or(&sample.input_hash).clone(),
                target_hash: sample.target_hash.clone(),
            };
            (sample.id.clone(), known)
        };
        let served = self.summary.judge_models().into_iter();
        let served = served.map(|(scorer, models)| (scorer, models.into_keys().collect()));
        Baseline {
            samples: self.samples.iter().map(sample).collect(),
            judges: served.collect(),
            digest_matches: true,
            ..Baseline::default()
        }
    }

    /// Whether the other run has any of its samples.
    pub(crate) fn shares_samples_with(&self, other: &Self) -> bool {
        let known = other.by_id();
        self.samples.iter().any(|it| known.contains_key(&*it.id))
    }

    fn by_id(&self) -> HashMap<&str, &CurrentSample> {
        let samples = self.samples.iter();
        samples.map(|sample| (&*sample.id, sample)).collect()
    }

    /// Says of a judge that decides that another model serves it than in the baseline.
    fn other_judge(&self, baseline: &Baseline, names: [&str; 2]) -> Option<String> {
        let summary = &self.summary;
        let decides = |name: &str| summary.scorer.as_deref() == Some(name);
        let beside = |name: &str| !decides(name) && summary.scorers.contains_key(name);
        ServedJudges::of(summary.judge_models()).other_between(baseline, beside, names)
    }
}

impl RunsComparison {
    /// `b` beside `a`, which are called by these names. The scorers beside the first are compared if `all_scorers` are
    /// the same in both.
    pub(crate) fn of(a: &RunSide, b: &RunSide, names: [&str; 2], all_scorers: bool) -> Self {
        let baseline = a.baseline();
        let pairing = baseline.pair(&b.samples, None, false);
        let counted = CountedPairs::of(&pairing.pairs);
        let whole = PairedFigures::of(&counted);
        let flips = |worse: bool| {
            let flips = pairing.pairs.iter();
            let flips = flips.filter(|pair| flipped(pair.before, pair.now) == Some(worse));
            flips.map(|pair| pair.id.to_owned()).collect()
        };
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let mut without_verdict = owned(&pairing.unscored);
        let errored = pairing.pairs.iter();
        let errored = errored.filter(|pair| right_of(pair.now).of == 0);
        without_verdict.extend(errored.map(|pair| pair.id.to_owned()));
        let now = b.by_id();
        let mut sliced = BTreeMap::<[&str; 2], Vec<Pair<'_>>>::new();
        for pair in &pairing.pairs {
            let slices = now.get(pair.id).into_iter().flat_map(|it| &it.slices);
            for slice in slices {
                let members = sliced.entry([&slice.dimension, &slice.value]);
                members.or_default().push(*pair);
            }
        }
        let mut slices = BTreeMap::<_, BTreeMap<_, _>>::new();
        for ([dimension, value], pairs) in &sliced {
            let values = slices.entry((*dimension).to_owned()).or_default();
            let figures = PairedFigures::of(&CountedPairs::of(pairs));
            values.insert((*value).to_owned(), figures);
        }
        let scorers = if all_scorers {
            by_scorer(&pairing.pairs, &a.by_id(), &now)
        } else {
            BTreeMap::new()
        };
        Self {
            seen: SeenDrop::of(&counted, &whole),
            whole,
            flips: FlippedIds {
                worse: flips(true),
                better: flips(false),
            },
            slices,
            scorers,
            unpaired: UnpairedIds {
                only_in_a: owned(&pairing.removed),
                only_in_b: owned(&pairing.added),
                changed: owned(&pairing.changed),
                without_verdict,
            },
            judge: b.other_judge(&baseline, names),
        }
    }
}

/// The figures of each scorer that gave verdicts in both, over the samples that are one question.
fn by_scorer(
    pairs: &[Pair<'_>],
    before: &HashMap<&str, &CurrentSample>,
    now: &HashMap<&str, &CurrentSample>,
) -> BTreeMap<String, PairedFigures> {
    let mut scorers = BTreeMap::<&str, Vec<Pair<'_>>>::new();
    for pair in pairs {
        let Some((a, b)) = before.get(pair.id).zip(now.get(pair.id)) else {
            continue;
        };
        for (scorer, answers) in &b.by_scorer {
            let known = a.by_scorer.get(scorer);
            let Some(known) = known.filter(|known| known.iter().any(Option::is_some)) else {
                continue;
            };
            scorers.entry(scorer).or_default().push(Pair {
                before: known,
                now: answers,
                ..*pair
            });
        }
    }
    let figures = scorers.into_iter();
    figures
        .map(|(scorer, pairs)| {
            let figures = PairedFigures::of(&CountedPairs::of(&pairs));
            (scorer.to_owned(), figures)
        })
        .collect()
}

/// The two-sided p's of several comparisons, adjusted by Holm: the more pairs of runs, the more often chance tells two of
/// them apart. Those that had nothing to compare count for none.
pub(crate) fn holm(comparisons: &[&RunsComparison]) -> Vec<Option<f64>> {
    let p = comparisons
        .iter()
        .map(|compared| compared.whole.p_two_sided);
    let p: Vec<_> = p.collect();
    let known: Vec<f64> = p.iter().flatten().copied().collect();
    let mut adjusted = stats::holm(&known).into_iter();
    p.iter().map(|p| p.and_then(|_| adjusted.next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::check::ComparedVerdict;
    use crate::verdict::facts::Facts;
    use crate::verdict::summary::tests::record;

    /// A run, a sample a word and an answer a letter: `C` correct, `W` wrong, `E` errored, `-` not there.
    fn side(samples: &str, change: impl Fn(usize, &mut Record)) -> RunSide {
        let mut side = RunSideBuilder::new("e", None, 2);
        for (place, answers) in samples.split(' ').enumerate() {
            for (epoch, c) in answers.chars().enumerate().filter(|(_, c)| *c != '-') {
                let status = match c {
                    'E' => Status::TimedOut,
                    'U' => Status::Unscored,
                    _ => Status::Scored,
                };
                let level = if place % 2 == 0 { "1" } else { "2" };
                let mut record = record(&format!("s{place}"), status, c == 'C', level);
                record.epoch = u32::try_from(epoch).unwrap();
                change(place, &mut record);
                side.add(&record);
            }
        }
        side.finish()
    }

    fn compare(a: &RunSide, b: &RunSide) -> RunsComparison {
        RunsComparison::of(a, b, ["A", "B"], true)
    }

    #[test]
    fn the_figures_are_those_of_the_gate_with_the_run_as_its_baseline() {
        let check = |a: &str, b: &str, clustered: bool| {
            let change = |place: usize, record: &mut Record| {
                record.cluster = clustered.then(|| (place / 2).to_string());
            };
            let (a, b) = (side(a, change), side(b, change));
            let compared = compare(&a, &b);
            let baseline = a.baseline();
            let facts = Facts {
                baseline: Some(&baseline),
                current: b.samples.clone(),
                ..Facts::of(b.summary.clone())
            };
            for (gate, figures) in [
                (Gate::no_regression(), &compared.whole),
                (
                    "no_regression[level=1]".parse().unwrap(),
                    &compared.slices["level"]["1"],
                ),
            ] {
                let told = gate.check(&facts).regression.unwrap();
                assert_eq!(figures.p, Some(told.p));
                assert_eq!(figures.difference, told.difference);
                assert_eq!(figures.difference_ci95, told.difference_ci95);
                assert_eq!((figures.worse, figures.better), (told.worse, told.better));
                assert_eq!(figures.n, told.pairs);
            }
            let told = Gate::no_regression().check(&facts).regression.unwrap();
            assert_eq!(compared.seen.smallest_drop, told.smallest_drop);
            assert_eq!(compared.seen.assumption, told.assumption);
            assert_eq!(compared.flips.worse, told.became_wrong);
        };
        for clustered in [false, true] {
            check("C C C C C W", "W W W W C C", clustered);
            check("CC CC CW CC CC WW", "CW WW WW WC CE CC", clustered);
            check("CC CU CW CC", "CW UW WW WC", clustered);
            check("C C C W", "E W C -", clustered);
        }
    }

    #[test]
    fn what_cannot_be_paired_is_named() {
        let a = side("C C C C - E", |_, _| {});
        let b = side("C - C E C C", |place, record| {
            if place == 2 {
                record.target_hash = "other".to_owned();
            }
        });
        let compared = compare(&a, &b);
        assert_eq!(compared.whole.n, 1);
        let UnpairedIds {
            only_in_a,
            only_in_b,
            changed,
            without_verdict,
        } = compared.unpaired;
        assert_eq!(only_in_a, ["s1"]);
        assert_eq!(only_in_b, ["s4"]);
        assert_eq!(changed, ["s2"]);
        assert_eq!(without_verdict, ["s5", "s3"]);
        assert!(a.shares_samples_with(&b));
        assert!(!a.shares_samples_with(&side("- - - - C -", |_, _| {})));
    }

    #[test]
    fn several_comparisons_are_adjusted_together() {
        let [worst, same] = [("C C C C C C C C", "W W W W W W W W"), ("C W", "C W")];
        let none = |_: usize, _: &mut Record| {};
        let compared = [worst, same].map(|(a, b)| compare(&side(a, none), &side(b, none)));
        assert_eq!(compared[0].whole.verdict, ComparedVerdict::Worse);
        let p = compared[0].whole.p_two_sided.unwrap();
        let [first, second] = &compared;
        assert_eq!(holm(&[first, second]), [Some(2.0 * p), Some(1.0)]);
        let nothing = compare(&side("C", none), &side("- C", none));
        assert_eq!(holm(&[first, &nothing]), [Some(p), None]);
    }
}
