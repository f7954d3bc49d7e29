//! `FailureTracker`: prints failed attempts and pauses as they happen. Similar failures are printed three times and then
//! counted; the results of samples are reported in full at the end.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::time::Duration;

use super::event_lines;
use crate::data::AgentError;
use crate::figure::Seconds;
use crate::report::event::Event;
use crate::report::render::terminal as render;
use crate::text::excerpt;

/// How often similar failures are printed.
const MAX_REPEATS: u64 = 3;
/// Printed with the last failure that is shown.
const MORE: &str = "further failures like this are only counted";
/// A number after one of these words is significant.
const CODES: [&str; 5] = ["code", "status", "http", "signal", "error"];
/// Maximum number of kinds, because an agent may fail with a new message each time.
const MOST: usize = 100;

/// The failures and pauses of a run.
#[derive(Debug, Default)]
pub struct FailureTracker {
    eval: String,
    /// Failures by their common text: count, and the first message.
    seen: HashMap<String, (u64, String)>,
    /// Pauses by agent or judge.
    waits: BTreeMap<String, Waits>,
}

/// The pauses of an agent or judge.
#[derive(Debug, Default)]
struct Waits {
    times: u64,
    waited: Duration,
}

impl FailureTracker {
    /// Writes an event as text, except results, which the caller prints.
    pub fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        render::lines(self.lines(event), out)
    }

    fn lines(&mut self, event: &Event<'_>) -> Vec<String> {
        match event {
            Event::RunStarted { eval, .. } => {
                *self = Self {
                    eval: (*eval).to_owned(),
                    ..Self::default()
                };
            }
            Event::AttemptFailed { error, .. } => match self.again(error) {
                1..=MAX_REPEATS => {}
                times if times == MAX_REPEATS + 1 => {
                    let failure = excerpt(&error.message);
                    return vec![format!("{}: {failure}; {MORE}", self.eval)];
                }
                _ => return Vec::new(),
            },
            Event::Waiting { who, first, .. } => {
                let waits = self.waits.entry((*who).to_owned()).or_default();
                waits.times += u64::from(*first);
                if waits.times > MAX_REPEATS {
                    let is_next = *first && waits.times == MAX_REPEATS + 1;
                    let eval = &self.eval;
                    let line = format!(
                        "{eval}: waiting for {who} again; further waits are counted, not shown"
                    );
                    return is_next.then_some(line).into_iter().collect();
                }
            }
            Event::WentOn { who, waited, .. } => {
                let waits = self.waits.entry((*who).to_owned()).or_default();
                waits.waited += *waited;
                if waits.times > MAX_REPEATS {
                    return Vec::new();
                }
            }
            Event::RunFinished { .. } => return self.counts(),
            _ => {}
        }
        event_lines(event)
    }

    /// Counts a failure; returns the number of similar ones.
    fn again(&mut self, error: &AgentError) -> u64 {
        let mut likeness = likeness(error);
        if self.seen.len() >= MOST && !self.seen.contains_key(&likeness) {
            likeness = String::new();
        }
        let first = || (0, excerpt(&error.message));
        let (times, _) = self.seen.entry(likeness).or_insert_with(first);
        *times += 1;
        *times
    }

    /// The counts of failures that were not printed.
    fn counts(&mut self) -> Vec<String> {
        let eval = &self.eval;
        let seen = std::mem::take(&mut self.seen).into_values();
        let mut more: Vec<_> = seen.filter(|(times, _)| *times > MAX_REPEATS).collect();
        more.sort_by(|one, other| other.cmp(one));
        let failed = more.into_iter().map(|(times, first)| {
            format!(
                "{eval}: {times} attempts failed with the same error ({MAX_REPEATS} shown): {first}"
            )
        });
        let waits = std::mem::take(&mut self.waits).into_iter();
        let waits = waits.filter(|(_, waits)| waits.times > MAX_REPEATS);
        let waits = waits.map(|(who, Waits { times, waited })| {
            let waited = Seconds::from(waited);
            format!("{eval}: waited {times} times for {who}, {waited} in total")
        });
        failed.chain(waits).collect()
    }
}

/// The part of a message that similar failures share: without numbers such as ports or seconds. Codes stay, because
/// they identify the failure.
fn likeness(error: &AgentError) -> String {
    let mut likeness = format!("{:?} ", error.kind);
    let message = excerpt(&error.message);
    let mut rest = &*message;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|c: char| !c.is_ascii_digit());
        let (number, after) = number.split_at(end.unwrap_or(number.len()));
        likeness += before;
        likeness += if ends_with_code(before) { number } else { "#" };
        rest = after;
    }
    likeness + rest
}

/// Whether the number that follows is a code.
fn ends_with_code(before: &str) -> bool {
    let before = before.trim_end_matches([' ', ':', '=', '`', '"', '(']);
    let word = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next();
    word.is_some_and(|word| {
        let is_word = |code: &str| code.eq_ignore_ascii_case(word);
        CODES.iter().any(|code| is_word(code))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_failures_are_listed_three_times_then_counted() {
        let mut failures = FailureTracker {
            eval: "e".to_owned(),
            ..FailureTracker::default()
        };
        let mut out = Vec::new();
        for number in 0..30 {
            let error = AgentError::new(format!("no answer on port {}", 4000 + number));
            let event = Event::AttemptFailed {
                id: "a",
                epoch: 0,
                attempt: 1,
                error: &error,
                retry: false,
            };
            failures.event(&event, &mut out).unwrap();
        }
        render::lines(failures.counts(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a: attempt 1 failed: no answer on port 4000\n\
             a: attempt 1 failed: no answer on port 4001\n\
             a: attempt 1 failed: no answer on port 4002\n\
             e: no answer on port 4003; further failures like this are only counted\n\
             e: 30 attempts failed with the same error (3 shown): no answer on port 4000\n"
        );
    }

    #[test]
    fn codes_are_distinguished_other_numbers_are_not() {
        fn check(one: &str, other: &str, is_same: bool) {
            let [one, other] = [one, other].map(|message| likeness(&AgentError::new(message)));
            assert_eq!(one == other, is_same, "{one} {other}");
        }
        check("exited with code 3", "exited with code 4", false);
        check("status: 500 in 12 ms", "status: 500 in 9 ms", true);
        check("HTTP 500", "HTTP 503", false);
        check("no answer on port 8080", "no answer on port 90", true);
        check("after 3 s, code 1", "after 30 s, code 1", true);
        check("barcode1 2", "barcode1 3", true);
    }

    #[test]
    fn repeated_outages_are_listed_three_times_then_counted() {
        let mut failures = FailureTracker {
            eval: "e".to_owned(),
            ..FailureTracker::default()
        };
        let mut out = Vec::new();
        for _ in 0..5 {
            let pauses = [(true, 2), (false, 4)];
            for (first, seconds) in pauses {
                let event = Event::Waiting {
                    eval: "e",
                    who: "the agent",
                    why: "does not answer",
                    last_message: "",
                    pause: Duration::from_secs(seconds),
                    first,
                };
                failures.event(&event, &mut out).unwrap();
            }
            let event = Event::WentOn {
                eval: "e",
                who: "the agent",
                waited: Duration::from_secs(6),
            };
            failures.event(&event, &mut out).unwrap();
        }
        render::lines(failures.counts(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines[1], "e: the agent answers again after 6.0 s");
        assert_eq!(
            lines[6..],
            [
                "e: waiting for the agent again; further waits are counted, not shown",
                "e: waited 5 times for the agent, 30.0 s in total"
            ]
        );
    }

    #[test]
    fn distinct_messages_do_not_fill_memory() {
        let mut failures = FailureTracker::default();
        for letter in 'a'..='\u{2000}' {
            failures.again(&AgentError::new(letter.to_string()));
        }
        assert_eq!(failures.seen.len(), MOST + 1);
    }
}
