//! The import graph of `src`: which file names which module. Tests are left out; a name that a module passes
//! on counts for the file that has it.
//!
//! Read as text, by a small tokenizer: enough to follow `use` trees and paths that begin with `crate`,
//! `super`, `self` or a child module.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, production_code};

/// A module's path below the crate: `["scorer", "gaia"]`.
pub(super) type Module = Vec<String>;

/// What every file of a crate names of the others.
#[derive(Default)]
pub(super) struct Imports {
    /// From module, to module, with the names that are used.
    pub(super) edges: BTreeMap<(Module, Module), BTreeSet<String>>,
    modules: BTreeSet<Module>,
    /// In which module a passed-on name is found, and where it comes from.
    passed_on: BTreeMap<(Module, String), Module>,
}

impl Imports {
    /// Of files given by their path below `src` and their text.
    pub(super) fn of(files: &[(String, String)]) -> Self {
        let mut graph = Self::default();
        let mut codes = Vec::new();
        for (path, text) in files.iter().filter(|(path, _)| !is_test(path)) {
            let module = module(path);
            graph.modules.insert(module.clone());
            codes.push((module, production_code(text)));
        }
        let paths: Vec<_> = codes.iter().map(|(_, code)| Paths::of(code)).collect();
        for ((module, _), paths) in codes.iter().zip(&paths) {
            for path in &paths.passed_on {
                if let (Some(target), Some(name)) = (graph.absolute(module, path), path.last()) {
                    let place = (module.clone(), name.clone());
                    graph.passed_on.insert(place, target);
                }
            }
        }
        for ((module, _), paths) in codes.iter().zip(&paths) {
            for path in paths.used.iter().chain(&paths.passed_on) {
                graph.add(module, path);
            }
        }
        graph
    }

    fn add(&mut self, from: &Module, path: &[String]) {
        let Some(mut target) = self.absolute(from, path).filter(|_| !from.is_empty()) else {
            return;
        };
        // What a module merely passes on of what lies in it is no use of its own.
        let passes_on = self
            .passed_on
            .iter()
            .any(|((module, _), origin)| module == from && *origin == target);
        if passes_on && target.starts_with(from) {
            return;
        }
        for _ in 0..8 {
            let holder = self.holder(&target);
            let Some(name) = target.get(holder.len()) else {
                break;
            };
            let Some(origin) = self.passed_on.get(&(holder.clone(), name.clone())) else {
                break;
            };
            let next: Module = [origin.as_slice(), &target[holder.len() + 1..]].concat();
            if next == target {
                break;
            }
            target = next;
        }
        let holder = self.holder(&target);
        if !holder.is_empty() && holder != *from {
            let name = target.get(holder.len()).map_or("*", String::as_str);
            let names = self.edges.entry((from.clone(), holder)).or_default();
            names.insert(name.to_owned());
        }
    }

    /// The path from the crate's root; `None` for what is of another crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                let base = &module[..module.len().checked_sub(ups)?];
                Some([base, &path[ups..]].concat())
            }
            _ => {
                let child: Module = [module.as_slice(), std::slice::from_ref(first)].concat();
                let is_child = self.modules.contains(&child);
                is_child.then(|| [module, path].concat())
            }
        }
    }

    /// The file that a path lies in.
    fn holder(&self, path: &[String]) -> Module {
        let mut ends = (0..=path.len()).rev();
        let end = ends.find(|&end| end == 0 || self.modules.contains(&path[..end]));
        path[..end.unwrap_or_default()].to_vec()
    }
}

/// The paths that a file names, as they stand there.
#[derive(Default)]
struct Paths {
    used: Vec<Vec<String>>,
    passed_on: Vec<Vec<String>>,
}

impl Paths {
    fn of(code: &[Token]) -> Self {
        let mut paths = Self::default();
        let mut at = 0;
        let mut public = false;
        while at < code.len() {
            match &code[at] {
                Token::Word(word) if word == "use" => {
                    let into = if public {
                        &mut paths.passed_on
                    } else {
                        &mut paths.used
                    };
                    at = tree(code, at + 1, &[], into);
                    public = false;
                }
                Token::Word(word) if word == "pub" => {
                    public = true;
                    at = past_scope(code, at + 1);
                }
                Token::Word(_) => {
                    public = false;
                    let (path, end) = path(code, at);
                    if path.len() > 1 {
                        paths.used.push(path);
                    }
                    at = end;
                }
                // The rest of `<T as Trait>::Item`, or a path of another crate.
                Token::Path => at += 2,
                Token::Sign(_) | Token::Text(_) => {
                    public = false;
                    at += 1;
                }
            }
        }
        paths
    }
}

/// Behind the `(crate)` of a `pub(crate)`, if there is one.
fn past_scope(code: &[Token], at: usize) -> usize {
    if code.get(at) != Some(&Token::Sign('(')) {
        return at;
    }
    let end = code[at..]
        .iter()
        .position(|token| *token == Token::Sign(')'));
    end.map_or(code.len(), |end| at + end + 1)
}

/// `a::b::c` from a word on, and where it ends.
fn path(code: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(Token::Word(word)) = code.get(at) {
        path.push(word.clone());
        at += 1;
        match (code.get(at), code.get(at + 1)) {
            (Some(Token::Path), Some(Token::Word(_))) => at += 1,
            _ => break,
        }
    }
    (path, at)
}

/// The leaves of a `use` tree from `at` on, and where it ends.
fn tree(code: &[Token], mut at: usize, before: &[String], into: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match code.get(at) {
            Some(Token::Path) => at += 1,
            Some(Token::Word(word)) if word == "as" => at += 2,
            Some(Token::Word(word)) => {
                path.push(word.clone());
                at += 1;
            }
            Some(Token::Sign('*')) => {
                path.push("*".to_owned());
                at += 1;
            }
            Some(Token::Sign('{')) => {
                at += 1;
                while !matches!(code.get(at), None | Some(Token::Sign('}'))) {
                    at = tree(code, at, &path, into);
                    at += usize::from(code.get(at) == Some(&Token::Sign(',')));
                }
                return at + 1;
            }
            _ => break,
        }
    }
    if path.len() > before.len() {
        into.push(path);
    }
    at
}

/// `scorer/gaia.rs` is `scorer::gaia`; `lib.rs` the root.
fn module(path: &str) -> Module {
    let path = path.trim_end_matches(".rs");
    match path {
        "lib" => Module::new(),
        path => path.split('/').map(str::to_owned).collect(),
    }
}

/// Whether a file holds tests alone.
pub(super) fn is_test(path: &str) -> bool {
    path.split('/').any(|part| {
        let is_folder = matches!(part, "tests" | "tests.rs" | "test.rs");
        is_folder || part.starts_with("tests_") || part.ends_with("_tests.rs")
    })
}
