//! [`Judgement`]: the members of an outcome that scoring computes. When an answer is [rescored](crate::run::rescore),
//! exactly these are recomputed.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Outcome, Status};
use crate::data::{AgentError, JudgeCall, Score};

/// Defines [`Judgement`] by its members in [`Outcome`].
macro_rules! judgement {
    ($($name:ident: $of:ty),* $(,)?) => {
        /// The result of scoring an answer.
        #[derive(Debug, Default)]
        pub(crate) struct Judgement {
            $(pub(crate) $name: $of),*
        }

        impl Judgement {
            /// Names of its members in files. All but the first may be missing in a line.
            pub(crate) const MEMBERS: &'static [&'static str] = &[$(stringify!($name)),*];
        }

        impl Outcome {
            /// The outcome of the same answer with another judgement.
            #[must_use]
            pub(crate) fn judged(self, judgement: Judgement) -> Self {
                Self { $($name: judgement.$name,)* ..self }
            }
        }
    };
}

judgement! {
    status: Status,
    prediction: Option<String>,
    score: Option<Score>,
    scores: Map<String, Value>,
    judged: Vec<JudgeCall>,
    error: Option<AgentError>,
}

impl Judgement {
    /// A judgement that counts a missing answer as wrong; by these scorers, if there are several.
    pub(crate) fn wrong(
        reason: impl Into<Cow<'static, str>>,
        error: Option<AgentError>,
        scorers: &[&str],
    ) -> Self {
        let score = Score::new(0.0, false, reason);
        let entry = |name: &&str| {
            let score = serde_json::to_value(&score).unwrap_or_default();
            ((*name).to_owned(), score)
        };
        Self {
            status: Status::Scored,
            prediction: None,
            scores: scorers.iter().map(entry).collect(),
            score: Some(score),
            judged: Vec::new(),
            error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_members_by_these_names() {
        let judgement = Judgement {
            scores: Map::from_iter([("gaia".to_owned(), Value::Null)]),
            judged: vec![JudgeCall::default()],
            ..Judgement::default()
        };
        let outcome = serde_json::to_value(Outcome::default().judged(judgement)).unwrap();
        for name in Judgement::MEMBERS {
            assert!(outcome.get(name).is_some(), "{name}");
        }
    }
}
