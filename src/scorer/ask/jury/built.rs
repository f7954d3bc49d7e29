//! Builds a jury in Rust.

use std::path::Path;

use super::super::jury;
use super::aggregate::Aggregate;
use super::truth::LabelTruths;
use super::weights::JurorWeights;
use super::{Juror, Jury, MIN_JUDGES, earlier, make};
use crate::error::{Error, Result};
use crate::scorer::ask::client::OptionalJuror;
use crate::scorer::ask::judge::Judge;
use crate::scorer::ask::judge::make::calibration_file;
use crate::scorer::ask::judge::rubric::Grading;

impl Jury {
    /// A jury of these named judges. By default it takes the median, or the majority for choices, and needs two
    /// verdicts.
    ///
    /// # Errors
    /// When there are no judges, two have the same name, or their gradings differ.
    pub fn new<N: Into<String>>(judges: impl IntoIterator<Item = (N, Judge)>) -> Result<Self> {
        let mut jurors: Vec<Juror> = Vec::new();
        for (name, judge) in judges {
            let name = name.into();
            if jurors.iter().any(|it| it.name == name) {
                return Err(Error::usage(format!("two judges are called `{name}`"))
                    .hint("give each another name"));
            }
            if let Some(first) = jurors.first()
                && let Some(what) = jury::difference(&first.judge.grading, &judge.grading)
            {
                let message =
                    format!("judge `{name}` grades {what}: their verdicts cannot be combined");
                return Err(Error::usage(message).hint(jury::HINT));
            }
            add_juror(&mut jurors, name, judge);
        }
        let Some(first) = jurors.first() else {
            return Err(Error::usage("a jury without a judge").hint("give it two or more"));
        };
        make::check_names(&first.judge.grading)?;
        Ok(Self::of(jurors))
    }

    /// How verdicts are combined. [`Aggregate::Weighted`] needs [`weights`](Self::weights) or
    /// [`weights_from`](Self::weights_from): without them all judges have equal weight.
    #[must_use]
    pub fn aggregate(self, aggregate: Aggregate) -> Self {
        Self { aggregate, ..self }
    }

    /// How many judges must give a verdict.
    ///
    /// # Errors
    /// When it is 0, or more than there are judges.
    pub fn min_judges(mut self, least: usize) -> Result<Self> {
        let judges = self.jurors.len();
        if !(1..=judges).contains(&least) {
            let message = format!("`min_judges` is {least}, but the jury has {judges} judges");
            return Err(Error::usage(message).hint(format!("name a number from 1 to {judges}")));
        }
        self.min_judges = least;
        self.make_optional();
        Ok(self)
    }

    /// Labels by people, a JSONL file of `id` and `label`: the summary compares each judge and the jury with them.
    ///
    /// # Errors
    /// When it cannot be read, or has a label that no judge of the jury could give.
    pub fn labels(self, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self {
            truths: Some(LabelTruths::read(path, &self.grading)?),
            labels: Some(path.to_owned()),
            ..self
        })
    }

    /// The weight of each judge, by name; the verdict becomes weighted.
    ///
    /// # Errors
    /// When a judge has no weight, a weight is negative or no number, or none is above 0.
    pub fn weights<'a>(self, weights: impl IntoIterator<Item = (&'a str, f64)>) -> Result<Self> {
        let weights = weights.into_iter();
        let weights = weights.map(|(name, weight)| (name.to_owned(), weight.into()));
        let weights = make::given_weights(&weights.collect(), &self.names())?;
        Ok(Self {
            aggregate: Aggregate::Weighted,
            weights: Some(JurorWeights::given(weights)),
            ..self
        })
    }

    /// A run directory from whose verdicts the weights are learnt, with the [`labels`](Self::labels); the verdict
    /// becomes weighted.
    ///
    /// # Errors
    /// When there are no labels, or the run has no verdict of one of the judges on a labelled answer.
    pub fn weights_from(self, run: impl AsRef<Path>) -> Result<Self> {
        let Some(truths) = &self.truths else {
            let error = Error::usage("weights are learnt from labels, but there are none");
            return Err(error.hint("first name the file of labels: `labels(…)`"));
        };
        let weights = earlier::weights(run.as_ref(), truths, &self.names())?;
        Ok(Self {
            aggregate: Aggregate::Weighted,
            weights: Some(weights),
            ..self
        })
    }

    /// The file of a calibration, as written by `cargo evaltest judge calibrate`.
    ///
    /// # Errors
    /// When it is not a calibration.
    pub fn calibration(mut self, path: impl AsRef<Path>) -> Result<Self> {
        self.calibration = Some(calibration_file(path.as_ref())?);
        Ok(self)
    }

    /// A jury of these judges: at least one, all with the same grading.
    pub(super) fn of(jurors: Vec<Juror>) -> Self {
        let grading = jurors[0].judge.grading.clone();
        let aggregate = match grading {
            Grading::Rubric(_) => Aggregate::Median,
            Grading::Choices(_) => Aggregate::Majority,
        };
        let mut jury = Self {
            min_judges: MIN_JUDGES.min(jurors.len()),
            jurors,
            grading,
            aggregate,
            labels: None,
            truths: None,
            weights: None,
            calibration: None,
        };
        jury.make_optional();
        jury
    }

    /// Lets the run continue without judges that a verdict does not need.
    pub(super) fn make_optional(&mut self) {
        let most = self.jurors.len() - self.min_judges;
        for juror in &mut self.jurors {
            juror.judge.make_optional(OptionalJuror {
                judge: juror.name.clone(),
                most,
            });
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.jurors.iter().map(|it| it.name.clone()).collect()
    }
}

/// Adds a judge. It is asked separately even if others are identical.
pub(super) fn add_juror(jurors: &mut Vec<Juror>, name: String, judge: Judge) {
    use crate::scorer::Scorer;

    let own = judge.fingerprint();
    let same = jurors.iter().filter(|it| it.judge.fingerprint() == own);
    let copy = u32::try_from(same.count()).unwrap_or(u32::MAX);
    jurors.push(Juror {
        name,
        judge: judge.copy(copy),
        copy,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Echo;

    fn judge(rubric: &str) -> Judge {
        Judge::new(Echo::new(None), rubric).unwrap()
    }

    #[track_caller]
    fn refused(jury: Result<Jury>, expect: &str) {
        let error = jury.err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn what_cannot_sit_together_is_refused() {
        refused(
            Jury::new(Vec::<(String, Judge)>::new()),
            "a jury without a judge",
        );
        let same = [("a", judge("aime")), ("a", judge("aime"))];
        refused(Jury::new(same), "two judges are called `a`");
        let others = [("a", judge("aime")), ("b", judge("qa"))];
        refused(
            Jury::new(others),
            "judge `b` grades by choices, and the first by a rubric",
        );
        let two = || Jury::new([("a", judge("aime")), ("b", judge("aime"))]).unwrap();
        refused(
            two().min_judges(3),
            "`min_judges` is 3, but the jury has 2 judges",
        );
        refused(two().min_judges(0), "`min_judges` is 0");
        refused(two().weights([("a", 1.0)]), "judge `b` has no weight");
        refused(
            two().weights([("a", f64::NAN), ("b", 1.0)]),
            "`null` is not a number",
        );
        refused(two().weights_from("."), "but there are none");
        refused(two().labels("none.jsonl"), "none.jsonl");
    }

    #[test]
    fn it_is_what_a_spec_would_make() {
        use crate::scorer::Scorer;

        let two = || Jury::new([("a", judge("aime")), ("b", judge("aime"))]).unwrap();
        let same = two().aggregate(Aggregate::Median).min_judges(2).unwrap();
        assert_eq!(two().fingerprint(), same.fingerprint());
        let mean = two().aggregate(Aggregate::Mean);
        assert_ne!(two().fingerprint(), mean.fingerprint());
        let weighted = two().weights([("b", 2.0), ("a", 1.0)]).unwrap();
        assert_eq!(weighted.aggregate, Aggregate::Weighted);
        // Identical judges are each asked.
        assert_eq!([two().jurors[0].copy, two().jurors[1].copy], [0, 1]);
    }
}
