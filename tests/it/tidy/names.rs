//! One name, one thing: who reads the name of a type knows which one it is.

use std::collections::BTreeMap;

use super::imports::is_test;
use super::sources;
use super::tokens::{Token, production_code};

/// What is one thing with a feature and another without it; a build has only one of both.
const TWINS: &[&str] = &["Dataset", "Metrics"];

/// A struct, an enum, a trait or another name for a type.
#[derive(Debug, PartialEq)]
struct Declared {
    name: String,
    /// Visible outside its module, even if only in the room.
    is_public: bool,
}

/// The types that a file declares, also within functions; those of implementations are no types of their own.
fn declared(text: &str) -> Vec<Declared> {
    let code = production_code(text);
    let mut found = Vec::new();
    let mut depth = 0;
    let mut is_public = false;
    for (at, token) in code.iter().enumerate() {
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => depth -= 1,
            Token::Sign(';') => is_public = false,
            Token::Word(word) if word == "pub" => is_public = true,
            Token::Word(keyword) => {
                let is_type = match &**keyword {
                    "struct" | "enum" | "trait" => true,
                    "type" => depth == 0 || is_public,
                    // The scope of a `pub(crate)` or `pub(in crate::eval)`.
                    "crate" | "super" | "self" | "in" => continue,
                    _ => false,
                };
                if let (true, Some(Token::Word(name))) = (is_type, code.get(at + 1)) {
                    let name = name.clone();
                    found.push(Declared { name, is_public });
                }
                let is_scope = matches!(code.get(at + 1), Some(Token::Sign(')')));
                is_public &= is_scope;
            }
            Token::Path | Token::Sign(_) | Token::Text(_) => {}
        }
    }
    found
}

#[test]
fn declarations_are_read() {
    let check = |text: &str, expect: &[(&str, bool)]| {
        let found = declared(text).into_iter();
        let found: Vec<_> = found.map(|one| (one.name, one.is_public)).collect();
        let expect = expect.iter().map(|(name, is)| ((*name).to_owned(), *is));
        assert_eq!(found, expect.collect::<Vec<_>>(), "{text}");
    };
    check(
        "struct A; pub enum B {} pub(crate) trait C {}",
        &[("A", false), ("B", true), ("C", true)],
    );
    check("pub(in crate::eval) struct A<'a>(&'a str);", &[("A", true)]);
    check("pub(super) type A = u8;", &[("A", true)]);
    check("struct A(pub u8); struct B;", &[("A", false), ("B", false)]);
    check(
        "pub fn f() { struct A; } type B = u8;",
        &[("A", false), ("B", false)],
    );
    check(
        "pub const X: u8 = 1; struct A { pub b: u8 }",
        &[("A", false)],
    );
    check("impl Iterator for A { type Item = u8; }", &[]);
    check("trait A { type B; fn r#type(&self); }", &[("A", false)]);
    check("// struct A;\nconst B: &str = \"struct C;\";", &[]);
    check("#[cfg(test)] mod tests { struct A; }", &[]);
}

/// The files of the modules that a file has for tests alone.
fn for_tests(name: &str, text: &str) -> Vec<String> {
    let stem = name.trim_end_matches(".rs");
    let folder = stem.trim_end_matches("/lib").trim_end_matches("/main");
    let modules = text.split("#[cfg(test)]\nmod ").skip(1);
    let modules = modules.filter_map(|rest| rest.split_once(';'));
    let modules = modules.filter(|(module, _)| !module.contains(' '));
    modules
        .map(|(module, _)| format!("{folder}/{module}.rs"))
        .collect()
}

#[test]
fn one_name_is_one_thing() {
    let files: Vec<_> = ["src", "cargo-evaltest/src"]
        .into_iter()
        .flat_map(sources)
        .collect();
    let for_tests: Vec<_> = files
        .iter()
        .flat_map(|(name, text)| for_tests(name, text))
        .collect();
    let mut places: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (file, text) in &files {
        if !is_test(file) && !for_tests.contains(file) {
            for Declared { name, is_public } in declared(text) {
                places.entry(name).or_default().push((is_public, file));
            }
        }
    }
    assert!(places.len() > 500, "{}", places.len());
    let is_taken = |name: &String, places: &[(bool, &String)]| {
        let public = places.iter().filter(|(is_public, _)| *is_public).count();
        let is_twin = TWINS.contains(&name.as_str());
        public >= 2 && !is_twin || places.len() >= 3
    };
    places.retain(|name, places| is_taken(name, places));
    assert!(
        places.is_empty(),
        "names of too many types, say what each is: {places:#?}"
    );
}
