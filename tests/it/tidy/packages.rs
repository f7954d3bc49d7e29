//! What each of the packages has to hold.

use std::fs;

use super::root;
use crate::project::sha256;

/// The folder of each package that is all ours.
const PACKAGES: [&str; 4] = [
    ".",
    "cargo-evaltest",
    "cargo-evaltest/python-constants",
    "cargo-evaltest/xml-names",
];

fn read(package: &str, file: &str) -> String {
    let path = root().join(package).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn licences_and_a_readme_are_in_each() {
    for package in PACKAGES {
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert_eq!(read(package, file), read(".", file), "{package}/{file}");
        }
        assert!(!read(package, "README.md").is_empty());
    }
}

/// The sources of others are as they were when they were looked at, beside their licence, and in a package of their own.
#[test]
fn sources_of_others_are_unmodified() {
    let package = "cargo-evaltest/javascript-grammar";
    let files = [
        (
            "LICENSE",
            "2e0110e07abef7c2548b26ec9d6969775617ca539a0dc8dbeeb14d6452c711d1",
        ),
        (
            "parser.c",
            "0893967af117905843093e2b5a003448ef0dd4cda8d4dfea5eb18c0e476786fa",
        ),
        (
            "scanner.c",
            "ca4b2f1662679d9da842af91f59f0526d82d6fcb43a355a1a80d65ed02afe258",
        ),
        (
            "tree_sitter/alloc.h",
            "253b44a7b4313a7afd0c505c2fc6e7ce4b8e78955ebf4be3ea000532ec060673",
        ),
        (
            "tree_sitter/array.h",
            "4ff743903dc46f5db6aa54f31c6b4d160a8a9779e5b2ab1ee59ae7ebcd850ea1",
        ),
        (
            "tree_sitter/parser.h",
            "a3eb18ef034b3f4255b965a26caa276f9cfe13a79573b402f1a12dc5018052aa",
        ),
    ];
    for (file, expect) in files {
        let folder = root().join(package).join("c/tree-sitter-javascript");
        assert_eq!(sha256(&folder.join(file)), expect, "{file}");
    }
    assert!(read(package, "Cargo.toml").contains("\nlicense = \"MIT\"\n"));
    assert_eq!(read(package, "LICENSE-MIT"), read(".", "LICENSE-MIT"));
}

#[test]
fn the_lints_hold_in_each() {
    for package in PACKAGES {
        let manifest = read(package, "Cargo.toml");
        assert!(
            manifest.contains("\n[lints]\nworkspace = true\n"),
            "{package}"
        );
    }
}

/// A feature says in a line what it buys.
#[test]
fn every_feature_has_a_comment() {
    let manifest = read(".", "Cargo.toml");
    let (_, features) = manifest.split_once("\n[features]\n").unwrap();
    let features = features.split("\n[").next().unwrap();
    let mut before = "";
    for line in features.lines() {
        let is_feature = line.starts_with(|first: char| first.is_ascii_lowercase());
        assert!(
            !is_feature || before.starts_with('#') || line.starts_with("default ="),
            "no comment above `{line}`"
        );
        before = line;
    }
}
