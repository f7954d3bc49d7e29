//! What a plan reads of the committed baseline, and whether it can be compared with that.

use std::collections::HashSet;

use super::{Packed, Plan};
use crate::error::Result;
use crate::eval::{Assert, Eval};
use crate::snapshot::CommittedBaseline;
use crate::verdict::baseline::Baseline;
use crate::verdict::baseline::readers::{Readers, UsedReaders};
use crate::verdict::check::changed_since;
use crate::verdict::gate::{self, Gate};

/// How the committed baseline is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BaselineUse {
    /// Its snapshots are read and must fit.
    #[default]
    Compare,
    /// The same, or its index where no gate compares with it.
    IndexOrCompare,
    /// The same, but it is read by [`Plan::read_baseline`], when it is known which samples are asked.
    Later,
    /// It is ignored.
    Ignore,
}

/// The baseline of a plan, as far as it is read before the dataset.
pub(super) enum PlanBaseline {
    Ignored,
    Unread(Option<CommittedBaseline>),
    Read(Option<Baseline>),
}

/// A baseline of which no snapshot was read.
pub(super) struct UnreadBaseline {
    committed: CommittedBaseline,
    /// Samples that a limit or a tier left out.
    excluded: HashSet<String>,
}

impl PlanBaseline {
    /// Reads it whole if everything is asked, or if a gate compares a whole tier with it.
    pub(super) fn open(eval: &Eval, used: BaselineUse) -> Result<Self> {
        if used == BaselineUse::Ignore {
            return Ok(Self::Ignored);
        }
        let committed = CommittedBaseline::open(&eval.snapshot.folder)?;
        if used == BaselineUse::Later || asks_part(eval) {
            return Ok(Self::Unread(committed));
        }
        let decides = used == BaselineUse::Compare || needs_snapshots(eval);
        let read = committed.map(|it| it.read(decides));
        read.transpose().map(Self::Read)
    }

    pub(super) fn is_there(&self) -> bool {
        matches!(self, Self::Unread(Some(_)) | Self::Read(Some(_)))
    }

    /// Identifies the dataset that keys its hashes, if they are masked.
    pub(super) fn mask_id(&self) -> Option<&str> {
        match self {
            Self::Unread(Some(committed)) => committed.mask_id(),
            Self::Read(Some(baseline)) => baseline.mask_id.as_deref(),
            _ => None,
        }
    }
}

/// Whether a gate compares with the baseline, or each sample must pass its assertion.
fn needs_snapshots(eval: &Eval) -> bool {
    let tier = eval.requested_tier.as_deref();
    let gates = gate::with_default(eval.given_gates(), tier, true);
    let promote = eval.progressive.iter().flat_map(|it| &it.gate);
    eval.snapshot.assert.decides() || gates.iter().chain(promote).any(Gate::needs_baseline)
}

/// Whether a limit or a tier leaves samples out, and no gate compares the others with the baseline.
fn asks_part(eval: &Eval) -> bool {
    // Gates are ignored under a limit of the command line.
    eval.is_limited() || eval.requested_tier.is_some() && !needs_snapshots(eval)
}

impl Plan {
    /// Takes what was read of the baseline; the snapshots of its items, if none were.
    pub(super) fn take_baseline(
        &mut self,
        read: PlanBaseline,
        excluded: HashSet<String>,
        used: BaselineUse,
    ) -> Result<()> {
        match read {
            PlanBaseline::Unread(Some(committed)) if used == BaselineUse::Later => {
                self.unread = Some(UnreadBaseline {
                    committed,
                    excluded,
                });
                Ok(())
            }
            PlanBaseline::Unread(Some(committed)) => {
                let ids: Vec<_> = self.items.iter().map(|item| &*item.id).collect();
                let baseline = committed.of(&ids)?;
                self.compare_with(baseline, &excluded)
            }
            PlanBaseline::Read(Some(baseline)) => self.compare_with(baseline, &excluded),
            PlanBaseline::Ignored | PlanBaseline::Unread(None) | PlanBaseline::Read(None) => Ok(()),
        }
    }

    /// Reads the baseline of a plan that was loaded with [`BaselineUse::Later`]: the snapshots of the samples at these
    /// places, or all of them if everything is asked.
    ///
    /// # Errors
    /// When it cannot be read or compared.
    pub(crate) fn read_baseline(
        &mut self,
        is_asked: &dyn Fn(&Packed, usize) -> bool,
    ) -> Result<()> {
        let Some(UnreadBaseline {
            committed,
            excluded,
        }) = self.unread.take()
        else {
            return Ok(());
        };
        let items = self.items.iter().enumerate();
        let asked = items.filter(|(place, item)| is_asked(item, *place));
        let ids: Vec<_> = asked.map(|(_, item)| &*item.id).collect();
        let baseline = if ids.len() == self.items.len() && !asks_part(&self.eval) {
            committed.read(needs_snapshots(&self.eval))?
        } else {
            committed.of(&ids)?
        };
        self.compare_with(baseline, &excluded)
    }

    fn compare_with(&mut self, baseline: Baseline, excluded: &HashSet<String>) -> Result<()> {
        self.baseline = Some(baseline);
        self.check_baseline()?;
        self.notices.extend(self.other_reader());
        let compared = self.baseline.as_ref().filter(|_| self.compares());
        self.notices.extend(compared.and_then(changed_since));
        self.leave_out(excluded);
        Ok(())
    }

    /// Takes out of the baseline what a tier or the command line excludes: those samples are not missing. What the
    /// spec's own limit excludes is missing, and is not left out besides.
    fn leave_out(&mut self, excluded: &HashSet<String>) {
        let is_part = self.eval.requested_tier.is_some() || self.is_limited();
        let Some(baseline) = &mut self.baseline else {
            return;
        };
        if is_part {
            baseline.samples.retain(|id| !excluded.contains(id));
        } else {
            let missing = excluded.iter().filter(|id| baseline.id_of(id).is_some());
            self.left_out -= missing.count() as u64;
        }
    }

    /// Refuses a baseline that cannot be compared.
    fn check_baseline(&self) -> Result<()> {
        let Some(baseline) = &self.baseline else {
            return Ok(());
        };
        if !self.compares() {
            return Ok(());
        }
        let ids = self.items.iter().map(|item| &*item.id);
        baseline
            .check_comparable(&self.scorer_hash, ids)
            .map_err(|error| {
                let error = self.explain_scorers(baseline, error);
                let folder = self.eval.snapshot.folder.display();
                error.at(format!("eval `{}`, `{folder}`", self.eval.name))
            })
    }

    /// Whether anything compares a run with the baseline.
    fn compares(&self) -> bool {
        let asserts = matches!(self.eval.snapshot.assert, Assert::Baseline | Assert::Exact);
        asserts || self.gates.iter().any(Gate::needs_baseline)
    }

    /// The notice that the baseline was read by another version of the reader, if it was.
    fn other_reader(&self) -> Option<String> {
        let baseline = self.baseline.as_ref().filter(|_| self.compares())?;
        let used = UsedReaders::of(&self.extraction, &self.scorers);
        baseline.readers.notice(Readers::CURRENT, used)
    }
}
