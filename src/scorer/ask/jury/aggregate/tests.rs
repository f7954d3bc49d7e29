use serde_json::json;

use super::*;

fn rubric() -> Grading {
    Grading::inline(
        &json!({ "rubric": { "dimensions": [{ "name": "x", "weight": 3 }, { "name": "y" }] } }),
    )
}

fn choices() -> Grading {
    Grading::inline(&json!({ "choices": { "a": 1, "b": 0.5, "c": 0 }, "pass": 0.5 }))
}

/// Points in two dimensions.
fn two_points(x: f64, y: f64) -> JurorSays {
    let total = (3.0 * x + y) / 4.0;
    JurorSays {
        points: vec![x, y],
        total,
        choice: None,
        correct: total >= 3.5,
        comments: String::new(),
        self_agreement: None,
    }
}

fn choice(name: &str) -> JurorSays {
    let total = match name {
        "a" => 1.0,
        "b" => 0.5,
        _ => 0.0,
    };
    JurorSays {
        points: Vec::new(),
        choice: Some(name.to_owned()),
        ..JurorSays {
            total,
            correct: total >= 0.5,
            ..two_points(1.0, 1.0)
        }
    }
}

/// All orders of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    let Some((last, rest)) = list.split_last() else {
        return vec![Vec::new()];
    };
    let longer = orders(rest).into_iter().flat_map(|order| {
        (0..=order.len()).map(move |place| {
            let mut order = order.clone();
            order.insert(place, last.clone());
            order
        })
    });
    longer.collect()
}

/// The verdict for these votes, weights and outliers: the same in every order.
#[track_caller]
fn check(
    aggregate: Aggregate,
    grading: &Grading,
    says: &[(JurorSays, f64, bool)],
    panel: usize,
    expect: Result<(f64, bool), Unread>,
) {
    let mut found = orders(says).into_iter().map(|order| {
        let voices = order.iter().map(|(says, weight, outlier)| Voice {
            says,
            outlier: *outlier,
            weight: *weight,
        });
        aggregate.of(grading, &voices.collect::<Vec<_>>(), panel)
    });
    let first = found.next().unwrap();
    assert!(found.all(|other| other == first), "{aggregate:?}");
    let actual = first.map(|together| (together.total, together.correct));
    assert_eq!(actual, expect, "{aggregate:?}");
}

#[test]
fn points_become_one_by_dimension() {
    let says = [
        (two_points(5.0, 1.0), 4.0, false),
        (two_points(4.0, 2.0), 1.0, false),
        (two_points(2.0, 5.0), 1.0, false),
        (two_points(1.0, 1.0), 9.0, true),
    ];
    let rubric = rubric();
    let check = |aggregate, expect| check(aggregate, &rubric, &says, 5, expect);
    // x 3 and y 1.5.
    check(Aggregate::Median, Ok((2.625, false)));
    // x 11/3 and y 8/3, without the outlier.
    check(Aggregate::Mean, Ok((3.416_666_666_667, false)));
    // x 4 and y 2.
    check(Aggregate::TrimmedMean, Ok((3.5, true)));
    // x 26/6 and y 11/6.
    check(Aggregate::Weighted, Ok((3.708_333_333_333, true)));
    // Two of five pass it, two do not.
    check(Aggregate::Majority, Err(Unread::NoMajority));
}

#[test]
fn a_majority_is_of_the_whole_panel() {
    let choices = choices();
    let of = |names: &[&str]| -> Vec<_> {
        names
            .iter()
            .map(|name| (choice(name), 1.0, false))
            .collect()
    };
    let check = |names: &[&str], panel, expect| {
        check(Aggregate::Majority, &choices, &of(names), panel, expect);
    };
    check(&["a", "a", "b"], 3, Ok((1.0, true)));
    check(&["a", "a"], 3, Ok((1.0, true)));
    // An unreadable vote stays in the denominator.
    check(&["a", "a"], 4, Err(Unread::NoMajority));
    check(&["c", "c", "c", "a"], 5, Ok((0.0, false)));
    check(&["a", "b"], 2, Err(Unread::NoMajority));
    check(&["a", "b", "c"], 3, Err(Unread::NoMajority));
    check(&["a"], 1, Ok((1.0, true)));
}

#[test]
fn the_greatest_weight_decides_unless_two_have_it() {
    let choices = choices();
    let check = |says: &[(&str, f64)], expect| {
        let says: Vec<_> = says
            .iter()
            .map(|(name, weight)| (choice(name), *weight, false))
            .collect();
        check(Aggregate::Weighted, &choices, &says, 9, expect);
    };
    check(&[("a", 1.0), ("c", 0.4), ("c", 0.5)], Ok((1.0, true)));
    check(&[("a", 0.8), ("c", 0.4), ("c", 0.5)], Ok((0.0, false)));
    // Equal apart from floating-point error.
    check(
        &[("a", 0.3), ("c", 0.1), ("c", 0.2)],
        Err(Unread::NoMajority),
    );
    check(&[("a", 0.0), ("c", 0.0)], Err(Unread::NoMajority));
    check(&[("a", 0.0), ("c", 0.0), ("b", 1e-6)], Ok((0.5, true)));
    check(&[], Err(Unread::NoMajority));
}

#[test]
fn choices_have_means_of_values() {
    let choices = choices();
    let says: Vec<_> = ["a", "b", "b", "c", "c"]
        .map(|name| (choice(name), 1.0, false))
        .into();
    let check = |aggregate, expect| check(aggregate, &choices, &says, 5, Ok(expect));
    check(Aggregate::Median, (0.5, true));
    check(Aggregate::Mean, (0.4, false));
    check(Aggregate::TrimmedMean, (0.333_333_333_333, false));
}
