//! Notices about an eval to read before paying for a run.

use std::sync::Arc;

use super::item::Packed;
use super::scorers::scorer_of_benchmark;
use super::truths::Truths;
use super::{Plan, secret, unset};
use crate::data::conversation::Script;
use crate::eval::Eval;
use crate::scorer;
use crate::scorer::Scorer;
use crate::scorer::ask::model_family::{self, Answerer};
use crate::scorer::compose::per_sample;
use crate::text::setting::Override;

impl Plan {
    /// Notices before a paid run: about the dataset, the agent and the judges.
    pub(crate) fn worth_knowing(&self) -> Vec<String> {
        let mut notices = self.notices.clone();
        notices.extend(unset::notice(&self.eval));
        let answerer = Answerer::of(&*self.eval.agent);
        notices.extend(model_family::notices(&answerer, &self.scorers));
        notices.extend(scorer::notices(&self.scorers));
        let clean = |notice: String| self.redactor.text(&notice, &mut 0).into_owned();
        notices.into_iter().map(clean).collect()
    }

    /// Notices for variables whose value was redacted in more than one sample: the name of a model or a city can be an
    /// answer.
    pub(crate) fn often_blanked(&self) -> Vec<String> {
        secret::often_blanked(&self.redactor, &self.eval.config)
    }
}

/// A notice if samples name their own scorers and the eval names one for all.
pub(super) fn unused_scorers(eval: &Eval, items: &[Packed]) -> Option<String> {
    let own = scorer_of_benchmark(eval).filter(|own| own.name() == per_sample::NAME);
    let is_used = |scorer: &Arc<dyn Scorer>| scorer.name() == per_sample::NAME;
    let is_replaced = !eval.scorers.is_empty() && !eval.scorers.iter().any(is_used);
    own.filter(|_| is_replaced && items.iter().any(names_scorer))
        .map(|_| {
            "the scorers of single samples are ignored, because the eval has a scorer".to_owned()
        })
}

/// Whether a sample or a turn of it names a scorer.
fn names_scorer(item: &Packed) -> bool {
    item.sample().is_ok_and(|sample| {
        let turns = Script::of(&sample).unwrap_or_default().turns;
        let own = sample.metadata.get(per_sample::KEY);
        own.is_some_and(|own| *own != per_sample::DEFAULT)
            || turns.iter().any(|turn| turn.scorer.is_some())
    })
}

/// A notice of the shuffle seed, if none was given.
pub(super) fn drawn_seed(eval: &Eval) -> Option<String> {
    let mut overrides = eval.overrides.iter().rev();
    let drawn = overrides.find(|change| change.key == Override::DRAWN_SEED)?;
    let seed = drawn
        .value
        .as_u64()
        .filter(|seed| eval.shuffle == Some(*seed))?;
    Some(format!(
        "the samples are shuffled with the random seed {seed}; `--seed {seed}` repeats this order"
    ))
}

/// A notice if asking again cannot give anything new.
pub(super) fn repeated_answers(eval: &Eval) -> Option<String> {
    (eval.epochs > 1 && !eval.agent.varies_by_epoch()).then(|| {
        format!(
            "the agent gives the same answer each time, so {} epochs add nothing to one",
            eval.epochs
        )
    })
}

/// A notice of the samples that cannot be asked, before anything is paid for.
pub(super) fn missing_attachments(items: &[Packed], truths: &Truths) -> Option<String> {
    let broken = |item: &&Packed| item.files.iter().any(|file| truths.resolve(file).is_err());
    let mut broken = items.iter().filter(broken);
    let first = broken.next()?;
    let count = 1 + broken.count();
    Some(format!(
        "{count} of {} samples will fail because their attachment cannot be read, first `{}`",
        items.len(),
        first.id
    ))
}
