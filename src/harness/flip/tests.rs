use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::benchmark::custom::Custom;
use crate::eval::Eval;
use crate::run::RunOptions;
use crate::snapshot::{Acceptance, EpochContent, SampleContent, StoredParts, Update, accept};
use crate::store::RunDir;
use crate::verdict::gate::Gate;
use crate::{Sample, Score, Task};

fn answers(text: &str) -> Vec<Option<bool>> {
    let verdict = |c| match c {
        '1' => Some(true),
        '0' => Some(false),
        _ => None,
    };
    text.chars().map(verdict).collect()
}

#[test]
fn many_right_answers_without_a_wrong_one_are_always_right() {
    fn check(before: &str, expect: Option<usize>) {
        assert_eq!(always_right(&answers(before)), expect, "{before}");
    }
    check("11111", Some(5));
    check("111111.", Some(6));
    check("1111", None);
    check("1111.", None);
    check("1111110", None);
}

/// The result of a flip if the agent is right at the `right`th request: how often it was asked, and the message if it
/// fails on its own.
fn flip(before: &str, right: usize, change: impl FnOnce(Eval) -> Eval) -> (usize, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let agent = move |_: &Task| {
        let turn = 1 + count.fetch_add(1, Ordering::SeqCst);
        Ok((if turn == right { "17" } else { "99" }).into())
    };
    let eval = Eval::new(
        Custom::new([Sample::new("a", "How many?").target("17")]),
        agent,
    );
    let eval = eval
        .gate(Gate::no_regression())
        .output_root(folder.path().join("runs"))
        .snapshots(folder.path().join("snapshots"));
    let session = Session::start(&change(eval), RunOptions::default(), Arc::new(|_| {})).unwrap();
    let records = session.run_sample(0);
    let judging = FlipWatch {
        session: &session,
        policy: Policy {
            update: Update::No,
            force_pass: false,
        },
        has_baseline: true,
        no_gate: None,
    };
    let sample = SampleAnswers::of(&session, 0, &records).unwrap();
    let change = Change {
        header: SnapshotHeader::of(&records[0], false),
        path: folder.path().join("a.snap"),
        exists: true,
        now: SampleContent::majority(vec![EpochContent::of(&records[0], StoredParts::default())])
            .unwrap()
            .content,
        policy: judging.policy,
    };
    let message = match judging.of_flip(&sample, &answers(before), change).unwrap() {
        SampleVerdict::Closed(TestVerdict::Failed(message)) => Some(message),
        SampleVerdict::Closed(other) => panic!("{other:?}"),
        SampleVerdict::Open(_) => None,
    };
    (requests.load(Ordering::SeqCst), message)
}

#[test]
fn what_was_always_right_and_is_always_wrong_needs_no_gate() {
    let check = |before: &str, right: usize, confirm: Option<u32>, expect: usize, fails: bool| {
        let (requests, message) = flip(before, right, |eval| match confirm {
            None => eval,
            Some(times) => eval.confirm(times),
        });
        assert_eq!(
            (requests, message.is_some()),
            (expect, fails),
            "{before} {right}"
        );
        let expect = format!(
            "correct in all {} answers of the baseline; asked {expect} times, wrong each time",
            before.len()
        );
        assert!(message.is_none_or(|message| message.contains(&expect)));
    };
    check("11111", 0, None, 11, true);
    check("1111111", 0, None, 11, true);
    // One right answer leaves it to the gates, and ends the asking.
    check("11111", 11, None, 11, false);
    check("11111", 4, None, 4, false);
    check("11111", 0, Some(3), 4, true);
    check("11111", 0, Some(0), 1, true);
    // Fewer answers, or one that was wrong, may be luck.
    check("1111", 0, None, 1, false);
    check("1111.", 0, None, 1, false);
    check("11110", 0, None, 1, false);
    check("1", 0, None, 1, false);
}

#[test]
fn epochs_confirm_one_another() {
    let (requests, message) = flip("11111", 0, |eval| eval.epochs(4));
    assert_eq!((requests, message.is_some()), (11, true));
    // At most half of them are right, but not none.
    let (requests, message) = flip("11111", 2, |eval| eval.epochs(4));
    assert_eq!((requests, message), (4, None));
}

#[test]
fn the_snapshot_of_a_sample_that_is_as_good_is_not_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = folder.path().join("snapshots");
    let sample = Sample::new("a", "How many?").target("17");
    let eval = Eval::new(Custom::new([sample]), |_: &Task| Ok("17".into()))
        .gate(Gate::no_regression())
        .output_root(folder.path().join("runs"))
        .snapshots(&snapshots);
    let dir = RunDir::open(&eval.run().unwrap().dir).unwrap();
    accept(&[dir], &snapshots, &Acceptance::default()).unwrap();
    let session = Session::start(&eval, RunOptions::default(), Arc::new(|_| {})).unwrap();
    let right = session.run_sample(0);
    let mut wrong = right.clone();
    wrong[0].result.score = Some(Score::binary(false));
    // Whoever opens it fails.
    std::fs::write(crate::snapshot::path(&snapshots, "a"), "damaged").unwrap();
    let fails = |update: Update, records: &[Record]| {
        let judging = FlipWatch {
            session: &session,
            policy: Policy {
                update,
                force_pass: false,
            },
            has_baseline: true,
            no_gate: None,
        };
        match judging.of_sample(0, records) {
            SampleVerdict::Closed(verdict) => verdict != TestVerdict::Passed,
            SampleVerdict::Open(_) => panic!("it was not opened"),
        }
    };
    assert!(!fails(Update::No, &right) && !fails(Update::New, &right));
    assert!(fails(Update::No, &wrong));
    // It may have to be written.
    assert!(fails(Update::Always, &right) && fails(Update::Unseen, &right));
}
