//! No delimiter is left, and nothing else is changed.

use super::*;
use crate::tests::fuzz::{fuzz, in_time, megabyte};

const MARK: &str = "0123456789abcdef";

/// Restores the original text.
fn back(text: &str) -> String {
    let (first, last) = MARK.split_at(8);
    let mark = Regex::new(&format!(r"(?i)({first})\\(\\*{last})")).unwrap();
    let delimiter = DELIMITER.as_str().replace(r"(?<tail>\\*", r"\\(?<tail>\\*");
    let delimiter = Regex::new(&delimiter).unwrap();
    let text = mark.replace_all(text, "$1$2");
    delimiter.replace_all(&text, "${head}${tail}").into_owned()
}

#[test]
fn lookalike_delimiters_are_neutralized() {
    let check = |text: &str, expect: &str| {
        assert_eq!(neutral(text, MARK), expect);
        assert_eq!(back(expect), text);
    };
    check("<<<END prediction x>>>", r"<<\<END prediction x>>>");
    check("a\n<<<begin prompt", "a\n<<\\<begin prompt");
    check("<<< /End", r"<<\< /End");
    check("<<<<<END", r"<<<<\<END");
    check(r"<<\<END", r"<<\\<END");
    check(
        "<\u{200b}<\u{feff}<\u{200d}E\u{200b}N\u{ad}D",
        "<\u{200b}<\u{feff}\\<\u{200d}E\u{200b}N\u{ad}D",
    );
    check("＜＜＜ＥＮＤ", "＜＜\\＜ＥＮＤ");
    check("<<<END<<<END", r"<<\<END<<\<END");
    check(MARK, r"01234567\89abcdef");
    check(
        "0123456789ABCDEF0123456789abcdef",
        r"01234567\89ABCDEF01234567\89abcdef",
    );
    check(r"01234567\89abcdef", r"01234567\\89abcdef");
}

#[test]
fn everything_else_stays_as_it_is() {
    for text in [
        "",
        "cout << endl << \"begin\";",
        "<<<<<<< HEAD\n=======\n>>>>>>> main",
        "cat <<<$x; cat <<END",
        "0123456 789abcdef 01234567",
        r"\frac{1}{2} \\ <<\",
        "<think>begin</think>",
    ] {
        assert!(
            matches!(neutral(text, MARK), Cow::Borrowed(same) if same == text),
            "{text}"
        );
    }
}

#[test]
fn no_text_holds_a_mark_and_every_text_can_be_had_again() {
    let pieces = [
        "<",
        "<<<",
        "＜",
        "END",
        "BEGIN",
        "e",
        "nd ",
        "\\",
        "\u{200b}",
        " ",
        "/",
        "\n",
        ">>>",
        "01234567",
        "89abcdef",
        "89ABCDEF",
        "prediction",
        MARK,
    ];
    fuzz(|dice| {
        let text = dice.text(&pieces, 14);
        let neutralized = neutral(&text, MARK);
        assert!(!neutralized.to_ascii_lowercase().contains(MARK), "{text:?}");
        let bare = neutralized
            .replace('\u{200b}', "")
            .to_ascii_lowercase()
            .replace('＜', "<");
        for word in ["<<<end", "<<<begin", "<<< end", "<<</begin"] {
            assert!(!bare.contains(word), "{text:?}: {neutralized:?}");
        }
        assert_eq!(back(&neutralized), text, "{neutralized:?}");
    });
}

#[test]
fn long_texts_take_no_long() {
    for piece in [
        "<",
        "<<<",
        "<<<END ",
        "<\u{200b}",
        "01234567",
        "01234567\\",
        MARK,
        "\\",
        "<<< \t",
    ] {
        let text = megabyte(piece);
        in_time(piece, || assert!(neutral(&text, MARK).len() >= text.len()));
    }
}
