//! The words that announce an answer.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::is_invisible;

/// The words that announce an answer by themselves. Those with other letters than ASCII are in [`OTHER_WORDS`].
const NOUNS: [&str; 12] = [
    "answer",
    "antwort",
    "ergebnis",
    "respuesta",
    "resposta",
    "risposta",
    "jibu",
    "cevap",
    "jawaban",
    "svar",
    "svaret",
    "antwoord",
];

/// The words that announce one behind an adjective, or before one of [`ENDINGS`].
const OPTIONS: [&str; 11] = [
    "option",
    "choice",
    "response",
    "alternative",
    "letter",
    "result",
    "solution",
    "value",
    "proposition",
    "alternativa",
    "opzione",
];

/// The adjectives that call an answer final, and others.
const FINAL: [&str; 5] = ["final", "overall", "ultimate", "finale", "akhir"];
const PLAIN: [&str; 11] = [
    "correct",
    "right",
    "best",
    "appropriate",
    "chosen",
    "selected",
    "my",
    "your",
    "richtige",
    "korrekte",
    "doğru",
];

/// The adjectives behind a noun, and whether they call it final.
const ENDINGS: [(&str, bool); 12] = [
    ("final", true),
    ("finale", true),
    ("definitiva", true),
    ("correcta", false),
    ("correta", false),
    ("corretta", false),
    ("esatta", false),
    ("correcte", false),
    ("exacte", false),
    ("choice", false),
    ("option", false),
    ("letter", false),
];

/// The words that announce an answer in other letters, with their adjectives. `\b` knows no scripts without spaces, so
/// what stands beside them is looked at by whoever reads a label.
pub(super) static OTHER_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = [
        "(?:endgültige{GAP}|finale{GAP})?lösung",
        "(?:bonne{GAP})?réponse(?:{GAP}(?:finale|définitive|correcte|exacte))?",
        "(?:opción|opção){GAP}corr?ec?ta",
        "(?:(?:окончательный|правильный|верный){GAP})?ответ|(?:правильна{GAP})?відповідь",
        "(?:正确|正確|最终|最終)?的?(?:答案|选项|選項)|(?:因此|所以|故|应|應|我|综上)(?:选择|選擇|选|選)",
        "(?:最終的?な?)?(?:答え|回答|正解|解答)|正しい(?:選択肢|答え)",
        "(?:최종{GAP})?(?:정답|답)",
        "(?:الإجابة|الجواب|الاجابة)(?:{GAP}(?:النهائية|النهائي|الصحيحة|الصحيح))?",
        "(?:(?:सही|अंतिम){GAP})?उत्तर|(?:(?:সঠিক|চূড়ান্ত){GAP})?উত্তর",
        "(?:ì|ì)d(?:á|á)h(?:ù|ù)n",
        "đáp án|odpowiedź|odpověď|απάντηση|پاسخ|תשובה|คำตอบ",
    ];
    let pattern = pattern
        .join("|")
        .replace("{GAP}", r"[\s*_\x{200b}\x{feff}\x{a0}]{1,4}");
    Regex::new(&format!("(?i){pattern}")).expect("a constant pattern")
});

/// The parts of [`OTHER_WORDS`] that call an answer final.
pub(super) const OTHER_FINAL: [&str; 10] = [
    "endgültig",
    "finale",
    "définitive",
    "окончательный",
    "最终",
    "最終",
    "최종",
    "النهائي",
    "अंतिम",
    "চূড়ান্ত",
];

/// Words that may be a label.
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it calls the answer final.
    pub(super) is_final: bool,
}

/// The places of [`NOUNS`] and [`OPTIONS`] from `place` on, each with its adjectives.
pub(super) fn words(raw: &str, mut place: usize) -> impl Iterator<Item = Word> + '_ {
    std::iter::from_fn(move || {
        let word = next_word(raw, place)?;
        place = word.end;
        Some(word)
    })
}

/// The first word from `place` on.
fn next_word(raw: &str, mut place: usize) -> Option<Word> {
    let bytes = raw.as_bytes();
    loop {
        while bytes.get(place).is_some_and(|byte| !is_letter(*byte)) {
            place += 1;
        }
        let start = place;
        let first = bytes.get(start)?;
        place += 1;
        // Small letters have this bit.
        let mut small = 0x20;
        while let Some(byte) = bytes.get(place)
            && is_letter(*byte)
        {
            small &= byte;
            place += 1;
        }
        let length = place - start;
        let is_one = has_length(*first, length);
        if !is_one && (small != 0 || length <= SHORTEST) {
            continue;
        }
        let run = &bytes[start..place];
        let word = word_of(raw, start, run).or_else(|| {
            // Models run on without a space: `AAnswer: B`.
            let inner = run[1..]
                .windows(2)
                .position(|two| two[0].is_ascii_uppercase() && two[1].is_ascii_lowercase())?;
            word_of(raw, start + 1 + inner, &run[1 + inner..])
        });
        if word.is_some() {
            return word;
        }
    }
}

/// Whether a byte is an ASCII letter, by a table: every byte of a text is looked at.
fn is_letter(byte: u8) -> bool {
    const LETTERS: [bool; 256] = {
        let mut letters = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            letters[byte as usize] = byte.is_ascii_alphabetic();
            byte += 1;
        }
        letters
    };
    LETTERS[usize::from(byte)]
}

/// The ASCII letters that a text begins with.
fn letters(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_alphabetic());
    &text[..end.unwrap_or(text.len())]
}

/// The shortest word of [`NOUNS`] and [`OPTIONS`].
const SHORTEST: usize = 4;

/// The lengths of the words of [`NOUNS`] and [`OPTIONS`] that begin with each letter of the alphabet, as bits.
const LENGTHS: [u16; 26] = {
    let mut lengths = [0; 26];
    let mut place = 0;
    while place < NOUNS.len() + OPTIONS.len() {
        let word = if place < NOUNS.len() {
            NOUNS[place].as_bytes()
        } else {
            OPTIONS[place - NOUNS.len()].as_bytes()
        };
        lengths[(word[0] - b'a') as usize] |= 1 << word.len();
        place += 1;
    }
    lengths
};

/// Whether one of [`NOUNS`] and [`OPTIONS`] has this first letter and length.
fn has_length(first: u8, length: usize) -> bool {
    let lengths = LENGTHS[usize::from((first | 0x20) - b'a')];
    length < 16 && lengths & 1 << length != 0
}

fn word_of(raw: &str, start: usize, run: &[u8]) -> Option<Word> {
    let is_any = |words: &[&str], run: &[u8]| {
        words
            .iter()
            .any(|word| run.eq_ignore_ascii_case(word.as_bytes()))
    };
    if !has_length(run[0], run.len()) {
        return None;
    }
    let is_noun = is_any(&NOUNS, run);
    if !is_noun && !is_any(&OPTIONS, run) {
        return None;
    }
    let mut word = Word {
        start,
        end: start + run.len(),
        is_final: false,
    };
    let mut is_called = is_noun;
    // `final numerical answer`, `most appropriate option`.
    let mut before = previous_word(raw, start);
    if let Some((at, "correct" | "numerical" | "numeric")) = before {
        let further = previous_word(raw, at).filter(|(_, word)| is_any(&FINAL, word.as_bytes()));
        before = further.or(before);
    }
    if let Some((at, adjective)) = before {
        let is_final = is_any(&FINAL, adjective.as_bytes());
        if is_final || is_any(&PLAIN, adjective.as_bytes()) {
            (word.start, word.is_final, is_called) = (at, is_final, true);
        }
    }
    let rest = &raw[word.end..];
    let gap = rest.len() - rest.trim_start_matches(is_gap).len();
    if (1..=12).contains(&gap) {
        let rest = &rest.as_bytes()[gap..];
        let next = letters(rest);
        let ending = ENDINGS
            .iter()
            .find(|(ending, _)| next.eq_ignore_ascii_case(ending.as_bytes()));
        if let Some((_, is_final)) = ending {
            (word.end, is_called) = (word.end + gap + next.len(), true);
            word.is_final |= is_final;
        }
    }
    is_called.then_some(word)
}

/// What may stand between two words of a label: emphasis, too.
fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_') || is_invisible(c)
}

/// The word before this place, behind a gap.
fn previous_word(raw: &str, place: usize) -> Option<(usize, &str)> {
    let before = raw[..place].trim_end_matches(is_gap);
    if !(1..=12).contains(&(place - before.len())) {
        return None;
    }
    let length = before
        .bytes()
        .rev()
        .take(12)
        .take_while(u8::is_ascii_alphabetic)
        .count();
    let start = before.len() - length;
    (length > 0).then(|| (start, &before[start..]))
}
