//! `ComparedRuns`: runs that are over, side by side.
//!
//! A run's samples are read once into a temporary file of short rows (`rows`), and two such files are joined (`join`) for each
//! pair of runs. So memory holds figures alone, however many samples there are. The texts of the few that are shown are
//! read again ([`texts`]).

pub mod ids;
mod join;
mod rows;
mod section;
mod sentences;
pub mod texts;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::report::masked::PublicWords;
use crate::report::reported::MaskedTexts;
use crate::store::files::RECORDS;
use crate::store::{Manifest, RunDir, RunStatus, read_lean_records};
use crate::system::kept::{KeptRows, SortedRows};
use crate::system::project::shown;
use crate::text::{clean, shell_word};
use crate::verdict::compare::side::{RunSideBuilder, SideNames, SideSample};
use crate::verdict::compare::{Comparing, RunsComparison, SampleFate, holm};
use crate::verdict::summary::{Latency, SortedLatencies, Summary, UsageTotal, timed};
use ids::IdList;
use join::{Joined, join};

pub use section::document;
pub(super) use sentences::ALPHA;

/// Runs side by side, each with all that come after it.
#[derive(Debug)]
pub struct ComparedRuns {
    /// The runs, in the order in which they were named: the first is called A.
    pub runs: Vec<ComparedRun>,
    /// The first with the second, the first with the third, …
    pub pairs: Vec<RunPair>,
    /// What people should know besides.
    pub notices: Vec<String>,
}

/// Two of the runs.
#[derive(Debug)]
pub struct RunPair {
    /// The places of the two among the runs.
    pub places: [usize; 2],
    /// The second beside the first.
    pub comparison: RunsComparison,
    /// The samples that changed sides.
    pub flips: FlippedIds,
    /// What has no counterpart.
    pub unpaired: UnpairedIds,
    /// The two-sided p adjusted by Holm over all pairs of runs; `None` where nothing can be compared.
    pub p_holm: Option<f64>,
}

/// Samples that changed sides: more than half of the answers were right in one of the two runs, and at most half in the
/// other. In the order of B.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct FlippedIds {
    /// Those that are wrong in B.
    pub worse: IdList,
    /// Those that are correct in B.
    pub better: IdList,
}

/// Samples that cannot be compared.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct UnpairedIds {
    /// Those that B does not have.
    pub only_in_a: IdList,
    /// Those that A does not have.
    pub only_in_b: IdList,
    /// Those whose question, file or ground truth is another one.
    pub changed: IdList,
    /// Those without a verdict in A or in B: they errored, were skipped, or have none to get.
    pub without_verdict: IdList,
}

impl UnpairedIds {
    /// Those that are not empty, each with what it has, of runs that are called like this.
    fn lists(&self, [a, b]: [&ComparedRun; 2]) -> impl Iterator<Item = (String, &IdList)> {
        let changed = "with another question, file or ground truth";
        let without_verdict = "without a verdict in one of the two";
        let lists = [
            (format!("only in {}", a.letter), &self.only_in_a),
            (format!("only in {}", b.letter), &self.only_in_b),
            (changed.to_owned(), &self.changed),
            (without_verdict.to_owned(), &self.without_verdict),
        ];
        lists.into_iter().filter(|(_, ids)| !ids.is_empty())
    }
}

/// The figures of one of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedRun {
    /// What it is called here: `A`, `B`, …
    pub letter: String,
    /// Its directory, absolute.
    pub run_dir: PathBuf,
    /// Its id.
    pub run_id: String,
    /// The eval's name.
    pub eval: String,
    /// The agent as the spec names it, such as `openai`.
    pub agent: Option<String>,
    /// The model that the spec asks for.
    pub model: Option<String>,
    /// Start, RFC 3339.
    pub started_at: String,
    /// Whether every sample ended.
    pub finished: bool,
    /// Whether it covers the eval as its spec defines it.
    pub whole: bool,
    /// How often each sample is asked.
    pub epochs: u32,
    /// Whether its questions, answers and truths are not to be shown.
    pub masked: bool,
    /// Records: samples, times epochs.
    pub samples: u64,
    /// Of those, the ones with a verdict.
    pub scored: u64,
    /// Of those, the correct ones.
    pub correct: u64,
    /// correct / scored, 0 to 1.
    pub accuracy: Option<f64>,
    /// What it could be had every sample a verdict.
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Samples without the verdict that they should have.
    pub errors: u64,
    /// errors / (scored + errors + unscored), 0 to 1.
    pub error_rate: Option<f64>,
    /// Errors by kind.
    pub failures: BTreeMap<String, u64>,
    /// Samples that were never asked.
    pub skipped: u64,
    /// Samples whose answers came from the cache: in no figure of cost or time.
    pub cached: u64,
    /// Tokens and cost of the answers.
    pub usage: UsageTotal,
    /// What judges took besides, where one was asked.
    pub judge_usage: Option<UsageTotal>,
    /// Seconds that answers took.
    pub latency_s: Option<Latency>,
}

/// Compares runs whose files can be believed. Of masked ones, names of numbers and reasons that may be what was asked or
/// answered are left out where `texts` says so.
///
/// # Errors
/// When two were judged otherwise, are one and the same, or have no sample in common; when one cannot be read.
pub fn compare(dirs: &[RunDir], texts: MaskedTexts) -> Result<ComparedRuns> {
    let (mut manifests, mut public) = (Vec::new(), Vec::new());
    for dir in dirs {
        let mut manifest = dir.manifest()?;
        let hides = manifest.masked && texts == MaskedTexts::Hidden;
        if hides {
            PublicWords::hide_reason(&mut manifest);
        }
        public.push(hides.then(|| PublicWords::of(&manifest)));
        manifests.push(manifest);
    }
    let letters: Vec<_> = (0..dirs.len()).map(letter).collect();
    let runs = || dirs.iter().zip(&manifests).zip(&letters);
    for ((dir, manifest), name) in runs().skip(1) {
        check_scorer([
            (&dirs[0], &manifests[0], &letters[0]),
            (dir, manifest, name),
        ])?;
    }
    for (place, id) in manifests.iter().map(|it| &it.run_id).enumerate() {
        if let Some(first) = manifests[..place].iter().position(|it| it.run_id == *id) {
            let message = format!(
                "{} and {} are one run, `{}`",
                letters[first],
                letters[place],
                clean(id)
            );
            return Err(Error::usage(message).hint("name two: cargo evaltest runs lists them"));
        }
    }
    let mut names = SideNames::default();
    let mut sides = Vec::new();
    for (dir, manifest) in dirs.iter().zip(&manifests) {
        sides.push(RunSide::read(dir, manifest, &mut names)?);
    }
    let notices = notices(&manifests, &letters);
    let mut pairs = Vec::new();
    for a in 0..dirs.len() {
        for b in a + 1..dirs.len() {
            let sides = [&sides[a], &sides[b]];
            let called = [&*letters[a], &*letters[b]];
            let both = [&manifests[a], &manifests[b]];
            let all_scorers = both[0].scorers_hash == both[1].scorers_hash;
            let scorer = both[0].scorers.first().map(String::as_str);
            let comparing = Comparing::new(&names, scorer, all_scorers, sides[1].is_grouped);
            let pair = RunPair::of([a, b], sides, called, comparing)?;
            let mut pair = pair.ok_or_else(|| nothing_in_common(both, called))?;
            for public in [&public[a], &public[b]].into_iter().flatten() {
                for means in pair.comparison.means.values_mut() {
                    public.hide_names(means);
                }
            }
            pairs.push(pair);
        }
    }
    let adjusted = holm(
        &pairs
            .iter()
            .map(|pair| &pair.comparison)
            .collect::<Vec<_>>(),
    );
    for (pair, p_holm) in pairs.iter_mut().zip(adjusted) {
        pair.p_holm = p_holm;
    }
    let figures = runs().zip(&sides);
    let figures = figures.map(|(((dir, manifest), name), side)| {
        ComparedRun::of(dir, manifest, name.clone(), &side.summary)
    });
    Ok(ComparedRuns {
        runs: figures.collect(),
        pairs,
        notices,
    })
}

/// `A`, `B`, … `Z`, `A2`, …
pub(super) fn letter(place: usize) -> String {
    let letter = ('A'..='Z').nth(place % 26).unwrap_or('?');
    match place / 26 {
        0 => letter.to_string(),
        more => format!("{letter}{}", more + 1),
    }
}

/// What is compared of a run.
struct RunSide {
    samples: KeptRows,
    /// Whether samples come in groups.
    is_grouped: bool,
    summary: Summary,
}

impl RunSide {
    fn read(dir: &RunDir, manifest: &Manifest, names: &mut SideNames) -> Result<Self> {
        let scorer = manifest.scorers.first().map(String::as_str);
        let mut side = RunSideBuilder::new(&manifest.eval, scorer, manifest.epochs);
        let (mut samples, mut row, mut is_grouped) = (KeptRows::default(), Vec::new(), false);
        let mut keep = |sample: &SideSample| {
            is_grouped |= sample.cluster.is_some();
            rows::write(sample, &mut row);
            samples.push(&[&row])
        };
        let (mut latencies, mut timed_count) = (SortedRows::default(), 0);
        for record in read_lean_records(&dir.file(RECORDS))? {
            let record = record?;
            if let Some(latency) = timed(&record.result) {
                // What is not negative has the order of its bits.
                latencies.push(&latency.abs().to_bits().to_be_bytes(), &[])?;
                timed_count += 1;
            }
            if let Some(sample) = side.add(&record, names) {
                keep(&sample)?;
            }
        }
        let (last, mut summary) = side.finish();
        last.as_ref().map_or(Ok(()), keep)?;
        let mut sorted = SortedLatencies::new(timed_count);
        latencies.each(|bits, _| {
            let bits = bits.first_chunk().copied().unwrap_or_default();
            sorted.add(f64::from_bits(u64::from_be_bytes(bits)));
            Ok(())
        })?;
        summary.latency_s = sorted.finish();
        Ok(Self {
            samples,
            is_grouped,
            summary,
        })
    }
}

impl RunPair {
    /// Two runs, which are called like this; `None` if they have no sample in common.
    fn of(
        places: [usize; 2],
        [a, b]: [&RunSide; 2],
        [name_a, name_b]: [&str; 2],
        mut comparing: Comparing<'_>,
    ) -> Result<Option<Self>> {
        let (mut flips, mut unpaired) = (FlippedIds::default(), UnpairedIds::default());
        join(&a.samples, &b.samples, &mut |joined| {
            let (id, fate) = match joined {
                Joined::OnlyInA(sample) => (&sample.id, SampleFate::OnlyInA),
                Joined::OnlyInB(sample) => (&sample.id, SampleFate::OnlyInB),
                Joined::Both(before, now) => (&now.id, comparing.add(before, now)),
            };
            let list = match fate {
                SampleFate::Same => return Ok(()),
                SampleFate::Worse => &mut flips.worse,
                SampleFate::Better => &mut flips.better,
                SampleFate::OnlyInA => &mut unpaired.only_in_a,
                SampleFate::OnlyInB => &mut unpaired.only_in_b,
                SampleFate::Changed => &mut unpaired.changed,
                SampleFate::WithoutVerdict => &mut unpaired.without_verdict,
            };
            list.push(id)
        })?;
        if !comparing.has_shared() {
            return Ok(None);
        }
        let summaries = [&a.summary, &b.summary];
        Ok(Some(Self {
            places,
            comparison: comparing.finish(summaries, [name_a, name_b]),
            flips,
            unpaired,
            p_holm: None,
        }))
    }
}

/// Refuses runs of which one was judged otherwise than the other.
fn check_scorer([a, b]: [(&RunDir, &Manifest, &String); 2]) -> Result<()> {
    let ((dir_a, first, name_a), (dir_b, second, name_b)) = (a, b);
    if first.scorer_hash == second.scorer_hash {
        return Ok(());
    }
    let message = format!(
        "{name_b} (run `{}`) was judged by another scorer, scorer option or extraction than {name_a} (run `{}`), or with \
         another `errors`",
        clean(&second.run_id),
        clean(&first.run_id)
    );
    let how = match &second.spec {
        Some(spec) => format!("--spec {}", shell_word(&shown(spec))),
        None => "--scorer NAME".to_owned(),
    };
    let rescore = |dir: &RunDir| {
        let dir = shell_word(&shown(dir.path()));
        format!("cargo evaltest rescore {dir} {how}")
    };
    let hint = format!(
        "have both judged alike, and compare what that writes: {} ; {}",
        rescore(dir_a),
        rescore(dir_b)
    );
    Err(Error::usage(message).hint(hint))
}

fn nothing_in_common([a, b]: [&Manifest; 2], [name_a, name_b]: [&str; 2]) -> Error {
    let evals = if a.eval == b.eval {
        format!("both are of eval `{}`", clean(&a.eval))
    } else {
        format!(
            "{name_a} is of eval `{}`, {name_b} of `{}`",
            clean(&a.eval),
            clean(&b.eval)
        )
    };
    let message = format!("{name_a} and {name_b} have no sample in common: {evals}");
    Error::usage(message).hint("name two runs of one eval: cargo evaltest runs lists them")
}

/// What differs besides the agent, or makes the runs less than they seem.
fn notices(manifests: &[Manifest], letters: &[String]) -> Vec<String> {
    let mut notices = Vec::new();
    let named = || manifests.iter().zip(letters);
    let Some((first, name)) = named().next() else {
        return notices;
    };
    for (manifest, letter) in named().skip(1) {
        if manifest.eval != first.eval {
            notices.push(format!(
                "two evals: {name} is of `{}`, {letter} of `{}`; samples of one id are compared where question and ground \
                 truth are the same",
                first.eval, manifest.eval
            ));
        }
        if let (Some(before), Some(now)) = (&first.prompt, &manifest.prompt)
            && before != now
        {
            notices.push(format!(
                "the prompt is another one: {before} in {name}, {now} in {letter}"
            ));
        }
        if manifest.scorers_hash != first.scorers_hash {
            notices.push(format!(
                "the scorers beside the first are other ones in {letter} than in {name}, and are not compared"
            ));
        }
        let both = first.answers_from();
        if let Some(id) = both.intersection(&manifest.answers_from()).next() {
            notices.push(format!(
                "{name} and {letter} have answers of one run, `{id}`: they are not independent of each other"
            ));
        }
    }
    for (manifest, letter) in named() {
        if manifest.status != RunStatus::Finished {
            // What stands behind it may be what the agent said, which not everybody may see.
            let reason = manifest.stop_reason.as_deref();
            let reason = reason.and_then(|reason| reason.split([':', ';']).next());
            let reason = reason.map(|reason| format!(": {reason}"));
            notices.push(format!(
                "{letter} ended early{}",
                reason.unwrap_or_default()
            ));
        } else if let Some(part) = &manifest.part {
            let (own, all) = (manifest.selected, manifest.samples);
            notices.push(format!(
                "{letter} is {}: {own} of {all} samples",
                part.told()
            ));
        } else if !manifest.whole {
            notices.push(format!("{letter} is a partial run"));
        }
        if let Some(tier) = &manifest.tier {
            notices.push(format!("{letter} is of tier `{}`", clean(tier)));
        }
    }
    notices
}

impl ComparedRun {
    fn of(dir: &RunDir, manifest: &Manifest, letter: String, summary: &Summary) -> Self {
        let agent = manifest.config.get("agent");
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let of_agent = |key: &str| text(agent?.get(key)?);
        Self {
            letter,
            run_dir: dir.path().to_owned(),
            run_id: manifest.run_id.clone(),
            eval: manifest.eval.clone(),
            agent: of_agent("type").or_else(|| text(agent?)),
            model: of_agent("model"),
            started_at: manifest.started_at.clone(),
            finished: manifest.status == RunStatus::Finished,
            whole: manifest.whole,
            epochs: manifest.epochs,
            masked: manifest.masked,
            samples: summary.samples,
            scored: summary.scored,
            correct: summary.correct,
            accuracy: summary.accuracy,
            accuracy_bounds: summary.accuracy_bounds,
            accuracy_ci95: summary.accuracy_ci95,
            errors: summary.errors,
            error_rate: summary.error_rate,
            failures: summary.failures.clone(),
            skipped: summary.skipped,
            cached: summary.cached,
            usage: summary.usage,
            judge_usage: summary.judge.as_ref().map(|judge| judge.usage),
            latency_s: summary.latency_s,
        }
    }
}
