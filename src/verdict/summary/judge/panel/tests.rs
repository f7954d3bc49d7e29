use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::*;
use crate::data::Score;
use crate::verdict::summary::judge::JudgeTally;

/// An answer on which each judge of `j` gave these points, beside a label.
fn record(number: usize, said: &[f64], label: f64) -> Record {
    let mut record = Record::scored(format!("q{number}"), Score::binary(true).detail(TOTAL, 3.0));
    let calls = said.iter().enumerate().map(|(judge, points)| {
        let vote = JurorVote {
            judge: format!("judge {judge}"),
            total: Some(*points),
            correct: Some(*points >= 3.5),
            label: Some(label.into()),
            ..JurorVote::default()
        };
        JudgeCall {
            scorer: format!("j/{}", vote.judge),
            vote: Some(Box::new(vote)),
            ..JudgeCall::default()
        }
    });
    record.result.judged = calls.collect();
    record
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let part = |value: i64| u64::try_from(value).unwrap();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

#[test]
fn ten_thousand_answers_of_five_judges_take_a_second_at_most() {
    let mut random = stats::SplitMix64(7);
    let mut draw = || stats::as_f64(1 + random.below(41) as u64) / 8.0;
    let rows = (0..10_000).map(|number| record(number, &[0; 5].map(|_| draw()), draw()));
    let rows: Vec<Record> = rows.collect();
    let before = cpu_time();
    let mut tally = JudgeTally::default();
    for row in &rows {
        tally.add(row, Some("j"));
    }
    let told = tally.finish().unwrap();
    let took = cpu_time().checked_sub(before).unwrap();
    let jury = &told.juries["j"];
    assert_eq!(
        (jury.samples, jury.labelled, jury.pairs.len()),
        (10_000, 10_000, 10)
    );
    assert!(jury.alpha.unwrap().abs() < 0.02);
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_judge_whose_name_has_a_slash_belongs_to_its_jury() {
    let call = |scorer: &str, judge: &str| {
        let vote = JurorVote {
            judge: judge.to_owned(),
            ..JurorVote::default()
        };
        JudgeCall {
            scorer: scorer.to_owned(),
            vote: Some(Box::new(vote)),
            ..JudgeCall::default()
        }
    };
    let calls = [
        call("a/b/meta/llama", "meta/llama"),
        call("a/b/x", "x"),
        call("a/x", "x"),
        JudgeCall::default(),
    ];
    let votes = votes(&calls);
    let found: Vec<_> = votes
        .iter()
        .map(|(jury, votes)| (*jury, votes.len()))
        .collect();
    assert_eq!(found, [("a", 1), ("a/b", 2)]);
}
