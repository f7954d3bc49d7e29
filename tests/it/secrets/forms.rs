//! The ways in which a value is written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use regex::bytes::Regex;
use serde_json::json;

/// A value and nothing else, so that each of its forms differs from the others.
pub(super) const SECRET: &str = "Zq7/Xw9+Vb3\"Kf5\\Lm2&Nr8=Gd4";

/// The name of a form, and a text in it.
pub(super) fn forms() -> Vec<(&'static str, String)> {
    let json = |text: &str| {
        let quoted = json!(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let url = |keeps: &str| {
        SECRET.bytes().fold(String::new(), |mut text, byte| {
            if byte.is_ascii_alphanumeric() && keeps != "none" || keeps.as_bytes().contains(&byte) {
                text.push(char::from(byte));
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
            text
        })
    };
    let hex = |before: &str| {
        SECRET.bytes().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{before}{byte:02x}");
            text
        })
    };
    let mut forms = vec![
        ("plain", SECRET.to_owned()),
        ("json", json(SECRET)),
        ("json in json", json(&json(SECRET))),
        ("html-safe json", json(SECRET).replace('&', "\\u0026")),
        ("json with slashes", json(SECRET).replace('/', "\\/")),
        ("url", url("-_.~")),
        (
            "url, lower",
            url("-_.~")
                .replace("%2F", "%2f")
                .replace("%2B", "%2b")
                .replace("%5C", "%5c"),
        ),
        ("url of a path", url("/-_.~&=+")),
        ("url, all", url("none")),
        ("url of a url", url("-_.~").replace('%', "%25")),
        ("hex", hex("")),
        ("HEX", hex("").to_uppercase()),
        ("escaped hex", hex("\\x")),
        ("hex with colons", hex(":")[1..].to_owned()),
        ("hex with blanks", hex(" ")[1..].to_uppercase()),
        ("hex of C", hex(", 0x")[2..].to_owned()),
        (
            "a lone return",
            format!("{}\r{}", &SECRET[..13], &SECRET[13..]),
        ),
        ("two lines", format!("{}\n{}", &SECRET[..13], &SECRET[13..])),
        ("cut", format!("{}…", &SECRET[..15])),
        ("cut before", format!("…{}", &SECRET[14..])),
    ];
    for (alphabet, name) in [
        (
            "+/",
            [
                "base64",
                "base64, padded",
                "base64 of m:",
                "base64 of m:, padded",
                "base64 of user:",
                "base64 of user:, padded",
            ],
        ),
        (
            "-_",
            [
                "url base64",
                "url base64, padded",
                "url base64 of m:",
                "url base64 of m:, padded",
                "url base64 of user:",
                "url base64 of user:, padded",
            ],
        ),
    ] {
        for (number, user) in ["", "adm:", "user:"].into_iter().enumerate() {
            let (text, fill) = base64(&format!("{user}{SECRET}"), alphabet);
            forms.push((name[2 * number], text.clone()));
            forms.push((name[2 * number + 1], text + &fill));
        }
    }
    let lines = |text: &str| {
        text.as_bytes()
            .chunks(12)
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect::<Vec<_>>()
    };
    let (text, fill) = base64(SECRET, "+/");
    forms.push(("base64 in lines", lines(&text).join("\n")));
    forms.push(("base64 in json", (text + &fill).replace('/', "\\/")));
    forms
}

/// Without what it is filled up with, and that.
fn base64(text: &str, last: &str) -> (String, String) {
    let letters = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(last.chars());
    let letters: Vec<char> = letters.collect();
    let mut bits: Vec<u8> = text
        .bytes()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    bits.resize(bits.len().next_multiple_of(6), 0);
    let value = |bits: &[u8]| {
        bits.iter()
            .fold(0, |value, bit| value << 1 | usize::from(*bit))
    };
    let text: String = bits.chunks(6).map(|bits| letters[value(bits)]).collect();
    let fill = "=".repeat((4 - text.len() % 4) % 4);
    (text, fill)
}

/// What must be found nowhere: pieces of the forms, in lower case, long enough to be there by no chance.
pub(super) struct Pieces {
    any: Regex,
    /// Files as they were looked through.
    files: RefCell<HashMap<PathBuf, (u64, SystemTime)>>,
}

impl Pieces {
    pub(super) fn new() -> Self {
        // All in one pass: each by itself takes a minute for what a run writes.
        let pieces: Vec<String> = pieces().iter().map(|piece| regex::escape(piece)).collect();
        Self {
            any: Regex::new(&pieces.join("|")).unwrap(),
            files: RefCell::default(),
        }
    }

    /// Where one of them is in a text in lower case.
    pub(super) fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        self.any.find(text).map(|found| found.range())
    }

    /// Whether a file of this length and time of change was not looked through yet.
    pub(super) fn is_new(&self, file: &Path, state: (u64, SystemTime)) -> bool {
        self.files.borrow_mut().insert(file.to_owned(), state) != Some(state)
    }
}

fn pieces() -> Vec<String> {
    let mut pieces = Vec::new();
    for (name, text) in forms() {
        let is_plain = ["plain", "two lines", "a lone return", "cut", "cut before"].contains(&name);
        let length = if is_plain { 7 } else { 12 };
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        pieces.extend(letters.windows(length).map(String::from_iter));
        if name.starts_with("base64 in lines") {
            let eight = letters.windows(11).map(String::from_iter);
            pieces.extend(eight.filter(|piece: &String| !piece.contains('\n')));
        }
    }
    pieces.sort();
    pieces.dedup();
    pieces
}
