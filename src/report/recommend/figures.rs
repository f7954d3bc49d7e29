//! The figures for recommendations, each as text with its interval.

use crate::figure::{Interval, Percent, Scale, Share, counted, part_of};
use crate::report::figures::RunFigures;
use crate::report::reported::ReportedRun;
use crate::report::section::accuracy::{are_missing, known};
use crate::report::section::changes::{difference, flip_counts};
use crate::report::section::overview::titled;
use crate::report::section::slices::level_drops;
use crate::stats::{ratio, wilson95, wilson95_of_share};
use crate::store::stamp_and_id;
use crate::text::{excerpt, shell_word};
use crate::verdict::groups::DisagreementGroup;
use crate::verdict::summary::Subject;

/// Errors that prevent an agent from being reached.
const NOT_REACHED: [&str; 5] = [
    "misconfigured",
    "not_found",
    "not_started",
    "unusable",
    "unreachable",
];

/// Share of accuracy lost between levels: 0 is ideal, .3 means that 30 % are lost.
const LOST: f64 = 0.3;

/// A wider interval of an accuracy is considered to span a threshold.
const WIDE: f64 = 0.2;

/// The input of the table.
pub(in crate::report) struct AdvisedRun<'a> {
    pub(in crate::report) run: &'a ReportedRun,
    pub(in crate::report) figures: &'a RunFigures,
}

/// A figure of a run.
pub(in crate::report) struct AdvisedFigure {
    /// The figure as text, with its interval.
    pub(super) text: String,
    /// Its 95 % confidence interval.
    pub(super) interval: Option<[f64; 2]>,
    /// Its sort for rows that select sorts, such as the kind of an error.
    pub(super) sort: String,
    /// The share of answers concerned: the larger one comes first within a priority.
    pub(super) weight: f64,
    /// The next command to run.
    pub(super) next: Option<String>,
}

impl AdvisedFigure {
    /// Without a sort and a command.
    fn new(text: String, interval: Option<[f64; 2]>, weight: Option<f64>) -> Self {
        Self {
            text,
            interval,
            sort: String::new(),
            weight: weight.unwrap_or_default(),
            next: None,
        }
    }
}

impl AdvisedRun<'_> {
    /// A command for this run, by its id, because the report may be read elsewhere.
    fn command(&self, command: &str) -> String {
        let run = shell_word(&self.run.manifest.run_id);
        format!("cargo evaltest {command} {run}")
    }

    /// Whether the run with this id is in the same folder as this run. In a clone or in CI, the baseline's run is not.
    fn has_sibling(&self, id: &str) -> bool {
        let root = self.run.dir.path().parent();
        let mut runs = root
            .into_iter()
            .flat_map(std::fs::read_dir)
            .flatten()
            .flatten();
        runs.any(|run| stamp_and_id(&run.path()).is_some_and(|(_, other)| other == id))
    }

    fn show(&self, ids: &[String]) -> Option<String> {
        let first = shell_word(ids.first()?);
        Some(format!("{} {first}", self.command("show")))
    }

    fn show_first_wrong(&self) -> Option<String> {
        self.show(&self.figures.failures.wrong.first()?.ids)
    }

    /// The first failed sample of a slice.
    fn first_of(&self, dimension: &str, value: &str) -> Option<String> {
        let slices = &self.figures.failures.slices;
        let slice = slices
            .iter()
            .find(|it| it.dimension == dimension && it.value == value)?;
        self.show(&slice.ids)
    }

    /// What is judged, more than one.
    fn nouns(&self) -> String {
        format!("{}s", self.run.summary.subject().noun())
    }

    /// A number of wrong answers as text, with their share of all answers.
    fn of_wrong(&self, count: u64) -> (String, Option<[f64; 2]>, Option<f64>) {
        let wrong = self.figures.wrong;
        (
            part_of(
                count,
                wrong,
                self.run.summary.subject().word([
                    "wrong answers",
                    "items that do not pass",
                    "pairs that are not won",
                ]),
            ),
            wilson95(count, wrong),
            ratio(count, self.run.summary.scored),
        )
    }

    /// `All 5 wrong answers`, if the number is that of all, and there are several.
    fn all_wrong(&self, count: u64) -> Option<String> {
        let wrong = self.figures.wrong;
        let noun = self.run.summary.subject().all_bad();
        (count == wrong && count > 1).then(|| format!("All {count} {noun}"))
    }

    /// Whether this scorer is a judge that gives every answer the same verdict, or one that compares pairs, which does
    /// not say what is correct: its disagreement with other scorers is then not reported.
    fn is_uninformative(&self, scorer: &str) -> bool {
        let Some(judge) = &self.run.summary.judge else {
            return false;
        };
        let is_constant = |name: &str| {
            let judge = judge.scorers.get(name);
            judge.is_some_and(|it| it.constant || it.pairs.is_some())
        };
        match judge.juries.get(scorer) {
            Some(jury) => {
                let mut judges = jury.judges.iter();
                judges.all(|it| is_constant(&format!("{scorer}/{}", it.name)))
            }
            None => is_constant(scorer),
        }
    }
}

/// The figures with this name in the table.
pub(super) fn named(name: &str, case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let of = FIGURES.iter().find(|(known, _)| *known == name);
    of.map_or_else(Vec::new, |(_, of)| of(case))
}

/// Computes figures of a run.
type Find = fn(&AdvisedRun<'_>) -> Vec<AdvisedFigure>;

/// All figures that the table can use.
pub(super) const FIGURES: &[(&str, Find)] = &[
    ("errors", errors),
    ("change", change),
    ("accuracy", accuracy),
    ("precision", precision),
    ("uncalibrated", uncalibrated),
    ("drops", drops),
    ("weaker_parts", weaker_parts),
    ("one_cause", one_cause),
    ("nothing_extracted", nothing_extracted),
    ("parameters", parameters),
    ("disagreements", disagreements),
    ("flaky", flaky),
    ("retries", retries),
];

fn errors(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let summary = &case.run.summary;
    let groups = &case.figures.failures.errors;
    let requested = summary.scored + summary.errors + summary.unscored;
    let lacking: u64 = groups.iter().map(|group| group.count).sum();
    let figure = groups.first().map(|worst| {
        let most = if worst.count == lacking {
            "all".to_owned()
        } else {
            format!("{} of them", worst.count)
        };
        let text = format!(
            "{} {} ({most}: {})",
            part_of(lacking, requested, &case.nouns()),
            are_missing(summary, lacking),
            worst.kind.replace('_', " ")
        );
        let is_reached = !NOT_REACHED.contains(&&*worst.kind);
        AdvisedFigure {
            sort: worst.kind.clone(),
            next: if is_reached {
                case.show(&worst.ids)
            } else {
                let eval = shell_word(&case.run.manifest.eval);
                Some(format!("cargo evaltest doctor {eval}"))
            },
            ..AdvisedFigure::new(
                text,
                wilson95(lacking, requested),
                ratio(lacking, requested),
            )
        }
    });
    figure.into_iter().collect()
}

fn change(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let change = case.run.summary.change.iter();
    let figures = change.map(|change| {
        let text = format!(
            "{} changed by {}, {}",
            titled(case.run.summary.subject().share()),
            difference(change),
            flip_counts(change, &case.run.summary)
        );
        let weight = Some(-change.difference);
        let (sort, next) = match &*change.runs {
            [one] if case.has_sibling(one) => {
                let run = shell_word(&case.run.manifest.run_id);
                let compare = format!("cargo evaltest compare {} {run}", shell_word(one));
                ("compare", Some(compare))
            }
            _ => ("", case.show(&change.became_wrong)),
        };
        AdvisedFigure {
            sort: sort.to_owned(),
            next,
            ..AdvisedFigure::new(text, Some(change.difference_ci95), weight)
        }
    });
    figures.collect()
}

/// The accuracy, if its interval is too narrow to span a threshold and its judge is known to be reliable.
fn accuracy(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let summary = &case.run.summary;
    let is_wide = |[low, high]: [f64; 2]| high >= 0.5 && high - low > WIDE;
    let scorer = summary.scorer.as_deref();
    let is_uncalibrated = scorer.is_some_and(|name| summary.is_uncalibrated(name));
    // The advice is for an agent.
    let is_answered = summary.subject() == Subject::Answers;
    let known = known(summary);
    let known = known.filter(|(_, ci95)| is_answered && !is_wide(*ci95) && !is_uncalibrated);
    let figure = known.map(|(share, ci95)| {
        let text = format!(
            "{} of the answers are correct ({})",
            Share(share),
            Interval(ci95.map(Share)).ci95()
        );
        let sort = if case.figures.wrong == 0 { "all" } else { "" };
        AdvisedFigure {
            sort: sort.to_owned(),
            next: case.show_first_wrong(),
            ..AdvisedFigure::new(text, Some(ci95), Some(1.0 - share))
        }
    });
    figure.into_iter().collect()
}

/// How certain the accuracy is: compared with the threshold of a gate, or without one by the width of its interval.
fn precision(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    const MOST: u64 = 10_000;
    let summary = &case.run.summary;
    let is_answered = summary.subject() == Subject::Answers;
    let known = known(summary).filter(|_| is_answered);
    let figure = known.and_then(|(share, [low, high])| {
        let gates = summary.gates.iter();
        let gates = gates.filter(|it| it.gate.name() == "accuracy");
        let limits: Vec<f64> = gates.filter_map(|it| it.threshold).collect();
        let n = counted(summary.scored, "answer");
        let plan = case.command("plan --detect 5");
        let figure = |text| AdvisedFigure {
            next: Some(plan),
            ..AdvisedFigure::new(text, Some([low, high]), Some(high - low))
        };
        if limits.is_empty() {
            return Some(figure(format!(
                "With {n} the accuracy is only known to lie between {} and {}",
                Share(low),
                Share(high)
            )));
        }
        let spanned = limits
            .into_iter()
            .filter(|step| low < *step && *step <= high);
        let step =
            spanned.min_by(|one, other| (one - share).abs().total_cmp(&(other - share).abs()))?;
        let says = |n: &u64| {
            let ci95 = wilson95_of_share(share, *n);
            ci95.is_some_and(|[low, high]| low >= step || high < step)
        };
        let more = (summary.scored..=MOST).find(says);
        let more = more.map(|n| format!(": about {n} independent samples would show it"));
        Some(figure(format!(
            "With {n} it is unclear whether the true accuracy is above {}{}",
            Percent(step),
            more.unwrap_or_default()
        )))
    });
    figure.into_iter().collect()
}

fn uncalibrated(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let summary = &case.run.summary;
    let scorer = summary.scorer.as_deref();
    let Some(name) = scorer.filter(|name| summary.is_uncalibrated(name)) else {
        return Vec::new();
    };
    let judge = summary.judge.as_ref();
    let known = judge.and_then(|judge| judge.calibration_of(name));
    let kappa = known.and_then(|known| known.kappa.zip(known.kappa_ci95));
    let text = kappa.map(|(kappa, [low, high])| {
        format!(
            ", kappa {kappa:.2} ({})",
            Interval([low, high].map(|end| Scale(end, 2))).ci95()
        )
    });
    let why = known.and_then(|known| known.reason.clone());
    let text = format!(
        "The deciding judge, {name}, is uncalibrated: {}{}",
        why.unwrap_or_else(|| "no human labels".to_owned()),
        text.unwrap_or_default()
    );
    let summary = &case.run.summary;
    // `--draw` takes answered samples, each once.
    let answered = summary.samples - summary.skipped - summary.errors;
    let epochs = summary
        .epochs
        .as_ref()
        .map_or(1, |figures| figures.epochs.into());
    let draw = (answered / epochs).clamp(1, 100);
    let draw = format!("{} --draw {draw} --seed 7", case.command("judge calibrate"));
    vec![AdvisedFigure {
        next: Some(draw),
        ..AdvisedFigure::new(text, kappa.map(|(_, ci95)| ci95), Some(1.0))
    }]
}

fn drops(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let summary = &case.run.summary;
    let falls = level_drops(summary).into_iter();
    let figures = falls.filter_map(|fall| {
        let (drop, ci95) = (fall.drop?, fall.interval?);
        let text = format!(
            "{} of the {} is lost from level {} to {} ({})",
            Share(drop),
            summary.subject().share(),
            excerpt(fall.from),
            excerpt(fall.to),
            Interval(ci95.map(Share)).ci95()
        );
        let lost = ratio(fall.wrong, summary.scored);
        Some(AdvisedFigure {
            next: case.first_of("level", fall.to),
            ..AdvisedFigure::new(text, Some(ci95), lost)
        })
    });
    figures.collect()
}

/// The slices that lose most, except levels if the loss between levels is reported.
fn weaker_parts(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let summary = &case.run.summary;
    let Some((share, whole)) = known(summary) else {
        return Vec::new();
    };
    let falls = level_drops(summary);
    let mut falls = falls.iter().filter_map(|fall| fall.interval);
    let has_level_advice = falls.any(|[low, _]| low >= LOST);
    let mut figures = Vec::new();
    for (dimension, values) in summary.dataset_slices() {
        if dimension == "level" && has_level_advice {
            continue;
        }
        for (value, group) in values {
            let is_open = group.accuracy_bounds.is_some_and(|[low, high]| low < high);
            let (Some(part), Some(ci95), false) = (group.accuracy, group.accuracy_ci95, is_open)
            else {
                continue;
            };
            let text = format!(
                "{dimension} = {}: {} {} ({}), all {} ({})",
                excerpt(value),
                Share(part),
                summary.subject().word(["correct", "pass", "won"]),
                Interval(ci95.map(Share)).ci95(),
                Share(share),
                Interval(whole.map(Share)).ci95()
            );
            // From the closest to the farthest bounds.
            let gap = [whole[0] - ci95[1], whole[1] - ci95[0]];
            let lost = ratio(group.scored - group.correct, summary.scored);
            figures.push(AdvisedFigure {
                next: case.first_of(dimension, value),
                ..AdvisedFigure::new(text, Some(gap), lost)
            });
        }
    }
    figures.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    figures
}

/// A common cause, such as an agent that gives up or asks back; or a specific reason of the scorer.
fn one_cause(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let same = case.figures.same_answer.as_ref();
    let same = same.filter(|same| same.count > 2).map(|same| {
        let (part, interval, weight) = case.of_wrong(same.count);
        let part = case.all_wrong(same.count).unwrap_or(part);
        let text = format!("{part} are identical, “{}”", beginning(&same.answer));
        AdvisedFigure {
            next: case.show(std::slice::from_ref(&same.id)),
            ..AdvisedFigure::new(text, interval, weight)
        }
    });
    let group = case.figures.failures.wrong.first();
    let reason = group.and_then(|group| {
        let reason = group
            .reason
            .as_deref()
            .filter(|it| !["mismatch", "below_pass"].contains(it))?;
        let (part, interval, weight) = case.of_wrong(group.count);
        let part = case.all_wrong(group.count).unwrap_or(part);
        let have = if group.count == 1 { "has" } else { "have" };
        let text = format!("{part} {have} the reason `{}`", excerpt(reason));
        Some(AdvisedFigure {
            next: case.show(&group.ids),
            ..AdvisedFigure::new(text, interval, weight)
        })
    });
    same.into_iter().chain(reason).collect()
}

/// The beginning of an answer.
fn beginning(answer: &str) -> String {
    let short: String = answer.chars().take(60).collect();
    if short.len() < answer.len() {
        format!("{}…", short.trim_end_matches('…'))
    } else {
        short
    }
}

fn nothing_extracted(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    if case.run.summary.subject() != Subject::Answers {
        return Vec::new();
    }
    let none = case.figures.without_prediction;
    let (part, interval, weight) = case.of_wrong(none);
    let eval = shell_word(&case.run.manifest.eval);
    let rescore = format!("{} --spec {eval}", case.command("rescore"));
    vec![AdvisedFigure {
        next: Some(rescore),
        ..AdvisedFigure::new(
            format!("Nothing was extracted from {part}"),
            interval,
            weight,
        )
    }]
}

fn parameters(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let figures = case.figures.wrong_parameters.iter().map(|it| {
        let (part, interval, weight) = case.of_wrong(it.samples);
        AdvisedFigure {
            sort: it.problem.clone(),
            ..AdvisedFigure::new(
                format!("{} ({}) in {part}", it.place, it.problem),
                interval,
                weight,
            )
        }
    });
    figures.collect()
}

fn disagreements(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let groups = case.figures.failures.disagreements.iter();
    let groups = groups.filter(|group| !case.is_uninformative(&group.other));
    let scored = case.run.summary.scored;
    let figures = groups.map(|group| {
        let DisagreementGroup {
            scorer,
            other,
            count,
            ids,
            ..
        } = group;
        let decides = scorer.as_deref().unwrap_or("the first scorer");
        let (one, two) = if group.accepted {
            ("accepts", "rejects")
        } else {
            ("rejects", "accepts")
        };
        let part = part_of(*count, scored, &case.nouns());
        let text = format!("{decides} {one} what {other} {two} in {part}");
        AdvisedFigure {
            sort: one.to_owned(),
            next: case.show(ids),
            ..AdvisedFigure::new(text, wilson95(*count, scored), ratio(*count, scored))
        }
    });
    figures.collect()
}

fn flaky(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let is_answered = case.run.summary.subject() == Subject::Answers;
    let epochs = case.run.summary.epochs.iter().filter(|_| is_answered);
    let figures = epochs.map(|epochs| {
        let (flaky, samples) = (epochs.flaky, epochs.samples);
        let first = case.figures.failures.flaky.samples.first();
        let text = format!(
            "{} {} correct in some epochs and wrong in others",
            part_of(flaky, samples, "samples"),
            if flaky == 1 { "is" } else { "are" }
        );
        AdvisedFigure {
            next: first.and_then(|it| case.show(std::slice::from_ref(&it.id))),
            ..AdvisedFigure::new(text, wilson95(flaky, samples), ratio(flaky, samples))
        }
    });
    figures.collect()
}

fn retries(case: &AdvisedRun<'_>) -> Vec<AdvisedFigure> {
    let summary = &case.run.summary;
    let requested = summary
        .samples
        .saturating_sub(summary.skipped + summary.cached);
    // Failures that persist in every attempt are not random; they are reported as errors.
    let recovered = summary.recovered_by_retry.recovered;
    let text = format!(
        "{} took more than one attempt",
        part_of(recovered, requested, "answers")
    );
    vec![AdvisedFigure::new(
        text,
        wilson95(recovered, requested),
        ratio(recovered, requested),
    )]
}
