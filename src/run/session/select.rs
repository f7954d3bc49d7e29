//! Which samples a run asks, and whether an earlier run can be continued.

use std::collections::{HashMap, HashSet};

use crate::data::dataset::shuffle;
use crate::error::{Error, Result};
use crate::eval::plan::Plan;
use crate::run::dry_run::lost;
use crate::run::shard::ShardCoverage;
use crate::store::files::JOURNAL;
use crate::store::{Manifest, RunDir};
use crate::system::project::display;
use crate::text::{clean, shell_word};

/// The samples that a run asks.
pub(in crate::run) struct Selected {
    /// Their places, in dataset order.
    places: Vec<usize>,
    /// The places in asking order.
    queue: Vec<usize>,
    /// How often each is asked.
    trials: usize,
}

/// The error for an empty selection.
fn nothing(plan: &Plan) -> Error {
    let name = &plan.eval.name;
    match plan.eval.limits.limit {
        Some(limit) => Error::usage(format!(
            "eval `{name}`: no sample is selected among the first {limit} (`limits.limit`)"
        ))
        .hint("remove the limit: only the samples that it allows can be selected"),
        None => Error::usage(format!("eval `{name}`: no sample is selected")).hint(
            "`--filter` searches the names of tests, not the questions; names: cargo evaltest list",
        ),
    }
}

impl Selected {
    /// The samples with these ids or of this part; all of the plan's if neither is given.
    pub(in crate::run) fn of(
        plan: &Plan,
        only: Option<&HashSet<String>>,
        coverage: Option<&ShardCoverage>,
    ) -> Result<Self> {
        let is_wanted = |place: &usize| match only {
            Some(only) => only.contains(&*plan.items[*place].id),
            None => true,
        };
        let places: Vec<usize> = match coverage {
            Some(coverage) => coverage.places.clone(),
            None => (0..plan.items.len()).collect(),
        };
        let places: Vec<usize> = places.into_iter().filter(is_wanted).collect();
        if only.is_some() && places.is_empty() {
            return Err(nothing(plan));
        }
        let mut is_selected = vec![false; plan.items.len()];
        for &place in &places {
            is_selected[place] = true;
        }
        let queue = plan.order.iter().copied();
        let queue = queue.filter(|&place| is_selected[place]).collect();
        Ok(Self {
            queue,
            places,
            trials: plan.trials(),
        })
    }

    /// Shuffles them, keeping the samples of a group together; a sample without a group is its own. Returns the number
    /// of samples up to the end of each group.
    pub(in crate::run) fn shuffle_groups(
        &mut self,
        seed: u64,
        group: impl Fn(usize) -> Option<String>,
    ) -> Vec<usize> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known = HashMap::new();
        for &place in &self.places {
            let new = groups.len();
            let at = match group(place) {
                Some(name) => *known.entry(name).or_insert(new),
                None => new,
            };
            if at == new {
                groups.push(Vec::new());
            }
            groups[at].push(place);
        }
        shuffle(&mut groups, seed);
        let mut end = 0;
        let ends = groups.iter().map(|group| {
            end += group.len();
            end
        });
        let ends = ends.collect();
        self.queue = groups.concat();
        ends
    }

    /// The first samples in asking order.
    pub(in crate::run) fn first(&self, samples: usize) -> Self {
        let queue = self.queue[..samples.min(self.queue.len())].to_vec();
        let mut places = queue.clone();
        places.sort_unstable();
        Self {
            places,
            queue,
            trials: self.trials,
        }
    }

    /// The places of the samples in asking order.
    pub(in crate::run) fn queue(&self) -> &[usize] {
        &self.queue
    }

    /// How many samples.
    pub(in crate::run) fn samples(&self) -> usize {
        self.places.len()
    }

    /// How many questions: every sample in each of its epochs, and perturbed.
    pub(in crate::run) fn questions(&self) -> usize {
        self.queue.len() * self.trials
    }

    /// The slot of the question at this position. The epochs of a sample are adjacent, so a run that stops early has
    /// whole samples.
    pub(in crate::run) fn at(&self, turn: usize) -> Option<usize> {
        let place = self.queue.get(turn / self.trials)?;
        Some(place * self.trials + turn % self.trials)
    }

    /// The slots of all questions, in dataset order.
    pub(in crate::run) fn slots(&self) -> impl Iterator<Item = usize> {
        let slots = |&place: &usize| place * self.trials..(place + 1) * self.trials;
        self.places.iter().flat_map(slots)
    }
}

/// What to do with an existing run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Aim {
    /// Continue it.
    Resume,
    /// Restore its files without asking.
    Restore,
}

/// Refuses to continue or restore a run whose questions or judges have changed.
pub(in crate::run) fn check_resumable(
    plan: &Plan,
    manifest: &Manifest,
    dir: &RunDir,
    aim: Aim,
) -> Result<()> {
    let (be_done, undo) = match aim {
        Aim::Resume => (
            "be resumed",
            "undo the change, or start a new run without `--resume`",
        ),
        Aim::Restore => (
            "be rebuilt from its journal",
            "undo the change: the journal has only the answers, the rest comes from the spec and its dataset",
        ),
    };
    let refusal = |what: &str| {
        Error::usage(format!(
            "run `{}` cannot {be_done}: {what} has changed since",
            dir.path().display()
        ))
    };
    let refuse = |what: &str| Err(refusal(what).hint(undo));
    if let Some(parent) = &manifest.parent {
        return Err(Error::usage(format!(
            "run `{}` asked nothing: it scored the answers of another run again",
            dir.path().display()
        ))
        .hint(format!(
            "continue the other run: cargo evaltest run --resume {}",
            parent.display()
        )));
    }
    if aim == Aim::Resume && manifest.artifacts.contains_key(JOURNAL) && !dir.file(JOURNAL).exists()
    {
        // The run was finished: everything it paid for would be asked again.
        let name = display(dir.path());
        return Err(Error::usage(format!(
            "run `{name}` cannot be resumed: its `{JOURNAL}` is missing, so every sample would be asked again"
        ))
        .hint(format!(
            "ask only failed samples: cargo evaltest run --failed {}; or copy the file again from the original directory",
            shell_word(&name)
        )));
    }
    if manifest.eval != plan.eval.name {
        return Err(Error::usage(format!(
            "run `{}` is of eval `{}`, not of `{}`",
            dir.path().display(),
            manifest.eval,
            plan.eval.name
        ))
        .hint("use the spec that the run was made with"));
    }
    if manifest.dataset_hash != plan.dataset_hash {
        return refuse("the dataset or the prompt");
    }
    if manifest.scorers_hash != plan.scorers_hash {
        let hint = match &plan.eval.spec {
            // An eval defined only by flags has no file.
            Some(spec) if aim == Aim::Resume && spec.is_file() => format!(
                "undo the change, or score the existing answers with it: cargo evaltest rescore {} --spec {}",
                dir.path().display(),
                spec.display()
            ),
            _ => undo.to_owned(),
        };
        return Err(refusal("the scorer or the extraction").hint(hint));
    }
    // The scorers are the same: the hash can only differ in which failures count as wrong.
    if manifest.scorer_hash != plan.scorer_hash {
        return refuse("what `errors` counts as wrong");
    }
    if manifest.perturb != plan.eval.perturb {
        return refuse("`perturb`");
    }
    if manifest.epochs != plan.eval.epochs {
        return Err(Error::usage(format!(
            "run `{}` has {} epochs and cannot {be_done} with {}",
            dir.path().display(),
            manifest.epochs,
            plan.eval.epochs
        ))
        .hint(format!("write `--epochs {}`", manifest.epochs)));
    }
    if aim == Aim::Resume && !manifest.merged.is_empty() {
        // A merge does not need the journals of its parts.
        let lost = lost(plan, dir)?;
        if let Some(first) = lost.first() {
            let name = display(dir.path());
            return Err(Error::usage(format!(
                "run `{name}` cannot be resumed: a journal of its parts was lost or damaged, and {} of its samples, `{}` the \
                 first of them, would be asked again",
                lost.len(),
                clean(first)
            ))
            .hint(format!(
                "ask only failed samples: cargo evaltest run --failed {}",
                shell_word(&name)
            )));
        }
    }
    Ok(())
}

/// The error for a run whose agent has changed.
pub(in crate::run) fn changed_agent(dir: &RunDir) -> Error {
    Error::usage(format!(
        "run `{}` cannot be resumed: the agent, its program or an option has changed since",
        dir.path().display()
    ))
    .hint(
        "undo the change, or start a new run without `--resume`; with `--allow-changed-agent` it continues and cannot \
         become a baseline",
    )
}
