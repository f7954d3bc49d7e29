//! Splits a cell with several right answers, as people write them: `a|b`, `"a|b"|c`, `["a", "b"]`, `['a', 'b']`.

use serde_json::value::RawValue;

/// The answers in a cell.
pub(super) fn split(cell: &str, separator: &str) -> Vec<String> {
    if let Some(list) = json_list(cell).or_else(|| python_list(cell)) {
        return list;
    }
    quoted_parts(cell, separator).unwrap_or_else(|| {
        cell.split(separator)
            .map(|part| part.trim().to_owned())
            .collect()
    })
}

/// The texts and numbers of a JSON array.
fn json_list(cell: &str) -> Option<Vec<String>> {
    if !cell.trim_start().starts_with('[') {
        return None;
    }
    let items: Vec<&RawValue> = serde_json::from_str(cell).ok()?;
    let item = |item: &RawValue| match item.get().as_bytes().first()? {
        b'"' => serde_json::from_str(item.get()).ok(),
        b'[' | b'{' | b'n' => None,
        // As it is written.
        _ => Some(item.get().to_owned()),
    };
    items.into_iter().map(item).collect()
}

/// The texts of a list as Python and pandas write it. Others, such as lists of names, are texts.
fn python_list(cell: &str) -> Option<Vec<String>> {
    let mut rest = cell.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut list = Vec::new();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut text = String::new();
        let mut chars = rest[1..].char_indices();
        let end = loop {
            match chars.next()? {
                (end, c) if c == quote => break end + 2,
                (_, '\\') => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    c @ ('\\' | '\'' | '"') => text.push(c),
                    c => text.extend(['\\', c]),
                },
                (_, c) => text.push(c),
            }
        };
        list.push(text);
        rest = rest[end..].trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    Some(list)
}

/// The parts of a cell in which at least one is in double quotes as a whole; `""` is a quote in it.
fn quoted_parts(cell: &str, separator: &str) -> Option<Vec<String>> {
    let (mut parts, mut rest, mut is_quoted) = (Vec::new(), cell, false);
    loop {
        let start = rest.trim_start();
        if let Some((text, behind)) = quoted(start) {
            let behind = behind.trim_start();
            let next = behind.strip_prefix(separator);
            if next.is_some() || behind.is_empty() {
                is_quoted = true;
                parts.push(text);
                match next {
                    Some(next) => rest = next,
                    None => break,
                }
                continue;
            }
        }
        let (part, next) = rest.split_once(separator).unzip();
        parts.push(part.unwrap_or(rest).trim().to_owned());
        let Some(next) = next else {
            break;
        };
        rest = next;
    }
    is_quoted.then_some(parts)
}

/// The text in the double quotes at the start, and what comes behind.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?;
    let mut found = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        found.push_str(part);
        match behind.strip_prefix('"') {
            Some(more) => {
                found.push('"');
                rest = more;
            }
            None => return Some((found, behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_people_write_them() {
        let check = |cell: &str, expect: &[&str]| assert_eq!(split(cell, "|"), expect, "{cell}");
        check("a| b |c d", &["a", "b", "c d"]);
        check("a", &["a"]);
        check("\"a|b\"|c", &["a|b", "c"]);
        check("c | \"a|b\" ", &["c", "a|b"]);
        check("\"say \"\"x|y\"\"\"|z", &["say \"x|y\"", "z"]);
        check("5\" pipe|x", &["5\" pipe", "x"]);
        check("\"a\" or b|c", &["\"a\" or b", "c"]);
        check("\"a|b", &["\"a", "b"]);
        check("[\"a|b\", \"c\"]", &["a|b", "c"]);
        check("[1.10, \"x\"]", &["1.10", "x"]);
        check("['it\\'s', \"a|b\"]", &["it's", "a|b"]);
        check("[a|b]", &["[a", "b]"]);
        check("[[1]]|x", &["[[1]]", "x"]);
    }
}
