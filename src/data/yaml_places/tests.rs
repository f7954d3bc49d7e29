//! Tests the tree, and compares its positions with those of the parser for specs.

use std::fs;
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::*;

const TRICKY: &str = "%YAML 1.1
---
# a: comment
name: &name \"tabs\\t\tand \\u00e9\" # a: b
'quoted key' : [ 1, two,{three : 4}, 'it''s', \"a
  b\", [ [ [x,y] ] ] ]
? complex
: value
anchored: &all
  first: { a: 1, b: [&deep 2, {c: *deep}] }
  second: *name
again: *all
list:
- - - nested: *deep
    other:
- |
  text: with a key
    - in it
- >-
  folded

  # no comment
- !tag tagged
-
  on: the next line
empty:
~: null
é: ü
last: {}
";

/// A path, and whether its last key is meant instead of the value.
struct Way<'a> {
    steps: &'a [Step],
    to_key: bool,
}

/// Fails at the end of the path, so that `serde_yaml` reports the position.
impl<'de> DeserializeSeed<'de> for Way<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Way<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((Step::Key(wanted), steps)) = self.steps.split_first() else {
            return Err(A::Error::custom("here"));
        };
        let to_key = self.to_key;
        let is_last = to_key && steps.is_empty();
        while let Some(is_found) = map.next_key_seed(KeySeed { wanted, is_last })? {
            if is_found {
                return map.next_value_seed(Way { steps, to_key });
            }
            map.next_value::<IgnoredAny>()?;
        }
        panic!("{wanted} is not there");
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((Step::Item(item), steps)) = self.steps.split_first() else {
            return Err(A::Error::custom("here"));
        };
        for _ in 0..*item {
            list.next_element::<IgnoredAny>()?;
        }
        let to_key = self.to_key;
        list.next_element_seed(Way { steps, to_key })?;
        Ok(())
    }
}

/// Whether a key matches; fails at it if it is the last one.
struct KeySeed<'a> {
    wanted: &'a str,
    is_last: bool,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        match key == self.wanted {
            true if self.is_last => Err(E::custom("here")),
            is_found => Ok(is_found),
        }
    }
}

/// The position that `serde_yaml` reports for a path.
fn position_of(text: &str, steps: &[Step], to_key: bool) -> Option<Position> {
    let way = Way { steps, to_key };
    let error = way.deserialize(serde_yaml::Deserializer::from_str(text));
    let place = error.unwrap_err().location()?;
    Some(Position {
        line: place.line(),
        column: place.column(),
    })
}

/// Compares all descendants of a node; returns the number of equal positions.
fn compare(places: &YamlPlaces, node: Id, steps: &mut Vec<Step>, text: &str) -> usize {
    // The content of an alias has the position of its anchor.
    let place = places.place(places.resolved(node));
    assert_eq!(
        place,
        position_of(text, steps, false),
        "{steps:?} in {text}"
    );
    let mut same = 1;
    match places.content(node) {
        Some(Content::List(items)) => {
            for (item, value) in items.iter().enumerate() {
                steps.push(item.into());
                same += compare(places, *value, steps, text);
                steps.pop();
            }
        }
        Some(Content::Map(entries)) => {
            for entry in entries {
                steps.push(entry.key.as_str().into());
                assert_eq!(
                    Some(entry.place),
                    position_of(text, steps, true),
                    "{steps:?}"
                );
                same += 1 + compare(places, entry.value, steps, text);
                steps.pop();
            }
        }
        _ => {}
    }
    same
}

#[test]
fn the_marks_are_those_of_the_parser_that_reads_specs() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let files = walkdir::WalkDir::new(fixtures).into_iter().flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "yaml"));
    let mut texts: Vec<_> = files
        .map(|file| fs::read_to_string(file.path()).unwrap())
        .collect();
    texts.push(TRICKY.to_owned());
    let mut same = 0;
    for text in texts {
        for text in [
            text.replace('\n', "\r\n"),
            text.replace('\n', "\r"),
            format!("\u{feff}{}", text.trim_start_matches("%YAML 1.1\n")),
            text,
        ] {
            same += compare(&YamlPlaces::of(&text), TOP, &mut Vec::new(), &text);
        }
    }
    assert!(same > 500, "{same}");
}

#[test]
fn a_path_leads_to_a_place() {
    const TEXT: &str = "\
a: &a { b: [1, &two 2], 'c.d': 3 }
e:
  - *a
  - b: *two
    b: 5
f.g[0]: { h: 1 }
short: name
";
    let places = YamlPlaces::of(TEXT);
    let check = |path: &str, steps: &[Step], expect: &str| {
        let at = places.at(&steps.iter().cloned().collect());
        assert_eq!(at.unwrap().to_string(), expect, "{path}");
        let inside = places.top().inside(path);
        let named = inside.map(|place| place.to_string());
        assert_eq!(named.as_deref(), Some(expect), "{path}");
    };
    check("", &[], "1:1");
    check("a", &["a".into()], "1:4");
    check("a.b[1]", &["a".into(), "b".into(), 1.into()], "1:16");
    check("a.c.d", &["a".into(), "c.d".into()], "1:32");
    check("e[0]", &["e".into(), 0.into()], "3:5");
    check(
        "e[0].b[0]",
        &["e".into(), 0.into(), "b".into(), 0.into()],
        "1:13",
    );
    check("e[1]", &["e".into(), 1.into()], "4:5");
    check("e[1].b", &["e".into(), 1.into(), "b".into()], "5:8");
    check("f.g[0].h", &["f.g[0]".into(), "h".into()], "6:14");
    let check = |steps: &[&str], has: bool, expect: &str| {
        let path = steps.iter().copied().collect();
        assert_eq!(places.has(&path), has, "{steps:?}");
        assert_eq!(places.at(&path).unwrap().to_string(), expect, "{steps:?}");
    };
    // A missing node has the position of its parent.
    check(&["a", "x", "y"], false, "1:4");
    check(&["short", "type"], false, "7:8");
    check(&["x"], false, "1:1");
    check(&["short"], true, "7:8");
    assert!(places.top().inside("a.x").is_none());
    assert_eq!(
        places.named("e[1]").unwrap().second(&["b"]).unwrap().line,
        5
    );
}

#[test]
fn broken_texts_have_the_places_before_the_fault() {
    let check = |text: &str, expect: Option<&str>| {
        let at = YamlPlaces::of(text).at(&["a", "b"].into_iter().collect());
        assert_eq!(
            at.map(|place| place.to_string()).as_deref(),
            expect,
            "{text}"
        );
    };
    check("a: { b: 1 }\nc: [", Some("1:9"));
    check("a: { b: 1 }\n--- \na: { b: 2 }", Some("1:9"));
    check("a: &a { b: *a }", Some("1:12"));
    check("a: *b", Some("1:1"));
    check("", None);
    check("# nothing", None);
    check("@", None);
    // The parser panics on this text.
    check("a: { b: [!x, y] }", None);
    let second = YamlPlaces::of("a: 1\n--- \nb: 2").second_document();
    assert_eq!(second.unwrap().to_string(), "2:1");
}

#[test]
fn a_key_that_is_there_twice_is_found() {
    let check = |text: &str, expect: Option<(&str, &str)>| {
        let places = YamlPlaces::of(text);
        let found = places.repeated_key();
        let found = found.map(|(key, place)| (key, place.to_string()));
        let expect = expect.map(|(key, place)| (key, place.to_owned()));
        assert_eq!(found, expect, "{text}");
    };
    check("a: 1\nb: { a: 1 }\nc: [{ a: 2 }, { a: 2 }]\n", None);
    check("a: 1\nb:\n  - c: 1\n    c: 2\na: 3\n", Some(("c", "4:5")));
    check("", None);
}
