//! The parts of a composition: scorers that score the same answer independently.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::{Answer, Beginning, Reads, Scorer};
use crate::agent::Agent;
use crate::data::{Details, Sample, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;

/// Scorers, each with a unique name.
pub(in crate::scorer) struct NamedScorers(Vec<(String, Arc<dyn Scorer>)>);

impl NamedScorers {
    /// Repeated names get a number: `numeric#2`.
    pub(in crate::scorer) fn new(scorers: impl IntoIterator<Item = Arc<dyn Scorer>>) -> Self {
        let mut seen = HashSet::new();
        let named = |scorer: Arc<dyn Scorer>| {
            let mut name = scorer.name().to_owned();
            let mut number = 1;
            while !seen.insert(name.clone()) {
                number += 1;
                name = format!("{}#{number}", scorer.name());
            }
            (name, scorer)
        };
        Self(scorers.into_iter().map(named).collect())
    }

    /// The verdicts in order, at least one. Fails if there are no parts or if a part cannot judge.
    pub(in crate::scorer) fn judge(&self, answer: &Answer<'_>) -> Result<Vec<Score>> {
        if self.0.is_empty() {
            return Err(Error::usage("it has no scorers"));
        }
        let verdict = |(name, scorer): &(String, Arc<dyn Scorer>)| {
            judge(&**scorer, answer).map_err(|error| error.at(format_args!("part `{name}`")))
        };
        self.0.iter().map(verdict).collect()
    }

    /// The score of a composition: the compared texts are those of the part that `decides`, and the details hold all
    /// verdicts.
    pub(in crate::scorer) fn conclude(
        &self,
        score: Score,
        mut scores: Vec<Score>,
        decides: usize,
    ) -> Score {
        let mut details = Details::new();
        for ((name, _), score) in self.0.iter().zip(&scores) {
            details.insert(name.clone(), score.correct);
        }
        let verdicts = self.0.iter().zip(&mut scores).map(|((name, _), score)| {
            let mut verdict = json!({
                "value": score.value,
                "correct": score.correct,
                "reason": score.reason,
            });
            if !score.details.is_empty() {
                verdict["details"] = score
                    .details
                    .iter()
                    .map(owned)
                    .collect::<Map<_, _>>()
                    .into();
            }
            (name.clone(), verdict)
        });
        details.insert("parts", verdicts.collect::<Map<_, _>>());
        let decided = scores.swap_remove(decides);
        Score { details, ..score }.normalized(
            decided.normalized_prediction,
            decided.normalized_ground_truth,
        )
    }

    pub(in crate::scorer) fn needs_target(&self) -> bool {
        self.0.iter().any(|(_, scorer)| scorer.needs_target())
    }

    pub(in crate::scorer) fn judges(&self, answer: &Answer<'_>) -> bool {
        self.0.iter().all(|(_, scorer)| scorer.judges(answer))
    }

    /// The common extraction of all parts, if there is one.
    pub(in crate::scorer) fn extract(&self) -> Option<Extract> {
        let mut own = self.0.iter().map(|(_, scorer)| scorer.extract());
        let first = own.next()??;
        own.all(|other| other.as_ref() == Some(&first))
            .then_some(first)
    }

    /// The criteria of the parts for one sample, if any part has one.
    pub(in crate::scorer) fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let parts = self.0.iter().map(|(_, scorer)| scorer.criterion(sample));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let is_any = parts.iter().any(Option::is_some);
        Ok(is_any.then(|| json!(parts).to_string()))
    }

    pub(in crate::scorer) fn check_samples(&self, is_there: &dyn Fn(&str) -> bool) -> Result<()> {
        let mut parts = self.0.iter();
        parts.try_for_each(|(_, scorer)| scorer.check_samples(is_there))
    }

    /// The fingerprints of the parts with their extractions, which are not part of any other hash.
    pub(in crate::scorer) fn fingerprint(&self) -> Value {
        let parts = self.0.iter().map(|(_, scorer)| fingerprint(&**scorer));
        parts.collect()
    }

    /// The widest input that any part reads.
    pub(in crate::scorer) fn reads(&self) -> Reads {
        let parts = self.0.iter().map(|(_, scorer)| scorer.reads());
        parts.max().unwrap_or(Reads::Text)
    }

    pub(in crate::scorer) fn secrets(&self) -> Vec<String> {
        let secrets = self.0.iter().flat_map(|(_, scorer)| scorer.secrets());
        secrets.collect()
    }

    pub(in crate::scorer) fn agents(&self) -> Vec<Arc<dyn Agent>> {
        let agents = self.0.iter().flat_map(|(_, scorer)| scorer.agents());
        agents.collect()
    }

    pub(in crate::scorer) fn asks_opinions(&self) -> bool {
        self.0.iter().any(|(_, scorer)| scorer.asks_opinions())
    }

    pub(in crate::scorer) fn secret_variables(&self) -> Vec<(String, String)> {
        let parts = self.0.iter();
        let variables = parts.flat_map(|(_, scorer)| scorer.secret_variables());
        variables.collect()
    }

    pub(in crate::scorer) fn unset_variables(&self) -> Vec<String> {
        let unset = self
            .0
            .iter()
            .flat_map(|(_, scorer)| scorer.unset_variables());
        unset.collect()
    }

    pub(in crate::scorer) fn begin(&self, about: &Beginning<'_>) -> Result<()> {
        let mut parts = self.0.iter();
        parts.try_for_each(|(_, scorer)| scorer.begin(about))
    }

    pub(in crate::scorer) fn notices(&self) -> Vec<String> {
        let notices = self.0.iter().flat_map(|(_, scorer)| scorer.notices());
        notices.collect()
    }
}

fn owned((name, value): (&str, &Value)) -> (String, Value) {
    (name.to_owned(), value.clone())
}

/// The fingerprint of a part, with its extraction.
pub(in crate::scorer) fn fingerprint(scorer: &dyn Scorer) -> Value {
    let extract = scorer.extract().map(|extract| extract.to_value());
    json!([scorer.fingerprint(), extract])
}

/// The prediction that a part scores, as it would alone: if the eval sets no extraction, a part with its own applies it
/// to the raw answer.
pub(in crate::scorer) fn prediction<'a>(
    scorer: &dyn Scorer,
    answer: &Answer<'a>,
) -> Option<Cow<'a, str>> {
    match scorer.extract().filter(|_| !answer.extract_is_given) {
        None => answer.prediction.map(Cow::Borrowed),
        Some(own) => own.apply(answer.output.text.as_deref()?),
    }
}

/// The criterion of a part that is given each element of the ground truth alone; `place` names an element in errors.
pub(in crate::scorer) fn criterion_of_each(
    scorer: &dyn Scorer,
    sample: &Sample,
    elements: impl IntoIterator<Item = Target>,
    place: impl Fn(usize, &Target) -> String,
) -> Result<Option<String>> {
    let mut one = sample.clone();
    let mut all = Vec::new();
    for (number, target) in elements.into_iter().enumerate() {
        let place = place(number, &target);
        one.target = Some(target);
        let criterion = scorer.criterion(&one).map_err(|error| error.at(place))?;
        if !all.contains(&criterion) {
            all.push(criterion);
        }
    }
    // Most do not depend on the ground truth.
    Ok(match all.len() {
        0 | 1 => all.pop().flatten(),
        _ => Some(json!(all).to_string()),
    })
}

/// The verdict of a part on its own prediction.
pub(in crate::scorer) fn judge(scorer: &dyn Scorer, answer: &Answer<'_>) -> Result<Score> {
    let prediction = prediction(scorer, answer);
    verdict(
        scorer,
        &Answer {
            prediction: prediction.as_deref(),
            ..*answer
        },
    )
}

/// The verdict on the prediction as given; a value that is not a number is an error.
pub(crate) fn verdict(scorer: &dyn Scorer, answer: &Answer<'_>) -> Result<Score> {
    let score = scorer.score(answer)?;
    if score.value.is_finite() {
        return Ok(score);
    }
    let message = format!("gave the value {}, which is not a number", score.value);
    Err(Error::usage(message))
}

#[cfg(test)]
mod tests;
