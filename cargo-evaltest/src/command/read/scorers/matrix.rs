//! `Matrix`: the verdicts of all scorers on all answers of an input.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::thread;

use evaltest::engine::system::parallel;
use evaltest::engine::verdict::{Agreement, Ballot, Vote};
use evaltest::{Error, Result};
use serde_json::{Map, Value, json};

use super::ScorersArgs;
use super::jury::ScorerJury;
use crate::answers::{AnswerInput, AnsweredSample, InputChunk, Layout, Line, Source, Wanted};

/// The verdicts of all scorers on all answers of an input.
pub(super) struct Matrix {
    /// The input, for display.
    pub(super) input: String,
    pub(super) agreement: Agreement,
    /// Index of the reference scorer.
    pub(super) reference: usize,
    /// Default scorers that were dropped because they could score too few answers.
    pub(super) silent: Vec<String>,
    pub(super) counts: Uncompared,
    /// The first answers on which the scorers disagree.
    pub(super) divided: Vec<Divided>,
}

/// Numbers of answers not compared, or not by all scorers.
#[derive(Clone, Copy, Default)]
pub(super) struct Uncompared {
    pub(super) unanswered: u64,
    pub(super) hidden: u64,
    /// Answers with a redacted secret, of which only recorded verdicts count.
    pub(super) lost: u64,
}

/// An answer on which the scorers disagree.
pub(super) struct Divided {
    /// Its line in the input.
    line: u64,
    /// Id of the answer, or else its line number.
    pub(super) id: String,
    pub(super) prediction: Option<String>,
    pub(super) ground_truth: Value,
    /// Verdicts in the order of the jury.
    pub(super) votes: Vec<Vote>,
}

/// Counts answers by verdict pattern, with the first answers of patterns that disagree. Nearly all answers share a few
/// patterns, and which scorers are dropped is known only at the end.
type Patterns = HashMap<Vec<Vote>, (u64, Vec<Divided>)>;

/// The verdicts on a chunk.
#[derive(Default)]
struct Counted {
    patterns: Patterns,
    counts: Uncompared,
    /// The error that stopped processing.
    fault: Option<Error>,
}

/// State shared by the threads.
struct Session {
    jury: ScorerJury,
    layout: Layout,
    wanted: Wanted,
    source: Source,
    most: usize,
}

/// Scores every answer with every scorer, and collects up to `most` on which they disagree.
pub(super) fn judge(args: &ScorersArgs, most: usize) -> Result<Matrix> {
    let AnswerInput {
        layout,
        extraction,
        source,
        chunks,
    } = AnswerInput::open(&args.answers)?;
    let jury = ScorerJury::new(args, extraction)?;
    let names: Vec<String> = jury
        .members
        .iter()
        .map(|member| member.name.clone())
        .collect();
    let (reference, is_default) = (jury.reference, jury.is_default);
    let stay = jury.recorded().max(1);
    let session = Session {
        wanted: Wanted {
            target: true,
            reads: jury.reads(),
            ids: true,
        },
        jury,
        layout,
        source,
        most,
    };
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let results = parallel::detached(threads, chunks, move |chunk| {
        chunk.map(|chunk| session.chunk(&chunk))
    })?;
    let mut all = Counted::default();
    for counted in results {
        let counted = counted?;
        if let Some(fault) = counted.fault {
            return Err(fault);
        }
        all.counts.add(counted.counts);
        for (votes, (count, divided)) in counted.patterns {
            let (sum, list) = all.patterns.entry(votes).or_default();
            *sum += count;
            let room = most - list.len();
            list.extend(divided.into_iter().take(room));
        }
    }
    let input = args.answers.input.display().to_string();
    let agreement = count(&names, &all.patterns);
    if agreement.samples == 0 {
        let error = Error::usage(format!("`{input}` has no answer to judge"));
        return Err(match &*input {
            "-" => error.hint(
                "answers need a ground truth; for those of a run, name it: `cargo evaltest scorers RUN_DIR`",
            ),
            _ => error.hint("answers need a ground truth"),
        });
    }
    // Drop scorers that cannot score one in ten answers or more, such as `numeric` for names. Of redacted answers only
    // recorded verdicts count.
    let whole = agreement.samples - all.counts.lost;
    let speaks = |place: usize| {
        !is_default || place < stay || agreement.scorers[place].judged * 10 > whole * 9
    };
    let places: Vec<usize> = (0..names.len()).filter(|place| speaks(*place)).collect();
    let (mut speaking, mut silent) = (Vec::new(), Vec::new());
    for (place, name) in names.into_iter().enumerate() {
        if places.contains(&place) {
            speaking.push(name);
        } else {
            silent.push(name);
        }
    }
    let patterns = only(&places, all.patterns);
    let agreement = count(&speaking, &patterns);
    let mut divided: Vec<Divided> = patterns
        .into_iter()
        .filter(|(votes, _)| votes.contains(&Some(true)) && votes.contains(&Some(false)))
        .flat_map(|(_, (_, divided))| divided)
        .collect();
    divided.sort_by_key(|divided| divided.line);
    divided.truncate(most);
    Ok(Matrix {
        input,
        agreement,
        reference,
        silent,
        counts: all.counts,
        divided,
    })
}

fn count(names: &[String], patterns: &Patterns) -> Agreement {
    let mut ballot = Ballot::new(names);
    for (votes, (samples, _)) in patterns {
        ballot.add(votes, *samples);
    }
    ballot.finish()
}

/// The verdict patterns of some scorers only.
fn only(places: &[usize], patterns: Patterns) -> Patterns {
    let mut fewer = Patterns::new();
    for (votes, (count, divided)) in patterns {
        let of = |votes: &[Vote]| -> Vec<Vote> {
            let places = places.iter();
            places.map(|place| votes[*place]).collect()
        };
        let (sum, list) = fewer.entry(of(&votes)).or_default();
        *sum += count;
        list.extend(divided.into_iter().map(|divided| Divided {
            votes: of(&divided.votes),
            ..divided
        }));
    }
    fewer
}

impl Session {
    fn chunk(&self, chunk: &InputChunk) -> Counted {
        let mut counted = Counted::default();
        let mut answered = AnsweredSample::default();
        let mut open = Vec::new();
        chunk.lines(|number, bytes, line| {
            if bytes.trim_ascii().is_empty() {
                return true;
            }
            let read = line.and_then(|line| self.read(line, &mut answered, &mut open));
            match read {
                Ok(is_counted) => {
                    if is_counted {
                        self.count(&answered, number, &mut counted);
                    }
                    true
                }
                Err(error) => {
                    counted.fault = Some(error.at(self.source.place(number)));
                    false
                }
            }
        });
        counted
    }

    /// Reads a line; `false` if it counts in no figure.
    fn read(&self, line: &str, answered: &mut AnsweredSample, open: &mut Vec<u8>) -> Result<bool> {
        match &self.layout {
            Layout::Records => answered.fill_from_record(line),
            Layout::Lines(fields) => {
                let line = Line::parse(line, fields, self.wanted.fields(), "", open)?;
                answered.fill(&line, fields, self.wanted)?;
                Ok(true)
            }
        }
    }

    fn count(&self, answered: &AnsweredSample, number: u64, counted: &mut Counted) {
        let entry = answered.entry.as_ref();
        if entry.is_some_and(|entry| !entry.is_answered()) {
            counted.counts.unanswered += 1;
            return;
        }
        if answered.target.0.is_null() {
            counted.counts.hidden += 1;
            return;
        }
        counted.counts.lost += u64::from(answered.is_lost());
        let votes = self.jury.votes(answered);
        let differ = votes.contains(&Some(true)) && votes.contains(&Some(false));
        let divided = || Divided {
            line: number,
            id: answered
                .id
                .clone()
                .unwrap_or_else(|| format!("line {number}")),
            prediction: self.jury.prediction(answered).map(Into::into),
            ground_truth: answered.target.0.clone(),
            votes: votes.clone(),
        };
        let (count, list) = counted.patterns.entry(votes.clone()).or_default();
        *count += 1;
        if differ && list.len() < self.most {
            list.push(divided());
        }
    }
}

impl Uncompared {
    fn add(&mut self, other: Self) {
        self.unanswered += other.unanswered;
        self.hidden += other.hidden;
        self.lost += other.lost;
    }
}

impl Matrix {
    /// The `--json` output.
    pub(super) fn json(&self) -> Value {
        let agreement = &self.agreement;
        let leniency = agreement
            .leniency(self.reference)
            .into_iter()
            .map(|against| {
                let sentence = against.to_string();
                let mut value = json!(against);
                value["sentence"] = sentence.into();
                value
            });
        let divided = self.divided.iter().map(|divided| {
            let names = agreement.scorers.iter().map(|scorer| scorer.name.clone());
            let verdicts: Map<String, Value> = names
                .zip(divided.votes.iter().map(|vote| json!(vote)))
                .collect();
            json!({
                "id": divided.id,
                "prediction": divided.prediction,
                "ground_truth": divided.ground_truth,
                "verdicts": verdicts,
            })
        });
        json!({
            "input": self.input,
            "samples": agreement.samples,
            "unanswered": self.counts.unanswered,
            "without_ground_truth": self.counts.hidden,
            "redacted": self.counts.lost,
            "reference": agreement.scorers.get(self.reference).map(|scorer| &scorer.name),
            "scorers": agreement.scorers,
            "left_out": self.silent,
            "leniency": leniency.collect::<Vec<_>>(),
            "pairs": agreement.pairs,
            "disagreements": agreement.disagreements,
            "divided": divided.collect::<Vec<_>>(),
        })
    }
}
