use super::*;

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
        slices: vec![Slice::new("level", "1")],
        ..CurrentSample::default()
    }
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
    assert_eq!(pairing.pairs, expect);
    assert_eq!(pairing.added, ["new"]);
    assert_eq!(pairing.removed, ["gone", "never there"]);
    assert_eq!(pairing.changed, ["other"]);
    assert_eq!(pairing.unscored, ["hidden", "never"]);
    // All but the two without a verdict.
    assert_eq!(pairing.expected, 5);

    let level = |value: &str| Slice::new("level", value);
    let slice = baseline.pair(&rows, Some(&level("1")), false);
    assert_eq!(slice.pairs, expect);
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
    check("s1", &["b"], Some("none of the samples"));
}
