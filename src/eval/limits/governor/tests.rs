use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn at_once(concurrency: usize) -> Limits {
    Limits {
        concurrency,
        ramp_up: Some(Duration::ZERO),
        ..Limits::default()
    }
}

fn governor(limits: &Limits) -> Governor {
    Governor::new(limits, UsedUp::default())
}

#[track_caller]
fn go(governor: &mut Governor, now: Duration) -> Permit {
    match governor.try_acquire(now) {
        Admission::Go(permit) => permit,
        other => panic!("{other:?}"),
    }
}

fn usage(tokens: u64) -> Usage {
    Usage {
        cached_tokens: None,
        input_tokens: Some(tokens),
        output_tokens: Some(0),
        cost_usd: Some(0.5),
    }
}

#[test]
fn no_more_than_the_concurrency_is_in_flight() {
    let mut governor = governor(&at_once(2));
    let first = go(&mut governor, SECOND);
    go(&mut governor, SECOND);
    assert_eq!(governor.try_acquire(SECOND), Admission::Wait(None));
    governor.finish(SECOND, &first, QuestionEnd::Failed);
    go(&mut governor, SECOND);
}

#[test]
fn a_refusal_quiets_all_and_halves_what_is_in_flight() {
    let mut governor = governor(&Limits {
        backoff: SECOND,
        ..at_once(8)
    });
    let permits: Vec<_> = (0..8).map(|_| go(&mut governor, SECOND)).collect();
    for permit in &permits {
        governor.finish(
            2 * SECOND,
            permit,
            QuestionEnd::RateLimited(Some(3 * SECOND)),
        );
    }
    assert_eq!(
        governor.try_acquire(3 * SECOND),
        Admission::Wait(Some(5 * SECOND))
    );
    let permits: Vec<_> = (0..4).map(|_| go(&mut governor, 5 * SECOND)).collect();
    assert_eq!(governor.try_acquire(5 * SECOND), Admission::Wait(None));
    for permit in &permits {
        governor.finish(6 * SECOND, permit, QuestionEnd::Answered(None));
    }
    // Four answers made room for nearly one more; the next for one.
    let permits: Vec<_> = (0..4).map(|_| go(&mut governor, 6 * SECOND)).collect();
    assert_eq!(governor.try_acquire(6 * SECOND), Admission::Wait(None));
    governor.finish(6 * SECOND, &permits[0], QuestionEnd::Answered(None));
    for _ in 0..2 {
        go(&mut governor, 6 * SECOND);
    }
    // However long a pause it asks for.
    governor.finish(
        7 * SECOND,
        &permits[1],
        QuestionEnd::RateLimited(Some(Duration::MAX)),
    );
    assert_eq!(governor.try_acquire(7 * SECOND), Admission::Wait(None));
}

#[test]
fn refusing_agent_is_retried_with_backoff_then_given_up() {
    let mut governor = governor(&Limits {
        backoff: SECOND,
        ..at_once(2)
    });
    let (mut now, mut pauses) = (SECOND, Vec::new());
    let over = loop {
        match governor.try_acquire(now) {
            Admission::Go(permit) => {
                // A second refusal among those in flight changes nothing.
                let other = governor.try_acquire(now);
                for permit in std::iter::once(permit).chain(as_permit(other)) {
                    governor.finish(now, &permit, QuestionEnd::RateLimited(None));
                }
            }
            Admission::Wait(until) => {
                pauses.push(until.unwrap().saturating_sub(now).as_secs());
                now = until.unwrap();
            }
            Admission::Over(over) => break over,
        }
    };
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60, 60]);
    assert_eq!(over, Over::Refused);
}

#[test]
fn hours_of_retry_after_end_the_requests() {
    let mut governor = governor(&at_once(3));
    let permits: Vec<_> = (0..3).map(|_| go(&mut governor, SECOND)).collect();
    let ends = [3600, 7200].map(|pause| QuestionEnd::SentAway(pause * SECOND));
    for (permit, end) in permits.iter().zip(ends) {
        governor.finish(2 * SECOND, permit, end);
    }
    let Admission::Over(over) = governor.try_acquire(2 * SECOND) else {
        panic!("it is asked all the same");
    };
    assert_eq!(over.to_string(), "the agent asks for a pause of 7200 s");
}

fn as_permit(admission: Admission) -> Option<Permit> {
    match admission {
        Admission::Go(permit) => Some(permit),
        _ => None,
    }
}

#[test]
fn a_rate_of_tokens_is_not_overrun_before_an_answer_tells_how_many_it_takes() {
    let limits = Limits {
        tokens_per_minute: Some(6e6),
        ..at_once(100)
    };
    let started = |governor: &mut Governor| {
        let permits = std::iter::from_fn(|| as_permit(governor.try_acquire(SECOND)));
        permits.collect::<Vec<_>>()
    };
    let mut one = governor(&limits);
    let permits = started(&mut one);
    assert_eq!(permits.len(), 10);
    one.finish(SECOND, &permits[0], QuestionEnd::Answered(Some(&usage(5))));
    assert_eq!(started(&mut one).len(), 91);
    // An agent that reports no usage is not held back for it.
    let mut other = governor(&limits);
    for permit in started(&mut other) {
        other.finish(SECOND, &permit, QuestionEnd::Answered(None));
    }
    assert_eq!(started(&mut other).len(), 100);
}

#[test]
fn rates_hold_side_by_side() {
    let mut governor = governor(&Limits {
        requests_per_minute: Some(60.0),
        tokens_per_minute: Some(600.0),
        ..at_once(100)
    });
    let first = go(&mut governor, Duration::ZERO);
    assert_eq!(
        governor.try_acquire(Duration::ZERO),
        Admission::Wait(Some(SECOND))
    );
    // It took 60 tokens, of which the bucket held 10: the rest comes in 5 s, and one token in 0.1 s.
    governor.finish(
        Duration::ZERO,
        &first,
        QuestionEnd::Answered(Some(&usage(60))),
    );
    let wait = Duration::from_millis(5100);
    assert_eq!(
        governor.try_acquire(Duration::ZERO),
        Admission::Wait(Some(wait))
    );
    // The next is expected to take as much, which is returned when it fails.
    let second = go(&mut governor, 7 * SECOND);
    assert_eq!(
        governor.try_acquire(8 * SECOND),
        Admission::Wait(Some(SECOND * 121 / 10))
    );
    governor.finish(8 * SECOND, &second, QuestionEnd::Failed);
    go(&mut governor, 8 * SECOND);
}

#[test]
fn a_budget_ends_the_run_and_is_not_overspent_by_what_is_in_flight() {
    let limits = Limits {
        budget: Budget {
            cost_usd: Some(5.0),
            ..Budget::default()
        },
        ..at_once(100)
    };
    let mut governor = governor(&limits);
    let mut requests = 0;
    let mut flying = Vec::new();
    let over = loop {
        match governor.try_acquire(SECOND) {
            // The first answer reports what one costs.
            Admission::Go(permit) if requests > 0 => flying.push(permit),
            Admission::Go(permit) => {
                governor.finish(SECOND, &permit, QuestionEnd::Answered(Some(&usage(1))));
            }
            Admission::Wait(None) => {
                let permit = flying.pop().unwrap();
                governor.finish(SECOND, &permit, QuestionEnd::Answered(Some(&usage(1))));
                continue;
            }
            Admission::Wait(_) => panic!("time changes nothing"),
            Admission::Over(over) => break over,
        }
        requests += 1;
    };
    assert_eq!(requests, 10, "5 USD are ten answers of 0.5");
    assert!(over.to_string().contains("5.0000 USD of 5"), "{over}");
    // Earlier spending counts, and a larger budget lets the run continue.
    let mut spent = governor.spent.clone();
    assert!(matches!(
        Governor::new(&limits, spent.clone()).try_acquire(SECOND),
        Admission::Over(_)
    ));
    spent.agent.requests = 0;
    let more = Limits {
        budget: Budget {
            requests: Some(1),
            ..Budget::default()
        },
        ..limits
    };
    let mut governor = Governor::new(&more, spent);
    go(&mut governor, SECOND);
    let over = Over::Budget(Exhausted::Requests { budget: 1 });
    assert_eq!(governor.try_acquire(SECOND), Admission::Over(over));
}

#[test]
fn nobody_waits_beyond_the_deadline() {
    let mut governor = governor(&Limits {
        deadline: Some(10 * SECOND),
        requests_per_minute: Some(1.0),
        ..at_once(4)
    });
    go(&mut governor, SECOND);
    assert_eq!(
        governor.try_acquire(2 * SECOND),
        Admission::Wait(Some(10 * SECOND))
    );
    let over = Over::Deadline(10 * SECOND);
    assert_eq!(governor.try_acquire(10 * SECOND), Admission::Over(over));
}

#[test]
fn times_that_go_back_or_far_ahead_are_survived() {
    let mut governor = governor(&Limits {
        requests_per_minute: Some(1e-300),
        tokens_per_minute: Some(1e300),
        ..at_once(usize::MAX)
    });
    let permit = go(&mut governor, Duration::MAX);
    governor.finish(
        Duration::ZERO,
        &permit,
        QuestionEnd::RateLimited(Some(Duration::MAX)),
    );
    for now in [Duration::ZERO, SECOND, Duration::MAX] {
        assert!(matches!(
            governor.try_acquire(now),
            Admission::Wait(Some(_))
        ));
    }
}

/// Fails every question like an outage, and returns the pauses in between.
fn out_until_over(
    governor: &mut Governor,
    samples: &[&str],
    mut now: Duration,
) -> (Vec<u64>, Over) {
    let (mut pauses, mut turn) = (Vec::new(), 0);
    loop {
        match governor.try_acquire(now) {
            Admission::Go(permit) => {
                let sample = samples[turn % samples.len()];
                turn += 1;
                governor.finish(now, &permit, QuestionEnd::Out(sample, None));
            }
            Admission::Wait(until) => {
                pauses.push(until.unwrap().saturating_sub(now).as_secs());
                now = until.unwrap();
            }
            Admission::Over(over) => return (pauses, over),
        }
    }
}

#[test]
fn an_agent_that_answers_nobody_is_tried_by_one_question_at_a_time_and_then_no_more() {
    let limits = Limits {
        backoff: SECOND,
        ..at_once(10)
    };
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut dead = governor(&limits);
    let (pauses, over) = out_until_over(&mut dead, &names, SECOND);
    assert_eq!((&pauses[..], over), (&[1, 2, 4, 8, 16, 32][..], Over::Out));
    // An agent that answered before gets more time.
    let mut asleep = governor(&limits);
    let first = go(&mut asleep, SECOND);
    asleep.finish(SECOND, &first, QuestionEnd::Answered(None));
    let permits: Vec<_> = names.map(|name| (name, go(&mut asleep, SECOND))).into();
    for (name, permit) in &permits {
        assert!(!asleep.is_out());
        asleep.finish(2 * SECOND, permit, QuestionEnd::Out(name, None));
    }
    assert!(asleep.is_out());
    assert_eq!(
        asleep.try_acquire(2 * SECOND),
        Admission::Wait(Some(3 * SECOND))
    );
    let probe = go(&mut asleep, 3 * SECOND);
    assert_eq!(asleep.try_acquire(3 * SECOND), Admission::Wait(None));
    // After an answer, all others may ask again at once.
    let mut awake = asleep.clone();
    awake.finish(4 * SECOND, &probe, QuestionEnd::Answered(None));
    assert!(!awake.is_out());
    for _ in 0..10 {
        go(&mut awake, 4 * SECOND);
    }
    asleep.finish(4 * SECOND, &probe, QuestionEnd::Out("a", None));
    let (pauses, over) = out_until_over(&mut asleep, &names, 4 * SECOND);
    assert_eq!((pauses.len(), over), (13, Over::Out));
}

#[test]
fn a_few_samples_that_always_fail_are_no_outage() {
    let mut governor = governor(&at_once(10));
    for turn in 0..100 {
        let permit = go(&mut governor, SECOND);
        let name = ["a", "b", "c"][turn % 3];
        governor.finish(SECOND, &permit, QuestionEnd::Out(name, None));
        assert!(!governor.is_out());
    }
    // Other replies in between mean that there is no outage.
    for turn in 0..100 {
        let permit = go(&mut governor, SECOND);
        let name = turn.to_string();
        let end = match turn % 4 {
            0 => QuestionEnd::Failed,
            _ => QuestionEnd::Out(&name, None),
        };
        governor.finish(SECOND, &permit, end);
        assert!(!governor.is_out());
    }
}

/// Tries once, without room.
fn short(governor: &mut Governor, now: Duration, is_alone: bool) {
    let permit = go(governor, now);
    governor.finish(now, &permit, QuestionEnd::Short { is_alone });
}

#[test]
fn a_machine_without_room_for_one_question_ends_the_run_in_seconds() {
    let mut governor = governor(&Limits {
        backoff: SECOND,
        ..at_once(8)
    });
    let mut now = SECOND;
    let mut tries = 0;
    let over = loop {
        short(&mut governor, now, true);
        tries += 1;
        match governor.try_acquire(now) {
            Admission::Wait(Some(until)) => now = until,
            over => break over,
        }
    };
    assert_eq!(over, Admission::Over(Over::Short));
    assert!(now >= LONGEST_SHORTAGE + SECOND, "{now:?}");
    assert!(now < LONGEST_SHORTAGE + 4 * SECOND, "{now:?}");
    assert!((10..40).contains(&tries), "{tries}");
}

#[test]
fn whoever_else_is_in_flight_is_waited_for() {
    let mut governor = governor(&at_once(8));
    for minute in 0..60 {
        short(&mut governor, 60 * minute * SECOND, false);
    }
    let now = 3600 * SECOND;
    short(&mut governor, now, true);
    assert_eq!(governor.lacks_room_for(), Duration::ZERO);
    let almost = LONGEST_SHORTAGE.saturating_sub(SECOND);
    let now = now + almost;
    short(&mut governor, now, true);
    assert_eq!(governor.lacks_room_for(), almost);
    // An answer, or a failure of another kind, shows that there is room.
    let now = now + 3 * SECOND;
    let permit = go(&mut governor, now);
    governor.finish(now, &permit, QuestionEnd::RateLimited(None));
    assert_eq!(governor.lacks_room_for(), Duration::ZERO);
    // So does another question of this run that is still in flight.
    let now = now + 60 * SECOND;
    let other = go(&mut governor, now);
    governor.finish(now, &other, QuestionEnd::Answered(None));
    let _other = go(&mut governor, now);
    short(&mut governor, now, true);
    assert_eq!(governor.lacks_room_for(), Duration::ZERO);
}
