//! [`foresee`]: which requests to judges a rescore will make, and their maximum cost. Nothing is asked.

use std::path::Path;
use std::sync::Mutex;

use serde::Serialize;

use super::beginning::begin;
use super::chunks::Chunks;
use super::earlier::EarlierReplies;
use super::judges::{asks, earlier_of};
use super::line::Clients;
use super::{Rescore, judge_of};
use crate::data::{JudgeCall, Unread};
use crate::error::Result;
use crate::scorer::Scorer;
use crate::scorer::ask::client::{AgentClient, AskOutcome, JudgeRequest};
use crate::store::RunDir;
use crate::store::files::RECORDS;
use crate::system::lock;
use crate::system::parallel;

/// The expected requests to judges.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Foreseen {
    /// The names of the scorers that ask.
    pub judges: Vec<String>,
    /// How many replies are stored neither with the run nor with an earlier rescore of it.
    pub calls: u64,
    /// How many are stored.
    pub stored: u64,
    /// The number of requests if every first reply is unreadable and is asked for once more.
    pub most_calls: u64,
    /// Their maximum cost in US dollars. `None` if an agent has no `price` or no `max_tokens`.
    pub most_usd: Option<f64>,
}

/// No requests.
impl Default for Foreseen {
    fn default() -> Self {
        Self {
            judges: Vec::new(),
            calls: 0,
            stored: 0,
            most_calls: 0,
            most_usd: Some(0.0),
        }
    }
}

/// Counts requests instead of sending them.
pub(super) struct CountingClients {
    earlier: EarlierReplies,
    counted: Mutex<CallCount>,
}

#[derive(Clone, Copy)]
struct CallCount {
    calls: u64,
    stored: u64,
    most_usd: Option<f64>,
}

/// The counter for one record.
pub(super) struct CountingClient<'a> {
    clients: &'a CountingClients,
    known: Vec<JudgeCall>,
}

impl CountingClients {
    pub(super) fn client(
        &self,
        id: &str,
        epoch: u32,
        mut known: Vec<JudgeCall>,
    ) -> CountingClient<'_> {
        known.extend(self.earlier.of(id, epoch).unwrap_or_default());
        CountingClient {
            clients: self,
            known,
        }
    }
}

impl AgentClient for CountingClient<'_> {
    fn recall(&self, _: &str, request: &JudgeRequest<'_>) -> Option<AskOutcome> {
        let known = self.known.iter().find(|call| call.replies_to(&request.key));
        lock(&self.clients.counted).stored += u64::from(known.is_some());
        known.map(AskOutcome::again)
    }

    fn ask(&self, _: &str, request: &JudgeRequest<'_>) -> AskOutcome {
        let usd = request.agent.most_usd(request.prompt.len());
        let mut counted = lock(&self.clients.counted);
        counted.calls += 1;
        counted.most_usd = counted.most_usd.zip(usd).map(|(sum, usd)| sum + usd);
        AskOutcome::Stopped
    }

    fn unread(&self, _: &str, _: &JudgeRequest<'_>, _: Unread) {}
}

/// The requests that scoring the answers of a run this way will make; `None` if no scorer asks a judge.
///
/// # Errors
/// When the run cannot be read.
pub fn foresee(dir: &RunDir, how: &Rescore) -> Result<Option<Foreseen>> {
    if !asks(&how.scorers) {
        return Ok(None);
    }
    let parent = dir.manifest()?;
    let root = how.output_root.as_deref().or_else(|| dir.path().parent());
    let (earlier, _) = earlier_of(root.unwrap_or(Path::new(".")), dir.path(), &parent);
    let mut judge = judge_of(&parent, how)?;
    begin(dir, &parent, &judge)?;
    judge.clients = Clients::Counting(CountingClients {
        earlier,
        counted: Mutex::new(CallCount {
            calls: 0,
            stored: 0,
            most_usd: Some(0.0),
        }),
    });
    let path = dir.file(RECORDS);
    let chunks = Chunks::open(&path)?;
    parallel::in_order(
        chunks,
        |chunk| chunk.judge(&judge).map(drop),
        |judged| judged.map_err(|unjudged| unjudged.in_file(&path)),
    )?;
    let Clients::Counting(clients) = judge.clients else {
        return Ok(None);
    };
    let counted = *lock(&clients.counted);
    let judges = how
        .scorers
        .iter()
        .filter(|scorer| !scorer.agents().is_empty());
    Ok(Some(Foreseen {
        judges: judges.map(|scorer| scorer.name().to_owned()).collect(),
        calls: counted.calls,
        stored: counted.stored,
        most_calls: counted.calls.saturating_mul(2),
        most_usd: counted.most_usd.map(|usd| usd * 2.0),
    }))
}
