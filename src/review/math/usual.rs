//! Rewrites common TeX that the crate does not know into TeX that it knows.

use std::borrow::Cow;

/// The marker of a box: a colour that nobody would use, which [`super::plain`] turns into a box.
pub(super) const BOX: &str = "1 2 3";
const BOX_COLOUR: &str = "\\textcolor{#010203}";

/// Commands and their replacements.
const COMMANDS: &[(&str, &str)] = &[
    ("Bbb", "\\mathbb"),
    ("bm", "\\boldsymbol"),
    ("boxed", BOX_COLOUR),
    ("ensuremath", ""),
    ("fbox", BOX_COLOUR),
    ("hfill", "\\quad "),
    ("mathstrut", ""),
    ("mbox", "\\text"),
    ("mod", "\\quad\\mathrm{mod}\\,"),
    ("notag", ""),
    ("nonumber", ""),
    ("qed", "\\square "),
    ("smash", ""),
    ("textnormal", "\\text"),
];

/// Commands whose argument is dropped, or moved behind the formula.
const TAGS: &[(&str, bool)] = &[("label", false), ("tag", true)];

/// Rewrites a formula.
pub(super) fn usual(tex: &str) -> Cow<'_, str> {
    if !tex.contains('\\') {
        return Cow::Borrowed(tex);
    }
    Cow::Owned(infixes(&commands(tex)))
}

/// Rewrites a formula with several lines, but without an environment, as a table.
pub(super) fn lines(tex: &str) -> Option<String> {
    let name = if tex.contains('&') {
        "aligned"
    } else {
        "gathered"
    };
    let has_lines = tex.contains("\\\\") || tex.contains("\\newline");
    has_lines.then(|| {
        format!(
            "\\begin{{{name}}}{}\\end{{{name}}}",
            tex.replace("\\newline", "\\\\")
        )
    })
}

fn commands(tex: &str) -> String {
    let mut out = String::with_capacity(tex.len());
    let mut rest = tex;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        if end == 0 {
            // Skips the escaped character in `\\` or `\{` so that it does not start another command.
            let end = rest.chars().next().map_or(0, char::len_utf8);
            out.extend(["\\", &rest[..end]]);
            rest = &rest[end..];
            continue;
        }
        let (name, behind) = rest.split_at(end);
        rest = behind;
        if let Some((_, other)) = COMMANDS.iter().find(|(known, _)| *known == name) {
            out.push_str(other);
        } else if let Some((visible, (inner, behind))) = TAGS
            .iter()
            .find(|(known, _)| *known == name)
            .and_then(|(_, visible)| Some((*visible, group(rest)?)))
        {
            if visible {
                out.extend(["\\qquad\\text{(", inner, ")}"]);
            }
            rest = behind;
        } else if let Some(behind) = environment(name, rest, &mut out) {
            rest = behind;
        } else {
            out.extend(["\\", name]);
        }
    }
    out + rest
}

/// The content of the group in braces at the start, and the rest after it.
fn group(rest: &str) -> Option<(&str, &str)> {
    let (inner, behind) = rest.strip_prefix('{')?.split_once('}')?;
    (!inner.contains(['{', '\\'])).then_some((inner, behind))
}

/// Writes the begin or end of an environment under another name and returns the rest after it.
fn environment<'a>(name: &str, rest: &'a str, out: &mut String) -> Option<&'a str> {
    let (inner, behind) = group(rest)?;
    let written = match (name, inner) {
        ("begin", "eqnarray" | "eqnarray*") => "\\begin{array}{rcl}",
        ("end", "eqnarray" | "eqnarray*") => "\\end{array}",
        ("begin" | "end", "displaymath" | "math") => "",
        _ => return None,
    };
    out.push_str(written);
    Some(behind)
}

/// Rewrites `{n \choose k}`, `{a \over b}` to prefix commands.
fn infixes(tex: &str) -> String {
    const INFIXES: &[(&str, &str)] = &[
        ("\\choose", "\\binom"),
        ("\\over", "\\frac"),
        ("\\atop", "\\substack"),
    ];
    /// The most infix commands to rewrite.
    const MOST: usize = 20;
    let mut tex = tex.to_owned();
    for _ in 0..MOST {
        let found = INFIXES.iter().find_map(|(infix, command)| {
            let ends = |at: &usize| {
                !tex[at + infix.len()..].starts_with(|c: char| c.is_ascii_alphabetic())
            };
            let mut places = tex.match_indices(infix).map(|(at, _)| at);
            Some((places.find(ends)?, *infix, *command))
        });
        let Some((at, infix, command)) = found else {
            break;
        };
        let (from, to) = around(tex.as_bytes(), at);
        let (before, behind) = (&tex[from..at], &tex[at + infix.len()..to]);
        let inner = if infix == "\\atop" {
            format!("{command}{{{before}\\\\{behind}}}")
        } else {
            format!("{command}{{{before}}}{{{behind}}}")
        };
        tex.replace_range(from..to, &inner);
    }
    tex
}

/// The range of the group around this place.
fn around(bytes: &[u8], at: usize) -> (usize, usize) {
    let is_escaped = |place: usize| place > 0 && bytes[place - 1] == b'\\';
    let mut depth = 0_usize;
    let mut from = 0;
    for place in (0..at).rev().filter(|place| !is_escaped(*place)) {
        match bytes[place] {
            b'}' => depth += 1,
            b'{' if depth == 0 => {
                from = place + 1;
                break;
            }
            b'{' => depth -= 1,
            _ => {}
        }
    }
    depth = 0;
    for place in (at..bytes.len()).filter(|place| !is_escaped(*place)) {
        match bytes[place] {
            b'{' => depth += 1,
            b'}' if depth == 0 => return (from, place),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    (from, bytes.len())
}
