//! What came of a comparison in sentences, which the terminal and the page say alike: by the interval, and never by the
//! difference alone.

use super::{ComparedRun, RunPair};
use crate::figure::{Interval, P, Points, Share, or_dash};
use crate::text::clean;
use crate::verdict::check::{ComparedVerdict, ErrorBounds, PairedFigures};
use crate::verdict::compare::RunsComparison;

/// Below which p two runs are told apart.
pub(crate) const ALPHA: f64 = 0.05;

/// The sentences. The first is the answer, all others say how sure it is.
pub(crate) fn said([a, b]: [&ComparedRun; 2], compared: &RunsComparison) -> Vec<String> {
    let (name_a, name_b) = (&*a.letter, &*b.letter);
    let PairedFigures {
        n, worse, better, ..
    } = &compared.whole;
    let judged = compared.judge.as_ref();
    let apart = why_apart(&compared.whole);
    let but = match (judged, &apart) {
        (Some(_), _) => ", or its judge is another one",
        (None, Some(_)) => " by the interval alone",
        (None, None) => "",
    };
    let answer = match compared.whole.verdict {
        ComparedVerdict::Worse => format!("{name_b} is worse than {name_a}{but}"),
        ComparedVerdict::Better => format!("{name_b} is better than {name_a}{but}"),
        ComparedVerdict::NotToldApart => format!("{name_a} and {name_b} are not told apart"),
        ComparedVerdict::NothingToCompare => {
            let nothing =
                "nothing to compare: no sample is the same question with a verdict in both runs";
            let mut said = vec![nothing.to_owned()];
            said.extend(of_errors([name_a, name_b], compared));
            return said;
        }
    };
    let difference = spelled(&compared.whole).unwrap_or_default();
    let shares = [compared.whole.accuracy_a, compared.whole.accuracy_b].map(share);
    let mut said = vec![
        format!("{answer}: {difference} over {n} {}", samples(*n)),
        format!(
            "of these {} are correct in {name_a} and {} in {name_b}; {worse} became wrong, {better} became correct",
            shares[0], shares[1]
        ),
    ];
    if let Some((p, both)) = compared.whole.p.zip(compared.whole.p_two_sided) {
        said.push(format!(
            "{} that an agent that did not change does so badly or worse, as in `no_regression`; {} in either direction",
            P(p),
            P(both).cell()
        ));
    }
    said.extend(apart);
    if let Some(groups) = compared.whole.groups {
        said.push(format!(
            "the samples come in {groups} groups, and only groups are independent of each other"
        ));
    }
    if compared.whole.verdict == ComparedVerdict::NotToldApart {
        let drop = compared.seen.smallest_drop.map_or_else(
            || "no drop is".to_owned(),
            |drop| format!("a drop of {} points or more is", Points(drop).unsigned()),
        );
        said.push(format!(
            "with {n} {} {drop} seen with 80 % power, {}",
            samples(*n),
            compared.seen.assumption
        ));
    }
    said.extend(of_errors([name_a, name_b], compared));
    said.extend(judged.cloned());
    said
}

impl RunPair {
    pub(crate) fn has_flips(&self) -> bool {
        !(self.flips.worse.is_empty() && self.flips.better.is_empty())
    }

    /// What the pair says beside all others.
    pub(crate) fn said(&self) -> String {
        let verdict = self.comparison.whole.verdict;
        let is_sure = self.p_holm.is_some_and(|p| p < ALPHA);
        let verdict = match verdict {
            ComparedVerdict::Worse | ComparedVerdict::Better if !is_sure => {
                ComparedVerdict::NotToldApart
            }
            verdict => verdict,
        };
        match &self.comparison.judge {
            None => word(verdict).to_owned(),
            Some(_) => format!("{} (judged by another model)", word(verdict)),
        }
    }

    /// What of the two cannot be paired, in numbers.
    pub(crate) fn left_out(&self, runs: &[ComparedRun]) -> Option<String> {
        let [a, b] = self.places.map(|place| &*runs[place].letter);
        let told = self.unpaired.told([a, b]).into_iter();
        let told = told.map(|(what, ids)| format!("{} {what}", ids.count()));
        let told = told.collect::<Vec<_>>().join(", ");
        (!told.is_empty()).then(|| format!("{b} less {a} leaves out {told}"))
    }
}

/// Why the test says another thing than the interval; `None` where it does not.
fn why_apart(figures: &PairedFigures) -> Option<String> {
    let (p, both) = (figures.p?, figures.p_two_sided?);
    let is_told = matches!(
        figures.verdict,
        ComparedVerdict::Worse | ComparedVerdict::Better
    );
    let why = match (is_told, both < ALPHA) {
        (true, false) if p < ALPHA => {
            "the interval is approximate: the exact test does not tell the two apart in either direction at 0.05, and does \
             on the side of a loss alone, which is what a gate asks"
        }
        (true, false) => {
            "the interval is approximate: the exact test does not tell the two apart at 0.05"
        }
        (false, true) => "the interval is approximate: the exact test tells the two apart at 0.05",
        (false, false) if p < ALPHA => {
            "a gate `no_regression` would be red all the same: it allows for 0.05 on the side of a loss, and the interval \
             for 0.025 on each side"
        }
        _ => return None,
    };
    Some(why.to_owned())
}

/// Says of rows that have p and interval, where the one tells two runs apart and the other does not, why that can be.
pub(crate) fn rows_apart<'a>(
    rows: impl IntoIterator<Item = (&'a str, &'a PairedFigures)>,
) -> Option<String> {
    let is_apart = |figures: &PairedFigures| {
        let is_told = matches!(
            figures.verdict,
            ComparedVerdict::Worse | ComparedVerdict::Better
        );
        figures.p_two_sided.is_some_and(|p| (p < ALPHA) != is_told)
    };
    let rows = rows.into_iter().filter(|(_, figures)| is_apart(figures));
    let names: Vec<_> = rows.map(|(name, _)| format!("`{}`", clean(name))).collect();
    (!names.is_empty()).then(|| {
        format!(
            "p and interval do not say the same of {}: both are of the same answers, but p is an exact test of whether these              samples are answered otherwise, and the interval is approximate and allows for other samples too",
            names.join(", ")
        )
    })
}

/// How low and how high the difference could be, and whether that would say something else; nothing without an error.
fn of_errors([a, b]: [&str; 2], compared: &RunsComparison) -> Vec<String> {
    let Some(bounds) = &compared.error_bounds else {
        return Vec::new();
    };
    let ErrorBounds {
        errors_a,
        errors_b,
        lowest,
        highest,
        ..
    } = bounds;
    let whose = [(errors_a, a), (errors_b, b)].into_iter();
    let whose = whose.filter(|(count, _)| **count > 0);
    let whose: Vec<_> = whose
        .map(|(count, run)| format!("{count} in {run}"))
        .collect();
    let all = errors_a + errors_b;
    let answers = if all == 1 {
        "1 answer has"
    } else {
        &format!("{all} answers have")
    };
    let seen = compared.whole.verdict;
    let ends = [lowest.verdict, highest.verdict];
    let says = if ends == [seen; 2] {
        "so they change nothing of what is said".to_owned()
    } else {
        let others = ends.into_iter().filter(|verdict| *verdict != seen);
        let mut others: Vec<_> = others
            .map(|verdict| match verdict {
                ComparedVerdict::Worse | ComparedVerdict::Better => {
                    format!("{b} {}", word(verdict))
                }
                _ => word(verdict).to_owned(),
            })
            .collect();
        others.dedup();
        format!(
            "so they could change what is said: {}",
            others.join(", or ")
        )
    };
    vec![
        format!(
            "errors: {answers} no verdict ({}); with them the difference is from {} to {}",
            whose.join(", "),
            end(lowest),
            end(highest)
        ),
        says,
    ]
}

/// `-8.3 points (-20.1 to +3.0, p = 0.13)`
fn end(figures: &PairedFigures) -> String {
    let [points, interval] = difference_cells(figures);
    let p = figures
        .p
        .map(P)
        .map_or_else(String::new, |p| format!(", {p}"));
    format!("{points} points ({interval}{p})")
}

/// `-4.2 points (95 % confidence interval -9.1 to +0.8)`
fn spelled(figures: &PairedFigures) -> Option<String> {
    let (value, ci95) = (figures.difference?, figures.difference_ci95?);
    Some(Points(value).with_ci95(ci95))
}

fn samples(count: u64) -> &'static str {
    if count == 1 { "sample" } else { "samples" }
}

/// A share as it is shown; a dash for none.
pub(crate) fn share(share: Option<f64>) -> String {
    or_dash(share.map(Share))
}

/// The difference and its interval, in points.
pub(crate) fn difference_cells(figures: &PairedFigures) -> [String; 2] {
    let ends = figures.difference_ci95;
    [
        or_dash(figures.difference.map(Points)),
        or_dash(ends.map(|ends| Interval(ends.map(Points)))),
    ]
}

/// What an interval says, in a word.
fn word(verdict: ComparedVerdict) -> &'static str {
    match verdict {
        ComparedVerdict::Worse => "worse",
        ComparedVerdict::Better => "better",
        ComparedVerdict::NotToldApart => "not told apart",
        ComparedVerdict::NothingToCompare => "nothing to compare",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_whose_p_and_interval_differ_is_named() {
        let check = |verdict, p: Option<f64>, expect: bool| {
            let figures = PairedFigures {
                n: 4,
                verdict,
                accuracy_a: None,
                accuracy_b: None,
                difference: None,
                difference_ci95: None,
                p: None,
                p_two_sided: p,
                worse: 0,
                better: 0,
                groups: None,
            };
            let told = rows_apart([("one", &figures)]);
            assert_eq!(told.is_some(), expect, "{figures:?}");
            assert!(told.is_none_or(|told| told.contains("say the same of `one`: ")));
        };
        check(ComparedVerdict::NotToldApart, Some(0.0239), true);
        check(ComparedVerdict::NotToldApart, Some(0.3), false);
        check(ComparedVerdict::Worse, Some(0.0239), false);
        check(ComparedVerdict::Better, Some(0.06), true);
        check(ComparedVerdict::NothingToCompare, None, false);
    }
}
