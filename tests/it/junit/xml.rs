//! A reader of XML that takes nothing else, and the rules of Jenkins' `junit-10.xsd`, written down from what it allows.

use std::collections::BTreeMap;

/// An element with its attributes, its elements and its text.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) children: Vec<Element>,
    pub(super) text: String,
}

impl Element {
    /// The elements in it of this name.
    pub(super) fn all<'a>(&'a self, name: &str) -> Vec<&'a Self> {
        self.children.iter().filter(|it| it.name == name).collect()
    }

    pub(super) fn get(&self, attribute: &str) -> &str {
        let value = self.attributes.get(attribute);
        value.unwrap_or_else(|| panic!("`{}` has no `{attribute}`", self.name))
    }

    pub(super) fn number(&self, attribute: &str) -> usize {
        self.get(attribute).parse().unwrap()
    }
}

/// Reads a file as `JUnit`, of which all rules hold.
pub(super) fn junit(text: &str) -> Element {
    let is_xml = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let other = text.chars().find(|c| !is_xml(*c));
    assert_eq!(other, None, "no character of XML");
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut rest = body.expect("a declaration");
    let top = element(&mut rest);
    assert_eq!(rest.trim(), "");
    assert_eq!(top.name, "testsuites");
    holds(&top);
    counts(&top);
    top
}

fn element(rest: &mut &str) -> Element {
    let (tag, after) = rest.strip_prefix('<').unwrap().split_once('>').unwrap();
    *rest = after;
    let (tag, is_empty) = match tag.strip_suffix('/') {
        Some(tag) => (tag, true),
        None => (tag, false),
    };
    let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut found = Element {
        name: name.to_owned(),
        ..Element::default()
    };
    while !attributes.is_empty() {
        let (name, after) = attributes.split_once("=\"").unwrap();
        let (value, after) = after.split_once('"').unwrap();
        let before = found.attributes.insert(name.to_owned(), plain(value));
        assert_eq!(before, None, "`{name}` stands twice");
        attributes = after.strip_prefix(' ').unwrap_or_else(|| {
            assert_eq!(after, "");
            after
        });
    }
    if is_empty {
        return found;
    }
    loop {
        let at = rest.find('<').unwrap();
        found.text += &plain(&rest[..at]);
        *rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("</") {
            let (name, after) = after.split_once('>').unwrap();
            assert_eq!(name, found.name);
            *rest = after;
            return found;
        }
        found.children.push(element(rest));
    }
}

/// A text whose entities are those that every reader knows.
fn plain(text: &str) -> String {
    assert!(!text.contains(['<', '"', '>']), "{text}");
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (name, after) = piece.split_once(';').unwrap();
        let known = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"')];
        let known = known.iter().find(|(known, _)| *known == name);
        plain.push(known.unwrap_or_else(|| panic!("&{name};")).1);
        plain += after;
    }
    plain
}

/// What an element may have: the attributes it must have, others, elements, and whether it has a text.
type Rule = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
    bool,
);

fn rule(name: &str) -> Rule {
    match name {
        "testsuites" => (
            &[],
            &["name", "time", "tests", "failures", "errors"],
            &["testsuite"],
            false,
        ),
        "testsuite" => (
            &["name", "tests", "failures", "errors"],
            &[
                "group",
                "time",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
                "file",
                "log",
                "url",
            ],
            &[
                "testsuite",
                "properties",
                "testcase",
                "system-out",
                "system-err",
            ],
            false,
        ),
        "properties" => (&[], &[], &["property"], false),
        "property" => (&["name", "value"], &[], &[], false),
        "testcase" => (
            &["name"],
            &["time", "classname", "group"],
            &[
                "skipped",
                "error",
                "failure",
                "rerunFailure",
                "rerunError",
                "flakyFailure",
                "flakyError",
                "system-out",
                "system-err",
            ],
            false,
        ),
        "failure" | "error" | "skipped" => (&[], &["type", "message"], &[], true),
        "rerunFailure" | "rerunError" | "flakyFailure" | "flakyError" => (
            &["type"],
            &["message"],
            &["stackTrace", "system-out", "system-err"],
            true,
        ),
        "system-out" | "system-err" => (&[], &[], &[], true),
        other => panic!("`{other}` is no element of JUnit"),
    }
}

fn holds(element: &Element) {
    let (needed, others, children, has_text) = rule(&element.name);
    for name in needed {
        element.get(name);
    }
    for (name, value) in &element.attributes {
        let is_known = needed.contains(&&**name) || others.contains(&&**name);
        assert!(is_known, "`{}` has no `{name}`", element.name);
        assert!(value.len() <= 4096, "{} bytes of `{name}`", value.len());
    }
    if let Some(time) = element.attributes.get("time") {
        let (whole, part) = time.split_once('.').unwrap();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        assert!(digits(whole) && digits(part), "{time}");
    }
    assert!(
        has_text || element.text.trim().is_empty(),
        "{}",
        element.text
    );
    assert!(element.text.len() <= 4096, "{} bytes", element.text.len());
    for child in &element.children {
        assert!(
            children.contains(&&*child.name),
            "`{}` in `{}`",
            child.name,
            element.name
        );
        holds(child);
    }
}

/// The counts of suites are those of their cases, whose names are their own.
fn counts(top: &Element) {
    let mut sums = [0; 3];
    for suite in top.all("testsuite") {
        let cases = suite.all("testcase");
        let with = |name: &str| cases.iter().filter(|it| !it.all(name).is_empty()).count();
        let found = [cases.len(), with("failure"), with("error")];
        for ((sum, found), name) in sums
            .iter_mut()
            .zip(found)
            .zip(["tests", "failures", "errors"])
        {
            assert_eq!(suite.number(name), found, "{name} of {}", suite.get("name"));
            *sum += found;
        }
        assert_eq!(
            suite.number("skipped"),
            with("skipped"),
            "{}",
            suite.get("name")
        );
        let mut names: Vec<_> = cases
            .iter()
            .map(|it| (it.get("classname"), it.get("name")))
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases.len(), "{names:?}");
    }
    for (sum, name) in sums.iter().zip(["tests", "failures", "errors"]) {
        assert_eq!(top.number(name), *sum, "{name}");
    }
}
