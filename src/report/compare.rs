//! `ComparedRuns`: compares finished runs.
//!
//! A run's samples are read once into a temporary file of short rows (`rows`), and two such files are joined (`join`)
//! for each pair of runs. So memory holds only figures for any number of samples. The texts of the few displayed
//! samples are read again ([`texts`]).

pub mod answers;
mod flips;
pub mod ids;
mod join;
mod rows;
mod section;
mod sentences;
pub mod texts;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::data::{FoundBy, Variant};
use crate::error::{Error, Result};
use crate::report::reported::masked::PublicWords;
use crate::report::reported::{MaskedTexts, program, subject_of};
use crate::store::files::RECORDS;
use crate::store::{Manifest, RunDir, RunStatus, read_lean_records};
use crate::system::file::spill::{SortedRows, SpilledRows};
use crate::system::project::display;
use crate::text::{clean, shell_word};
use crate::verdict::compare::side::{RunSideBuilder, SideNames, SideSample};
use crate::verdict::compare::{Comparing, RunsComparison, SampleFate, holm};
use crate::verdict::summary::{Latency, SortedLatencies, Subject, Summary, UsageTotal, timed};
use ids::IdList;
use join::{Joined, join};

pub use section::document;
pub(super) use sentences::ALPHA;

/// Several runs, and a comparison of each pair.
#[derive(Debug)]
pub struct ComparedRuns {
    /// The runs in the given order; the first is called A.
    pub runs: Vec<ComparedRun>,
    /// Pairs: the first with the second, the first with the third, …
    pub pairs: Vec<RunPair>,
    /// Notes for the user.
    pub notices: Vec<String>,
}

/// Two of the runs.
#[derive(Debug)]
pub struct RunPair {
    /// Indices of the two runs.
    pub places: [usize; 2],
    /// The second compared with the first.
    pub comparison: RunsComparison,
    /// The samples that flipped.
    pub flips: FlippedIds,
    /// The samples that cannot be paired.
    pub unpaired: UnpairedIds,
    /// The two-sided p-value with Holm's correction over all pairs; `None` if nothing can be compared.
    pub p_holm: Option<f64>,
}

/// Samples that flipped: more than half of the answers are correct in one run, and at most half in the other. In the
/// order of B.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct FlippedIds {
    /// Samples that are wrong in B.
    pub worse: IdList,
    /// Samples that are correct in B.
    pub better: IdList,
}

/// Samples that cannot be compared.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct UnpairedIds {
    /// Samples missing in B.
    pub only_in_a: IdList,
    /// Samples missing in A.
    pub only_in_b: IdList,
    /// Samples with a different question, file or ground truth.
    pub changed: IdList,
    /// Samples without a verdict in A or in B: they errored, were skipped, or cannot be scored.
    pub without_verdict: IdList,
}

impl UnpairedIds {
    /// The non-empty lists with their descriptions, for runs with these letters.
    fn lists(&self, [a, b]: [&ComparedRun; 2]) -> impl Iterator<Item = (String, &IdList)> {
        let changed = "with a different question, file or ground truth";
        let without_verdict = "no verdict in one of the runs";
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
    /// Its letter in the comparison: `A`, `B`, …
    pub letter: String,
    /// What its verdicts are about.
    #[serde(skip)]
    pub(in crate::report) subject: Subject,
    /// Its directory, absolute.
    pub run_dir: PathBuf,
    /// Its id.
    pub run_id: String,
    /// The eval's name.
    pub eval: String,
    /// The agent in the spec, such as `openai`.
    pub agent: Option<String>,
    /// The model requested by the spec.
    pub model: Option<String>,
    /// The file name of the agent's program or recording, such as `agent.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Start, RFC 3339.
    pub started_at: String,
    /// Whether every sample ended.
    pub finished: bool,
    /// Whether it covers the whole eval of its spec.
    pub whole: bool,
    /// Number of epochs.
    pub epochs: u32,
    /// Whether its questions, answers and ground truths must not be shown.
    pub masked: bool,
    /// Number of records: samples times epochs.
    pub samples: u64,
    /// Records with a verdict.
    pub scored: u64,
    /// Correct records.
    pub correct: u64,
    /// correct / scored, 0 to 1.
    pub accuracy: Option<f64>,
    /// Range of the accuracy over all possible missing verdicts.
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Samples that should have a verdict but have none.
    pub errors: u64,
    /// errors / (scored + errors + unscored), 0 to 1.
    pub error_rate: Option<f64>,
    /// Errors by kind.
    pub failures: BTreeMap<String, u64>,
    /// Answers by the way they were read; empty for older runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub found_by: BTreeMap<FoundBy, u64>,
    /// Samples that were not requested.
    pub skipped: u64,
    /// Samples with cached answers, which are in no figure of cost or time.
    pub cached: u64,
    /// Tokens and cost of the answers.
    pub usage: UsageTotal,
    /// Usage of judges, if any.
    pub judge_usage: Option<UsageTotal>,
    /// Latency of answers in seconds.
    pub latency_s: Option<Latency>,
}

/// Compares runs with intact files. For masked runs, names of numbers and reasons that may reveal questions or answers
/// are omitted, depending on `texts`.
///
/// # Errors
/// If two runs were scored differently, are the same run, or have no common sample; if a run cannot be read.
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
                "{} and {} are the same run, `{}`",
                letters[first],
                letters[place],
                clean(id)
            );
            return Err(
                Error::usage(message).hint("name two runs; to list them: cargo evaltest runs")
            );
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

/// The compared data of a run.
struct RunSide {
    samples: SpilledRows,
    /// Whether samples are clustered.
    is_grouped: bool,
    summary: Summary,
}

impl RunSide {
    fn read(dir: &RunDir, manifest: &Manifest, names: &mut SideNames) -> Result<Self> {
        let scorer = manifest.scorers.first().map(String::as_str);
        let mut side = RunSideBuilder::new(&manifest.eval, scorer, manifest.epochs);
        let (mut samples, mut row, mut is_grouped) = (SpilledRows::default(), Vec::new(), false);
        let mut keep = |sample: &SideSample| {
            is_grouped |= sample.cluster.is_some();
            rows::write(sample, &mut row);
            samples.push(&[&row])
        };
        let (mut latencies, mut timed_count) = (SortedRows::default(), 0);
        for record in read_lean_records(&dir.file(RECORDS))? {
            let record = record?;
            if let Some(latency) = timed(&record.result) {
                // Non-negative floats sort like their bits.
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
    /// Compares two runs with these letters; `None` if they have no common sample.
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

/// Returns an error for runs that were scored differently.
fn check_scorer([a, b]: [(&RunDir, &Manifest, &String); 2]) -> Result<()> {
    let ((dir_a, first, name_a), (dir_b, second, name_b)) = (a, b);
    if first.scorer_hash == second.scorer_hash {
        return Ok(());
    }
    let message = format!(
        "{name_b} (run `{}`) has a different scorer, scorer option, extraction or `errors` than {name_a} (run `{}`)",
        clean(&second.run_id),
        clean(&first.run_id)
    );
    let how = match &second.spec {
        Some(spec) => format!("--spec {}", shell_word(&display(spec))),
        None => "--scorer NAME".to_owned(),
    };
    let rescore = |dir: &RunDir| {
        let dir = shell_word(&display(dir.path()));
        format!("cargo evaltest rescore {dir} {how}")
    };
    let hint = format!(
        "rescore both with one scorer, then compare the new runs: {} ; {}",
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
    Error::usage(message).hint("name two runs of one eval; to list them: cargo evaltest runs")
}

/// Differences besides the agent, and limitations of the runs.
fn notices(manifests: &[Manifest], letters: &[String]) -> Vec<String> {
    let mut notices = Vec::new();
    let named = || manifests.iter().zip(letters);
    let Some((first, name)) = named().next() else {
        return notices;
    };
    for (manifest, letter) in named().skip(1) {
        if Variant::family_of(&manifest.eval) != Variant::family_of(&first.eval) {
            notices.push(format!(
                "{name} is a run of eval `{}`, {letter} of eval `{}`: only samples with the same id, question and \
                 ground truth are compared",
                first.eval, manifest.eval
            ));
        }
        if let (Some(before), Some(now)) = (&first.prompt, &manifest.prompt)
            && before != now
        {
            notices.push(format!(
                "different prompts: {before} in {name}, {now} in {letter}"
            ));
        }
        if manifest.scorers_hash != first.scorers_hash {
            notices.push(format!(
                "{letter} and {name} have different secondary scorers, which are not compared"
            ));
        }
        let both = first.answers_from();
        if let Some(id) = both.intersection(&manifest.answers_from()).next() {
            notices.push(format!(
                "{name} and {letter} share answers of `{id}`: they are not independent of each other"
            ));
        }
    }
    for (manifest, letter) in named() {
        if manifest.status != RunStatus::Finished {
            // The rest may contain the agent's output, which may be masked.
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
                part.description()
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
            subject: subject_of(manifest),
            run_dir: dir.path().to_owned(),
            run_id: manifest.run_id.clone(),
            eval: manifest.eval.clone(),
            agent: of_agent("type").or_else(|| text(agent?)),
            model: of_agent("model"),
            program: program(manifest),
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
            found_by: summary.found_by.clone(),
            skipped: summary.skipped,
            cached: summary.cached,
            usage: summary.usage,
            judge_usage: summary.judge.as_ref().map(|judge| judge.usage),
            latency_s: summary.latency_s,
        }
    }
}
