//! `jury`: several judges grade an answer, and their verdicts are combined.
//!
//! Each [judge](super::judge) is asked through the desk as `<jury>/<judge>`, and has its own entries in the journal and
//! the figures. An `aggregate` combines their votes (`juror`), without `outliers`. The `weights` may be learnt from
//! labels (`truth`) and an `earlier` run.

mod aggregate;
mod built;
mod earlier;
mod juror;
mod make;
mod truth;
mod weights;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::client::NamedClient;
use super::judge::rubric::Grading;
use super::judge::{Judge, graded};
use crate::agent::Agent;
use crate::data::{JudgeRule, Normalized, Sample, Score, Unread};
use crate::error::{Error, Result};
use crate::scorer::ask::judge::rubric::Rubric;
use crate::scorer::{Answer, Scorer};
use aggregate::{Together, Voice};
use juror::{JurorIsSilent, JurorReply, JurorSays};
use truth::{LabelTruths, Truth};
use weights::JurorWeights;

pub use aggregate::Aggregate;

pub(crate) use make::ENTRY;

/// The default name under which it is recorded.
const NAME: &str = "jury";
/// The default number of judges that a verdict needs.
const MIN_JUDGES: usize = 2;
/// The judges disagree if the spread of totals is at least this.
const DISAGREEMENT: f64 = 1.5;

/// Several judges with one verdict.
///
/// ```no_run
/// use evaltest::agent::OpenAi;
/// use evaltest::scorer::{Aggregate, Judge, Jury};
///
/// # fn main() -> evaltest::Result<()> {
/// let judge = |model: &str| Judge::new(OpenAi::new("http://127.0.0.1:8102/v1", model)?, "aime");
/// let judges = [("small", judge("small")?), ("large", judge("large")?), ("other", judge("other")?)];
/// let jury = Jury::new(judges)?.aggregate(Aggregate::TrimmedMean).min_judges(3)?;
/// # let _: Box<dyn evaltest::Scorer> = Box::new(jury);
/// # Ok(())
/// # }
/// ```
///
#[doc = include_str!("jury.md")]
pub struct Jury {
    /// At least one.
    jurors: Vec<Juror>,
    /// The common grading.
    grading: Grading,
    aggregate: Aggregate,
    min_judges: usize,
    labels: Option<PathBuf>,
    /// Labels by people.
    truths: Option<LabelTruths>,
    /// The weight of each judge, if used.
    weights: Option<JurorWeights>,
    /// The file with its calibration against people.
    calibration: Option<PathBuf>,
}

/// A judge with its name.
struct Juror {
    name: String,
    judge: Judge,
    /// How many identical judges precede it.
    copy: u32,
}

impl Juror {
    /// The name under which it is asked.
    fn name_at(&self, client: &NamedClient<'_>) -> String {
        format!("{}/{}", client.scorer, self.name)
    }
}

impl Jury {
    /// The votes of all judges, in order; `None` if the run is stopping.
    fn collect_replies(
        &self,
        answer: &Answer<'_>,
        client: &NamedClient<'_>,
    ) -> Option<Vec<JurorReply>> {
        let collect_replies = |juror: &Juror| {
            let name = juror.name_at(client);
            let own = NamedClient {
                client: client.client,
                scorer: &name,
            };
            match juror.judge.opinion(answer, &own) {
                Ok(opinion) => Some(Ok(JurorSays::of(opinion))),
                Err(none) => JurorIsSilent::of(none).map(Err),
            }
        };
        // Ask all of them, whatever the first replies: the estimate of requests relies on it.
        let replies: Vec<Option<JurorReply>> = self.jurors.iter().map(collect_replies).collect();
        replies.into_iter().collect()
    }

    /// Records each vote, for the figures of the jury.
    fn record(
        &self,
        client: &NamedClient<'_>,
        replies: &[JurorReply],
        outliers: &[bool],
        truth: Option<&Truth>,
    ) {
        for ((juror, replies), outlier) in self.jurors.iter().zip(replies).zip(outliers) {
            let mut vote = replies
                .as_ref()
                .map(|says| says.vote(*outlier))
                .unwrap_or_default();
            vote.judge.clone_from(&juror.name);
            vote.label = truth.map(Truth::details);
            client.client.voted(&juror.name_at(client), vote);
        }
    }

    /// The combined verdict.
    fn together(
        &self,
        replies: &[JurorReply],
        outliers: &[bool],
        labelled: Option<&str>,
    ) -> Result<Together> {
        let weights = self.weights.as_ref().map(|weights| weights.of(labelled));
        let voice = |(place, replies): (usize, &'_ JurorReply)| -> Option<(usize, JurorSays)> {
            Some((place, replies.as_ref().ok()?.clone()))
        };
        let readable: Vec<_> = replies.iter().enumerate().filter_map(voice).collect();
        let voices = readable.iter().map(|(place, says)| Voice {
            says,
            outlier: outliers[*place],
            weight: weights.map_or(1.0, |weights| weights[*place]),
        });
        let voices: Vec<_> = voices.collect();
        let panel = self.jurors.len();
        let one = if voices.len() < self.min_judges {
            Err(Unread::TooFewJudges)
        } else {
            self.aggregate.of(&self.grading, &voices, panel)
        };
        one.map_err(|reason| self.no_verdict(reason, replies))
    }

    /// Why there is no verdict.
    fn no_verdict(&self, reason: Unread, replies: &[JurorReply]) -> Error {
        let each = self
            .jurors
            .iter()
            .zip(replies)
            .map(|(juror, replies)| match replies {
                Ok(says) => match &says.choice {
                    Some(choice) => format!("`{}` says `{choice}`", juror.name),
                    None => format!(
                        "`{}` gives {}",
                        juror.name,
                        (says.total * 1e4).round() / 1e4
                    ),
                },
                Err(silent) => format!("`{}` gave no verdict ({})", juror.name, silent.reason),
            });
        let each = each.collect::<Vec<_>>().join(", ");
        let why = match reason {
            Unread::TooFewJudges => {
                let readable = replies.iter().filter(|replies| replies.is_ok()).count();
                format!(
                    "{readable} of {} judges gave a verdict, but {} must",
                    replies.len(),
                    self.min_judges
                )
            }
            _ if self.aggregate == Aggregate::Weighted => {
                "several verdicts share the greatest weight".to_owned()
            }
            _ => format!("no verdict has more than half of {} judges", replies.len()),
        };
        let word = reason.as_str();
        Error::infrastructure(format!("{word}: {why}: {each}")).because(word)
    }

    fn score_of(&self, together: &Together, replies: &[JurorReply], outliers: &[bool]) -> Score {
        let readable = || replies.iter().flatten();
        let spread = spread(readable().map(|says| says.total));
        let disagreement = match &self.grading {
            Grading::Rubric(_) => spread >= DISAGREEMENT,
            Grading::Choices(_) => {
                let mut choices = readable().map(|says| &says.choice);
                let first = choices.next();
                choices.any(|choice| Some(choice) != first)
            }
        };
        let reason = if together.correct {
            "passed"
        } else {
            "below_pass"
        };
        let mut score = match &self.grading {
            Grading::Rubric(rubric) => {
                let value = rubric.value_of(together.total);
                let dimensions = rubric.dimensions.iter().zip(&together.points);
                let score = Score::new(value, together.correct, reason);
                let score = dimensions.fold(score, |score, (dimension, points)| {
                    score.detail(dimension.name.clone(), *points)
                });
                score
                    .detail("total", together.total)
                    .detail("excellent", together.total >= rubric.excellent)
            }
            Grading::Choices(_) => {
                let score = Score::new(together.total, together.correct, reason);
                match &together.choice {
                    Some(choice) => score.detail("verdict", choice.as_str()),
                    None => score,
                }
            }
        };
        let each = self.jurors.iter().zip(replies).zip(outliers);
        let each = each.map(|((juror, replies), outlier)| {
            let details = match replies {
                Ok(says) => says.details(&self.grading, *outlier),
                Err(silent) => silent.details(),
            };
            (juror.name.clone(), details)
        });
        let each: Map<String, Value> = each.collect();
        score.details.insert("spread", spread);
        score.details.insert("disagreement", disagreement);
        score.details.insert("judges", each);
        score
    }

    /// For each judge in order, whether its total is an outlier.
    fn outliers(replies: &[JurorReply]) -> Vec<bool> {
        let totals = replies.iter().flatten().map(|says| says.total);
        let mut found = outliers(&totals.collect::<Vec<_>>()).into_iter();
        let of = |replies: &JurorReply| replies.is_ok() && found.next().unwrap_or_default();
        replies.iter().map(of).collect()
    }
}

impl Scorer for Jury {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let client = NamedClient::of(answer, NAME);
        let Some(replies) = self.collect_replies(answer, &client) else {
            return Err(Error::infrastructure(
                "the run stopped before the judges replied",
            ));
        };
        let own = answer.sample.map(|sample| &*sample.id);
        let id = client.client.sample_id().or(own);
        let truth = self.truths.as_ref().and_then(|truths| truths.of(id));
        let outliers = Self::outliers(&replies);
        self.record(&client, &replies, &outliers, truth);
        let together = self.together(&replies, &outliers, id.filter(|_| truth.is_some()))?;
        Ok(self
            .score_of(&together, &replies, &outliers)
            .normalized(answer.prediction.unwrap_or_default(), Normalized::None))
    }

    fn needs_target(&self) -> bool {
        self.jurors.iter().any(|it| it.judge.needs_target())
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let parts = self.jurors.iter().map(|it| it.judge.criterion(sample));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let is_any = parts.iter().any(Option::is_some);
        Ok(is_any.then(|| json!(parts).to_string()))
    }

    fn check_samples(&self, is_there: &dyn Fn(&str) -> bool) -> Result<()> {
        let (Some(path), Some(truths)) = (&self.labels, &self.truths) else {
            return Ok(());
        };
        let mut unknown: Vec<&String> = truths.0.keys().filter(|id| !is_there(id)).collect();
        unknown.sort();
        let Some(first) = unknown.first() else {
            return Ok(());
        };
        let message = format!(
            "{}: {} of its ids match no sample, such as `{first}`",
            path.display(),
            unknown.len()
        );
        Err(Error::usage(message).hint("use the labels of this eval, or remove those lines"))
    }

    /// Independent of the order of the judges.
    fn fingerprint(&self) -> String {
        let weights = self.weights.as_ref().map(JurorWeights::all);
        let judges = self.jurors.iter().enumerate().map(|(place, juror)| {
            let weights = weights.iter().flatten().map(|weights| weights[place]);
            json!([
                juror.judge.fingerprint(),
                juror.copy,
                weights.collect::<Vec<_>>()
            ])
        });
        let mut judges: Vec<Value> = judges.collect();
        judges.sort_by_cached_key(Value::to_string);
        let parts = json!([self.aggregate.word(), self.min_judges, judges]);
        format!("jury {parts}")
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        let mut names = graded::details(&self.grading, 1);
        names.extend(["spread", "disagreement"].map(Cow::Borrowed));
        Some(names)
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        let mut bounds = graded::bounds(&self.grading);
        let widest = match &self.grading {
            Grading::Rubric(rubric) => rubric.highest() - rubric.lowest(),
            Grading::Choices(_) => 1.0,
        };
        bounds.push(("spread".into(), [0.0, widest]));
        bounds.push(("disagreement".into(), [0.0, 1.0]));
        bounds
    }

    fn judge_rule(&self) -> Option<JudgeRule> {
        Some(graded::rule(&self.grading))
    }

    fn calibration(&self) -> Option<&Path> {
        self.calibration.as_deref()
    }

    fn agents(&self) -> Vec<Arc<dyn Agent>> {
        self.jurors
            .iter()
            .flat_map(|it| it.judge.agents())
            .collect()
    }

    fn secrets(&self) -> Vec<String> {
        let secrets = self.jurors.iter().flat_map(|it| it.judge.secrets());
        secrets.collect()
    }

    fn notices(&self) -> Vec<String> {
        let mut notices: Vec<String> = Vec::new();
        for juror in &self.jurors {
            let own = juror.judge.notices().into_iter();
            notices.extend(
                own.filter(|notice| !notices.contains(notice))
                    .collect::<Vec<_>>(),
            );
            if juror.copy > 0 {
                notices.push(format!(
                    "judge `{}` is the same as one before it: they make the same mistakes and are not independent",
                    juror.name
                ));
            }
        }
        if self.weights.as_ref().is_some_and(JurorWeights::are_nothing) {
            notices.push(
                "according to the labels, no judge is right more often than wrong: all weights are 0, and there will \
                 be no verdict"
                    .to_owned(),
            );
        }
        notices
    }
}

/// Scales the median absolute deviation to the standard deviation of a normal distribution.
const SCALE: f64 = 1.4826;
/// The minimum distance of an outlier, in scaled deviations.
const FARTHEST: f64 = 3.5;
/// The minimum distance of an outlier, in points.
const LEAST_POINTS: f64 = 1.5;

/// Whether each total is an outlier: further than 3.5 scaled median absolute deviations from the median, and at least
/// 1.5 points. Source: B. Iglewicz and D. Hoaglin, *How to detect and handle outliers* (1993).
fn outliers(totals: &[f64]) -> Vec<bool> {
    let Some(middle) = median(totals) else {
        return Vec::new();
    };
    let away = totals.iter().map(|total| rounded((total - middle).abs()));
    let away: Vec<f64> = away.collect();
    let usual = median(&away).unwrap_or_default();
    let is_far = |away: &f64| *away > FARTHEST * SCALE * usual && *away >= LEAST_POINTS;
    away.iter().map(is_far).collect()
}

/// The highest minus the lowest; 0 if there are none.
fn spread(totals: impl Iterator<Item = f64> + Clone) -> f64 {
    let low = totals.clone().fold(f64::INFINITY, f64::min);
    let high = totals.fold(f64::NEG_INFINITY, f64::max);
    if low > high { 0.0 } else { rounded(high - low) }
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some(f64::midpoint(sorted[low], sorted[high]))
}

/// Rounds floating-point error away, like totals.
fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

/// What to do if gradings differ.
const HINT: &str = "give all judges the same names, scales, weights, values and limits";

/// What must be the same: names, scales and weights of dimensions in order, names and values of choices in any order,
/// and the limits. Descriptions may differ.
fn comparable(grading: &Grading) -> Value {
    let (parts, limits): (Vec<Value>, Value) = match grading {
        Grading::Rubric(rubric) => {
            let parts = rubric.dimensions.iter();
            let parts = parts.map(|one| json!([one.name, one.scale, one.weight]));
            (parts.collect(), json!([rubric.pass, rubric.excellent]))
        }
        Grading::Choices(choices) => {
            let parts = choices.offered.iter();
            let parts = parts.map(|one| json!([one.name, one.value]));
            let mut parts: Vec<Value> = parts.collect();
            parts.sort_by_key(Value::to_string);
            (parts, json!([choices.pass]))
        }
    };
    json!([matches!(grading, Grading::Rubric(_)), parts, limits])
}

/// What differs, in words; `None` if nothing does.
fn difference(first: &Grading, other: &Grading) -> Option<&'static str> {
    if comparable(first) == comparable(other) {
        return None;
    }
    Some(match (first, other) {
        (Grading::Rubric(one), Grading::Rubric(two)) => {
            let names = |rubric: &Rubric| {
                let names = rubric.dimensions.iter();
                let names = names.map(|one| (one.name.clone(), one.scale));
                names.collect::<Vec<_>>()
            };
            if names(one) == names(two) {
                "by other weights or limits than the first"
            } else {
                "by other dimensions than the first"
            }
        }
        (Grading::Choices(_), Grading::Choices(_)) => "by other choices than the first",
        (Grading::Rubric(_), _) => "by choices, and the first by a rubric",
        _ => "by a rubric, and the first by choices",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(totals: &[f64], expect: &[f64]) {
        let found = totals.iter().zip(outliers(totals));
        let found: Vec<f64> = found.filter(|it| it.1).map(|it| *it.0).collect();
        assert_eq!(found, expect, "{totals:?}");
    }

    #[test]
    fn it_is_far_by_both_measures() {
        check(&[], &[]);
        check(&[4.0], &[]);
        check(&[1.0, 5.0], &[]);
        // The others agree: everything 1.5 points away is an outlier.
        check(&[4.0, 4.0, 2.5], &[2.5]);
        check(&[4.0, 4.0, 2.6], &[]);
        check(&[3.6, 3.6, 2.1], &[2.1]);
        // The deviation is 0.25: 1.297 would be enough, but 1.25 points are not.
        check(&[4.0, 4.25, 4.0, 3.75, 2.5], &[2.5]);
        check(&[4.0, 4.25, 4.0, 3.75, 2.75], &[]);
        // Widely spread totals have no outliers.
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], &[]);
        // 5.189 deviations of 0.5 are 2.59.
        check(&[3.0, 3.5, 3.5, 4.0, 0.9], &[0.9]);
        check(&[3.0, 3.5, 3.5, 4.0, 1.0], &[]);
    }

    #[test]
    fn the_middle_and_the_ends() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
        assert_eq!(median(&[3.0, 1.0, 5.0]), Some(3.0));
        assert!(spread([].into_iter()).abs() < f64::EPSILON);
        assert!((spread([3.6, 2.1].into_iter()) - 1.5).abs() < f64::EPSILON);
    }
}
