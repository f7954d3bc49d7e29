//! The message of `no_regression` for people, and its figures in `summary.json`.

use crate::figure::{Interval, P, Percent, Points, Share, counted};
use crate::printable::on_one_line;
use crate::stats;
use crate::stats::ExactTest;
use crate::text::shell_word;
use crate::verdict::baseline::ways::WayChanges;
use crate::verdict::baseline::{Pair, flipped, right_of};
use crate::verdict::result::Regression;
use crate::verdict::result::Verdict;

use super::paired::{As, Paired, RightShare};
use super::{BaselineComparison, Decided, TakenAnalysis, sequential_p};
use crate::verdict::metric::{Figures, Unit};

/// The power at which the smallest detectable drop is given.
pub(super) const POWER: f64 = 0.8;

/// The probability beyond each end of a 95 % confidence interval.
const INTERVAL_SIDE: f64 = 0.025;

/// The most ids in a message; the result has all.
const NAMED: usize = 10;

impl Decided<'_> {
    /// The comparison as numbers and ids.
    pub(super) fn regression(&self) -> Regression {
        let (baseline, pairing) = (self.comparison.baseline, &self.comparison.pairing);
        let seen = self.comparison.seen();
        let pairs = &pairing.pairs;
        let ids = |wanted: &dyn Fn(&Pair<'_>) -> bool| {
            let wanted = pairs.iter().filter(wanted);
            wanted.map(|pair| pair.id.to_owned()).collect::<Vec<_>>()
        };
        let flips = |worse: bool| ids(&|pair| flipped(pair.before, pair.now) == Some(worse));
        let (became_wrong, became_correct) = (flips(true), flips(false));
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let count = seen.pairs();
        let (worse, better) = (became_wrong.len() as u64, became_correct.len() as u64);
        let [before, now] = seen.shares();
        let difference = seen.difference();
        Regression {
            baseline_run: baseline.run_ids(),
            baseline_runs: baseline.runs.iter().map(|run| run.run_id.clone()).collect(),
            pairs: count,
            baseline_accuracy: before.value,
            baseline_ci95: before.ci95,
            accuracy: now.value,
            accuracy_ci95: now.ci95,
            worse,
            better,
            p: seen.p(self.comparison.exact),
            p_adjusted: Some(self.comparison.test(As::Nothing).p),
            drop: seen.drop(),
            difference: difference.map(|difference| difference.value),
            difference_ci95: difference.map(|difference| difference.ci95),
            smallest_drop: (!self.comparison.is_powerless())
                .then(|| seen.smallest_drop(self.comparison.strictness(), POWER))
                .flatten(),
            assumption: assumption(seen, worse, better),
            became_wrong,
            became_correct,
            fell_most: self.fell_most(),
            unknown: ids(&|pair| pair.now.contains(&None)),
            added: owned(&pairing.added),
            removed: owned(&pairing.removed),
            changed: owned(&pairing.changed),
            moved: owned(&pairing.moved),
            warning: self.comparison.changed_since(),
        }
    }

    /// If a red gate has no flipped sample, the ids whose share of right answers fell most.
    fn fell_most(&self) -> Vec<String> {
        let pairs = &self.comparison.pairing.pairs;
        let is_worse = |pair: Pair<'_>| flipped(pair.before, pair.now) == Some(true);
        if self.verdict != Verdict::Failed || pairs.iter().any(is_worse) {
            return Vec::new();
        }
        let share = |answers: &[Option<bool>]| {
            let answers = right_of(answers);
            f64::from(answers.right) / f64::from(answers.of.max(1))
        };
        let answered = pairs.iter().filter(|pair| right_of(pair.now).of > 0);
        let falls = answered.map(|pair| (share(pair.before) - share(pair.now), pair.id));
        let mut falls: Vec<_> = falls.filter(|(fall, _)| *fall > 0.0).collect();
        // Equal falls stay in order.
        falls.sort_by(|a, b| b.0.total_cmp(&a.0));
        let named = falls.iter().take(NAMED);
        named.map(|(_, id)| (*id).to_owned()).collect()
    }

    pub(super) fn message(&self, found: &Regression) -> String {
        let mut lines = vec![self.first_line(found)];
        lines.extend(self.epochs_note());
        lines.extend(self.comparison.seen().group_count().map(|groups| {
            format!(
                "the samples come in {groups} groups, and only groups are independent of each other"
            )
        }));
        let [before, now] = self.comparison.seen().shares();
        lines.extend(accuracies(before, now));
        lines.extend(self.difference(found));
        lines.extend(self.prompts());
        lines.extend(self.way_changes());
        // If everything is masked, each sample looks changed.
        let is_known = self.comparison.hidden().is_none();
        let changed: &[_] = if is_known { &found.changed } else { &[] };
        let different = if self.comparison.baseline.of_prompts {
            "not compared, input, prompt or ground truth changed"
        } else {
            "not compared, input or ground truth changed"
        };
        let subject = self.comparison.facts.summary.subject();
        let listed: [(_, &[_]); 8] = [
            (subject.became_bad(), &found.became_wrong),
            ("fell most", &found.fell_most),
            (subject.became_good(), &found.became_correct),
            ("errored or skipped", &found.unknown),
            ("not compared, not in the baseline", &found.added),
            ("not compared, gone", &found.removed),
            ("not compared, in another slice", &found.moved),
            (different, changed),
        ];
        for (title, ids) in listed {
            if !ids.is_empty() {
                lines.push(format!("{title}: {}", name_some(ids)));
            }
        }
        if !found.unknown.is_empty() {
            let end = |errors: As| {
                P(self.comparison.test(errors).p).at_level(self.comparison.gate.level())
            };
            let [wrong, right] = [As::Wrong, As::Right].map(end);
            lines.push(if wrong == right {
                format!("{wrong} whether errored and skipped samples count as wrong or as correct")
            } else {
                format!("{wrong} if errored and skipped samples count as wrong, {right} if they count as correct")
            });
        }
        lines.push(format!(
            "{} {}{}, {}",
            counted(found.pairs, "pair"),
            power(found.smallest_drop),
            at_level(self.comparison.together),
            found.assumption
        ));
        // In continuous integration it makes the gate inconclusive instead.
        let warning = found.warning.iter().filter(|_| !self.comparison.facts.ci);
        lines.extend(warning.map(|warning| format!("warning: {warning}")));
        lines.join("\n")
    }

    fn first_line(&self, found: &Regression) -> String {
        if found.pairs == 0 {
            return self.open.clone().unwrap_or_default();
        }
        let gate = self.comparison.gate;
        let alpha = gate.level();
        let adjusted = found.p_adjusted.unwrap_or(found.p);
        let mut p = P(found.p).at_level(alpha);
        let analysis = self.comparison.analysis;
        let sequential = sequential_p(found.p, analysis);
        if let Some(TakenAnalysis { at, .. }) = analysis {
            p = format!(
                "{p} at look {} of {}, {} for all looks together",
                at.number,
                at.of,
                P(sequential).cell_at_level(alpha)
            );
        }
        if adjusted.total_cmp(&sequential).is_ne() {
            p = format!(
                "{p}, {} corrected for the other gates against the baseline (Holm)",
                P(adjusted).cell_at_level(alpha)
            );
        }
        let sign = if adjusted < alpha { "<" } else { ">=" };
        let subject = self.comparison.facts.summary.subject();
        let mut text = format!(
            "{} of {} {}, {} {}, {p} {sign} alpha {alpha}",
            found.worse,
            counted(found.pairs, "compared sample"),
            subject.became_bad(),
            found.better,
            subject.became_good(),
        );
        if let Some((max, drop)) = gate.max_drop.zip(found.drop) {
            let sign = if drop > max { ">" } else { "<=" };
            let drop = Unit::Drop.alongside(drop, max);
            text = format!("{text}, drop {drop} {sign} max_drop {}", Percent(max));
        }
        match (&self.open, self.verdict) {
            (Some(open), _) => format!("{open}\n{text}"),
            _ if self.comparison.was_green() => {
                format!("{text}; it passed an earlier look and stays passed")
            }
            (None, Verdict::Inconclusive) => {
                let (unjudged, cure) = self.unjudged();
                let again = cure.unwrap_or_else(|| {
                    "ask again with `cargo evaltest run --resume RUN_DIR`".to_owned()
                });
                format!(
                    "{text}, undecided: {}{unjudged}; {again}",
                    counted(found.unknown.len() as u64, "errored or skipped sample")
                )
            }
            _ => text,
        }
    }

    /// How many answers the scorer could not judge, if any; and the remedy, if nothing else is missing.
    fn unjudged(&self) -> (String, Option<String>) {
        let Decided { comparison, .. } = self;
        let figures = Figures::of(comparison.facts, comparison.gate.slice.as_ref());
        let Some(figures) = figures else {
            return (String::new(), None);
        };
        let found = figures.unjudged_text(None);
        let found = found.map_or_else(String::new, |found| format!(" ({found})"));
        let is_all = figures.unjudged_by(None) == figures.unknown();
        (found, figures.cure(None).filter(|_| is_all))
    }

    /// The paired difference; with the reason if its interval and the test disagree.
    fn difference(&self, found: &Regression) -> Option<String> {
        let (value, ci95) = (found.difference?, found.difference_ci95?);
        let why = self.comparison.why_apart(found, ci95[1] < 0.0);
        let difference = Points(value).with_ci95(ci95);
        Some(format!(
            "paired difference: {difference}{}",
            why.unwrap_or_default()
        ))
    }

    /// A different prompt is configuration, like a different agent: runs are compared, with a message.
    fn prompts(&self) -> Option<String> {
        let before = self.comparison.baseline.prompt.as_ref()?;
        let now = self.comparison.facts.prompt.as_ref()?;
        let (before, now) = (printable(before), printable(now));
        (before != now)
            .then(|| format!("the prompt changed since the baseline: {before} before, {now} now"))
    }

    /// Of a red gate: how many of the flips changed the way they were found.
    fn way_changes(&self) -> Option<String> {
        if self.verdict != Verdict::Failed {
            return None;
        }
        let eval = &self.comparison.facts.summary.eval;
        WayChanges::of(self.comparison.pairing.pairs.iter()).message(|id| {
            let words = [eval, id].map(|word| shell_word(&printable(word)));
            format!("cargo evaltest show {}", words.join(" "))
        })
    }

    /// The numbers of answers, unless it is one on both sides.
    fn epochs_note(&self) -> Option<String> {
        if self.comparison.baseline.majorities {
            return Some(
                "an older version made the baseline and stored only majority verdicts, so only these are compared: \
                 accept a run with `cargo evaltest accept` to compare all answers"
                    .to_owned(),
            );
        }
        let pairs = &self.comparison.pairing.pairs;
        let most = |side: fn(Pair<'_>) -> usize| pairs.iter().map(side).max().unwrap_or(0);
        let (before, now) = (most(|pair| pair.before.len()), most(|pair| pair.now.len()));
        if before.max(now) < 2 {
            return None;
        }
        let runs = match self.comparison.baseline.runs.len() {
            0 | 1 => String::new(),
            runs => format!(" ({runs} runs)"),
        };
        let repetition = self.comparison.repetition;
        let compared = repetition.map_or("all answers are compared".to_owned(), |it| it.message());
        Some(format!(
            "{compared}; {} per sample in the baseline{runs}, {now} now; a sample became wrong if more than half of its \
             answers were correct and at most half are now",
            counted(before as u64, "answer")
        ))
    }
}

impl BaselineComparison<'_> {
    /// Why the test and the interval (below 0 or not) disagree; `None` if they agree.
    fn why_apart(&self, found: &Regression, is_below: bool) -> Option<String> {
        let (alpha, mid_p) = (self.gate.level(), self.exact == ExactTest::MidP);
        let adjusted = found.p_adjusted?;
        let approximate = "; the interval is approximate, and the exact test decides".to_owned();
        let levels = format!(
            "; the test is one-sided at {alpha}, the interval has {INTERVAL_SIDE} on each side, and the test decides"
        );
        match (adjusted < alpha, is_below) {
            (true, false) if found.p >= INTERVAL_SIDE => Some(levels),
            (true, false) if self.seen().group_count().is_some() => Some(
                "; the interval assumes that the samples of a group change together and may be too wide; the test, \
                 which does not assume this, decides"
                    .to_owned(),
            ),
            (true, false) if mid_p => Some("; the interval is approximate, and the test decides".to_owned()),
            (true, false) => Some(approximate),
            (false, true) if found.p >= alpha && alpha < INTERVAL_SIDE => Some(levels),
            (false, true) if found.p >= alpha => Some(approximate),
            (false, true) if sequential_p(found.p, self.analysis) >= alpha => {
                Some("; the interval covers this look alone, and the test covers all looks".to_owned())
            }
            (false, true) => Some(
                "; the interval covers this gate alone, and the test covers all gates against the baseline (Holm)"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// The smallest drop that a comparison detects: `can detect a drop of 5.0 points or more with 80 % power`.
pub(crate) fn power(smallest_drop: Option<f64>) -> String {
    smallest_drop.map_or_else(
        || "cannot detect any drop with 80 % power".to_owned(),
        |drop| {
            let drop = Points(drop).unsigned();
            format!("can detect a drop of {drop} points or more with 80 % power")
        },
    )
}

/// The effect of other gates, of which there are so many with this one, on what is seen.
pub(crate) fn at_level(together: usize) -> String {
    match together {
        0 | 1 => String::new(),
        all => format!(
            " at the strictest level for {all} gates against the baseline (alpha / {all}, Holm)"
        ),
    }
}

/// The assumption about chance behind the smallest detectable drop.
pub(super) fn assumption(seen: &Paired, worse: u64, better: u64) -> String {
    let (noise, from) = if seen.has_several_answers() {
        let noise = seen.noise().unwrap_or(0.0);
        (noise, "estimated from the several answers per sample")
    } else {
        let (chance, from) = if better <= worse {
            (2 * better, "the share that became correct here")
        } else {
            (better + worse, "half the share that changed here")
        };
        let noise = stats::ratio(chance, 2 * seen.pairs()).unwrap_or(0.0);
        (noise, from)
    };
    let free = match seen.group_count() {
        None => "samples flip independently and",
        Some(_) => {
            "groups flip by chance as they did here, a regression breaks single samples of any group, and"
        }
    };
    let what = match seen.group_count() {
        None => "",
        Some(_) => " of samples",
    };
    let noise = (noise * 1e3).round() / 10.0;
    format!("if {free} {noise} %{what} flip by chance in each direction ({from})")
}

fn accuracies(before: RightShare, now: RightShare) -> Option<String> {
    let [before_ci95, now_ci95] = [before, now].map(|side| Some(Interval(side.ci95?.map(Share))));
    Some(format!(
        "accuracy of the compared samples: {} in the baseline ({}), {} now ({})",
        Share(before.value?),
        before_ci95?.ci95(),
        Share(now.value?),
        now_ci95?
    ))
}

pub(super) fn name_some(ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().take(NAMED).map(|id| printable(id)).collect();
    match ids.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Escapes an id: ids come from datasets and must not control a terminal or look like something else.
pub(super) fn printable(id: &str) -> String {
    on_one_line(id)
}
