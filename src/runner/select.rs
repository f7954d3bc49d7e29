//! Which samples a run asks, and whether an earlier run can be continued.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::store::{Manifest, RunDir};

/// The places of the samples to ask.
pub(super) fn select(plan: &Plan, only: Option<&HashSet<String>>) -> Result<Vec<usize>> {
    let Some(only) = only else {
        return Ok((0..plan.items.len()).collect());
    };
    let is_wanted = |place: &usize| only.contains(&*plan.items[*place].id);
    let places: Vec<usize> = (0..plan.items.len()).filter(is_wanted).collect();
    if places.is_empty() {
        return Err(
            Error::usage(format!("eval `{}`: no sample is selected", plan.eval.name))
                .hint("cargo evaltest list"),
        );
    }
    Ok(places)
}

/// Refuses to continue a run whose questions, agent or judges have changed.
pub(super) fn check_resumable(plan: &Plan, manifest: &Manifest, dir: &RunDir) -> Result<()> {
    let refuse = |what: &str| {
        Err(Error::usage(format!(
            "run `{}` cannot be resumed: {what} has changed since",
            dir.path().display()
        ))
        .hint("undo the change, or start a new run without `--resume`"))
    };
    if let Some(parent) = &manifest.parent {
        return Err(Error::usage(format!(
            "run `{}` asked nothing: it scored the answers of another run again",
            dir.path().display()
        ))
        .hint(format!(
            "continue that one: cargo evaltest run --resume {}",
            parent.display()
        )));
    }
    if manifest.eval != plan.eval.name {
        return Err(Error::usage(format!(
            "run `{}` is of eval `{}`, not of `{}`",
            dir.path().display(),
            manifest.eval,
            plan.eval.name
        ))
        .hint("name the spec that the run was made with"));
    }
    if manifest.dataset_hash != plan.dataset_hash {
        return refuse("the dataset or the prompt");
    }
    if manifest.scorers_hash != plan.scorers_hash {
        return refuse("the scorer or the extraction");
    }
    if manifest.epochs != plan.eval.epochs {
        return Err(Error::usage(format!(
            "run `{}` has {} epochs and cannot be resumed with {}",
            dir.path().display(),
            manifest.epochs,
            plan.eval.epochs
        ))
        .hint(format!("say `--epochs {}`", manifest.epochs)));
    }
    if manifest.request_hash != plan.request_hash {
        return refuse("the agent in the spec");
    }
    Ok(())
}
