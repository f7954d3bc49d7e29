//! What each of the two packages has to hold.

use std::fs;

use super::root;

/// The folder of each package.
const PACKAGES: [&str; 2] = [".", "cargo-evaltest"];

fn read(package: &str, file: &str) -> String {
    let path = root().join(package).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn licences_and_a_readme_are_in_both() {
    for package in PACKAGES {
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert_eq!(read(package, file), read(".", file), "{package}/{file}");
        }
        assert!(!read(package, "README.md").is_empty());
    }
}

#[test]
fn the_lints_hold_in_both() {
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
