//! `final_answer` with `first: true`: the text after the first marker, as in `HelloAgents`.
//!
//! That program tries regular expressions one after the other. Here colons are searched, and then the text before them,
//! so that the time is linear for any answer.

use crate::data::FoundBy;
use crate::text::is_py_space;

/// The text after the first of the program's markers:
///
/// 1. `FINAL ANSWER:`, without any square brackets around the rest of its line;
/// 2. else `答案：`, `Final answer：` or `Answer：`, in this order of preference, with either colon;
/// 3. else the last line that is neither blank nor begins with `#`; else the whole text, trimmed.
///
/// Letters match in either case, by Python's rules: `ſ` is an `S`, `ı` and `İ` are an `I`. If the line ends after the
/// marker, the next non-blank line counts.
pub(super) fn first(raw: &str) -> (&str, FoundBy) {
    let bytes = raw.as_bytes();
    let (mut chinese, mut final_answer, mut answer) = (None, None, None);
    for (start, end) in colons(bytes) {
        let before = &bytes[..start];
        if let Some(before) = strip_suffix(before, b"answer") {
            if strip_suffix(before, b"final ").is_some() {
                if bytes[start] == b':'
                    && let Some(found) = behind(&raw[end..])
                {
                    return (found.trim_matches(['[', ']']), FoundBy::Label);
                }
                final_answer.get_or_insert(end);
            }
            answer.get_or_insert(end);
        } else if before.ends_with("答案".as_bytes()) {
            chinese.get_or_insert(end);
        }
    }
    // The first position of each is enough: a marker is only followed by nothing if just line breaks follow, and then
    // there is no later marker either.
    [chinese, final_answer, answer]
        .into_iter()
        .flatten()
        .find_map(|end| behind(&raw[end..]))
        .map_or_else(
            || (last_line(raw), FoundBy::LastLine),
            |found| (found, FoundBy::Label),
        )
}

/// Start and end of each colon, ASCII or full-width.
fn colons(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let last = |(place, &byte): (usize, &u8)| match byte {
        b':' => Some((place, place + 1)),
        // The last byte of `：`, and of other characters.
        0x9a if bytes[..=place].ends_with("：".as_bytes()) => Some((place - 2, place + 1)),
        _ => None,
    };
    bytes.iter().enumerate().filter_map(last)
}

/// The text before `word`, which must be lower case, if the text ends with it in any case.
fn strip_suffix<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    word.iter().rev().try_fold(text, |text, letter| {
        let (last, before) = text.split_last()?;
        if last.eq_ignore_ascii_case(letter) {
            return Some(before);
        }
        match letter {
            b's' => text.strip_suffix("ſ".as_bytes()),
            b'i' => text
                .strip_suffix("ı".as_bytes())
                .or_else(|| text.strip_suffix("İ".as_bytes())),
            _ => None,
        }
    })
}

/// The next non-blank line, trimmed; `None` if only line breaks follow, which Python's `.` does not match.
fn behind(rest: &str) -> Option<&str> {
    let text = rest.trim_start_matches(is_py_space);
    if text.is_empty() {
        return rest.contains(|c| c != '\n').then_some("");
    }
    let line = text.split('\n').next().unwrap_or_default();
    Some(line.trim_end_matches(is_py_space))
}

fn last_line(raw: &str) -> &str {
    let raw = raw.trim_matches(is_py_space);
    raw.rsplit('\n')
        .map(|line| line.trim_matches(is_py_space))
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use regex::Regex;
    use serde_json::Value;

    use super::*;
    use crate::tests::{fuzz, needs, parity};

    #[track_caller]
    fn check(raw: &str, expect: &str) {
        assert_eq!(first(raw).0, expect, "{raw:?}");
    }

    #[test]
    fn the_first_marker_counts() {
        check("FINAL ANSWER: 1\nfinal answer: 2", "1");
        check("x\nFINAL ANSWER:\n\n 1 \r\n2", "1");
        check("FINAL ANSWER: [1, [2] ", "1, [2");
        check("FINAL ANSWER: [ 1 ]", " 1 ");
        check("**FINAL ANSWER:** 17", "** 17");
        check("fInal anſwer: 1", "1");
        check("fınal answer: 1", "1");
        check("FİNAL ANSWER: 1", "1");
        check("FINAL  ANSWER: 1", "1");
        check("FINAL ANSWER:  ", "");
        check("FINAL ANSWER: \n\n", "");
        check("a\x1cFINAL ANSWER:\x1c1\u{85}", "1");
    }

    #[test]
    fn other_markers_come_second() {
        check("Answer: 1\nFINAL ANSWER: 2", "2");
        check("Answer: 1\n答案：2", "2");
        check("Answer: 1\n最终答案: [2]", "[2]");
        check("answer: 1\nfinal answer： 2", "2");
        check("The anſwer： 1\nAnswer: 2", "1");
        check("答 案：2", "答 案：2");
        check("FINAL ANSWER", "FINAL ANSWER");
        // A marker followed only by line breaks does not count.
        check("Answer: 1\nFINAL ANSWER:\n", "1");
        check("x\nFINAL ANSWER:\n", "FINAL ANSWER:");
        check("Answer:\n\n答案：\n\n", "答案：");
        check("答案：", "答案：");
    }

    #[test]
    fn else_the_last_line_that_is_no_heading() {
        check("a\n b \n# c\n\n", "b");
        check("# a\n #b", "# a\n #b");
        check(" \n ", "");
        check("", "");
        check("a\rb\u{2028}c", "a\rb\u{2028}c");
    }

    #[test]
    fn a_mebibyte_of_anything_takes_no_time() {
        for part in [
            "FINAL ANSWER:\n",
            "答案：",
            "Answer:\n",
            ":",
            "\n",
            " ",
            "#\n",
            "final ",
        ] {
            let raw = fuzz::megabyte(part);
            assert!(fuzz::in_time(part, || first(&raw).0.len()) <= raw.len());
        }
    }

    /// The program's rule, expression by expression. Classes are spelled out, as those of the crate `regex` differ from
    /// Python's.
    fn naive(raw: &str, patterns: &[Regex]) -> String {
        let strip = |text: &str| text.trim_matches(is_py_space).to_owned();
        for (place, pattern) in patterns.iter().enumerate() {
            if let Some(found) = pattern.captures(raw) {
                let found = strip(&found[1]);
                return match place {
                    0 => found.trim_matches(['[', ']']).to_owned(),
                    _ => found,
                };
            }
        }
        let raw = strip(raw);
        let lines = raw.split('\n').rev().map(strip);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.next().unwrap_or(raw.clone())
    }

    fn patterns() -> Vec<Regex> {
        let space = r"[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]";
        [
            r"(?m)F[IİI]NAL ANSWER:_*(.+?)(?:\n|$)",
            "答案[：:]_*(.+)",
            "最终答案[：:]_*(.+)",
            "F[IİI]nal answer[：:]_*(.+)",
            "Answer[：:]_*(.+)",
        ]
        .into_iter()
        .map(|pattern| {
            let pattern = pattern.replace("[IİI]", "[Iiİı]").replace('_', space);
            Regex::new(&format!("(?i){pattern}")).expect("a pattern")
        })
        .collect()
    }

    #[test]
    fn any_text_is_read_as_by_the_expressions() {
        let patterns = patterns();
        let parts = [
            "FINAL ANSWER:",
            "final answer：",
            "fınal anſwer:",
            "FİNAL ANSWER:",
            "Answer:",
            "ANSWER：",
            "答案:",
            "最终答案：",
            "答",
            "案",
            "final ",
            "answer",
            ":",
            "：",
            "＃",
            "\n",
            "\n\n",
            " ",
            "\t",
            "\r",
            "\x1c",
            "\u{85}",
            "\u{3000}",
            "\u{200b}",
            "[",
            "]",
            "#",
            "# ",
            "a",
            "17",
            "é",
            "\u{9a}",
            "Ś",
        ];
        let mut random = fuzz::Dice::new(1);
        for _ in 0..fuzz::cases() {
            let raw = random.text(&parts, 12);
            assert_eq!(first(&raw).0, naive(&raw, &patterns), "{raw:?}");
        }
    }

    #[needs(data = "vectors/quasi.jsonl")]
    #[test]
    fn every_answer_that_the_program_extracted_is_reproduced() {
        let text = parity::text("vectors/quasi.jsonl");
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            if let Some(response) = row["response"].as_str() {
                check(response, row["predicted"].as_str().expect("a string"));
            }
        }
    }
}
