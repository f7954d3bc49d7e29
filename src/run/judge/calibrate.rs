//! Calibrates the judge of a finished run: compares its verdicts with human labels, and plans what to label and how
//! much. Nothing is asked.

mod found;
mod lot;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::calibrations;
use crate::data::calibration::{CalibratedAnswer, Calibration, LabelledValue};
use crate::data::labels::{ItemLabels, LabelChoice, LabelClass};
use crate::error::{Error, Result};
use crate::stats::LabelSpread;
use crate::store::manifest::ManifestJudge;
use crate::store::{Manifest, RunDir};
use crate::system::file;
use crate::verdict::judged::agreement::JudgeAgreement;
use crate::verdict::judged::calibrated::CalibratedJudge;
use crate::verdict::judged::calibration::JudgeCalibration;
use crate::verdict::judged::items::{CORRECT, JudgedItem, VALUE};
use crate::verdict::judged::people::{HumanLabels, PeoplesFigures};
use crate::verdict::judged::points::PointsAgreement;
use crate::verdict::summary::Summary;

use found::LabelsByChoice;

/// How many ids an error lists.
const LISTED: usize = 5;

/// The judge of a finished run, to compare with human labels.
pub struct JudgeOfRun {
    manifest: Manifest,
    scorer: String,
    judge: ManifestJudge,
    items: Vec<JudgedItem>,
    population: String,
    served: BTreeSet<String>,
    self_agreement: Option<f64>,
}

/// The result of comparing a judge with human labels.
#[derive(Clone, Debug)]
pub struct JudgeComparison {
    /// The calibration file to write.
    pub calibration: Calibration,
    /// Agreement, by figure.
    pub agreement: BTreeMap<String, JudgeAgreement>,
    /// Distance of the judge's points from the mean of people's, by figure.
    pub points: BTreeMap<String, PointsAgreement>,
    /// What the run's summary shows with this calibration.
    pub summary: JudgeCalibration,
    /// Notices about the labels.
    pub notices: Vec<String>,
}

/// How many labels a corrected mean needs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LabelPlan {
    /// The figure.
    pub figure: String,
    /// The fewest labels; `null` if labelling all answers is not enough.
    pub labels: Option<u64>,
    /// Answers with a verdict.
    pub answers: u64,
    /// The width of the interval if all are labelled.
    pub width_of_all: f64,
    /// The number of labels it is estimated from; 0 assumes an uninformative judge.
    pub known: u64,
}

impl JudgeOfRun {
    /// Opens the judge of this name, or the only one.
    ///
    /// # Errors
    ///
    /// When there is none, when there are several and none is named, or when the run cannot be read.
    pub fn open(dir: &RunDir, scorer: Option<&str>) -> Result<Self> {
        let manifest = dir.manifest()?;
        let summary = Summary::read(&dir.file("summary.json"))?;
        let names: Vec<&str> = manifest.judges.keys().map(String::as_str).collect();
        let run = &manifest.run_id;
        let scorer = match (scorer, names.as_slice()) {
            (_, []) if summary.judge.is_some() => {
                return Err(Error::usage(format!(
                    "run `{run}` was made by an older version that did not record its judge"
                ))
                .hint("score it again, which reuses stored replies: `cargo evaltest rescore RUN_DIR --spec SPEC`"));
            }
            (_, []) => {
                return Err(Error::usage(format!("run `{run}` has no judge")).hint(
                    "use a run whose eval has a scorer `judge`: `cargo evaltest scorers --explain judge`",
                ));
            }
            (Some(named), names) if names.contains(&named) => named,
            (Some(named), names) => {
                let names = names.join("`, `");
                return Err(
                    Error::usage(format!("no judge of run `{run}` is called `{named}`"))
                        .hint(format!("the judges are `{names}`")),
                );
            }
            (None, [only]) => only,
            (None, names) => {
                return Err(Error::usage(format!(
                    "run `{run}` has several judges: `{}`",
                    names.join("`, `")
                ))
                .hint(format!("name one: `--scorer {}`", names[0])));
            }
        };
        let scorer = scorer.to_owned();
        let (items, population) = calibrations::items(dir, &manifest, &scorer)?.finish();
        let judge = manifest.judges[&scorer].clone();
        let judge_summary = summary.judge.as_ref();
        let judge_summary = judge_summary.and_then(|judge| judge.scorers.get(&scorer));
        Ok(Self {
            served: calibrations::served(&summary.judge_models(), &scorer, &manifest.judges),
            self_agreement: judge_summary.and_then(|judge| judge.self_agreement),
            manifest,
            scorer,
            judge,
            items,
            population,
        })
    }

    /// The name of its scorer.
    pub fn scorer(&self) -> &str {
        &self.scorer
    }

    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.manifest.run_id
    }

    /// Where its calibration belongs: the file the spec names, else next to the spec, else the current folder.
    pub fn file(&self) -> PathBuf {
        let file = self.manifest.calibration_file(&self.scorer);
        file.unwrap_or_else(|| format!("{}.calibration.json", self.scorer).into())
    }

    /// The path of a file relative to the folder of the spec, as the spec should name it.
    pub fn from_spec(&self, file: &Path) -> Option<PathBuf> {
        file::between(&self.manifest.spec_folder()?, file).ok()
    }

    /// Whether the spec names that file.
    pub fn is_named(&self) -> bool {
        self.judge.calibration.is_some()
    }

    /// Compares the judge with these labels of a file.
    ///
    /// # Errors
    ///
    /// With the position of labels for an unknown sample, for another run, or for a figure the judge does not give.
    pub fn comparison(&self, path: &Path, labels: &[ItemLabels]) -> Result<JudgeComparison> {
        self.check_ids(path, labels)?;
        let bounds = self.manifest.detail_bounds.get(&self.scorer);
        let figures = PeoplesFigures::of(&self.items, &self.judge.rule, bounds);
        let mut human_labels: HashMap<&str, (&ItemLabels, HumanLabels)> = HashMap::new();
        for item in labels.iter().filter(|item| !item.is_empty()) {
            let of = figures
                .human_labels(item)
                .map_err(|error| error.at(place(path, item)))?;
            human_labels.insert(&item.id, (item, of));
        }
        self.check_all(path, labels, &human_labels)?;
        let mut found = LabelsByChoice::default();
        let mut answers = Vec::new();
        let mut unanswered = 0;
        for item in &self.items {
            let Some((labels, human_labels)) = human_labels.remove(item.id.as_str()) else {
                continue;
            };
            let Some(answer) = &item.answer else {
                unanswered += 1;
                continue;
            };
            found.add(item, &human_labels, labels.chosen);
            answers.push(calibrated(item, labels, &human_labels, answer));
        }
        if answers.is_empty() {
            let message = format!(
                "{}: no label belongs to an answer of this run",
                path.display()
            );
            return Err(Error::usage(message).hint("label samples that have an answer"));
        }
        let (agreement, points) = (found.all.agreement()?, found.all.points_agreement());
        let doubts = self.doubts(labels);
        let calibration = Calibration {
            format_version: Calibration::version(),
            eval: self.manifest.eval.clone(),
            scorer: self.scorer.clone(),
            fingerprint: self.judge.fingerprint.clone(),
            models: self.served.clone(),
            run: self.manifest.run_id.clone(),
            population: self.population.clone(),
            n: found.n,
            picked: found.picked,
            doubts: doubts.clone(),
            kappa: found.kappa()?,
            self_agreement: self.self_agreement,
            figures: found::summary(&agreement, &points),
            answers,
        };
        Ok(JudgeComparison {
            summary: self.summary(&calibration),
            notices: notices(labels, (unanswered, found.unread), &doubts),
            calibration,
            agreement,
            points,
        })
    }

    /// What the run's summary shows with this calibration.
    fn summary(&self, calibration: &Calibration) -> JudgeCalibration {
        let differs = calibration.differs(&self.judge.fingerprint, &self.served);
        let items = (self.items.clone(), self.population.as_str());
        let scales = self.manifest.detail_bounds.get(&self.scorer);
        let judge = CalibratedJudge::of(calibration, differs.as_deref(), items, scales);
        judge.summary().clone()
    }

    /// How many labels keep the intervals of corrected means within `width`, by figure. With labels of this run, uses
    /// their variance and correlation with the verdicts; otherwise the variance of the verdicts, as if uninformative.
    pub fn plan(&self, width: f64, labels: Option<&Calibration>) -> Vec<LabelPlan> {
        let labels = labels.filter(|labels| labels.population == self.population);
        let answers = labels.into_iter().flat_map(|labels| &labels.answers);
        let labelled = answers.flat_map(|answer| answer.values.keys());
        let judged = self.items.iter().filter(|_| labels.is_none());
        let judged = judged.flat_map(|item| item.first.numbers.keys());
        let judged = judged.filter(|figure| self.judge.rule.is_labelled(figure));
        let mut figures: Vec<String> = labelled.chain(judged).cloned().collect();
        figures.sort();
        figures.dedup();
        let plan = |figure: String| {
            let all = self.items.iter().filter_map(|item| item.mean(&figure));
            let all: Vec<f64> = all.collect();
            let pairs = labels.into_iter().flat_map(|labels| &labels.answers);
            let pairs = pairs.filter_map(|answer| {
                let value = answer.values.get(&figure)?;
                Some((value.judge?, value.label))
            });
            let pairs: Vec<_> = pairs.collect();
            let known = LabelSpread::of(&pairs, &all);
            let count = all.len() as u64;
            let ends = self.ends(&figure);
            let scale = ends.map(|[low, high]| high - low);
            let spread = known.or_else(|| LabelSpread::unknown(&all))?;
            Some(LabelPlan {
                labels: spread.needed(width, count, scale),
                answers: count,
                width_of_all: spread.width(count, count, scale),
                known: known.map_or(0, |_| pairs.len() as u64),
                figure,
            })
        };
        figures.into_iter().filter_map(plan).collect()
    }

    /// The lowest and highest value of a figure, if known.
    fn ends(&self, figure: &str) -> Option<[f64; 2]> {
        let summary = self.manifest.detail_bounds.get(&self.scorer);
        let share = [CORRECT, VALUE].contains(&figure).then_some([0.0, 1.0]);
        summary
            .and_then(|summary| summary.get(figure))
            .copied()
            .or(share)
    }

    /// Refuses labels of other runs or of samples that the run does not have.
    fn check_ids(&self, path: &Path, labels: &[ItemLabels]) -> Result<()> {
        let run = self.run_id();
        let known: HashSet<&str> = self.items.iter().map(|item| &*item.id).collect();
        let strangers = labels.iter().filter(|item| !known.contains(&*item.id));
        let strangers: Vec<&ItemLabels> = strangers.collect();
        if let Some(first) = strangers.first() {
            let ids = strangers
                .iter()
                .take(LISTED)
                .map(|item| format!("`{}`", item.id));
            let mut ids = ids.collect::<Vec<_>>().join(", ");
            if let Some(more) = strangers.len().checked_sub(LISTED).filter(|more| *more > 0) {
                ids = format!("{ids} and {more} more");
            }
            let message = format!("run `{run}` has no sample {ids}");
            return Err(Error::usage(message)
                .at(place(path, first))
                .hint("name the run whose answers were labelled, or remove these lines"));
        }
        let own = self.manifest.answers_from();
        let is_other = |item: &&ItemLabels| item.run.as_ref().is_some_and(|it| !own.contains(it));
        match labels.iter().find(is_other) {
            None => Ok(()),
            Some(item) => {
                let of = item.run.as_deref().unwrap_or_default();
                Err(Error::usage(format!("the label is for run `{of}`, not for `{run}`"))
                    .at(place(path, item))
                    .hint(format!(
                        "calibrate that run: `cargo evaltest judge calibrate {of} --labels FILE`"
                    )))
            }
        }
    }

    /// Refuses labels chosen as "all" if some answers have no such label.
    fn check_all(
        &self,
        path: &Path,
        labels: &[ItemLabels],
        human_labels: &HashMap<&str, (&ItemLabels, HumanLabels)>,
    ) -> Result<()> {
        let Some(first) = labels.iter().find(|item| item.chosen == LabelChoice::All) else {
            return Ok(());
        };
        let is_lacking = |item: &&JudgedItem| {
            let is_labelled = human_labels
                .get(&*item.id)
                .is_some_and(|(labels, _)| labels.chosen == LabelChoice::All);
            item.answer.is_some() && !is_labelled
        };
        let lacking: Vec<_> = self.items.iter().filter(is_lacking).collect();
        let Some(one) = lacking.first() else {
            return Ok(());
        };
        let (count, answers) = (lacking.len(), self.items.len());
        let have = if count == 1 { "has" } else { "have" };
        let message = format!(
            "`chosen: all`, and {count} of {answers} {have} no such label, first `{}`",
            one.id
        );
        Err(Error::usage(message)
            .at(place(path, first))
            .hint("label all answers, or write how these were chosen: `random` or `picked`"))
    }
}

fn place(path: &Path, item: &ItemLabels) -> String {
    format!("{}:{}", path.display(), item.line)
}

fn calibrated(
    item: &JudgedItem,
    labels: &ItemLabels,
    human_labels: &HumanLabels,
    answer: &str,
) -> CalibratedAnswer {
    let values = human_labels.values.iter().map(|(figure, label)| {
        let value = LabelledValue {
            label: *label,
            judge: item.mean(figure),
        };
        (figure.clone(), value)
    });
    let classes = human_labels.classes.iter().map(|(figure, classes)| {
        let classes = classes.iter().map(LabelClass::to_value);
        (figure.clone(), classes.collect())
    });
    CalibratedAnswer {
        id: item.id.clone(),
        chosen: labels.chosen,
        seed: labels.seed,
        cluster: item.cluster.clone(),
        labels: classes.collect(),
        values: values.collect(),
        answer: answer.to_owned(),
    }
}

fn notices(
    labels: &[ItemLabels],
    (unanswered, unread): (u64, u64),
    doubts: &[String],
) -> Vec<String> {
    let doubts = doubts.iter().map(|doubt| format!("the labels: {doubt}"));
    let mut notices: Vec<String> = doubts.collect();
    let homeless = labels.iter().filter(|item| {
        item.run.is_none() && !item.is_empty() && item.chosen != LabelChoice::Picked
    });
    let homeless = homeless.count();
    if homeless > 0 {
        notices.push(format!(
            "{} without a `run`: assumed to be for this run",
            lot::count(homeless)
        ));
    }
    let count = |number: u64| match number {
        1 => "1 label is".to_owned(),
        number => format!("{number} labels are"),
    };
    if unanswered > 0 {
        notices.push(format!(
            "{} of samples without an answer, skipped",
            count(unanswered)
        ));
    }
    if unread > 0 {
        notices.push(format!(
            "{} of answers without a verdict of the judge: corrected means are of those with one",
            count(unread)
        ));
    }
    let drawn = labels.iter();
    let drawn = drawn.filter(|item| item.chosen == LabelChoice::Random && item.seed.is_none());
    let (all, empty) = drawn.fold((0_u64, 0_u64), |(all, empty), item| {
        (all + 1, empty + u64::from(item.is_empty()))
    });
    if empty > 0 {
        notices.push(format!(
            "{empty} of {all} sampled answers have no label: corrections assume that nobody chose which"
        ));
    }
    notices
}
