//! The short report of a repeated run: the samples that flipped since the previous one.

use std::collections::BTreeMap;

use evaltest::engine::figure::Seconds;
use evaltest::engine::report::document::{Block, Line, Tone, list};
use evaltest::engine::report::render::terminal;
use evaltest::engine::report::terminal::{errors_of, verbose};
use evaltest::{Record, Result, Run};

use super::RunArgs;
use crate::console;

/// Maximum number of flipped samples listed.
const LISTED: usize = 20;

/// Number of correct answers and of known verdicts per sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdicts(BTreeMap<String, (u32, u32)>);

/// Samples whose verdict changed.
#[derive(Debug, PartialEq)]
pub(super) struct FlipsSince {
    since: &'static str,
    worse: Vec<String>,
    better: Vec<String>,
}

impl Verdicts {
    pub(super) fn add(&mut self, record: &Record) {
        let outcome = &record.result;
        let (correct, known) = self.0.entry(record.sample_id.clone()).or_default();
        if outcome.score.is_some() {
            *correct += u32::from(outcome.is_correct());
            *known += 1;
        }
    }

    /// The flips between these verdicts and `later`; samples without a known verdict are counted apart.
    pub(super) fn flips(&self, later: &Self) -> FlipsSince {
        let mut flips = FlipsSince {
            since: "since the previous run",
            worse: Vec::new(),
            better: Vec::new(),
        };
        for (id, now) in &later.0 {
            let then = self.0.get(id).and_then(|then| is_correct(*then));
            match (then, is_correct(*now)) {
                (Some(true), Some(false)) => flips.worse.push(id.clone()),
                (Some(false), Some(true)) => flips.better.push(id.clone()),
                _ => {}
            }
        }
        flips
    }

    /// Replaces verdicts by later ones where known.
    pub(super) fn learn(&mut self, later: &Self) {
        let known = later
            .0
            .iter()
            .filter(|(_, now)| is_correct(**now).is_some());
        self.0.extend(known.map(|(id, now)| (id.clone(), *now)));
    }
}

/// Whether more than half of the answers are correct.
fn is_correct((correct, known): (u32, u32)) -> Option<bool> {
    (known > 0).then_some(2 * correct > known)
}

impl FlipsSince {
    pub(super) fn since_baseline(run: &Run) -> Self {
        let ids = |worse: bool| {
            let flips = run.flips.iter().filter(|flip| flip.worse == worse);
            flips.map(|flip| flip.id.clone()).collect()
        };
        Self {
            since: "since the baseline",
            worse: ids(true),
            better: ids(false),
        }
    }
}

/// Reports a run.
pub(super) fn report(args: &RunArgs, run: &Run, flips: &FlipsSince) -> Result<()> {
    let paint = args.color.paint();
    let summary = &run.summary;
    let counts = format!(
        "{}: {} of {} correct, {}, {}",
        run.eval,
        summary.correct,
        summary.samples - summary.skipped,
        errors_of(summary.errors),
        Seconds(run.duration_s),
    );
    let is_still = flips.worse.is_empty() && flips.better.is_empty();
    let rest = match &run.stop_reason {
        Some(reason) => format!("; stopped early: {reason}"),
        None if is_still => "; nothing flipped".to_owned(),
        None => String::new(),
    };
    let line = Line::default().toned(summary.exit_code.into(), counts);
    let flipped = [
        (&flips.worse, Tone::Bad, "became wrong"),
        (&flips.better, Tone::Good, "became correct"),
    ];
    let flipped = flipped.into_iter().filter_map(|(ids, tone, what)| {
        let more = ids.len().saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("… and {more} more"));
        let listed = list(ids.iter().take(LISTED).cloned().chain(more))?;
        let title = Line::default().toned(tone, format!("{what} {}", flips.since));
        Some(Block::group(
            title.plain(format!(" ({}):", ids.len())),
            [listed],
        ))
    });
    let report = Block::group(line.plain(rest), flipped);
    console::print(|out| {
        if args.verbose {
            verbose(run, paint, out)?;
        }
        terminal::blocks(&[report], 0, paint, out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use evaltest::Score;

    fn verdicts(answers: &[(&str, &[Option<bool>])]) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for (id, answers) in answers {
            for answer in *answers {
                let mut record = Record::scored(*id, Score::binary(*answer == Some(true)));
                if answer.is_none() {
                    record.result.score = None;
                }
                verdicts.add(&record);
            }
        }
        verdicts
    }

    #[test]
    fn a_sample_without_a_verdict_flips_when_it_has_one_again() {
        let (yes, no) = (Some(true), Some(false));
        let mut known = verdicts(&[("a", &[yes]), ("b", &[no]), ("c", &[yes, yes, no])]);
        let check = |known: &Verdicts, later: &Verdicts, worse: &[&str], better: &[&str]| {
            let flips = known.flips(later);
            assert_eq!(
                (&*flips.worse, &*flips.better),
                (&*own(worse), &*own(better))
            );
        };
        let later = verdicts(&[
            ("a", &[None]),
            ("b", &[yes]),
            ("c", &[yes, no, no]),
            ("d", &[no]),
        ]);
        check(&known, &later, &["c"], &["b"]);
        known.learn(&later);
        let later = verdicts(&[("a", &[no]), ("b", &[yes])]);
        check(&known, &later, &["a"], &[]);
    }

    fn own(ids: &[&str]) -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    }
}
