//! [`with_unknown`]: adds members known only to another version to an object that this version wrote.

use super::{Members, place};

/// Adds to `new` the members that only `old` has, byte for byte, also in nested objects. `old` is the same object
/// written by another version. Values that are not objects are left unchanged.
pub(crate) fn with_unknown(new: &str, old: &str) -> String {
    let members = |text| serde_json::from_str::<Members<'_>>(text);
    let (Ok(has), Ok(had)) = (members(new), members(old)) else {
        return new.to_owned();
    };
    let mut out = String::with_capacity(new.len() + old.len());
    let mut done = 0;
    for (name, value) in &has.0 {
        let value = value.get();
        if let Some(old) = had.get(name)
            && value.starts_with('{')
        {
            let place = place(new.as_bytes(), value);
            out.push_str(&new[done..place.start]);
            out.push_str(&with_unknown(value, old));
            done = place.end;
        }
    }
    let end = new.rfind('}').unwrap_or(new.len());
    out.push_str(&new[done..end]);
    let mut is_empty = has.0.is_empty();
    let mut start = old.find('{').map_or(0, |start| start + 1);
    for (name, value) in &had.0 {
        let end = place(old.as_bytes(), value.get()).end;
        if has.get(name).is_none() {
            if !is_empty {
                out.push(',');
            }
            let before = |c: char| c == ',' || c.is_ascii_whitespace();
            out.push_str(old[start..end].trim_start_matches(before));
            is_empty = false;
        }
        start = end;
    }
    out.push_str(&new[end..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_old_object_has_is_added_byte_for_byte() {
        let check = |new, old, expect| assert_eq!(with_unknown(new, old), expect);
        check("{}", "{ \"a\" : 1.50 }", "{\"a\" : 1.50}");
        check("{\"a\":1}", "{\"a\":2}", "{\"a\":1}");
        check(
            "{\"a\":{\"b\":{}},\"l\":[{}],\"n\":null,\"o\":{}}",
            " {\"x\":\"},{\" , \"a\": {\"\\\"\\u0079\": [ ], \"b\": {\"z\":{ }}},\"l\":[{\"q\":0}],\
             \"n\":{\"q\":0},\n\"o\":null,\"x\":1}",
            "{\"a\":{\"b\":{\"z\":{ }},\"\\\"\\u0079\": [ ]},\"l\":[{}],\"n\":null,\"o\":{},\
             \"x\":\"},{\",\"x\":1}",
        );
        for (new, old) in [("[1]", "{\"a\":1}"), ("{\"b\":1}", "null"), ("1", "{")] {
            check(new, old, new);
        }
    }
}
