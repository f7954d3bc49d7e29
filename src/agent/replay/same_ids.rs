//! Ids that differ only in how a program wrote a number: `1`, `1.0` and `"1"`.

use std::collections::HashMap;

/// Recorded ids by their plain form. Exports turn an integer column with gaps into floats.
#[derive(Clone, Debug, Default)]
pub(super) struct SameIds(HashMap<String, Option<String>>);

impl SameIds {
    pub(super) fn of<'a>(ids: impl IntoIterator<Item = &'a String>) -> Self {
        let mut same: HashMap<String, Option<String>> = HashMap::new();
        for id in ids {
            let known = same.entry(plain(id).to_owned());
            // Two of one form are ambiguous.
            known
                .and_modify(|id| *id = None)
                .or_insert(Some(id.clone()));
        }
        Self(same)
    }

    /// The only recorded id that is the same number as this one.
    pub(super) fn find(&self, id: &str) -> Option<&str> {
        self.0.get(plain(id))?.as_deref()
    }
}

/// An integer without quotes and a fraction of zeros; any other id as it is.
fn plain(id: &str) -> &str {
    let quoted = id.strip_prefix('"').and_then(|id| id.strip_suffix('"'));
    let bare = quoted.unwrap_or(id);
    let (integer, fraction) = bare.split_once('.').unwrap_or((bare, "0"));
    let digits = integer.strip_prefix('-').unwrap_or(integer);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if are_digits(digits) && !fraction.is_empty() && fraction.bytes().all(|b| b == b'0') {
        integer
    } else {
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_however_it_is_written_unless_there_are_two() {
        let check = |recorded: &[&str], id: &str, expect: Option<&str>| {
            let recorded: Vec<_> = recorded.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(SameIds::of(&recorded).find(id), expect, "{recorded:?} {id}");
        };
        check(&["1", "2"], "1.0", Some("1"));
        check(&["1.0", "2.0"], "1", Some("1.0"));
        check(&["\"1\""], "1.00", Some("\"1\""));
        check(&["1", "1.0"], "1.00", None);
        check(&["1.5"], "1", None);
        check(&["01"], "1", None);
        check(&["q1"], "q1.0", None);
        check(&["v1.0"], "v1", None);
        check(&["-3"], "-3.0", Some("-3"));
    }
}
