//! Names are words that a Rust engineer knows, and no folder is a long list.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::imports::is_test;
use super::tokens::{Token, production_code};
use super::{code_lines, sources};

/// Words that no identifier has, and a standard term for each. The list may be corrected, not loosened.
const PRIVATE: &[(&str, &str)] = &[
    ("alike", "repeated"),
    ("begun", "started"),
    ("bench", "worker pool"),
    ("beside", "alongside"),
    ("board", "registry"),
    ("border", "checkpoint"),
    ("borders", "checkpoints"),
    ("cut", "truncate, shard"),
    ("desk", "client, store"),
    ("glance", "overview"),
    ("heard", "reply"),
    ("hopeless", "rejected"),
    ("kept", "stored, cached, spilled"),
    ("kin", "model family"),
    ("kinship", "model family"),
    ("look", "analysis"),
    ("looks", "analyses"),
    ("mend", "repair"),
    ("mended", "repaired"),
    ("outlook", "feasibility"),
    ("patience", "policy, timeout"),
    ("purse", "budget"),
    ("said", "reply"),
    ("seat", "slot"),
    ("spared", "optional"),
    ("standing", "outcome"),
    ("tell", "report, notify"),
    ("telling", "verbosity"),
    ("told", "message, text"),
    ("troubles", "failures"),
    ("turnstile", "gate"),
];

/// Names that have such a word, because files, specs or users have it.
const PUBLIC: &[&str] = &[
    "Look", // of `regex_syntax`
    "Tell",
    "corrected_if_alike",
    "looks",
    "told_apart",
    "unjudged_beside",
];

/// The words of an identifier, in lowercase.
fn words(identifier: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in identifier.chars() {
        if letter == '_' || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
        if letter != '_' {
            words.last_mut().unwrap().extend(letter.to_lowercase());
        }
    }
    words
}

#[test]
fn identifiers_have_words() {
    assert_eq!(words("told_apart"), ["told", "apart"]);
    assert_eq!(words("EarlyLook"), ["early", "look"]);
    assert_eq!(words("MOST_LOOKS"), ["most", "looks"]);
}

#[test]
fn names_are_standard_terms() {
    let sources = ["src", "cargo-evaltest/src"].into_iter().flat_map(sources);
    for (name, text) in sources.filter(|(name, _)| !is_test(name)) {
        for token in production_code(&text) {
            let Token::Word(identifier) = token else {
                continue;
            };
            for word in words(&identifier) {
                let private = PRIVATE.iter().find(|(private, _)| *private == word);
                if let Some((word, term)) = private {
                    assert!(
                        PUBLIC.contains(&&*identifier),
                        "{name}: `{identifier}`: not `{word}`, but {term}"
                    );
                }
            }
        }
    }
}

/// The most entries of a folder below `src/`, where `foo.rs` and `foo/` are one.
const MOST_ENTRIES: usize = 16;

#[test]
fn no_folder_is_a_long_list() {
    let mut folders = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, _) in ["src", "cargo-evaltest/src"].into_iter().flat_map(sources) {
        let mut path = Path::new(&name);
        while let (Some(folder), Some(stem)) = (path.parent(), path.file_stem()) {
            let stem = stem.to_str().unwrap();
            if !is_test(&format!("{stem}.rs")) {
                let entries = folders.entry(folder.display().to_string());
                entries.or_default().insert(stem.to_owned());
            }
            path = folder;
        }
    }
    for (folder, entries) in folders {
        // The rooms, and the crates, each of which has its place in `rooms.rs` or the map.
        if !["", "src", "cargo-evaltest"].contains(&&*folder) {
            let count = entries.len();
            assert!(count <= MOST_ENTRIES, "{folder} has {count}: {entries:?}");
        }
    }
}

/// The most files that hold next to nothing: a noun has a file, not each of its helpers.
const MOST_SMALL: usize = 120;

#[test]
fn few_files_are_small() {
    let mut small = Vec::new();
    for (name, text) in ["src", "cargo-evaltest/src"].into_iter().flat_map(sources) {
        if !is_test(&name) && code_lines(&text) <= 60 {
            small.push(name);
        }
    }
    assert!(small.len() <= MOST_SMALL, "{}: {small:#?}", small.len());
}
