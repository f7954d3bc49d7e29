//! The letter that a value begins with: `(B) Paris`, `b. 4`, `$\textbf{(B)}$`.

use super::is_rejected_by;
use crate::text::is_invisible;

/// The letters, as slices.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// What a value begins with.
pub(super) enum At<'a> {
    /// A letter.
    Letter(&'a str),
    /// A list of letters.
    Several,
    None,
}

/// What may stand before the letter in a value.
const OPENINGS: [&str; 37] = [
    "the letter ",
    "the option ",
    "the choice ",
    "l'option ",
    "la ",
    "el ",
    "die ",
    "a lettera ",
    "proposition ",
    "antwort ",
    "réponse ",
    "\\boxed{",
    "\\fbox{",
    "\\textbf{",
    "\\text{",
    "\\mathbf{",
    "\\mathrm{",
    "\\mathsf{",
    "\\rm",
    "\\bf",
    "\\(",
    "\\[",
    "<b>",
    "<strong>",
    "option ",
    "choice ",
    "letter ",
    "answer ",
    "alternative ",
    "opción ",
    "opção ",
    "opzione ",
    "选项",
    "選項",
    "보기",
    "вариант ",
    "option\u{a0}",
];

pub(super) fn at_value(value: &str) -> At<'_> {
    let mut rest = value;
    let mut is_open = false;
    loop {
        let after = rest.trim_start_matches(|c: char| {
            matches!(
                c,
                '*' | '_'
                    | '`'
                    | '~'
                    | '('
                    | '['
                    | '{'
                    | '$'
                    | '"'
                    | '\''
                    | '“'
                    | '‘'
                    | '’'
                    | '「'
                    | '『'
                    | '《'
                    | '【'
                    | '（'
                    | '#'
                    | '>'
                    | ':'
                    | '：'
                    | '='
                    | '-'
            ) || c.is_whitespace()
                || is_invisible(c)
        });
        is_open |= rest[..rest.len() - after.len()]
            .contains(['(', '[', '{', '（', '【', '$', '"', '“', '「', '\'', '‘']);
        // None begins with one letter before a mark or the end.
        let ends_word = |next: &u8| next.is_ascii_punctuation() && *next != b'\'';
        let may_open = match after.as_bytes() {
            [letter, rest @ ..] if letter.is_ascii_alphabetic() => {
                rest.first().is_some_and(|next| !ends_word(next))
            }
            rest => !rest.is_empty(),
        };
        let mut openings = OPENINGS.iter().filter(|_| may_open);
        let opening = openings.find(|opening| {
            let head = after.get(..opening.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(opening))
        });
        let Some(opening) = opening else {
            rest = after;
            break;
        };
        is_open |= opening.ends_with(['{', '(', '[']);
        rest = &after[opening.len()..];
    }
    let Some((letter, length)) = letter_at(rest) else {
        return At::None;
    };
    let after = &rest[length..];
    if !ends_letter(letter, after, is_open) || is_rejected_by(after) {
        return At::None;
    }
    if is_list(after) {
        return At::Several;
    }
    At::Letter(letter)
}

/// The letter at the start of a text, in any of the scripts in which options are numbered, and its length.
pub(super) fn letter_at(text: &str) -> Option<(&str, usize)> {
    let first = text.chars().next()?;
    let length = first.len_utf8();
    let named = |place: usize| Some((&LETTERS[place..=place], length));
    match first {
        'A'..='Z' | 'a'..='z' => Some((&text[..1], 1)),
        'Ａ'..='Ｚ' => named(first as usize - 'Ａ' as usize),
        'ａ'..='ｚ' => named(first as usize - 'ａ' as usize),
        'أ' | 'ا' | 'অ' | 'А' | 'क' | 'ক' => named(0),
        'ب' | 'В' | 'ব' | 'ख' | 'খ' => named(1),
        'ج' | 'ড' | 'С' | 'ग' | 'গ' => named(2),
        'د' | 'ঢ' | 'घ' | 'ঘ' => named(3),
        _ => None,
    }
}

pub(super) fn upper(letter: &str) -> char {
    char::from(letter.as_bytes()[0].to_ascii_uppercase())
}

/// Whether a letter ends where this text begins, and is no word of a sentence: `A cat`, `I think`.
fn ends_letter(letter: &str, after: &str, is_open: bool) -> bool {
    let next = after.chars().next();
    let second = after.chars().nth(1).unwrap_or(' ');
    let is_joined = |c: char| {
        matches!(c, '\'' | '’' | '-') && second.is_alphanumeric()
            || c.is_ascii_digit()
            || c == '_' && after[1..].starts_with(char::is_alphanumeric)
            || c.is_alphabetic() && !is_spaceless(c)
    };
    if next.is_some_and(is_joined) {
        return false;
    }
    let bare = after.trim_start_matches(|c: char| "*_`".contains(c) || is_invisible(c));
    let is_lower = letter.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_lower {
        let is_end = bare.trim_start_matches(['.', ' ', '\t', '\r', '$', '}', ')', ']']);
        return is_open && bare.starts_with([')', ']', '}', '$', '"', '”', '）'])
            || bare.starts_with([')', ':', ']', '。', '，'])
            || bare.starts_with(". ")
            || bare.starts_with(", ") && !bare[2..].starts_with(char::is_alphabetic)
            || is_end.is_empty()
            || is_end.starts_with('\n');
    }
    !is_english(letter, bare)
}

/// Whether the upper-case letter is an article or a pronoun: `A cat`, `I think`.
pub(super) fn is_english(letter: &str, after: &str) -> bool {
    const LINKS: [&str; 35] = [
        "or", "und", "oder", "o", "y", "et", "ou", "est", "ist", "es", "seems", "fits", "works",
        "matches", "gives", "because", "since", "as", "and", "is", "due", "which", "for", "but",
        "not", "over", "rather", "with", "would", "was", "where", "while", "given", "instead",
        "here",
    ];
    if !matches!(letter, "A" | "I") {
        return false;
    }
    let Some(rest) = after.strip_prefix(' ') else {
        return false;
    };
    let word = rest
        .split(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    let links = if letter == "I" {
        &LINKS[..3]
    } else {
        &LINKS[..]
    };
    word.starts_with(char::is_lowercase) && !links.contains(&word)
}

/// Whether the script needs no space behind a letter: `B입니다`, `B。因为`.
fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{dff}' | '\u{e00}'..='\u{eff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{ff00}'..='\u{ffef}')
}

/// Whether another letter of a list follows: `, C`, ` and C`, `/C`.
fn is_list(after: &str) -> bool {
    const JOINS: [&str; 16] = [
        ", and ", ", or ", ",", "/", "&", "+", "、", "，", "和", "或", "and ", "or ", "und ",
        "et ", "y ", ";",
    ];
    let rest = after.trim_start_matches(|c: char| "*_`)]}$.".contains(c));
    let rest = rest.trim_start_matches([' ', '\u{a0}']);
    let Some(join) = JOINS.iter().find(|join| rest.starts_with(**join)) else {
        return false;
    };
    let mut rest = rest[join.len()..].trim_start_matches([' ', '*', '_', '`', '(', '[', '$']);
    for word in ["option ", "choice ", "also "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let rest = rest.trim_start_matches(['*', '(']);
    let Some((letter, length)) = letter_at(rest) else {
        return false;
    };
    let is_upper = letter.bytes().all(|byte| byte.is_ascii_uppercase());
    let bare = rest[length..].trim_start_matches(['*', '_', '`', ')', ']']);
    let is_end = bare.is_empty()
        || bare.starts_with(['.', ',', '\n', ';', '$', '}', '。', '、', '/'])
        || join.trim() != "," && join.len() > 1;
    is_upper
        && is_end
        && ends_letter(letter, &rest[length..], false)
        && !is_rejected_by(&rest[length..])
}
