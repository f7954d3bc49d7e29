//! `ComparedRuns`: runs that are over, side by side.
//!
//! Of each run verdicts and figures are in memory, and none of its texts: those of the few samples that are shown are
//! read again ([`texts`]).

pub mod texts;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::store::files::RECORDS;
use crate::store::{Manifest, RunDir, RunStatus, read_lean_records};
use crate::system::project::shown;
use crate::text::{clean, shell_word};
use crate::verdict::compare::{RunSide, RunSideBuilder, RunsComparison, holm};
use crate::verdict::summary::{Latency, Summary, UsageTotal};

/// Runs side by side, each with all that come after it.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRuns {
    /// The runs, in the order in which they were named: the first is called A.
    pub runs: Vec<ComparedRun>,
    /// The first with the second, the first with the third, …
    pub pairs: Vec<RunPair>,
    /// What people should know besides.
    pub notices: Vec<String>,
}

/// Two of the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPair {
    /// The places of the two among the runs.
    pub places: [usize; 2],
    /// The second beside the first.
    pub comparison: RunsComparison,
    /// The two-sided p adjusted by Holm over all pairs of runs; `None` where nothing can be compared.
    pub p_holm: Option<f64>,
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
    /// Its 95 % interval.
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

/// Compares runs whose files can be believed.
///
/// # Errors
/// When two were judged otherwise, are one and the same, or have no sample in common; when one cannot be read.
pub fn compare(dirs: &[RunDir]) -> Result<ComparedRuns> {
    let mut manifests = Vec::new();
    for dir in dirs {
        manifests.push(dir.manifest()?);
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
    let mut sides = Vec::new();
    for (dir, manifest) in dirs.iter().zip(&manifests) {
        sides.push(side(dir, manifest)?);
    }
    let notices = notices(&manifests, &letters);
    let mut compared = Vec::new();
    for (a, before) in sides.iter().enumerate() {
        for (b, now) in sides.iter().enumerate().skip(a + 1) {
            if !before.shares_samples_with(now) {
                return Err(nothing_in_common(
                    [&manifests[a], &manifests[b]],
                    [&letters[a], &letters[b]],
                ));
            }
            let all_scorers = manifests[a].scorers_hash == manifests[b].scorers_hash;
            let names = [&*letters[a], &*letters[b]];
            compared.push(([a, b], RunsComparison::of(before, now, names, all_scorers)));
        }
    }
    let adjusted = holm(&compared.iter().map(|(_, it)| it).collect::<Vec<_>>());
    let pairs = compared.into_iter().zip(adjusted);
    let pairs = pairs.map(|((places, comparison), p_holm)| RunPair {
        places,
        comparison,
        p_holm,
    });
    let figures = runs().zip(&sides);
    let figures = figures.map(|(((dir, manifest), name), side)| {
        ComparedRun::of(dir, manifest, name.clone(), &side.summary)
    });
    Ok(ComparedRuns {
        runs: figures.collect(),
        pairs: pairs.collect(),
        notices,
    })
}

/// `A`, `B`, … `Z`, `A2`, …
fn letter(place: usize) -> String {
    let letters: Vec<char> = ('A'..='Z').collect();
    let letter = letters[place % letters.len()];
    match place / letters.len() {
        0 => letter.to_string(),
        more => format!("{letter}{}", more + 1),
    }
}

fn side(dir: &RunDir, manifest: &Manifest) -> Result<RunSide> {
    let scorer = manifest.scorers.first().map(String::as_str);
    let mut side = RunSideBuilder::new(&manifest.eval, scorer, manifest.epochs);
    for record in read_lean_records(&dir.file(RECORDS))? {
        side.add(&record?);
    }
    Ok(side.finish())
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

fn nothing_in_common([a, b]: [&Manifest; 2], [name_a, name_b]: [&String; 2]) -> Error {
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
        } else if !manifest.whole {
            notices.push(format!("{letter} is a partial run"));
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
