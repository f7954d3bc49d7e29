//! The order of the rooms of `src/`.

use std::collections::BTreeSet;

use super::imports::Imports;
use super::sources;

/// The rooms of `src/`, each of which may use only those above it.
const ROOMS: &[&str] = &[
    "exit",
    "error",
    "text",
    "system",
    "data",
    "prompt",
    "store",
    "bfcl",
    "agent",
    "stats",
    "verdict",
    "event",
    "fuzz",
    "parity",
    "extract",
    "limits",
    "scorer",
    "report",
    "snapshot",
    "eval",
    "registry",
    "benchmark",
    "plan",
    "doctor",
    "listing",
    "runner",
    "drive",
    "harness",
    "spec",
    "rescore",
    "official",
];

/// Where a room uses one below it. This list may only shrink.
const BACKWARDS: &[(&str, &str)] = &[
    ("bfcl", "scorer"),
    ("drive", "spec"),
    ("eval", "benchmark"),
    ("eval", "runner"),
    ("extract", "scorer"),
    ("plan", "rescore"),
    ("prompt", "benchmark"),
    ("registry", "benchmark"),
    ("report", "benchmark"),
    ("scorer", "registry"),
    ("snapshot", "plan"),
];

fn imports() -> Imports {
    let files = sources("src").into_iter();
    let below_src = |(path, text): (String, String)| (path.replacen("src/", "", 1), text);
    Imports::of(&files.map(below_src).collect::<Vec<_>>())
}

#[test]
fn a_room_uses_only_rooms_above_it() {
    let place = |room: &str| {
        let place = ROOMS.iter().position(|known| *known == room);
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
