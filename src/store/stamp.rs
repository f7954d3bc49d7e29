//! The time prefix of a run directory's name: `20260131T235959Z_` and the id of the run.

use std::path::Path;

/// How long it is.
const LENGTH: usize = "20260131T235959Z".len();

/// The current time.
pub fn stamp() -> String {
    let now = crate::system::clock::timestamp();
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The time and the id in the name of a run directory; `None` for other names.
pub fn stamp_and_id(path: &Path) -> Option<(&str, &str)> {
    let (stamp, id) = path.file_name()?.to_str()?.split_once('_')?;
    let is_digit = |at: usize, byte: u8| match at {
        8 => byte == b'T',
        15 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    let is_stamp = stamp.len() == LENGTH
        && stamp
            .bytes()
            .enumerate()
            .all(|(at, byte)| is_digit(at, byte));
    (is_stamp && !id.is_empty()).then_some((stamp, id))
}

/// A manifest's time in the form of such names.
pub fn stamp_of(time: &str) -> String {
    let seconds = time.split('.').next().unwrap_or_default();
    let digits = seconds.chars().filter(char::is_ascii_alphanumeric);
    let mut stamp: String = digits.collect();
    if !stamp.ends_with('Z') {
        stamp.push('Z');
    }
    stamp
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_run_directories_are_known() {
        let check = |name: &str, expect| {
            assert_eq!(
                stamp_and_id(&Path::new("runs").join(name)),
                expect,
                "{name}"
            );
        };
        let stamp = "20260131T235959Z";
        check("20260131T235959Z_e-1", Some((stamp, "e-1")));
        check("20260131T235959Z_e_1", Some((stamp, "e_1")));
        check("20260131T235959Z_", None);
        check("20260131T235959Z", None);
        check("20260131T235959_e", None);
        check("20260131T23595xZ_e", None);
        check("2026013éT23595Z_x", None);
        check("of_monday", None);
        check("", None);
        let now = format!("{}_e", super::stamp());
        assert!(stamp_and_id(Path::new(&now)).is_some(), "{now}");
    }

    #[test]
    fn times_of_manifests_are_compared_with_names() {
        assert_eq!(stamp_of("2026-11-23T03:05:48.123Z"), "20261123T030548Z");
        assert_eq!(stamp_of("2026-11-23T03:05:48Z"), "20261123T030548Z");
    }
}
