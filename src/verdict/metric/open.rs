//! Gates left undecided by answers that a scorer could not judge, and by samples that errored or were never asked.

use super::Measured;
use super::figures::Figures;
use super::mean::Found;
use crate::data::Unread;
use crate::figure::counted;
use crate::verdict::gate::{CORRECTED, DROP, Gate, MEAN};

impl Figures<'_> {
    /// How many answers the scorer of a gate could not judge, and how far that leaves its figure open; `None` where it
    /// leaves nothing open.
    pub(in crate::verdict) fn unjudged(
        &self,
        gate: &Gate,
        measured: &Measured,
        threshold: f64,
    ) -> Option<String> {
        if !gate.metric().is_of_verdicts() || measured.low >= measured.high {
            return None;
        }
        let found = self.found(gate);
        let message = self.unjudged_text(scorer_of(gate, found.as_ref()))?;
        let range = range(gate, measured, threshold);
        Some(format!("{message}, so it is {range}"))
    }

    /// Whose detail the mean of a gate is.
    pub(in crate::verdict) fn found(&self, gate: &Gate) -> Option<Found> {
        let name = gate.metric().argument();
        match gate.metric().name {
            MEAN => self.find(name).ok(),
            CORRECTED => self.find_corrected(name).ok(),
            _ => None,
        }
    }

    /// What leaves the gate open, and what to type.
    pub(in crate::verdict) fn open(
        &self,
        gate: &Gate,
        measured: &Measured,
        threshold: f64,
    ) -> String {
        let range = range(gate, measured, threshold);
        if let Some(figures) = self
            .perturbed(gate.metric().argument())
            .filter(|_| gate.metric().is(DROP))
        {
            return format!(
                "{} missing, so it is {range}; ask again with `cargo evaltest run --resume RUN_DIR`",
                counted(figures.missing, "answer")
            );
        }
        // With several epochs, the counts are of answers.
        let noun = match self.group.epochs {
            Some(_) => "answer",
            None => "sample",
        };
        let skipped_text = |skipped| counted(skipped, &format!("skipped {noun}"));
        let unreported = self.unreported(gate.metric().name);
        if unreported > 0 {
            let answers = counted(unreported, "answer");
            let skipped = match self.group.skipped {
                0 => String::new(),
                skipped => format!(" and {}", skipped_text(skipped)),
            };
            return format!("{answers} without this figure{skipped}, so it is {range}");
        }
        let found = self.found(gate);
        let scorer = scorer_of(gate, found.as_ref());
        let (errored, skipped) = (self.group.errors, self.group.skipped);
        // Those that the deciding scorer could not judge are among the errors.
        let is_secondary = scorer.is_some() && scorer != self.decides();
        let (unjudged, name) = (self.unjudged_by(scorer), self.name_of(scorer));
        let samples = match (errored, skipped) {
            (_, 0) => counted(errored, &format!("errored {noun}")),
            (0, _) => skipped_text(skipped),
            _ => format!("{errored} errored and {}", skipped_text(skipped)),
        };
        let resume = "`cargo evaltest run --resume RUN_DIR`";
        let ask_again = match self.cure(scorer).filter(|_| self.unknown() == unjudged) {
            Some(cure) => cure,
            None => format!("ask again with {resume}"),
        };
        match (self.unknown(), unjudged, is_secondary) {
            (0, 0, _) => format!("this scorer could not judge some samples, so it is {range}"),
            (0, ..) => {
                let again = self.cure(scorer).unwrap_or_else(|| {
                    format!("judge again with {resume} (unreadable replies are not judged again)")
                });
                format!(
                    "{}, so it is {range}; {again}",
                    self.could_not_judge(scorer, unjudged)
                )
            }
            (_, 0, _) => format!("{samples}, so it is {range}; {ask_again}"),
            (_, _, true) => format!(
                "{samples}, and {unjudged} that {name} could not judge, so it is {range}; {ask_again}"
            ),
            (_, _, false) => format!(
                "{samples} ({unjudged} that {name} could not judge), so it is {range}; {ask_again}"
            ),
        }
    }

    /// What helps where a judge, the deciding one if none is named, replied to all that it gave no verdict on, so that
    /// nobody would be asked again: by the commonest of the reasons. `None` where asking again may help.
    pub(in crate::verdict) fn cure(&self, scorer: Option<&str>) -> Option<String> {
        let judge = self.facts.summary.judge.as_ref()?;
        let scorer = scorer.or(self.decides())?;
        let of_jury = judge.juries.get(scorer).map(|jury| &jury.reasons);
        let of_judge = || judge.scorers.get(scorer).map(|judge| &judge.reasons);
        let reasons = of_jury.or_else(of_judge)?;
        let read = reasons
            .iter()
            .map(|(word, count)| Some((Unread::of(word)?, *count)));
        let read: Vec<_> = read.collect::<Option<_>>()?;
        // The first of the most frequent ones.
        let (reason, _) = read.iter().rev().max_by_key(|(_, count)| *count)?;
        let (word, cure) = (reason.as_str(), reason.cure());
        Some(format!(
            "for `{word}` {cure}; then judge the stored answers again with `cargo evaltest rescore RUN_DIR --spec SPEC`"
        ))
    }

    /// How many answers a scorer could not judge; the deciding one, if none is named.
    pub(in crate::verdict) fn unjudged_by(&self, scorer: Option<&str>) -> u64 {
        match scorer.and_then(|scorer| self.group.scorers.get(scorer)) {
            Some(of) => of.unjudged,
            None => self.group.unjudged,
        }
    }

    /// How many answers, items or pairs a scorer could not judge, as text.
    fn could_not_judge(&self, scorer: Option<&str>, unjudged: u64) -> String {
        let summary = &self.facts.summary;
        let subject = scorer.map_or(summary.subject(), |scorer| summary.subject_of(scorer));
        let count = counted(unjudged, subject.noun());
        format!("{} could not judge {count}", self.name_of(scorer))
    }

    /// The same in words; `None` where it could judge all.
    pub(in crate::verdict) fn unjudged_text(&self, scorer: Option<&str>) -> Option<String> {
        let unjudged = self.unjudged_by(scorer);
        (unjudged > 0).then(|| self.could_not_judge(scorer, unjudged))
    }

    /// Why there is no figure: `none` if there was nothing to judge, `unknown` if answers still wait for their judges.
    pub(super) fn nothing(&self, none: &str, unknown: &str) -> String {
        match self.waiting() {
            None => none.to_owned(),
            Some(waiting) => format!("{unknown}: {waiting}"),
        }
    }

    /// Why verdicts are missing, if some skipped samples were answered and wait for their judges; these have no record
    /// yet.
    pub(super) fn waiting(&self) -> Option<String> {
        let summary = &self.facts.summary;
        let (not_judged, skipped) = (summary.not_judged, summary.skipped);
        if not_judged == 0 || self.group.skipped == 0 {
            return None;
        }
        let all = self.group.skipped;
        Some(if not_judged == skipped {
            format!("{all} answered and not judged")
        } else if all == skipped {
            let left = skipped.saturating_sub(not_judged);
            format!("{not_judged} answered and not judged, {left} not asked")
        } else {
            // In a slice, the two are not counted separately.
            format!("{all} not asked or not judged")
        })
    }

    /// A scorer (by default the deciding one) as text.
    fn name_of(&self, scorer: Option<&str>) -> String {
        let name = scorer.or(self.decides());
        name.map_or_else(|| "the scorer".to_owned(), |name| format!("`{name}`"))
    }
}

/// The scorer of a gate; `None` is the deciding one.
fn scorer_of<'a>(gate: &'a Gate, found: Option<&'a Found>) -> Option<&'a str> {
    let scorer = found.and_then(|found| found.scorer.as_deref());
    scorer.or(gate.metric().scorer())
}

/// The bounds of a figure, as text: `between 66.7 % and 100.0 %`, `10 or more`.
fn range(gate: &Gate, measured: &Measured, threshold: f64) -> String {
    let unit = gate.metric().entry().unit;
    let end = |end: f64| end.is_finite().then(|| unit.alongside(end, threshold));
    match [measured.low, measured.high].map(end) {
        [Some(low), Some(high)] => format!("between {low} and {high}"),
        [Some(low), None] => format!("{low} or more"),
        [None, Some(high)] => format!("{high} or less"),
        [None, None] => "unknown".to_owned(),
    }
}
