//! `Matrix`: the votes on all answers of an input.

use std::num::NonZeroUsize;
use std::thread;

use evaltest::agreement::{Agreement, Ballot, Vote};
use evaltest::{Error, Result};
use serde_json::{Map, Value, json};

use super::ScorersArgs;
use super::jury::{Jury, is_lost};
use crate::answers::{Answered, Answers, Chunk, Layout, Line, Source, Wanted};
use crate::command::score::pool;

/// The votes on all answers of an input.
pub(super) struct Matrix {
    /// The input, for people.
    pub(super) input: String,
    pub(super) agreement: Agreement,
    /// The place of the reference.
    pub(super) reference: usize,
    /// Who could judge none of the answers and was not asked for.
    pub(super) silent: Vec<String>,
    pub(super) counts: Counts,
    /// The first answers that divide the scorers.
    pub(super) divided: Vec<Divided>,
}

/// Answers that are not compared, and those that are not compared by all.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) unanswered: u64,
    pub(super) hidden: u64,
    /// Answers of which only recorded verdicts count, for a secret in them was blanked.
    pub(super) lost: u64,
}

/// An answer that divides the scorers.
pub(super) struct Divided {
    /// What the input calls it, else the number of its line.
    pub(super) id: String,
    pub(super) prediction: Option<String>,
    pub(super) ground_truth: Value,
    /// By scorer, in the order of the jury.
    pub(super) votes: Vec<Vote>,
}

/// The votes on the answers of a chunk.
struct Counted {
    ballot: Ballot,
    counts: Counts,
    divided: Vec<Divided>,
    /// The line that ended it all.
    fault: Option<Error>,
}

/// What the threads share.
struct Session {
    jury: Jury,
    layout: Layout,
    wanted: Wanted,
    source: Source,
    most: usize,
}

/// Puts every answer to the vote, and keeps `most` of those that divide the scorers.
pub(super) fn judge(args: &ScorersArgs, most: usize) -> Result<Matrix> {
    let Answers {
        layout,
        extraction,
        source,
        chunks,
    } = Answers::open(&args.answers)?;
    let jury = Jury::new(args, extraction)?;
    let names: Vec<String> = jury
        .members
        .iter()
        .map(|member| member.name.clone())
        .collect();
    let (reference, is_default) = (jury.reference, jury.is_default);
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
    let results = pool::in_order(threads, chunks, move |chunk| {
        chunk.map(|chunk| session.chunk(&chunk))
    });
    let results = results
        .map_err(|error| Error::infrastructure(format!("cannot start a thread: {error}")))?;
    let mut ballot = Ballot::new(names);
    let mut counts = Counts::default();
    let mut divided = Vec::new();
    for counted in results {
        let counted = counted?;
        if let Some(fault) = counted.fault {
            return Err(fault);
        }
        ballot.merge(&counted.ballot);
        counts.add(counted.counts);
        let room = most - divided.len();
        divided.extend(counted.divided.into_iter().take(room));
    }
    let mut matrix = Matrix {
        input: args.answers.input.display().to_string(),
        agreement: ballot.finish(),
        reference,
        silent: Vec::new(),
        counts,
        divided,
    };
    if matrix.agreement.samples == 0 {
        let error = Error::usage(format!("`{}` has no answer to judge", matrix.input));
        return Err(error.hint("answers need a ground truth"));
    }
    if is_default {
        matrix.leave_out_who_is_silent();
    }
    Ok(matrix)
}

impl Session {
    fn chunk(&self, chunk: &Chunk) -> Counted {
        let names = self.jury.members.iter().map(|member| &member.name);
        let mut counted = Counted {
            ballot: Ballot::new(names),
            counts: Counts::default(),
            divided: Vec::new(),
            fault: None,
        };
        let mut answered = Answered::default();
        let mut open = Vec::new();
        chunk.lines(|number, bytes, line| {
            if bytes.trim_ascii().is_empty() {
                return true;
            }
            let read = line.and_then(|line| self.read(line, &mut answered, &mut open));
            match read {
                Ok(()) => {
                    self.count(&answered, number, &mut counted);
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

    fn read(&self, line: &str, answered: &mut Answered, open: &mut Vec<u8>) -> Result<()> {
        match &self.layout {
            Layout::Records => answered.fill_from_record(line),
            Layout::Lines(fields) => {
                let line = Line::parse(line, fields, self.wanted.fields(), "", open)?;
                answered.fill(&line, fields, self.wanted)
            }
        }
    }

    fn count(&self, answered: &Answered, number: u64, counted: &mut Counted) {
        let entry = answered.entry.as_ref();
        if entry.is_some_and(|entry| !entry.is_answered()) {
            counted.counts.unanswered += 1;
            return;
        }
        if answered.target.0.is_null() {
            counted.counts.hidden += 1;
            return;
        }
        counted.counts.lost += u64::from(is_lost(answered));
        let votes = self.jury.votes(answered);
        if counted.ballot.add(&votes) && counted.divided.len() < self.most {
            counted.divided.push(Divided {
                id: answered
                    .id
                    .clone()
                    .unwrap_or_else(|| format!("line {number}")),
                prediction: self.jury.prediction(answered).map(Into::into),
                ground_truth: answered.target.0.clone(),
                votes,
            });
        }
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.unanswered += other.unanswered;
        self.hidden += other.hidden;
        self.lost += other.lost;
    }
}

impl Matrix {
    /// Takes out the scorers that judged nothing. The reference stays.
    fn leave_out_who_is_silent(&mut self) {
        let scorers = &self.agreement.scorers;
        let speaks: Vec<bool> = (0..scorers.len())
            .map(|place| place == self.reference || scorers[place].judged > 0)
            .collect();
        let names = scorers.iter().zip(&speaks);
        let silent = names.filter(|(_, speaks)| !**speaks);
        self.silent = silent.map(|(scorer, _)| scorer.name.clone()).collect();
        let is_silent = |name: &String| self.silent.contains(name);
        let agreement = &mut self.agreement;
        agreement.scorers.retain(|scorer| !is_silent(&scorer.name));
        agreement
            .pairs
            .retain(|pair| !is_silent(&pair.one) && !is_silent(&pair.other));
        for divided in &mut self.divided {
            let mut speaks = speaks.iter();
            divided.votes.retain(|_| speaks.next() == Some(&true));
        }
    }

    /// Everything, for programs.
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
            "cannot_judge_any": self.silent,
            "leniency": leniency.collect::<Vec<_>>(),
            "pairs": agreement.pairs,
            "disagreements": agreement.disagreements,
            "divided": divided.collect::<Vec<_>>(),
        })
    }
}
