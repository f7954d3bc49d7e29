//! The order of the rooms of `src/`.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Imports, Module};
use super::sources;

/// The rooms of `src/`, each of which may use only those above it, and what it is for.
const ROOMS: &[(&str, &str)] = &[
    ("exit", "how a command ends"),
    ("printable", "pure: lines that say what they seem to say"),
    ("error", "the one error, and hints"),
    ("text", "pure: texts, names, hashes, redaction"),
    ("stats", "pure: intervals, exact tests, clusters, power"),
    ("figure", "pure: how a figure is written"),
    ("system", "the only room that knows the machine"),
    ("serve", "what is looked at in a browser on this machine"),
    ("data", "what flows, as plain data, and where it comes from"),
    ("store", "what lies on disk: run directories, the cache"),
    ("agent", "the trait, and what answers"),
    ("calls", "from text to calls of tools"),
    (
        "scorer",
        "extraction, rules, compositions, and scorers that ask",
    ),
    ("benchmark", "the trait, prompts, and the benchmarks"),
    ("verdict", "pure: gates, summary, baseline, what came of it"),
    ("snapshot", "insta"),
    ("report", "events, and one file a format"),
    ("bfcl", "the Function Calling Leaderboard"),
    (
        "eval",
        "what is asked: builder, limits, registry, spec, plan",
    ),
    ("run", "session, asking, ledger, judge, finish; rescoring"),
    ("generate", "items that a run made: file, figures, report"),
    ("review", "what people say of items, on a page and on disk"),
    (
        "flow",
        "generated items, judged, compared and reported in one go",
    ),
    ("harness", "libtest-mimic"),
    ("engine", "what the command builds on"),
    ("tests", "what tests of many rooms share"),
];

/// What lies in `verdict/`, in the same order: what is asked, the facts, what came of it.
const VERDICT: &[&str] = &[
    "gate",
    "result",
    "progressive",
    "marks",
    "baseline",
    "poll",
    "agreement",
    "judged",
    "groups",
    "summary",
    "facts",
    "gather",
    "metric",
    "alert",
    "check",
    "compare",
    "conclude",
    "trend",
];

/// Where a room uses one below it. It was 32 arrows once, and stays empty.
const BACKWARDS: &[(&str, &str)] = &[];

/// The most files of a room that may lead back to themselves.
const LARGEST_CYCLE: usize = 8;

/// Rooms with a larger cycle of files. This list may only shrink.
const TANGLED: &[&str] = &[];

fn imports() -> Imports {
    let files = sources("src").into_iter();
    let below_src = |(path, text): (String, String)| (path.replacen("src/", "", 1), text);
    Imports::of(&files.map(below_src).collect::<Vec<_>>())
}

#[test]
fn a_room_uses_only_rooms_above_it() {
    let place = |room: &str| {
        let place = ROOMS.iter().position(|(known, _)| *known == room);
        place.unwrap_or_else(|| panic!("`{room}` has no place in ROOMS"))
    };
    let graph = imports();
    let rooms = graph.edges.iter().map(|((from, to), names)| {
        let names = names.iter().map(String::as_str).collect::<Vec<_>>();
        let lines = format!(
            "{} -> {}::{{{}}}",
            from.join("::"),
            to.join("::"),
            names.join(", ")
        );
        ((from[0].as_str(), to[0].as_str()), lines)
    });
    let upwards = rooms.filter(|((from, to), _)| from != to && place(to) > place(from));
    let (found, lines): (BTreeSet<_>, Vec<_>) = upwards.unzip();
    let known: BTreeSet<_> = BACKWARDS.iter().copied().collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(
        new.is_empty(),
        "{new:#?} run backwards:\n{}",
        lines.join("\n")
    );
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(
        gone.is_empty(),
        "{gone:#?} are mended: take them off the list"
    );
}

#[test]
fn what_is_asked_lies_below_what_came_of_it() {
    let place = |file: &Module| {
        let part = file.get(1)?;
        let place = VERDICT.iter().position(|known| known == part);
        Some(place.unwrap_or_else(|| panic!("`{part}` has no place in VERDICT")))
    };
    let edges = imports().edges.into_keys();
    let inside = edges.filter(|(from, to)| from[0] == "verdict" && to[0] == "verdict");
    let downwards: Vec<_> = inside
        .filter(|(from, to)| place(from) < place(to))
        .map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::")))
        .collect();
    assert!(downwards.is_empty(), "{downwards:#?} run backwards");
}

/// The files of one room each of which leads to all the others; those of no cycle are left out.
fn cycles(edges: impl Iterator<Item = (Module, Module)>) -> BTreeSet<BTreeSet<Module>> {
    let mut next = BTreeMap::<Module, Vec<Module>>::new();
    for (from, to) in edges.filter(|(from, to)| from[0] == to[0]) {
        next.entry(from).or_default().push(to);
    }
    let reached = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            let new = next.get(at).into_iter().flatten();
            open.extend(new.filter(|to| reached.insert((*to).clone())));
        }
        reached
    };
    let reached: BTreeMap<_, _> = next.keys().map(|from| (from, reached(from))).collect();
    let of_file = |(from, to): (&&Module, &BTreeSet<Module>)| {
        let leads_back = |file: &&Module| reached.get(*file).is_some_and(|to| to.contains(*from));
        to.iter().filter(leads_back).cloned().collect()
    };
    let cycles = reached.iter().map(of_file);
    cycles
        .filter(|files: &BTreeSet<_>| !files.is_empty())
        .collect()
}

#[test]
fn cycles_are_found() {
    let file = |name: &str| -> Module { name.split("::").map(str::to_owned).collect() };
    let check = |edges: &[(&str, &str)], expect: &[&[&str]]| {
        let edges = edges.iter().map(|(from, to)| (file(from), file(to)));
        let expect = expect.iter();
        let expect = expect.map(|files| files.iter().map(|name| file(name)).collect());
        assert_eq!(cycles(edges), expect.collect());
    };
    check(&[("r::a", "r::b"), ("r::b", "r::c")], &[]);
    check(&[("r::a", "s::a"), ("s::a", "r::a")], &[]);
    check(
        &[
            ("r::a", "r::b"),
            ("r::b", "r::a::x"),
            ("r::a::x", "r::a"),
            ("r::b", "r::c"),
            ("r::c", "r::d"),
            ("r::d", "r::c"),
            ("r", "r::a"),
        ],
        &[&["r::a", "r::a::x", "r::b"], &["r::c", "r::d"]],
    );
}

#[test]
fn no_room_is_a_tangle_of_files() {
    let edges = imports().edges.into_keys();
    let large = cycles(edges).into_iter();
    let large = large.filter(|files| files.len() > LARGEST_CYCLE);
    let rooms = large.map(|files| {
        let names = files.iter().map(|file| file.join("::")).collect::<Vec<_>>();
        let room = files.first().map(|file| file[0].clone());
        (room.unwrap(), names.join(", "))
    });
    let found: BTreeMap<String, String> = rooms.collect();
    for (room, names) in &found {
        let is_known = TANGLED.contains(&room.as_str());
        assert!(is_known, "a cycle of too many files: {names}");
    }
    for room in TANGLED {
        let is_fixed = !found.contains_key(*room);
        assert!(!is_fixed, "`{room}` is mended: take it off the list");
    }
}

#[test]
fn commands_use_neither_the_command_line_nor_one_another_in_a_circle() {
    let mut seen = 0;
    for (path, text) in sources("cargo-evaltest/src") {
        let is_above = path.ends_with("src/main.rs") || path.contains("src/args");
        if !is_above {
            for word in ["crate::args", "crate::{args"] {
                assert!(!text.contains(word), "{path} uses `{word}`");
            }
        }
        for (one, other) in [("accept", "plan"), ("plan", "accept")] {
            if path.ends_with(&format!("command/{one}.rs")) {
                assert!(!text.contains(&format!("super::{other}")), "{path}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 2);
}
