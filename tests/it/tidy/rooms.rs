//! The order of the rooms of `src/`.

use std::collections::BTreeSet;

use super::imports::Imports;
use super::sources;

/// The rooms of `src/`, each of which may use only those above it, and what it is for.
const ROOMS: &[(&str, &str)] = &[
    ("exit", "how a command ends"),
    ("error", "the one error, and hints"),
    ("text", "pure: texts, names, hashes, redaction"),
    ("stats", "pure: intervals, exact tests, clusters, power"),
    ("system", "the only room that knows the machine"),
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
    ("harness", "libtest-mimic"),
    ("engine", "what the command builds on"),
    ("tests", "what tests of many rooms share"),
];

/// Where a room uses one below it. It was 32 arrows once, and stays empty.
const BACKWARDS: &[(&str, &str)] = &[];

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
        let told = format!(
            "{} -> {}::{{{}}}",
            from.join("::"),
            to.join("::"),
            names.join(", ")
        );
        ((from[0].as_str(), to[0].as_str()), told)
    });
    let upwards = rooms.filter(|((from, to), _)| from != to && place(to) > place(from));
    let (found, told): (BTreeSet<_>, Vec<_>) = upwards.unzip();
    let known: BTreeSet<_> = BACKWARDS.iter().copied().collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(
        new.is_empty(),
        "{new:#?} run backwards:\n{}",
        told.join("\n")
    );
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(
        gone.is_empty(),
        "{gone:#?} are mended: take them off the list"
    );
}
