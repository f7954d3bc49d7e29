//! Ids of numbers, which programs write in several forms: `1` and `1.0`, or an integer beyond 64 bits as the number that
//! a float can be.

use serde_json::{Number, Value};

use crate::text::hash::Hasher;
use crate::text::yaml;

/// The other forms of an id; none unless it is an integer.
pub(crate) fn other_forms(id: &str) -> impl Iterator<Item = String> {
    let integer = id.strip_suffix(".0").unwrap_or(id);
    let digits = integer.strip_prefix('-').unwrap_or(integer);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let forms = is_integer.then(|| {
        let float = format!("{integer}.0");
        [Some(integer.to_owned()), Some(float), rounded(integer)]
    });
    let others = forms.into_iter().flatten().flatten();
    others.filter(move |form| form != id)
}

/// The ground truth hash of a sample under another id, if only its ground truth decides it.
pub(crate) fn target_hash(
    [id, other]: [&str; 2],
    ground_truth: &Value,
    target_hash: &str,
) -> Option<String> {
    let truth = ground_truth.to_string().replace("\\r\\n", "\\n");
    let hash = |id: &str| Hasher::default().part(id).part(&truth).short();
    (hash(id) == target_hash).then(|| hash(other))
}

/// An id as versions read it that rounded integers beyond 64 bits; `None` if that is the same.
pub(crate) fn rounded_id(id: &str) -> Option<String> {
    let is_integer = |c: char| c.is_ascii_digit() || c == '-';
    id.chars().all(is_integer).then(|| rounded(id)).flatten()
}

/// A number or a bool as versions read and wrote it that did not keep the text of the file; `None` if that is the same, or
/// if it is neither.
pub(crate) fn rounded(text: &str) -> Option<String> {
    if let Some(json) = yaml::json_spelling(text) {
        return Some(json);
    }
    let is_integer = text
        .trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    let number: Number = is_integer.then(|| serde_json::from_str(text).ok())??;
    let written = number.to_string();
    (number.is_f64() && written != text).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_has_other_forms() {
        let check = |id: &str, expect: &[&str]| {
            assert_eq!(other_forms(id).collect::<Vec<_>>(), expect, "{id}");
        };
        check("1", &["1.0"]);
        check("1.0", &["1"]);
        check("-3", &["-3.0"]);
        check(
            "123456789012345678901234567890",
            &["123456789012345678901234567890.0", "1.2345678901234568e+29"],
        );
        for other in ["", "-", "1.5", "q1", "v1.0", "1.0.0", ".0"] {
            check(other, &[]);
        }
    }

    #[test]
    fn numbers_are_those_that_serde_wrote() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(rounded(text).as_deref(), expect, "{text}");
        };
        check("1.10", Some("1.1"));
        check("1e6", Some("1000000.0"));
        check("-0.50", Some("-0.5"));
        check(".5", Some("0.5"));
        check(
            "123456789012345678901234567890",
            Some("1.2345678901234568e+29"),
        );
        for same in [
            "5.0",
            "7",
            "18446744073709551615",
            "1.1",
            "",
            "01",
            "a1",
            "1 000",
        ] {
            check(same, None);
        }
    }
}
