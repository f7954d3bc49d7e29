//! Sanitises `MathML`: only known elements and attributes are written, with texts escaped.
//!
//! The input is not quite XML: `<` or `&` may be unescaped, and blanks between attributes may be missing. Text never
//! becomes an element, and an unknown element makes the whole formula invalid.

use super::usual::BOX;
use crate::printable::is_unseen;

/// The allowed elements.
const ELEMENTS: &[&str] = &[
    "math",
    "mfrac",
    "mi",
    "mn",
    "mo",
    "mover",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
];

/// Maximum nesting.
const DEEPEST: usize = 60;

/// Maximum width of a space in em, so that nothing overlaps or is moved far away from other text.
const WIDEST: f64 = 10.0;

/// The sanitised formula; `None` if it is invalid or has no visible content.
pub(super) fn plain(written: &str) -> Option<String> {
    let mut out = String::with_capacity(written.len());
    let mut open: Vec<&str> = Vec::new();
    let mut rest = written;
    let mut is_over = false;
    let mut is_seen = false;
    while !rest.is_empty() {
        if is_over {
            return None;
        }
        if let Some((tag, behind)) = tag(rest) {
            rest = behind;
            match tag {
                Tag::End(name) => {
                    if open.pop() != Some(name) {
                        return None;
                    }
                    out.extend(["</", name, ">"]);
                    is_over = open.is_empty();
                }
                Tag::Start {
                    name,
                    attributes,
                    is_empty,
                } => {
                    let is_first = open.is_empty();
                    if !ELEMENTS.contains(&name)
                        || is_first != (name == "math")
                        || open.len() == DEEPEST
                    {
                        return None;
                    }
                    out.extend(["<", name]);
                    if is_first {
                        out.push_str(" xmlns=\"http://www.w3.org/1998/Math/MathML\"");
                    }
                    write_attributes(attributes, &mut out)?;
                    if is_empty {
                        out.push_str("/>");
                    } else {
                        out.push('>');
                        open.push(name);
                    }
                }
            }
        } else {
            let (c, behind) = character(rest)?;
            rest = behind;
            is_seen |= !c.is_whitespace() && !is_unseen(c);
            match c {
                _ if !matches!(open.last(), Some(&("mi" | "mn" | "mo" | "mtext"))) => return None,
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '&' => out.push_str("&amp;"),
                c => out.push(c),
            }
        }
    }
    (is_over && is_seen).then_some(out)
}

/// The content between `<` and `>`.
enum Tag<'a> {
    Start {
        name: &'a str,
        attributes: &'a str,
        is_empty: bool,
    },
    End(&'a str),
}

/// The tag at the start and the rest after it. A lone `<` is not a tag.
fn tag(rest: &str) -> Option<(Tag<'_>, &str)> {
    let inner = rest.strip_prefix('<')?;
    let begins = inner.strip_prefix('/').unwrap_or(inner);
    if !begins.starts_with(|c: char| c.is_ascii_lowercase()) {
        return None;
    }
    let (inner, behind) = inner.split_once('>')?;
    if let Some(name) = inner.strip_prefix('/') {
        return Some((Tag::End(name), behind));
    }
    let is_empty = inner.ends_with('/');
    let inner = inner.trim_end_matches('/');
    let end = inner
        .find(|c: char| !c.is_ascii_lowercase())
        .unwrap_or(inner.len());
    let (name, attributes) = inner.split_at(end);
    Some((
        Tag::Start {
            name,
            attributes,
            is_empty,
        },
        behind,
    ))
}

/// A character of a text, escaped or not, and the rest after it.
fn character(rest: &str) -> Option<(char, &str)> {
    const ENTITIES: &[(&str, char)] = &[
        ("&amp;", '&'),
        ("&gt;", '>'),
        ("&lt;", '<'),
        ("&nbsp;", '\u{a0}'),
    ];
    for (entity, c) in ENTITIES {
        if let Some(behind) = rest.strip_prefix(entity) {
            return Some((*c, behind));
        }
    }
    let c = rest.chars().next()?;
    // U+2061 (function application) is invisible but allowed.
    let is_fine = c == '\u{2061}' || !is_unseen(c);
    is_fine.then(|| (c, &rest[c.len_utf8()..]))
}

/// Writes the known attributes; `None` if one has an invalid value.
fn write_attributes(mut rest: &str, out: &mut String) -> Option<()> {
    while !rest.trim_start().is_empty() {
        let (name, behind) = rest.trim_start().split_once("=\"")?;
        let (value, behind) = behind.split_once('"')?;
        rest = behind;
        if name == "style" && value == format!("color: rgb({BOX})") {
            out.push_str(" class=\"menv-box\"");
            continue;
        }
        let is_preserved = match name {
            "display" => matches!(value, "inline" | "block"),
            "displaystyle" | "largeop" | "movablelimits" | "stretchy" | "symmetric" => {
                matches!(value, "true" | "false")
            }
            "mathvariant" => value == "normal",
            "scriptlevel" => matches!(value, "0" | "1" | "2"),
            "depth" | "height" | "linethickness" | "maxsize" | "minsize" | "width" => {
                let letters = length(value)?;
                if !(-1.0..=WIDEST).contains(&letters) {
                    return None;
                }
                true
            }
            "class" if value.split(' ').all(is_class) => true,
            // Colours and borders are dropped: the page has its own style.
            "class" | "style" | "xmlns" => false,
            _ => return None,
        };
        if is_preserved {
            out.extend([" ", name, "=\"", value, "\""]);
        }
    }
    Some(())
}

/// Whether the style of the page has this class: columns and lines of tables.
fn is_class(class: &str) -> bool {
    let is_plain = class
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    is_plain && (class.starts_with("menv-") || class.starts_with("cell-"))
}

/// A length in about em.
fn length(value: &str) -> Option<f64> {
    let end = value.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = value.split_at(end);
    let letter = match unit {
        "em" | "pc" => 1.0,
        "ex" => 0.5,
        "pt" => 1.0 / 12.0,
        "px" => 1.0 / 16.0,
        "mm" => 0.24,
        "cm" => 2.4,
        "in" => 6.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some(number * letter)
}
