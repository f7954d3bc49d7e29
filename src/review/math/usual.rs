//! TeX that people write and the crate does not know, in words that it knows.

use std::borrow::Cow;

/// What a box is written as: a colour that nobody asks for, which [`super::plain`] takes for one.
pub(super) const BOX: &str = "1 2 3";
const BOX_COLOUR: &str = "\\textcolor{#010203}";

/// Commands, and what is written instead.
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

/// Commands whose argument is not shown, or behind the formula.
const TAGS: &[(&str, bool)] = &[("label", false), ("tag", true)];

/// The same formula in usual words.
pub(super) fn usual(tex: &str) -> Cow<'_, str> {
    if !tex.contains('\\') {
        return Cow::Borrowed(tex);
    }
    Cow::Owned(infixes(&commands(tex)))
}

/// The same as lines of a table, for a formula that has several and does not say so.
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
            // `\\`, `\{`: with what it is about, so that the next one is not taken for its beginning.
            let end = rest.chars().next().map_or(0, char::len_utf8);
            out.extend(["\\", &rest[..end]]);
            rest = &rest[end..];
            continue;
        }
        let (name, behind) = rest.split_at(end);
        rest = behind;
        if let Some((_, other)) = COMMANDS.iter().find(|(known, _)| *known == name) {
            out.push_str(other);
        } else if let Some((shown, (inner, behind))) = TAGS
            .iter()
            .find(|(known, _)| *known == name)
            .and_then(|(_, shown)| Some((*shown, group(rest)?)))
        {
            if shown {
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

/// What stands in the braces that begin here, and what is behind them.
fn group(rest: &str) -> Option<(&str, &str)> {
    let (inner, behind) = rest.strip_prefix('{')?.split_once('}')?;
    (!inner.contains(['{', '\\'])).then_some((inner, behind))
}

/// Writes the begin or end of an environment by another name, and says what is behind it.
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

/// `{n \choose k}`, `{a \over b}` as commands before what they are about.
fn infixes(tex: &str) -> String {
    const INFIXES: &[(&str, &str)] = &[
        ("\\choose", "\\binom"),
        ("\\over", "\\frac"),
        ("\\atop", "\\substack"),
    ];
    /// More of them than anybody writes.
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

/// From where to where the group goes that this place is in.
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
