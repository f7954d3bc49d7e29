//! Annotations: commands in a log by which GitHub shows messages on lines of a file.
//!
//! GitHub shows ten of each kind per step and drops the rest, so the last one states how many more there are. Samples
//! that became wrong are errors (warnings in a run that passed), those without a verdict warnings, those that became
//! correct notices.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::Result;
use crate::exit::Exit;
use crate::report::formats::ci;
use crate::report::formats::ci::{CaseEnd, UnstartedEval};
use crate::report::formats::place::{CodePlace, CodePlaces, of_error};
use crate::report::reported::ReportedRun;
use crate::report::section::in_run;
use crate::text::clean;
use crate::verdict::result::Verdict;

/// Maximum number of annotations of each kind per step.
const MOST: usize = 10;
/// Maximum bytes of a message.
const MESSAGE: usize = 2000;

/// A kind of annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnnotationKind {
    Error,
    Warning,
    Notice,
}

/// The annotations, limited for each kind.
#[derive(Default)]
struct Annotations {
    kinds: [(Vec<String>, usize); 3],
}

impl Annotations {
    fn has_room(&self, kind: AnnotationKind) -> bool {
        self.kinds[kind as usize].0.len() < MOST
    }

    fn add(&mut self, kind: AnnotationKind, place: Option<&CodePlace>, title: &str, message: &str) {
        let (listed, all) = &mut self.kinds[kind as usize];
        *all += 1;
        if listed.len() < MOST {
            listed.push(command(kind, place, title, message));
        }
    }

    /// The lines, including the number of omitted annotations.
    fn lines(self) -> Vec<String> {
        let kinds = [
            AnnotationKind::Error,
            AnnotationKind::Warning,
            AnnotationKind::Notice,
        ];
        let mut lines = Vec::new();
        for (kind, (mut listed, all)) in kinds.into_iter().zip(self.kinds) {
            if all > MOST {
                listed.truncate(MOST - 1);
                let more = format!("and {} more: see the summary", all - listed.len());
                listed.push(command(kind, None, "evaltest", &more));
            }
            lines.append(&mut listed);
        }
        lines
    }
}

/// The annotations of a command's runs and of evals without a run, as lines for the log. Paths are relative to
/// `workspace`.
///
/// # Errors
/// If a run cannot be read.
pub fn annotations(
    runs: &[ReportedRun],
    unstarted: &[UnstartedEval],
    workspace: &Path,
) -> Result<Vec<String>> {
    let mut found = Annotations::default();
    for eval in unstarted {
        let place = of_error(&eval.error, workspace);
        let title = format!("{} did not run", eval.eval);
        found.add(AnnotationKind::Error, place.as_ref(), &title, &eval.error);
    }
    let places: Vec<_> = runs
        .iter()
        .map(|run| CodePlaces::of(run, workspace))
        .collect();
    for (run, places) in runs.iter().zip(&places) {
        let eval = &run.manifest.eval;
        for gate in &run.summary.gates {
            let (kind, what) = match gate.verdict {
                Verdict::Failed => (AnnotationKind::Error, "failed"),
                Verdict::Inconclusive => (AnnotationKind::Warning, "is inconclusive"),
                Verdict::Ignored if !gate.other_tier => (AnnotationKind::Notice, "was ignored"),
                Verdict::Ignored | Verdict::Passed => continue,
            };
            let place = places.gate(Some(&gate.gate));
            let title = format!("{eval}: gate {} {what}", gate.gate);
            let message = in_run(&gate.message, &run.manifest.run_id);
            found.add(kind, place.as_ref(), &title, &message);
        }
        for alert in run.summary.alerts.iter().filter(|alert| alert.is_raised()) {
            let title = format!("{eval}: alert {}", alert.alert);
            let place = places.gate(None);
            found.add(
                AnnotationKind::Error,
                place.as_ref(),
                &title,
                &alert.message,
            );
        }
        if let Some(reason) = ci::interruption(run) {
            let title = format!("{eval}: stopped early");
            found.add(
                AnnotationKind::Warning,
                places.gate(None).as_ref(),
                &title,
                &reason,
            );
        }
    }
    for (run, places) in runs.iter().zip(&places) {
        samples(run, places, &mut found)?;
    }
    Ok(found.lines())
}

/// Adds the samples of a run. Searches the dataset once, only for the samples shown.
fn samples(run: &ReportedRun, places: &CodePlaces, found: &mut Annotations) -> Result<()> {
    let flips = run.flips();
    let [worse, better] = run.summary.subject().word([
        ["became wrong", "became correct"],
        ["passes no longer", "passes now"],
        ["is no longer won", "is won now"],
    ]);
    let asserted: HashSet<&str> = run
        .manifest
        .failed_assertions
        .iter()
        .map(|id| &**id)
        .collect();
    let of_worse = match run.summary.exit_code {
        Exit::Passed => AnnotationKind::Warning,
        _ => AnnotationKind::Error,
    };
    let mut failures = Vec::new();
    let mut listed: HashMap<usize, usize> = HashMap::new();
    for sample in ci::samples(run)? {
        let sample = sample?;
        let id = &*sample.id;
        let (kind, what) = match (flips.get(id), sample.end) {
            (Some(true), _) => (of_worse, worse),
            _ if asserted.contains(id) => (AnnotationKind::Error, "differs from its snapshot"),
            (Some(false), _) => (AnnotationKind::Notice, better),
            (None, CaseEnd::Errored) => (AnnotationKind::Warning, "has no verdict"),
            _ => continue,
        };
        let count = listed.entry(kind as usize).or_default();
        if !found.has_room(kind) || *count >= MOST {
            // Over the limit: only counted.
            found.kinds[kind as usize].1 += 1;
            continue;
        }
        *count += 1;
        let title = format!("{}: {id} {what}", run.manifest.eval);
        failures.push((kind, id.to_owned(), title, ci::why(sample.representative())));
    }
    let ids = failures.iter().map(|(_, id, ..)| &**id).collect();
    let lines = places.samples(&ids);
    for (kind, id, title, why) in &failures {
        found.add(*kind, lines.get(id), title, why);
    }
    Ok(())
}

/// An annotation command as a line.
fn command(kind: AnnotationKind, place: Option<&CodePlace>, title: &str, message: &str) -> String {
    let name = match kind {
        AnnotationKind::Error => "error",
        AnnotationKind::Warning => "warning",
        AnnotationKind::Notice => "notice",
    };
    let place = place.map(|place| format!("file={},line={},", property(&place.path), place.line));
    let title = property(&clean(ci::beginning(title, MESSAGE)));
    let lines = ci::beginning(message, MESSAGE).trim().lines();
    let message: Vec<String> = lines.map(|line| data(&clean(line))).collect();
    let place = place.unwrap_or_default();
    format!("::{name} {place}title={title}::{}", message.join("%0A"))
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command_or_begins_one() {
        let place = CodePlace {
            path: "a,b:c%.jsonl".to_owned(),
            line: 7,
        };
        let check = |title: &str, message: &str, expect: &str| {
            let line = command(AnnotationKind::Error, Some(&place), title, message);
            let start = "::error file=a%2Cb%3Ac%25.jsonl,line=7,title=";
            assert_eq!(line, format!("{start}{expect}"));
        };
        check("t", "m", "t::m");
        check("a::b,c=d\n100%", "x", "a%3A%3Ab%2Cc=d\\n100%25::x");
        check(
            "::error::x",
            "::warning::y",
            "\\u{3a}%3Aerror%3A%3Ax::\\u{3a}:warning::y",
        );
        check(
            "t",
            "100 %\r\n::stop-commands::x\n",
            "t::100 %25%0A\\u{3a}:stop-commands::x",
        );
        check("t", "a\u{1b}[2J##[group]", "t::a\\u{1b}[2J\\u{23}#[group]");
    }

    #[test]
    fn of_each_kind_there_are_ten_and_the_last_counts() {
        let mut found = Annotations::default();
        for number in 0..46 {
            found.add(AnnotationKind::Error, None, "t", &number.to_string());
        }
        found.add(AnnotationKind::Notice, None, "t", "one");
        let lines = found.lines();
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[8], "::error title=t::8");
        assert_eq!(
            lines[9],
            "::error title=evaltest::and 37 more: see the summary"
        );
        assert_eq!(lines[10], "::notice title=t::one");
    }
}
