use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::*;
use crate::data::Score;
use crate::verdict::summary::judge::JudgeTally;

/// An answer with these points by each judge of `j`, and a label.
fn record(number: usize, replies: &[f64], label: f64) -> Record {
    let mut record = Record::scored(format!("q{number}"), Score::binary(true).detail(TOTAL, 3.0));
    let calls = replies.iter().enumerate().map(|(judge, points)| {
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
    let finished = tally.finish(None).unwrap();
    let took = cpu_time().checked_sub(before).unwrap();
    let jury = &finished.juries["j"];
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

/// The summary of a jury on twelve answers, with the halves as two clusters if `are_clustered`.
fn of_clusters(record_of: impl Fn(usize) -> Record, are_clustered: bool) -> JurySummary {
    let mut tally = JudgeTally::default();
    for number in 0..12 {
        let mut record = record_of(number);
        record.cluster = are_clustered.then(|| format!("c{}", number / 6));
        tally.add(&record, Some("j"));
    }
    tally.finish(None).unwrap().juries.remove("j").unwrap()
}

#[test]
fn answers_of_one_cluster_are_not_so_many() {
    // The panel gives 3, its first judge agrees with people.
    let points = |number: usize| {
        let label = stats::as_f64(4 + (number / 6) as u64);
        record(number, &[label, 3.0], label)
    };
    let alone = of_clusters(points, false);
    let [low, high] = alone.panel.unwrap().distance_ci95.unwrap();
    assert_eq!(alone.panel.unwrap().distance, Some(1.5));
    assert!(low > 1.2 && high < 1.8, "{low} {high}");
    assert_eq!(alone.worse.unwrap().judge, "judge 0");
    // Two clusters: Student's quantile makes the interval very wide.
    let clustered = of_clusters(points, true);
    let [low, high] = clustered.panel.unwrap().distance_ci95.unwrap();
    assert!(low < 0.01 && high > 7.0, "{low} {high}");
    assert_eq!(clustered.worse, None);
    assert_eq!((alone.compared, clustered.compared), (12, 12));

    let choices = |number: usize| {
        let mut record = record(number, &[1.0, 0.0], 1.0);
        for call in &mut record.result.judged {
            let vote = call.vote.as_mut().unwrap();
            let name = if vote.total == Some(1.0) { "yes" } else { "no" };
            vote.choice = Some(name.to_owned());
            vote.label = Some("yes".into());
        }
        record
    };
    let alone = of_clusters(choices, false);
    let clustered = of_clusters(choices, true);
    let width = |jury: &JurySummary| {
        let labels = jury.judges[0].labels.unwrap();
        assert_eq!(labels.agreement, Some(1.0));
        let [low, high] = labels.agreement_ci95.unwrap();
        high - low
    };
    assert!(width(&clustered) > 2.0 * width(&alone));
}
