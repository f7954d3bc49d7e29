//! Ground truths of a spec as they are spelled. A ground truth becomes a text, and `1.10` is another text than `1.1`; the
//! parser of values only tells the number.

use super::{Content, Id, TOP, YamlPlaces};
use crate::text::yaml;

/// The names of a ground truth.
const NAMES: [&str; 3] = ["ground_truth", "target", "targets"];

/// The text of a spec with quotes around those ground truths of `samples` that JSON would spell in another way, and around
/// integers beyond 64 bits in samples, which JSON values cannot hold. `None` if there are none.
pub(crate) fn with_spellings(text: &str) -> Option<String> {
    if !text.contains("samples") {
        return None;
    }
    let places = YamlPlaces::of(text);
    let mut found = Vec::new();
    places.find_samples(TOP, &mut found);
    // The target of an alias may be met several times.
    found.sort_unstable();
    found.dedup();
    let mut spelled = String::with_capacity(text.len() + 2 * found.len());
    let mut written = 0;
    for (start, end) in &found {
        // An anchor stands before the value, and is no part of the range.
        spelled.push_str(text.get(written..*start)?);
        spelled.push('\'');
        spelled.push_str(text.get(*start..*end)?);
        spelled.push('\'');
        written = *end;
    }
    spelled.push_str(text.get(written..)?);
    (!found.is_empty()).then_some(spelled)
}

/// What a value in a sample is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Sample,
    Truth,
    Other,
}

impl YamlPlaces {
    fn find_samples(&self, node: Id, found: &mut Vec<(usize, usize)>) {
        let Some(Content::Map(entries)) = self.content(node) else {
            return;
        };
        for entry in entries {
            match self.content(entry.value) {
                Some(Content::List(samples)) if entry.key == "samples" => {
                    for sample in samples {
                        self.find_spelled(*sample, Role::Sample, found);
                    }
                }
                _ => self.find_samples(entry.value, found),
            }
        }
    }

    /// Adds the ranges in a value that need quotes, in bytes.
    fn find_spelled(&self, node: Id, role: Role, found: &mut Vec<(usize, usize)>) {
        match self.content(node) {
            Some(Content::Plain(text, end)) if needs_quotes(text, role) => {
                found.extend(end.checked_sub(text.len()).map(|start| (start, *end)));
            }
            Some(Content::List(items)) => {
                for item in items {
                    self.find_spelled(*item, role, found);
                }
            }
            Some(Content::Map(entries)) => {
                for entry in entries {
                    let is_truth = role == Role::Sample && NAMES.contains(&&*entry.key);
                    let role = if is_truth { Role::Truth } else { Role::Other };
                    self.find_spelled(entry.value, role, found);
                }
            }
            _ => {}
        }
    }
}

fn needs_quotes(text: &str, role: Role) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    let is_long = digits.len() > 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_long && yaml::read_json(text).is_err()
        || role == Role::Truth && yaml::json_spelling(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let expect = (expect != text).then(|| expect.to_owned());
        assert_eq!(with_spellings(text), expect);
    }

    #[test]
    fn ground_truths_keep_their_spelling() {
        let spec = |truth: &str| {
            format!(
                "name: é\nbenchmark:\n  samples:\n    - {{ id: 1.10, ground_truth: {truth}, metadata: {{ target: 1.10 }} }}\n    - id: b\n      target: {truth}\nlimits: {{ target: 1.10 }}\n"
            )
        };
        for (truth, quoted) in [
            ("1.10", "'1.10'"),
            ("0x1F", "'0x1F'"),
            ("True", "'True'"),
            ("[1.10, 7, 1.5]", "['1.10', 7, 1.5]"),
            ("&a 1.10", "&a '1.10'"),
            ("12345678901234567890123", "'12345678901234567890123'"),
        ] {
            check(&spec(truth), &spec(quoted));
        }
        for same in [
            "1.1",
            "true",
            "no",
            "\"1.10\"",
            "!!float 1.10",
            "{ x: 1.10 }",
            "~",
            ".inf",
            "[{ a: [1.10] }]",
        ] {
            check(&spec(same), &spec(same));
        }
    }

    #[test]
    fn integers_that_json_cannot_hold_are_texts_in_samples() {
        check(
            "samples:\n- { metadata: { n: [18446744073709551616, 7] } }\nother: 18446744073709551616\n",
            "samples:\n- { metadata: { n: ['18446744073709551616', 7] } }\nother: 18446744073709551616\n",
        );
    }

    #[test]
    fn broken_texts_are_left_to_the_parser() {
        for text in [
            "samples: [",
            "samples: [!x, y]",
            "samples",
            "",
            "samples:\n\t- a",
        ] {
            check(text, text);
        }
    }
}
