//! Results of bounded size: long texts and lists are shortened, and what was left out is counted.

use serde_json::{Map, Value, json};

/// The most bytes of a result: half for the text, half for the same as JSON.
const MOST_BYTES: usize = 24 * 1024 / 2 - 1024;
/// The longest text and the longest list, each time that the result is too large.
const STEPS: [(usize, usize); 6] = [
    (4000, 200),
    (2000, 100),
    (1000, 50),
    (400, 20),
    (150, 10),
    (60, 4),
];

/// What was left out.
#[derive(Default)]
struct LeftOut {
    characters: usize,
    items: usize,
}

/// The value, small enough for a message; `left_out` says what is missing.
pub(super) fn bounded(value: Value) -> Value {
    if size(&value) <= MOST_BYTES {
        return value;
    }
    for (longest_text, longest_list) in STEPS {
        let mut left_out = LeftOut::default();
        let mut short = shortened(&value, longest_text, longest_list, &mut left_out);
        if let Value::Object(members) = &mut short {
            let LeftOut { characters, items } = left_out;
            members.insert(
                "left_out".to_owned(),
                json!({"characters": characters, "items": items}),
            );
        }
        if size(&short) <= MOST_BYTES {
            return short;
        }
    }
    json!({"left_out": {"characters": value.to_string().chars().count(), "items": 0}})
}

/// The bytes as a text in a message, where quotes are escaped.
fn size(value: &Value) -> usize {
    Value::String(value.to_string()).to_string().len()
}

fn shortened(value: &Value, text: usize, list: usize, left_out: &mut LeftOut) -> Value {
    match value {
        Value::String(whole) => match whole.char_indices().nth(text) {
            None => value.clone(),
            Some((end, _)) => {
                left_out.characters += whole[end..].chars().count();
                format!("{}…", &whole[..end]).into()
            }
        },
        Value::Array(items) => {
            left_out.items += items.len().saturating_sub(list);
            let items = items.iter().take(list);
            items
                .map(|item| shortened(item, text, list, left_out))
                .collect()
        }
        Value::Object(members) => {
            left_out.items += members.len().saturating_sub(list);
            let members = members.iter().take(list);
            let members =
                members.map(|(key, member)| (key.clone(), shortened(member, text, list, left_out)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted() {
        let small = json!({"a": "b"});
        assert_eq!(bounded(small.clone()), small);
        let long = json!({"text": "é".repeat(50_000), "list": [1, 2, 3]});
        let short = bounded(long);
        assert_eq!(short["left_out"], json!({"characters": 46_000, "items": 0}));
        assert_eq!(short["list"], json!([1, 2, 3]));
        let many: Vec<_> = (0..10_000)
            .map(|n| json!({"n": n, "quote": "\"\"\""}))
            .collect();
        let short = bounded(json!({"many": many}));
        let items = short["many"].as_array().unwrap().len() as u64;
        assert_eq!(short["left_out"]["items"], 10_000 - items);
        let deep = json!({"deep": vec![vec![vec![vec!["word ".repeat(20); 99]; 99]; 9]; 9]});
        assert!(bounded(deep).to_string().len() <= MOST_BYTES);
    }
}
