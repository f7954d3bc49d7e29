//! Detects texts nested too deep to be read: the parser takes a minute to reject 100 KB of brackets.

use std::panic::catch_unwind;

use libyaml_safer::{Encoding, Event, EventData, Parser};

/// The parser's depth limit.
const DEEPEST: usize = 128;

/// Line and column, both from 1, of what exceeds the depth limit.
pub(super) fn too_deep(text: &str) -> Option<(usize, usize)> {
    if !may_be_deep(text) {
        return None;
    }
    // With a final line end and without tags: this parser panics on some texts. The parser that reads the text decides.
    let has_tags = text.contains('!');
    let text = without_tags(text) + "\n";
    catch_unwind(|| first_too_deep(&text, has_tags))
        .ok()
        .flatten()
}

fn first_too_deep(text: &str, has_tags: bool) -> Option<(usize, usize)> {
    let mut bytes = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    parser.set_encoding(Encoding::Utf8);
    let (mut depth, mut place) = (0_usize, (1, 1));
    for event in parser {
        let Ok(Event {
            data, start_mark, ..
        }) = event
        else {
            // Invalid YAML anyway, unless replacing a tag by a space made it so.
            return (!has_tags).then_some(place);
        };
        let at = |number: u64| usize::try_from(number).map_or(1, |number| number + 1);
        place = (at(start_mark.line), at(start_mark.column));
        match data {
            EventData::SequenceStart { .. } | EventData::MappingStart { .. } => depth += 1,
            EventData::SequenceEnd | EventData::MappingEnd => depth -= 1,
            _ => {}
        }
        if depth > DEEPEST {
            return Some(place);
        }
    }
    None
}

/// Whether a text may be too deep: counts all brackets, including those in strings, and the lists that begin in one
/// line.
fn may_be_deep(text: &str) -> bool {
    let mut open = 0_usize;
    let mut most = 0;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    let nested = |line: &str| line.matches("- ").count() + line.matches("? ").count();
    most > DEEPEST || text.lines().any(|line| nested(line) > DEEPEST)
}

/// The text with its tags replaced by spaces: `[!tag, x]` is the only known text on which the parser panics.
fn without_tags(text: &str) -> String {
    let mut in_tag = false;
    let blank = |c: char| {
        let ends = c.is_whitespace() || "[]{},'\"".contains(c);
        in_tag = c == '!' || in_tag && !ends;
        if in_tag { ' ' } else { c }
    };
    text.chars().map(blank).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_nests_too_deeply_is_found_at_once() {
        let check = |text: &str, expect: Option<(usize, usize)>| {
            let start = Instant::now();
            assert_eq!(too_deep(text), expect, "{}", &text[..text.len().min(40)]);
            assert!(start.elapsed() < Duration::from_secs(1), "{text:.40}");
        };
        check(&"[".repeat(200_000), Some((1, 129)));
        check(&format!("a:\n  b: {}", "[".repeat(200_000)), Some((2, 132)));
        check(&"{a: ".repeat(50_000), Some((1, 513)));
        check(&"[!t ".repeat(50_000), Some((1, 513)));
        check(&"- ".repeat(100_000), Some((1, 257)));
        let brackets = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        check(&brackets(128), None);
        check(&brackets(129), Some((1, 129)));
        // A string is not deep, whatever it contains.
        check(&format!("a: '{}'", "[".repeat(200_000)), None);
        check(&format!("a: |\n  {}", "[- ".repeat(60_000)), None);
        check(&format!("a: [!t, x, '{}']", "[".repeat(500)), None);
        check("", None);
    }
}
