//! What a page shows against what was printed: run ids, times and addresses are not compared, `…` stands for anything.

use std::sync::LazyLock;

use regex::Regex;

/// What differs from run to run, and what it is read as.
static MASKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let masks = [
        (
            r"[0-9]{8}T[0-9]{6}Z_([a-z0-9-]+)-[0-9a-f]{6}",
            "20260131T120000Z_$1-3f09ab",
        ),
        (r"\b[0-9]+(\.[0-9]+)? (s|ms|min)\b", "0.4 s"),
        (r"127\.0\.0\.1:[0-9]+", "127.0.0.1:8102"),
        (
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z",
            "2026-01-01T00:00:00Z",
        ),
        (r"in [0-9]+\.[0-9]+s\b", "in 0.00s"),
    ];
    let masks = masks.map(|(pattern, with)| (Regex::new(pattern).unwrap(), with));
    masks.into()
});

pub(crate) fn masked(text: &str) -> String {
    MASKS.iter().fold(text.to_owned(), |text, (mask, with)| {
        mask.replace_all(&text, *with).into_owned()
    })
}

/// Whether a printed line is the one that is shown, which may have `…` in it.
fn is_same(documented: &str, printed: &str) -> bool {
    let mut parts = documented.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    for part in parts {
        // The last place, so that what stands behind the last `…` is the line's end.
        let Some(at) = rest.rfind(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

/// Nothing if `documented` is what was printed, else the shown line that does not come.
pub(crate) fn first_difference(documented: &str, printed: &str) -> Option<String> {
    let (documented, printed) = (masked(documented), masked(printed));
    let mut printed = printed.lines().map(str::trim_end).peekable();
    let mut elided = false;
    for line in documented.lines().map(str::trim_end) {
        if line.trim() == "…" {
            elided = true;
            continue;
        }
        // A blank line tells not where what is left out ends.
        if elided && line.is_empty() {
            continue;
        }
        if elided {
            while printed.peek().is_some_and(|next| !is_same(line, next)) {
                printed.next();
            }
        }
        match printed.next() {
            Some(next) if is_same(line, next) => elided = false,
            _ => return Some(line.to_owned()),
        }
    }
    if elided {
        return None;
    }
    printed
        .next()
        .map(|more| format!("(nothing; but then came) {more}"))
}

#[test]
fn what_is_shown_is_what_was_printed() {
    let check = |documented: &str, printed: &str, same: bool| {
        assert_eq!(
            first_difference(documented, printed).is_none(),
            same,
            "{documented}"
        );
    };
    check("a\nb\n", "a\nb\n", true);
    check("a\n", "a\nb\n", false);
    check("a\n…\n", "a\nb\n", true);
    check("…\nb\n", "a\nb\n", true);
    check("a\n…\nc\n", "a\nb\nd\n", false);
    check("a … c\n", "a b c\n", true);
    check("a … c\n", "a b d\n", false);
    check("a …\n", "a b\n", true);
    check("…b\nc?…\n", "a b\nc? d, e\n", true);
    check("a…\n", "b\n", false);
    check("took 0.1 s\n", "took 12.7 s\n", true);
    check(
        "20260131T120000Z_gaia-3f09ab",
        "20261122T141033Z_gaia-30ba06",
        true,
    );
    check(
        "20260131T120000Z_gaia-3f09ab",
        "20261122T141033Z_bfcl-30ba06",
        false,
    );
}
