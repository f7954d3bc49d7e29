use std::collections::HashSet;

use serde_json::Value;

use super::{NearCopies, words};
use crate::stats::{SplitMix64, as_f64};
use crate::tests::{needs, parity};

/// The minimum share of a copy.
const BAR: f64 = 0.5;

#[test]
fn words_are_what_stays_when_a_text_is_set_anew() {
    fn check(one: &str, other: &str, are_same: bool) {
        assert_eq!(
            words::of(one) == words::of(other),
            are_same,
            "{one:?} {other:?}"
        );
    }
    check("has 3 cats", "has 1,000 cats", true);
    check("has 3 cats", "has twenty-five cats", true);
    check("at (3,4)", "at (10.5, -7)", true);
    check("the 21st term", "the 4 th term", false);
    check("the 21st term", "the 4th term", true);
    check("10{,}000 ways", "7 ways", true);
    check("x^2+3x", "x^{15} - x", true);
    check("x+3y", "x+y", false);
    check("٣ cats", "3 cats", true);
    check("Joe’s CAT", "joe's cat", true);
    check("cafe\u{301}", "cafe", true);
    check("co\u{ad}operate", "cooperate", true);
    check("ab", "a b", false);
    check("求最小的数", "求 最小的 数", true);
    check("求最小的数", "求最大的数", false);
    check(r"$\dfrac{m}{n}$", r"\frac m n", true);
    check(r"\left( x \right)", "(x)", true);
    check(r"5\text{ cm}", "5 cm", true);
    check(r"\triangle ABC", r"\angle ABC", false);
    check("", "?!", true);
}

#[test]
fn copies_are_found_whatever_their_numbers() {
    fn check(text: &str, expect: Option<(&str, f64)>) {
        let mut index = NearCopies::new();
        assert!(index.is_empty());
        index.add(
            "jugs",
            "Ana pours 3 jugs of water into 12 cups, each of which holds 0.25 litres, and drinks 2 of them at once.",
        );
        index.add("short", "What is 7 + 8?");
        index.add("none", "");
        index.add("again", "What is 7 + 8?");
        assert_eq!(index.len(), 4);
        let nearest = index.nearest(text);
        let nearest = nearest.as_ref().map(|copy| (copy.id.as_str(), copy.share));
        assert_eq!(nearest, expect, "{text:?}");
    }
    check(
        "Ana pours 40 jugs of water into 1,000 cups, each of which holds 3/4 litres, and drinks thirty-one of them at once!",
        Some(("jugs", 1.0)),
    );
    // 7 of the 15 grams are before or after the word that differs.
    check(
        "Ana pours 3 jugs of water into 12 cups, each of which weighs 0.25 litres, and drinks 2 of them at once.",
        Some(("jugs", 7.0 / 15.0)),
    );
    check(
        "Ben pours 3 jugs of water into 12 cups, each of which holds 0.25 litres, and drinks 2 of them at once.",
        Some(("jugs", 14.0 / 15.0)),
    );
    // A short text is a single gram.
    check("what is 70+80", Some(("short", 1.0)));
    check("What is 7 + x?", None);
    check("each of which holds 1 litres", None);
    check("", None);
    check("+ - ?!", None);
}

#[test]
fn what_genuine_problems_share_is_no_copy() {
    let tails = [
        r"can be written as $\frac{m}{n}$, where $m$ and $n$ are relatively prime positive integers. Find $m+n$.",
        r"is $\tfrac{p}{q}$, where $p$ and $q$ are relatively prime positive integers. Find $p + q$.",
        r"can be expressed in the form $\frac{a\sqrt{b}}{c}$, where $a$, $b$, and $c$ are positive integers, $a$ and $c$ are relatively prime, and $b$ is not divisible by the square of any prime. Find $a+b+c$.",
        "is N. Find the remainder when $N$ is divided by $1000$.",
    ];
    for tail in tails {
        let mut index = NearCopies::new();
        index.add(
            "hexagon",
            &format!("The area that two squares in a hexagon of side 6 share {tail}"),
        );
        for text in [
            format!("The chance that a fair coin shows heads {tail}"),
            format!("For four cards drawn at once, the chance of a flush {tail}"),
            format!("The sum of the roots {tail}"),
        ] {
            let share = index.nearest(&text).map_or(0.0, |copy| copy.share);
            assert!(share < BAR, "{share} {text}");
        }
        let copy = format!("The area that 15 squares in a hexagon of side 40 share {tail}");
        assert!(index.nearest(&copy).is_some_and(|copy| copy.share >= 0.99));
        // Without other grams, common ones are compared.
        assert!(index.nearest(tail).is_some_and(|copy| copy.share >= 0.99));
    }
}

#[test]
fn a_phrase_of_many_texts_does_not_count() {
    let phrase = "after a long day at the market in the old town he counts what he has";
    let mut index = NearCopies::new();
    for number in 0..11 {
        let own: Vec<String> = ["plum", "pear", "nut", "fig", "date", "kiwi"]
            .iter()
            .map(|fruit| format!("{fruit}{}", "z".repeat(number)))
            .collect();
        let own = own.join(" ");
        index.add(
            &number.to_string(),
            &format!("{phrase} {own} and no more than that"),
        );
    }
    let other = format!("{phrase} of plums and pears in baskets");
    assert!(
        index
            .nearest(&other)
            .is_none_or(|copy| copy.share < f64::EPSILON)
    );
    assert!(
        index
            .nearest(phrase)
            .is_some_and(|copy| copy.share >= 0.99 && copy.id == "0")
    );
}

#[test]
fn generated_problems_differ_from_copies() {
    let mut random = SplitMix64(18);
    let problems: Vec<String> = (0..1000).map(|_| problem(&mut random)).collect();
    let distinct: HashSet<&String> = problems.iter().collect();
    assert!(distinct.len() > 990);
    holds_the_bar(&problems);
}

#[needs(data = "realworld/gsm8k/model_solutions.jsonl")]
#[test]
fn real_problems_differ_from_copies() {
    let text = parity::text("realworld/gsm8k/model_solutions.jsonl");
    let problems = text.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        parity::get(&row, "question")
    });
    let problems: Vec<String> = problems.collect();
    assert_eq!(problems.len(), 1319);
    holds_the_bar(&problems);
}

/// At most 0.5 % of the problems are reported as copies of others, and at least 99 % of their copies are found.
fn holds_the_bar(problems: &[String]) {
    let share = |count: usize| as_f64(count as u64) / as_f64(problems.len() as u64);
    let mut flagged = HashSet::new();
    // Compare each with those before it, then with those after it.
    let mut index = NearCopies::new();
    for (number, text) in problems.iter().enumerate() {
        if index.nearest(text).is_some_and(|copy| copy.share >= BAR) {
            flagged.insert(number);
        }
        index.add(&number.to_string(), text);
    }
    let mut behind = NearCopies::new();
    for (number, text) in problems.iter().enumerate().rev() {
        if behind.nearest(text).is_some_and(|copy| copy.share >= BAR) {
            flagged.insert(number);
        }
        behind.add(&number.to_string(), text);
    }
    let genuine = share(flagged.len());
    let mut random = SplitMix64(7);
    let caught = problems.iter().enumerate().filter(|(number, text)| {
        let copy = with_other_numbers(text, &mut random);
        let nearest = index.nearest(&copy);
        nearest.is_some_and(|copy| {
            copy.share >= BAR && { flagged.contains(number) || copy.id == number.to_string() }
        })
    });
    let caught = share(caught.count());
    let texts: Vec<&String> = flagged.iter().map(|number| &problems[*number]).collect();
    assert!(genuine <= 0.005, "{genuine} flagged: {texts:#?}");
    assert!(caught >= 0.99, "{caught} caught");
}

/// The text with every number in digits replaced by another one of any size.
fn with_other_numbers(text: &str, random: &mut SplitMix64) -> String {
    let mut copy = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_ascii_digit() {
            copy.push(c);
            continue;
        }
        let mut number = String::from(c);
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            number.push(digit);
        }
        let mut other = number.clone();
        while other == number {
            let below = [10, 100, 5000][random.below(3)];
            other = random.below(below).to_string();
        }
        copy.push_str(&other);
    }
    copy
}

/// A problem from a grammar: an opening, one or two turns, a question.
fn problem(random: &mut SplitMix64) -> String {
    let mut pick = |of: &[&str]| of[random.below(of.len())].to_owned();
    let turns = [
        "{who} {does} {n} {thing} every {time} and {does} {n} more on the last {time}.",
        "In the {place} a {thing} costs ${n}, which is {n} percent less than a {thing} of {who}.",
        "{who} walks {n} miles to the {place}, rests for {n} minutes, and {does} a {thing}.",
        "Of the {n} {thing}s in the {place}, {who} {does} {n}, and the rest is shared by {n} friends.",
        "A {thing} weighs {n} times as much as the {thing} that {who} {does}.",
        "Before each {time}, {who} {does} {n}/{n} of the {thing}s and puts {n} new ones into the {place}.",
        r"The probability that {who} {does} the {thing} before the {time} is $\frac{{n}}{{n}}$.",
        r"A circle of radius ${n}$ is drawn around the {place}, and {who} {does} $x^{n} + {n}x$ {thing}s on it.",
        "Let $a_{n}$ be the number of {thing}s that {who} {does} in a {time} at the {place}.",
        "When the {place} opens, {n} {thing}s are there for the {n} people who come each {time}.",
    ];
    let questions = [
        "How many {thing}s are left?",
        "What does {who} pay in dollars?",
        r"This can be written as $\frac{m}{n}$, where $m$ and $n$ are relatively prime positive integers. Find $m+n$.",
        "Find the remainder when this number is divided by {n}.",
        "After how many {time}s is the {place} empty?",
    ];
    let count = 2 + random_less(&mut pick);
    let mut text: String = (0..count).map(|_| pick(&turns) + " ").collect();
    text += &pick(&questions);
    let slots: [(&str, &[&str]); 5] = [
        (
            "{who}",
            &[
                "Ana", "Ben", "Carla", "Dev", "Emil", "Fatima", "Grace", "Hiro",
            ],
        ),
        (
            "{does}",
            &["buys", "paints", "sells", "lends", "counts", "repairs"],
        ),
        (
            "{thing}",
            &[
                "apple", "kite", "lamp", "ticket", "stone", "violin", "chair", "stamp",
            ],
        ),
        ("{time}", &["day", "week", "round", "shift"]),
        (
            "{place}",
            &["market", "harbour", "library", "tower", "orchard"],
        ),
    ];
    for (slot, words) in slots {
        while text.contains(slot) {
            text = text.replacen(slot, &pick(words), 1);
        }
    }
    while text.contains("{n}") && !text.ends_with("{n}") {
        text = text.replacen("{n}", &pick(&["3", "14", "250", "1,000", "7"]), 1);
    }
    text
}

fn random_less(pick: &mut impl FnMut(&[&str]) -> String) -> usize {
    pick(&["", "a"]).len()
}
