//! What users see of the library: few names at its root, and an example at whatever one meets first.

use std::fs;

use super::{root, sources};

/// So many names at the root are still taken in at a glance.
const MOST_NAMES: usize = 60;

/// What one meets first, besides every trait.
const FIRST: &[&str] = &["Eval", "Gate", "Output", "Registry", "Sample", "Score"];

/// The names that `lib.rs` makes public: its modules and what it passes on.
fn names(lib: &str) -> Vec<String> {
    let mut names = Vec::new();
    for item in lib.split("\npub ").skip(1) {
        if let Some(module) = item.strip_prefix("mod ") {
            let end = module.find([';', ' ']).unwrap();
            names.push(module[..end].to_owned());
        } else if let Some(path) = item.strip_prefix("use ") {
            let path = &path[..path.find(';').unwrap()];
            let last = path.split_once('{').map_or_else(
                || path.rsplit("::").next().unwrap(),
                |(_, group)| group.trim_end_matches('}'),
            );
            names.extend(last.split(',').map(|name| name.trim().to_owned()));
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn names_are_counted() {
    let lib = "mod a;\n\npub mod b;\npub use a::B;\npub use a::{C, D};\npub mod e {\n    pub use x::y;\n}\n";
    assert_eq!(names(lib), ["b", "B", "C", "D", "e"]);
}

#[test]
fn the_root_has_few_names() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let names = names(&lib);
    assert!(names.iter().any(|name| name == "Eval"), "{names:?}");
    assert!(
        names.len() <= MOST_NAMES,
        "{} names: {names:?}",
        names.len()
    );
}

#[test]
fn what_one_meets_first_has_an_example() {
    let mut traits = 0;
    let mut met = Vec::new();
    for (file, text) in sources("src") {
        let lines: Vec<_> = text.lines().collect();
        for (place, line) in lines.iter().enumerate() {
            let Some(item) = line.strip_prefix("pub ") else {
                continue;
            };
            let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
            let (kind, name) = (words.next().unwrap(), words.next().unwrap_or_default());
            let is_first = kind == "struct" && FIRST.contains(&name);
            if kind == "trait" || is_first {
                let above = lines[..place].iter().rev();
                let mut above = above.take_while(|line| line.starts_with(['/', '#']));
                let has_example = above.any(|line| line.starts_with("/// ```"));
                assert!(has_example, "{file}: `{name}` has no example");
                traits += usize::from(kind == "trait");
                met.push(name.to_owned());
            }
        }
    }
    assert!(traits >= 4, "{met:?}");
    assert!(
        FIRST
            .iter()
            .all(|name| met.iter().any(|other| other == name)),
        "{met:?}"
    );
}
