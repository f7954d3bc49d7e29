//! A manifest with a checksum as its last member: `"checksum": "…"`, the SHA-256 of all bytes before the preceding
//! comma.
//!
//! This detects damage. A manifest that someone changed is reported, and still used.

use serde_json::Value;

use crate::text::hash::Hasher;

const KEY: &str = "checksum";

/// What precedes the digits.
fn before() -> String {
    format!(",\n  \"{KEY}\": \"")
}

/// Adds the checksum to a manifest, which ends with `}` on a line of its own.
pub(super) fn seal(text: &mut Vec<u8>) {
    const END: &[u8] = b"\n}";
    debug_assert!(text.ends_with(END));
    text.truncate(text.len() - END.len());
    let sum = sum(text);
    text.extend(before().bytes());
    text.extend(sum.bytes());
    text.extend(b"\"\n}\n");
}

/// Whether a manifest is unchanged, or from a version that wrote no checksum.
pub(crate) fn is_as_written(text: &[u8]) -> bool {
    let before = before();
    let place = text
        .windows(before.len())
        .rposition(|window| window == before.as_bytes());
    let Some(place) = place else {
        // Without one, or rewritten by another program. Before there were checksums, the last member was an object.
        let value: Option<Value> = serde_json::from_slice(text).ok();
        let inside = text.trim_ascii_end().strip_suffix(b"}");
        let ends_with_text = inside.is_some_and(|text| text.trim_ascii_end().ends_with(b"\""));
        return !ends_with_text && value.is_some_and(|value| value.get(KEY).is_none());
    };
    let expect = format!("{before}{}\"\n}}\n", sum(&text[..place]));
    text[place..] == *expect.as_bytes()
}

fn sum(text: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.bytes(text);
    hasher.hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_sealed_manifest_is_seen() {
        let plain = "{\n  \"run_id\": \"e-1\",\n  \"artifacts\": {}\n}";
        assert!(is_as_written(plain.as_bytes()));
        let mut sealed = plain.as_bytes().to_vec();
        seal(&mut sealed);
        assert!(is_as_written(&sealed));
        let value: Value = serde_json::from_slice(&sealed).unwrap();
        assert_eq!(value["run_id"], "e-1");
        for bit in 0..sealed.len() * 8 {
            let mut other = sealed.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            let is_json = serde_json::from_slice::<Value>(&other).is_ok();
            assert!(!is_json || !is_as_written(&other), "{bit}");
        }
        let text = String::from_utf8(sealed).unwrap();
        assert!(!is_as_written(text.replace('\n', "\r\n").as_bytes()));
        assert!(!is_as_written(value.to_string().as_bytes()));
    }
}
