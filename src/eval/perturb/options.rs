//! Options of a multiple-choice question in another order; the letter of the ground truth follows.
//!
//! Options are known where the question lists them, one to a line and with the letters from A on: `A) …`, `(A) …`, `A. …`.
//! Metadata with the same texts in the same order follow, as the scorer `choice` reads them.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value};

use super::Draws;
use crate::data::{Sample, Target};

/// Words of options that are about other ones.
const ABOUT_OTHERS: [&str; 3] = ["above", "below", "both "];

/// Reorders the options of a sample; returns the question. `None` if its options are not known.
pub(super) fn reorder(sample: &mut Sample, question: &str, draws: &mut Draws) -> Option<String> {
    let options = options(question)?;
    let texts: Vec<&str> = options
        .iter()
        .map(|option| &question[option.clone()])
        .collect();
    let is_about_others = |text: &&str| {
        let text = text.to_lowercase();
        ABOUT_OTHERS.iter().any(|words| text.contains(words))
    };
    // Without the label of the first option.
    let stem = &question[..options[0].start];
    let stem = stem.rfind('\n').map_or("", |end| &stem[..end]);
    let names_others = |text: &str| names_a_letter(text, texts.len());
    if names_others(stem) || texts.iter().any(|text| names_others(text)) {
        return None;
    }
    if texts.iter().any(is_about_others) || texts.iter().all(|text| *text == texts[0]) {
        return None;
    }
    let target = sample.target.as_ref()?.0.as_str()?.to_owned();
    let letter = letter_of(&target).filter(|place| *place < texts.len());
    let is_text = texts
        .iter()
        .any(|text| text.eq_ignore_ascii_case(target.trim()));
    if letter.is_none() && !is_text {
        return None;
    }
    let order = order(&texts, draws);
    let mut changed = String::with_capacity(question.len());
    let mut end = 0;
    for (option, from) in options.iter().zip(&order) {
        changed += &question[end..option.start];
        changed += texts[*from];
        end = option.end;
    }
    changed += &question[end..];
    if let Some(place) = letter {
        let now = order.iter().position(|from| *from == place)?;
        let [was, is] = [place, now].map(letter_at);
        let moved = |letter: char| match letter {
            _ if letter == was => is,
            _ if letter == was.to_ascii_lowercase() => is.to_ascii_lowercase(),
            other => other,
        };
        let written: String = target.chars().map(moved).collect();
        sample.target = Some(Target(written.into()));
    }
    for value in sample.metadata.values_mut() {
        follow(value, &texts, &order);
    }
    Some(changed)
}

/// Whether a text names some options by their letters, such as `Either B or C`; all of them are a list of what can be
/// answered. A lone `A` is mostly an article, and is taken for one unless a word beside it says otherwise.
fn names_a_letter(text: &str, count: usize) -> bool {
    const NEAR: [&str; 9] = [
        "and",
        "answer",
        "choice",
        "either",
        "neither",
        "nor",
        "option",
        "or",
        "statement",
    ];
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words: Vec<String> = text.split_whitespace().map(bare).collect();
    let is_near =
        |word: Option<&String>| word.is_some_and(|word| NEAR.contains(&&*word.to_lowercase()));
    let letters = words.iter().enumerate().filter_map(|(place, word)| {
        let is_upper = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
        let letter = letter_of(word).filter(|letter| is_upper && *letter < count)?;
        let before = place.checked_sub(1).and_then(|before| words.get(before));
        let is_named = word != "A" || is_near(before) || is_near(words.get(place + 1));
        is_named.then_some(letter)
    });
    let named: BTreeSet<usize> = letters.collect();
    !named.is_empty() && named.len() < count
}

/// An order in which another text stands somewhere.
fn order(texts: &[&str], draws: &mut Draws) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, draws.below(place + 1));
    }
    let is_same = order
        .iter()
        .zip(texts)
        .all(|(from, text)| texts[*from] == *text);
    if is_same {
        order.rotate_left(1);
    }
    order
}

/// Reorders metadata with these texts: a list, a map from letters, or a map with a list `text`.
fn follow(value: &mut Value, texts: &[&str], order: &[usize]) {
    let are_same = |values: &[&Value]| {
        let mut pairs = values.iter().zip(texts);
        values.len() == texts.len()
            && pairs.all(|(value, text)| value.as_str().is_some_and(|value| value.trim() == *text))
    };
    match value {
        Value::Array(items) if are_same(&items.iter().collect::<Vec<_>>()) => {
            *items = order.iter().map(|from| items[*from].clone()).collect();
        }
        Value::Object(members) if are_same(&members.values().collect::<Vec<_>>()) => {
            let values: Vec<Value> = members.values().cloned().collect();
            let names = members.keys().cloned().zip(order);
            let moved = names.map(|(name, from)| (name, values[*from].clone()));
            *members = moved.collect::<Map<_, _>>();
        }
        Value::Object(members) => {
            if let Some(list @ Value::Array(_)) = members.get_mut("text") {
                follow(list, texts, order);
            }
        }
        _ => {}
    }
}

/// The places of the options' texts; `None` unless the question has one list of them.
fn options(question: &str) -> Option<Vec<Range<usize>>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_over = false;
    let mut start = 0;
    for line in question.split_inclusive('\n') {
        let text = line.trim_end();
        if let Some((letter, at)) = labelled(text) {
            // Another list, or a letter is missing.
            if is_over || letter != found.len() {
                return None;
            }
            found.push(start + at..start + text.len());
        } else if !text.is_empty() && !found.is_empty() {
            is_over = true;
        }
        start += line.len();
    }
    (found.len() >= 2).then_some(found)
}

/// The place of the letter of an option, and where its text begins.
fn labelled(line: &str) -> Option<(usize, usize)> {
    let inner = line.trim_start();
    let (opened, rest) = match inner.strip_prefix('(') {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = &rest[1..];
    let after = if opened {
        rest.strip_prefix(')')?
    } else {
        rest.strip_prefix([')', '.', ':'])?
    };
    let text = after.trim_start();
    let is_apart = text.len() < after.len() && !text.is_empty();
    let place = usize::from(letter.to_ascii_uppercase() as u8 - b'A');
    is_apart.then_some((place, line.len() - text.len()))
}

/// The place of a letter that stands alone: `B`, `(b)`, `B.`
fn letter_of(target: &str) -> Option<usize> {
    let bare = target
        .trim()
        .trim_start_matches('(')
        .trim_end_matches([')', '.', ':']);
    match bare.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => {
            Some(usize::from(letter.to_ascii_uppercase() - b'A'))
        }
        _ => None,
    }
}

fn letter_at(place: usize) -> char {
    char::from(b'A' + u8::try_from(place.min(25)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::record::perturb::PerturbKind;

    fn reordered(sample: &Sample) -> Option<Sample> {
        let mut changed = sample.clone();
        let mut draws = Draws::of(7, PerturbKind::ReorderedOptions, &sample.id, 0);
        let question = reorder(&mut changed, &sample.prompt, &mut draws)?;
        changed.prompt = question;
        Some(changed)
    }

    #[test]
    fn options_move_and_the_letter_of_the_truth_follows() {
        for (a, b, c, truth) in [
            ("A) red", "B) green", "C) blue", "B"),
            ("(A) red", "(B) green", "(C) blue", "(B)"),
            ("a. red", "b. green", "c. blue", "b."),
        ] {
            for id in ["1", "2", "3", "4", "5"] {
                let text = format!("Which?\n\n{a}\n{b}\n{c}\n\nAnswer with a letter.");
                let mut sample = Sample::new(id, text).target(truth);
                sample
                    .metadata
                    .insert("choices".to_owned(), json!(["red", "green", "blue"]));
                sample.metadata.insert(
                    "by".to_owned(),
                    json!({"A": "red", "B": "green", "C": "blue"}),
                );
                sample.metadata.insert(
                    "arc".to_owned(),
                    json!({"text": ["red", "green", "blue"], "label": ["A", "B", "C"]}),
                );
                let changed = reordered(&sample).unwrap();
                assert_ne!(changed.prompt, sample.prompt);
                assert!(changed.prompt.ends_with("\n\nAnswer with a letter."));
                let target = changed.target.unwrap().0;
                let place = letter_of(target.as_str().unwrap()).unwrap();
                assert_eq!(changed.metadata["choices"][place], "green");
                assert_eq!(
                    changed.metadata["by"][letter_at(place).to_string()],
                    "green"
                );
                assert_eq!(changed.metadata["arc"]["text"][place], "green");
                assert_eq!(changed.metadata["arc"]["label"], json!(["A", "B", "C"]));
                let line = changed.prompt.lines().nth(2 + place).unwrap();
                assert!(line.ends_with(" green"), "{line}");
                assert_eq!(target.as_str().unwrap().len(), truth.len());
            }
        }
        let text = Sample::new("1", "Which?\nA) red\nB) green").target("Green");
        assert_eq!(reordered(&text).unwrap().target.unwrap().0, "Green");
    }

    #[test]
    fn options_that_are_named_elsewhere_stay() {
        let reorders = |text: &str| reordered(&Sample::new("1", text).target("A")).is_some();
        for text in [
            "Which one?\nA) Either B or C\nB) two\nC) three",
            "Which one?\nA) one\nB) two\nC) A or B",
            "Statement A is false. Which is true?\nA) one\nB) two\nC) three",
            "Which is right: option B or option C?\nA) one\nB) two\nC) three",
        ] {
            assert!(!reorders(text), "{text}");
        }
        for text in [
            "A cat sees a dog. Which one?\nA) one\nB) two\nC) three",
            "Answer A, B or C.\nA) one\nB) two\nC) three",
        ] {
            assert!(reorders(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_known_list_stays() {
        for (text, truth) in [
            ("Which?", json!("A")),
            ("Which?\nA) red", json!("A")),
            ("Which?\nA) red\nC) green", json!("A")),
            ("Which?\nA) red\nB) red", json!("A")),
            ("Which?\nA) red\nB) none of the above", json!("A")),
            ("A) red\nB) green\nor\nA) red\nB) green", json!("A")),
            ("Which?\nA) red\nB) green", json!(1)),
            ("Which?\nA) red\nB) green", json!("C")),
            ("Which?\nA) red\nB) green", json!("blue")),
            ("A dog\nB cat", json!("A")),
        ] {
            let sample = Sample::new("1", text).target(truth);
            assert!(reordered(&sample).is_none(), "{text}");
        }
    }
}
