//! Explains YAML that does not parse, and what to write instead.

use std::sync::LazyLock;

use regex::Regex;

use crate::data::yaml_places::Position;
use crate::error::Error;

/// A gate with a slice, which YAML takes for a list inside a bracketed list.
static SLICED_GATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[^'"\w)])(?P<gate>[a-z][\w@^]*(?:\([^)]*\))?\[[^\[\]=]+=[^\[\]]*\](?:\s*[<>]=?\s*[\d.]+%?)?)"#,
    )
    .expect("the pattern is constant")
});
/// The position inside a message, which is already in front of it.
static PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r" at line \d+ column \d+").expect("the pattern is constant"));

/// By words of the parser's message: a better message, if there is one, and a hint.
const MISTAKES: &[(&str, Option<&str>, &str)] = &[
    (
        "unexpected end of stream",
        Some("a quote is opened and never closed"),
        "close it: a text is between two `\"` or two `'`",
    ),
    (
        "mapping values are not allowed",
        Some("a `:` makes this a key, but no key is allowed here"),
        "quote a text that contains `: `, or align the key with its neighbours",
    ),
    (
        "unknown escape character",
        Some("unknown escape after a backslash"),
        r"in YAML a backslash is itself between single quotes: `'\d+'`",
    ),
    (
        "block sequence entries",
        Some("`- ` starts a list, but no list is allowed here"),
        "begin each item with `- ` on a line of its own, or write `[a, b]`",
    ),
    (
        "more than one document",
        Some("a second document begins here"),
        "a spec is one document: remove the line `---`",
    ),
    (
        "could not find expected ':'",
        Some("a key has no `:` after it"),
        "write `key: value`",
    ),
    (
        "unknown anchor",
        Some("`*` refers to an anchor that does not exist"),
        "quote a text that begins with `*`",
    ),
    (
        "expected comment or line break",
        Some("`>` and `|` begin a text of several lines"),
        "quote a text that begins with one of these",
    ),
    (
        "nest too deeply",
        None,
        "close the brackets that are opened before it",
    ),
    (
        "byte order mark",
        None,
        "remove it; concatenated files have one at the start of each",
    ),
    (
        "expected '-' indicator",
        None,
        "begin each item of the list with `- `, all in one column",
    ),
    (
        "expected ',' or ']'",
        None,
        "put `,` between the items and `]` after the last; quote an item that has brackets in it",
    ),
    (
        "expected ',' or '}'",
        None,
        "put `,` between the entries and `}` after the last; quote a text that has braces in it",
    ),
];

/// The hint for any other mistake.
const CHECK_YAML: &str = "check the indentation, quotes and brackets there";

/// The error for a message of the parser about this position of the text.
pub(super) fn error(message: &str, text: &str, at: Position) -> Error {
    let line = text.lines().nth(at.line - 1).unwrap_or_default();
    let column = at.column - 1;
    let rest: String = line.chars().skip(column).collect();
    let before: String = line.chars().take(column).collect();
    let indented = line.len() - line.trim_start().len();
    if line[..indented].contains('\t') && column <= indented {
        return Error::usage("the indentation has a tab")
            .hint("write spaces: YAML takes no tab as indentation");
    }
    if let Some(error) = sliced_gate(line) {
        return error;
    }
    let message = PLACE.replace_all(message, "").into_owned();
    if message.contains("cannot start any token")
        && let Some(first) = rest.chars().next()
    {
        return Error::usage(format!("no text can begin with `{first}`"))
            .hint(format!("quote it: `'{}'`", value_start(&rest)));
    }
    if message.contains("expected key") {
        return unexpected(message, &before, &rest);
    }
    let known = MISTAKES.iter().find(|(words, ..)| message.contains(words));
    match known {
        Some((_, words, hint)) => Error::usage(words.unwrap_or(&message)).hint(*hint),
        None => Error::usage(message).hint(CHECK_YAML),
    }
}

/// The error for a line of a bracketed list with a gate that has brackets of its own.
pub(super) fn sliced_gate(line: &str) -> Option<Error> {
    let gate = SLICED_GATE.captures(line)?;
    let gate = gate["gate"].trim();
    let error = Error::usage(format!("`{gate}` has brackets and is not quoted"));
    Some(error.hint(format!(
        "quote it: `gates: ['{gate}']`; or write each gate on its own line after `- `"
    )))
}

/// Something is where only another key could be.
fn unexpected(message: String, before: &str, rest: &str) -> Error {
    if let Some(bracket) = rest.chars().next().filter(|c| matches!(c, ']' | '}')) {
        return Error::usage(format!("a `{bracket}` without its beginning"))
            .hint("remove it, or quote the text that it belongs to");
    }
    if before.trim_end().ends_with(['"', '\'']) {
        return Error::usage("something follows the closing quote")
            .hint("quote the whole text; within `'…'` a `'` is written twice");
    }
    Error::usage(message).hint("check the indentation: the keys of a map begin in one column")
}

/// The beginning of a text, up to where a list or map would continue.
fn value_start(text: &str) -> String {
    let end = text.find([',', ']', '}', '\'']).unwrap_or(text.len());
    crate::text::excerpt(text[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::eval::registry::Registry;
    use crate::eval::spec::parse;

    /// The error and hint of a spec whose line 3 ends like this.
    #[track_caller]
    fn check(end: &str, expect: &str, hint: &str) {
        let text = format!("benchmark: {{ type: gaia }}\nagent: echo\n{end}\n");
        let Err(error) = parse(&text, Path::new("e.yaml"), &Registry::new(), &[]) else {
            panic!("{end} is read");
        };
        let message = error.message().splitn(4, ':').last().unwrap_or_default();
        assert_eq!(message.trim(), expect, "{end}");
        let words = error.hint_text().unwrap_or_default();
        assert!(words.contains(hint), "{end}: {words}");
    }

    #[test]
    fn a_gate_with_brackets_is_to_be_quoted() {
        let hint =
            "quote it: `gates: ['accuracy[level=1] >= 0.7']`; or write each gate on its own line";
        let expect = "`accuracy[level=1] >= 0.7` has brackets and is not quoted";
        check("gates: [accuracy[level=1] >= 0.7]", expect, hint);
        check(
            "gates: [min_samples >= 3, accuracy[level=1] >= 0.7]",
            expect,
            hint,
        );
        check(
            "gates: [no_regression(alpha=5%)[level=a b]]",
            "`no_regression(alpha=5%)[level=a b]` has brackets and is not quoted",
            "gates: ['no_regression(alpha=5%)[level=a b]']",
        );
    }

    #[test]
    fn a_gate_that_yaml_cuts_is_to_be_quoted() {
        check(
            "gates: [no_regression(alpha=0.05, max_drop=0.1)]",
            "gates: gate `no_regression(alpha=0.05`: `(` without `)`",
            "quote a gate that has a comma: `'no_regression(alpha=0.05, max_drop=0.1)'`",
        );
        check(
            "gates: [accuracy[level=1]]",
            "`accuracy[level=1]` has brackets and is not quoted",
            "quote it: `gates: ['accuracy[level=1]']`",
        );
        // Not where the brackets are part of the gate.
        let operator = "must compare: `>=`";
        check(
            "gates: ['accuracy[level=1]']",
            "gates: gate `accuracy[level=1]`: no operator and threshold",
            operator,
        );
        check(
            "gates: [accuracy, 'x[level=1]']",
            "gates: gate `accuracy`: no operator and threshold",
            operator,
        );
        check(
            "gates: accuracy[level=1] >= 0.5",
            "gates: a list is needed, found string \"accuracy[level=1] >= 0.5\"",
            "write a list: `gates: ['accuracy[level=1] >= 0.5']`",
        );
    }

    #[test]
    fn the_mark_of_an_editor_is_no_part_of_a_key() {
        let read = |rest: &str| {
            let text = format!("\u{feff}benchmark: {{ type: gaia, path: x }}\nagent: echo\n{rest}");
            parse(&text, Path::new("e.yaml"), &Registry::new(), &[])
        };
        let error = read("").err().unwrap();
        assert!(
            error.message().starts_with("e.yaml:1:32: cannot open"),
            "{error}"
        );
        let error = read("x: 1").err().unwrap();
        assert_eq!(error.message(), "e.yaml:3:1: unknown key `x`");
    }

    #[test]
    fn a_tab_is_called_a_tab() {
        let expect = "the indentation has a tab";
        check("gates:\n\t- accuracy >= 1", expect, "write spaces");
        check(
            "limits:\n  retries: 1\n\ttimeout_s: 3",
            expect,
            "write spaces",
        );
        check("limits:\n  \tretries: 1", expect, "write spaces");
    }

    #[test]
    fn each_mistake_says_what_to_write() {
        check("name: @x", "no text can begin with `@`", "quote it: `'@x'`");
        check(
            "gates: [> 3]",
            "no text can begin with `>`",
            "quote it: `'> 3'`",
        );
        check(
            "name: \"x",
            "a quote is opened and never closed",
            "close it",
        );
        check(
            "name: a: b",
            "a `:` makes this a key, but no key is allowed here",
            "quote a text",
        );
        check(
            r#"redact: ["a\d"]"#,
            "unknown escape after a backslash",
            r"`'\d+'`",
        );
        check(
            "gates: - accuracy >= 0.7",
            "`- ` starts a list, but no list is allowed here",
            "own",
        );
        check("name \"x\"", "a key has no `:` after it", "key: value");
        check(
            "name: *x",
            "`*` refers to an anchor that does not exist",
            "quote",
        );
        check(
            "name: >= 3",
            "`>` and `|` begin a text of several lines",
            "quote",
        );
        check(
            "gates: [accuracy >= 1]]",
            "a `]` without its beginning",
            "remove it",
        );
        check(
            "name: \"x\" y",
            "something follows the closing quote",
            "quote the whole",
        );
        check(
            "limits:\n  retries: 1\n timeout_s: 3",
            "did not find expected key",
            "check the indentation: the keys of a map begin in one column",
        );
        check(
            "---\na: b",
            "a second document begins here",
            "remove the line `---`",
        );
    }
}
