use std::sync::Arc;

use super::*;
use crate::data::{Record, Score};
use crate::text::hash::Hasher;
use crate::verdict::baseline::figures::{AnswerFigures, FigureRules};
use crate::verdict::baseline::marks::Marks;

const RIGHT: Option<bool> = Some(true);
const WRONG: Option<bool> = Some(false);

fn baseline(samples: &[(&str, &[Option<bool>])]) -> Baseline {
    Baseline {
        runs: vec![BaselineRun {
            run_id: "r1".to_owned(),
            epochs: 1,
        }],
        scorer_hash: "s1".to_owned(),
        samples: samples
            .iter()
            .map(|(id, answers)| {
                let sample = BaselineSample {
                    answers: answers.to_vec(),
                    ..BaselineSample::default()
                };
                ((*id).to_owned(), sample)
            })
            .collect(),
        digest_matches: true,
        ..Baseline::default()
    }
}

fn current(id: &str, answers: &[Option<bool>]) -> CurrentSample {
    CurrentSample {
        id: id.to_owned(),
        answers: answers.to_vec(),
        slices: [Slice::new("level", "1")].into(),
        ..CurrentSample::default()
    }
}

#[test]
fn what_left_a_slice_is_missing_there() {
    let level = |value: &str| Slice::new("level", value);
    let ids = ["stays", "moved", "gone", "other"];
    let mut baseline = baseline(&ids.map(|id| (id, &[RIGHT][..])));
    baseline.samples.change(|id, sample| {
        sample.slices = [level(if id == "other" { "2" } else { "1" })].into();
    });
    let now = [("stays", "1"), ("moved", "2"), ("other", "2")];
    let rows = now.map(|(id, value)| CurrentSample {
        slices: [level(value)].into(),
        ..current(id, &[RIGHT])
    });
    let rows = rows.into_iter().collect();
    let check = |value: &str, pairs: &[&str], moved: &[&str], removed: &[&str], expected| {
        let level = level(value);
        let pairing = baseline.pair(&rows, Some(&level), false);
        let ids: Vec<_> = pairing.pairs.iter().map(|pair| pair.id).collect();
        assert_eq!((&ids[..], &pairing.moved[..]), (pairs, moved));
        assert_eq!(
            (&pairing.removed[..], pairing.expected),
            (removed, expected)
        );
    };
    check("1", &["stays"], &["moved"], &["gone"], 3);
    check("2", &["moved", "other"], &[], &[], 2);
}

#[test]
fn sorts_the_samples_out() {
    let baseline = baseline(&[
        ("both", &[RIGHT, WRONG, RIGHT]),
        ("errored", &[WRONG]),
        ("gone", &[RIGHT]),
        ("hidden", &[RIGHT]),
        ("never", &[None, None]),
        ("never there", &[None]),
        ("other", &[RIGHT]),
    ]);
    let mut other = current("other", &[RIGHT]);
    other.input_hash = "x".to_owned();
    let rows = [
        current("both", &[WRONG, RIGHT]),
        current("new", &[RIGHT]),
        current("errored", &[None]),
        current("hidden", &[]),
        current("never", &[RIGHT]),
        other,
    ];
    let rows = rows.into_iter().collect();
    let pairing = baseline.pair(&rows, None, false);
    let expect = [
        Pair {
            id: "both",
            before: &[RIGHT, WRONG, RIGHT],
            now: &[WRONG, RIGHT],
            ..Pair::default()
        },
        Pair {
            id: "errored",
            before: &[WRONG],
            now: &[None],
            ..Pair::default()
        },
    ];
    assert!(pairing.pairs.iter().eq(expect));
    assert_eq!(pairing.added, ["new"]);
    assert_eq!(pairing.removed, ["gone", "never there"]);
    assert_eq!(pairing.changed, ["other"]);
    assert_eq!(pairing.unscored, ["hidden", "never"]);
    // All but the two without a verdict.
    assert_eq!(pairing.expected, 5);

    let level = |value: &str| Slice::new("level", value);
    let slice = baseline.pair(&rows, Some(&level("1")), false);
    assert!(slice.pairs.iter().eq(expect));
    assert_eq!((slice.expected, slice.removed.len()), (4, 0));
    assert_eq!(
        baseline.pair(&rows, Some(&level("2")), false),
        Pairing::default()
    );
}

#[test]
fn a_sample_flips_when_the_larger_half_of_its_answers_does() {
    let check = |before: &[Option<bool>], now: &[Option<bool>], expect: Option<bool>| {
        assert_eq!(flipped(before, now), expect, "{before:?} {now:?}");
    };
    check(&[RIGHT], &[WRONG], Some(true));
    check(&[WRONG], &[RIGHT], Some(false));
    check(&[RIGHT], &[RIGHT], None);
    check(&[RIGHT, RIGHT, WRONG], &[WRONG, RIGHT], Some(true));
    check(&[RIGHT, WRONG], &[WRONG, WRONG], None);
    check(&[RIGHT, WRONG], &[RIGHT], Some(false));
    // An outage is not an answer.
    check(&[RIGHT, None], &[None, WRONG], Some(true));
    check(&[RIGHT], &[None], None);
    check(&[None], &[WRONG], None);
}

#[test]
fn refuses_what_cannot_be_compared() {
    fn check(scorer: &str, ids: &[&str], expect: Option<&str>) {
        let baseline = baseline(&[("a", &[RIGHT])]);
        let result = baseline.check_comparable(scorer, ids.iter().copied());
        let message = result.map_err(|error| {
            assert_eq!(error.exit(), crate::Exit::Usage);
            error.message().to_owned()
        });
        match expect {
            None => assert_eq!(message, Ok(())),
            Some(part) => assert!(message.unwrap_err().contains(part)),
        }
    }
    check("s1", &["b", "a"], None);
    check("s2", &["a"], Some("another scorer"));
    check("s1", &["b"], Some("none of these samples"));
}

#[test]
fn a_number_is_found_by_another_form_of_its_id() {
    let hash = |id: &str| Hasher::default().part(id).part("\"Oslo\"").short();
    let mut before = baseline(&[("1.0", &[RIGHT]), ("2", &[RIGHT]), ("x", &[RIGHT])]);
    before
        .samples
        .change(|id, sample| sample.target_hash = hash(id));
    let now = |id: &str| {
        let mut record = Record::scored(id, Score::binary(false));
        record.ground_truth = "Oslo".into();
        record.target_hash = hash(id);
        CurrentSample::in_baseline(&record, Some(&before), FigureRules::default())
    };
    let rows = ["1", "2.0", "x", "3"].map(now).into_iter().collect();
    let pairing = before.pair(&rows, None, false);
    let paired: Vec<_> = pairing.pairs.iter().map(|pair| pair.id).collect();
    assert_eq!(paired, ["1", "2.0", "x"]);
    assert_eq!(pairing.added, ["3"]);
    assert!(pairing.removed.is_empty() && pairing.changed.is_empty());
    assert!(before.check_comparable("s1", ["1"]).is_ok());
    // Another ground truth is another sample.
    let mut record = Record::scored("1", Score::binary(false));
    record.target_hash = "other".to_owned();
    let other = CurrentSample::in_baseline(&record, Some(&before), FigureRules::default());
    let other = [other].into_iter().collect();
    assert_eq!(before.pair(&other, None, false).changed, ["1"]);
}

#[test]
fn a_ground_truth_is_found_by_its_older_hash() {
    let before = Baseline {
        samples: [(
            "a".to_owned(),
            BaselineSample {
                target_hash: "old".to_owned(),
                ..BaselineSample::once(RIGHT)
            },
        )]
        .into_iter()
        .collect(),
        ..Baseline::default()
    };
    let mut record = Record::scored("a", Score::binary(true));
    record.target_hash = "new".to_owned();
    let is_same = |record: &Record| {
        let now = [CurrentSample::of(record)].into_iter().collect();
        before.pair(&now, None, false).changed.is_empty()
    };
    assert!(!is_same(&record));
    record.question_hash = "q".to_owned();
    record.older_target_hash = "old".to_owned();
    assert!(is_same(&record));
}

#[test]
fn a_settled_sample_is_compared_as_before_and_holds_less() {
    let slices: Arc<[Slice]> = [Slice::new("level", "1")].into();
    let before = |question: &str| BaselineSample {
        input_hash: question.to_owned(),
        target_hash: "t".to_owned(),
        slices: Arc::clone(&slices),
        ..BaselineSample::once(RIGHT)
    };
    let before = Baseline {
        samples: [("a", "q"), ("b", "other")]
            .map(|(id, question)| (id, before(question)))
            .into_iter()
            .collect(),
        ..Baseline::default()
    };
    let now = ["a", "b", "c"].map(|id| {
        let mut record = Record::scored(id, Score::binary(false));
        record.question_hash = "q".to_owned();
        record.input_hash = "the whole prompt".to_owned();
        record.target_hash = "t".to_owned();
        record.slices.insert("level".to_owned(), "1".into());
        CurrentSample::in_baseline(&record, Some(&before), FigureRules::default())
    });
    let mut settled: CurrentSamples = now.iter().cloned().collect();
    let now = now.into_iter().collect();
    settled.change(|_, sample| {
        sample.settle(Some(&before));
        assert_eq!(sample.marks, Marks::default());
        assert!(sample.input_hash.is_empty() && sample.target_hash.is_empty());
    });
    let pairing = before.pair(&now, None, false);
    assert_eq!(before.pair(&settled, None, false), pairing);
    let first = pairing.pairs.iter().next();
    assert_eq!((first.unwrap().id, &*pairing.changed), ("a", &["b"][..]));
}

#[test]
fn samples_are_as_they_were_collected() {
    let sample = |answers: &[Option<bool>], question: &str| BaselineSample {
        answers: answers.to_vec(),
        ways: vec![Some(FoundBy::Label); answers.len()],
        figures: AnswerFigures::simulated("steps", answers, &vec![6.0; answers.len()]),
        input_hash: question.to_owned(),
        target_hash: "t".to_owned(),
        slices: [Slice::new("level", question)].into(),
    };
    let all = [
        ("b", sample(&[RIGHT, WRONG], "00000000000000ff")),
        ("a", sample(&[RIGHT], "q")),
        ("", sample(&[None], "")),
        ("b", BaselineSample::once(WRONG)),
    ];
    let mut samples: BaselineSamples = all.iter().cloned().collect();
    let read = |samples: &BaselineSamples| -> Vec<_> {
        let rows = samples.iter();
        rows.map(|row| (row.id().to_owned(), row.to_sample()))
            .collect()
    };
    // In the order of their ids; of equal ones the last one counts.
    let expect = [2, 1, 3].map(|place| (all[place].0.to_owned(), all[place].1.clone()));
    assert_eq!(read(&samples), expect);
    assert_eq!(samples.get("a").unwrap().to_sample(), all[1].1);
    assert!(samples.get("c").is_none());
    samples.retain(|id| id != "a");
    assert_eq!(read(&samples).len(), 2);
    assert!(samples.get("a").is_none() && samples.get("b").is_some());
}

#[test]
fn a_sample_of_now_is_as_it_was_pushed() {
    let whole = CurrentSample {
        id: "1".to_owned(),
        older_id: Some("1.0".to_owned()),
        answers: vec![RIGHT, None],
        ways: vec![Some(FoundBy::Box), None],
        figures: AnswerFigures::simulated_tools(&[RIGHT], &[vec!["search".to_owned()]]),
        by_scorer: [("exact".to_owned(), vec![RIGHT, WRONG])].into(),
        input_hash: "i".to_owned(),
        target_hash: "t".to_owned(),
        marks: Marks {
            questions: vec!["q".to_owned()],
            targets: Vec::new(),
        },
        is_same: Some(true),
        skipped: true,
        slices: [Slice::new("level", "1")].into(),
        cluster: Some("group".to_owned()),
        latencies_s: vec![0.5],
        cached: 1,
    };
    let plain = current("2", &[RIGHT]);
    let pushed = [
        plain.clone(),
        whole.clone(),
        plain,
        whole,
        CurrentSample::default(),
    ];
    let mut samples: CurrentSamples = pushed.iter().cloned().collect();
    samples.change(|place, sample| assert_eq!(*sample, pushed[place]));
    assert_eq!(samples.len(), pushed.len());
}
