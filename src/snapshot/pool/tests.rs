use super::*;

fn run(id: &str) -> PooledRun {
    PooledRun {
        agent: Some("a".to_owned()),
        dataset: "d".to_owned(),
        ..PooledRun::old(id.to_owned(), 1)
    }
}

#[track_caller]
fn check(one: &PooledRun, other: &PooledRun, says: Option<&str>) {
    for (own, theirs) in [(one, other), (other, one)] {
        match (own.check_joins(theirs, false), says) {
            (Ok(()), None) => {}
            (Err(error), Some(says)) if error.message().contains(says) => {}
            (message, _) => panic!("{message:?}, not {says:?}"),
        }
    }
}

#[test]
fn indistinguishable_run_is_not_pooled() {
    let one = run("r1");
    check(&one, &run("r2"), None);
    check(&one, &one, Some("is in the baseline already"));
    let unknown = PooledRun {
        agent: None,
        ..run("r2")
    };
    check(&one, &unknown, Some("run `r2` does not record its agent"));
    // Nor do two of them.
    check(
        &PooledRun {
            agent: None,
            ..run("r1")
        },
        &unknown,
        Some("does not record its agent"),
    );
    check(
        &PooledRun::old("r1".to_owned(), 1),
        &one,
        Some("is in the baseline already"),
    );
    check(
        &PooledRun::old("r0".to_owned(), 1),
        &one,
        Some("run `r0` does not record its agent"),
    );
    let other = PooledRun {
        agent: Some("b".to_owned()),
        ..run("r2")
    };
    check(&one, &other, Some("another agent"));
    let cached = PooledRun {
        cached: 3,
        of_unknown: 2,
        ..run("r2")
    };
    check(
        &one,
        &cached,
        Some("2 answers of run `r2` came from the cache, and the run that asked them is unknown"),
    );
}

#[test]
fn answers_count_once_by_whatever_way_they_came() {
    let with = |id: &str, cached: u64, of: &[&str]| PooledRun {
        cached,
        answers_of: of.iter().map(ToString::to_string).collect(),
        ..run(id)
    };
    let from_cache = "share cached answers of run `r1`, which count once";
    check(&run("r1"), &with("r2", 3, &["r1"]), Some(from_cache));
    check(
        &with("r3", 1, &["r1", "r0"]),
        &with("r2", 3, &["r1"]),
        Some(from_cache),
    );
    check(&with("r3", 1, &["r0"]), &with("r2", 3, &["r1"]), None);
    check(
        &run("r1"),
        &with("r2", 0, &["r1"]),
        Some("repeat one recording (`r1`)"),
    );
    let scored = PooledRun {
        parent: Some("r1".to_owned()),
        ..with("r2", 0, &["r1"])
    };
    check(&run("r1"), &scored, Some("scored again"));
}

#[test]
fn a_part_may_have_other_samples() {
    let part = PooledRun {
        dataset: "e".to_owned(),
        ..run("r2")
    };
    check(&run("r1"), &part, Some("another dataset"));
    part.check_joins(&run("r1"), true).unwrap();
}
