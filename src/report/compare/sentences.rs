//! The conclusions of a comparison in sentences, based on the interval rather than the difference alone.

use super::{ComparedRun, RunPair};
use crate::figure::{Interval, P, Points, Share, counted, or_dash};
use crate::report::reported::common;
use crate::verdict::check::{ComparedVerdict, ErrorBounds, PairedFigures, power};
use crate::verdict::compare::RunsComparison;

/// Significance level for a difference of two runs.
pub(in crate::report) const ALPHA: f64 = 0.05;

/// `B is worse than A`
pub(super) fn verdict([a, b]: [&ComparedRun; 2], compared: &RunsComparison) -> String {
    let (a, b) = (&a.letter, &b.letter);
    let (is, but) = match (&compared.judge, why_apart(&compared.whole)) {
        (Some(_), _) => ("is", ", or its judge changed".to_owned()),
        (None, Some(_)) => {
            let p = compared.whole.p_two_sided.map(P);
            (
                "looks",
                p.map_or_else(String::new, |p| format!(" (two-sided {p})")),
            )
        }
        (None, None) => ("is", String::new()),
    };
    match compared.whole.verdict {
        ComparedVerdict::Worse => format!("{b} {is} worse than {a}{but}"),
        ComparedVerdict::Better => format!("{b} {is} better than {a}{but}"),
        ComparedVerdict::Indistinguishable => {
            format!("no significant difference between {a} and {b}")
        }
        ComparedVerdict::NothingToCompare => "nothing to compare".to_owned(),
    }
}

/// Sentences on the size of the difference (first) and its certainty.
pub(super) fn sentences([a, b]: [&ComparedRun; 2], compared: &RunsComparison) -> Vec<String> {
    let subject = common([a.subject, b.subject].into_iter());
    let good = subject.good();
    let (became_bad, became_good) = (subject.became_bad(), subject.became_good());
    let (a, b) = (&*a.letter, &*b.letter);
    let whole = &compared.whole;
    let mut sentences = match whole.difference.zip(whole.difference_ci95) {
        None => {
            vec!["no sample has the same question and a verdict in both runs".to_owned()]
        }
        Some((difference, ci95)) => vec![
            format!(
                "{b} − {a}: {} over {}",
                Points(difference).with_ci95(ci95),
                counted(whole.n, "sample")
            ),
            format!(
                "{good}: {} in {a}, {} in {b}; {} {became_bad}, {} {became_good}",
                or_dash(whole.accuracy_a.map(Share)),
                or_dash(whole.accuracy_b.map(Share)),
                whole.worse,
                whole.better
            ),
        ],
    };
    let has_flipped = whole.worse + whole.better > 0;
    if let Some((p, both)) = whole.p.zip(whole.p_two_sided).filter(|_| has_flipped) {
        let is_drop = whole.difference.is_some_and(|difference| difference < 0.0);
        sentences.push(if is_drop {
            format!(
                "{} (one-sided, as in `no_regression`): the chance of a drop this large if nothing had changed; \
                 two-sided: {}",
                P(p),
                P(both)
            )
        } else {
            format!("{} (two-sided): the chance of a difference this large if nothing had changed", P(both))
        });
    }
    sentences.extend(why_apart(whole).map(str::to_owned));
    if let Some(groups) = whole.groups {
        sentences.push(format!(
            "the samples form {groups} groups; only groups are independent of each other"
        ));
    }
    if whole.verdict == ComparedVerdict::Indistinguishable {
        sentences.push(format!(
            "{} {}, {}",
            counted(whole.n, "sample"),
            power(compared.seen.smallest_drop),
            compared.seen.assumption
        ));
    }
    sentences.extend(of_errors([a, b], compared));
    sentences.extend(compared.judge.clone());
    sentences
}

/// The result for a pair of several runs, from the interval and the p-value, which is corrected over all pairs.
pub(super) fn word_of_pair(pair: &RunPair) -> String {
    let verdict = pair.comparison.whole.verdict;
    let is_sure = !is_apart(verdict) || pair.p_holm.is_some_and(|p| p < ALPHA);
    let verdict = if is_sure {
        verdict
    } else {
        ComparedVerdict::Indistinguishable
    };
    let judge = match &pair.comparison.judge {
        None => "",
        Some(_) => " (judged by another model)",
    };
    let bounds = pair.comparison.error_bounds.as_ref();
    let may_change = |bounds: &ErrorBounds| {
        let mut ends = [&bounds.lowest, &bounds.highest].into_iter();
        ends.any(|end| end.verdict != verdict)
    };
    let doubt = match bounds.filter(|bounds| is_apart(verdict) && may_change(bounds)) {
        None => "",
        Some(_) => ", unless the missing answers change it",
    };
    format!("{}{judge}{doubt}", word(verdict))
}

fn is_apart(verdict: ComparedVerdict) -> bool {
    matches!(verdict, ComparedVerdict::Worse | ComparedVerdict::Better)
}

/// Why the test and the interval disagree; `None` if they agree.
fn why_apart(figures: &PairedFigures) -> Option<&'static str> {
    let (p, both) = (figures.p?, figures.p_two_sided?);
    match (is_apart(figures.verdict), both < ALPHA) {
        (true, false) if p < ALPHA => Some(
            "a gate `no_regression` tests only for a loss, and would fail; the exact test for any difference \
             (two-sided) is not significant at 0.05",
        ),
        (true, false) => Some(
            "the interval is approximate: the exact test (two-sided) finds no significant difference at 0.05",
        ),
        (false, true) => Some(
            "the interval is approximate: the exact test (two-sided) finds a significant difference at 0.05",
        ),
        (false, false) if p < ALPHA => Some(
            "a gate `no_regression` would still fail: it tests for a loss at 0.05, and the interval allows \
             0.025 on each side",
        ),
        _ => None,
    }
}

/// Explains rows in which only one of p-value and interval shows a difference.
pub(super) fn contradictions<'a>(
    rows: impl IntoIterator<Item = (&'a str, &'a PairedFigures)>,
) -> Option<String> {
    let rows = rows.into_iter().filter(|(_, figures)| {
        let p = figures.p_two_sided;
        p.is_some_and(|p| (p < ALPHA) != is_apart(figures.verdict))
    });
    let names: Vec<_> = rows.map(|(name, _)| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "p and interval disagree on {}: p is an exact test on these samples, and the interval is \
             approximate and allows for other samples",
            names.join(", ")
        )
    })
}

/// The range of the difference over missing verdicts, and whether it would change the conclusion; `None` without
/// errors.
fn of_errors([a, b]: [&str; 2], compared: &RunsComparison) -> Option<String> {
    let bounds = compared.error_bounds.as_ref()?;
    let whose = [(bounds.errors_a, a), (bounds.errors_b, b)];
    let whose = whose.iter().filter(|(count, _)| *count > 0);
    let whose: Vec<_> = whose
        .map(|(count, run)| format!("{count} in {run}"))
        .collect();
    let (answers, have) = match bounds.errors_a + bounds.errors_b {
        1 => ("1 answer".to_owned(), "has"),
        all => (format!("{all} answers"), "have"),
    };
    let end = |figures: &PairedFigures| {
        let [points, interval] = difference_cells(figures);
        format!("{points} points ({interval})")
    };
    let ends = [&bounds.lowest, &bounds.highest];
    let others = ends.iter().map(|end| end.verdict);
    let others = others.filter(|verdict| *verdict != compared.whole.verdict);
    let mut others: Vec<_> = others
        .map(|verdict| match verdict {
            verdict if is_apart(verdict) => format!("{b} {}", word(verdict)),
            verdict => word(verdict).to_owned(),
        })
        .collect();
    others.dedup();
    Some(format!(
        "{answers} {have} no verdict ({}). Counted as wrong or as correct, the difference is between {} and {}; {}",
        whose.join(", "),
        end(ends[0]),
        end(ends[1]),
        match &*others {
            [] => "the conclusion is the same".to_owned(),
            others => format!("the conclusion could change: {}", others.join(", or ")),
        }
    ))
}

/// The difference and its interval, in points.
pub(super) fn difference_cells(figures: &PairedFigures) -> [String; 2] {
    let ends = figures.difference_ci95;
    [
        or_dash(figures.difference.map(Points)),
        or_dash(ends.map(|ends| Interval(ends.map(Points)))),
    ]
}

/// The verdict in one word.
fn word(verdict: ComparedVerdict) -> &'static str {
    match verdict {
        ComparedVerdict::Worse => "worse",
        ComparedVerdict::Better => "better",
        ComparedVerdict::Indistinguishable => "not significantly different",
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
            let note = contradictions([("one", &figures)]);
            assert_eq!(note.is_some(), expect, "{figures:?}");
            assert!(note.is_none_or(|note| note.contains("disagree on `one`: ")));
        };
        check(ComparedVerdict::Indistinguishable, Some(0.0239), true);
        check(ComparedVerdict::Indistinguishable, Some(0.3), false);
        check(ComparedVerdict::Worse, Some(0.0239), false);
        check(ComparedVerdict::Better, Some(0.06), true);
        check(ComparedVerdict::NothingToCompare, None, false);
    }
}
