//! A judge's vote in a jury: its verdict, or why there is none.

use super::graded::Graded;
use super::{Judge, NoVerdict};
use crate::scorer::Answer;
use crate::scorer::ask::client::{NamedClient, OptionalJuror};

/// The verdict that counts, and how far its repeats agree with it.
pub(in crate::scorer::ask) struct Opinion {
    pub(in crate::scorer::ask) graded: Graded,
    /// The share of readable repeats with the same verdict, and their number.
    pub(in crate::scorer::ask) self_agreement: Option<(f64, u64)>,
}

/// Why a judge gave no verdict.
pub(in crate::scorer::ask) enum NoOpinion {
    /// Its reply cannot be read, for this reason of [`Unread`](crate::data::Unread); with an excerpt.
    Unread(&'static str, String),
    /// It could not be asked, or did not reply.
    Failed(String),
    /// The run is stopping: it was not asked.
    Stopped,
}

impl Judge {
    /// Its opinion of an answer, asked through this desk.
    pub(in crate::scorer::ask) fn opinion(
        &self,
        answer: &Answer<'_>,
        client: &NamedClient<'_>,
    ) -> Result<Opinion, NoOpinion> {
        let verdicts = self.verdicts(answer, client);
        let (first, others) =
            verdicts.map_err(|error| NoOpinion::Failed(error.message().to_owned()))?;
        let graded = first.map_err(|none| match none {
            NoVerdict::Unread(reply) => NoOpinion::Unread(reply.reason.as_str(), reply.why()),
            NoVerdict::Failed(message) => NoOpinion::Failed(message),
            NoVerdict::Stopped => NoOpinion::Stopped,
        })?;
        if others
            .iter()
            .any(|it| matches!(it, Err(NoVerdict::Stopped)))
        {
            return Err(NoOpinion::Stopped);
        }
        let readable: Vec<_> = others.iter().flatten().collect();
        let same = readable.iter().filter(|other| other.agrees(&graded));
        let same = same.count() as u64;
        let of = readable.len() as u64;
        let share = crate::stats::ratio(same, of);
        Ok(Opinion {
            self_agreement: share.map(|share| (share, of)),
            graded,
        })
    }

    /// Marks it as one of several identical judges; `copy` of them precede it.
    pub(in crate::scorer::ask) fn copy(self, copy: u32) -> Self {
        Self { copy, ..self }
    }

    /// Marks it as one of several: if it fails, the others continue.
    pub(in crate::scorer::ask) fn make_optional(&mut self, optional: OptionalJuror) {
        self.requester.model.policy.optional = Some(optional);
    }

    /// The configured model of its agent.
    pub(in crate::scorer::ask) fn model(&self) -> Option<String> {
        self.requester.model.agent.model().map(str::to_owned)
    }
}
