//! `choice`: the letter of a multiple-choice answer.
//!
//! Claims of a stronger kind go before those of a weaker one: a box, a tag or a label; a letter alone on its line; a
//! sentence that chooses (`I pick B`, `option B is correct`); a single option that is written out; a single letter in
//! brackets, or at all. What is rejected (`not B`, `B is wrong`) is no claim, and where claims of a weaker kind differ
//! there is no answer.

mod value;

use std::sync::LazyLock;

use regex::Regex;

use super::boxed::{self, LastBox};
use super::labels::{Label, is_corrected, labels, start, tail};
use super::numbers::{is_no_answer, sentence_end};
use crate::data::FoundBy;
use crate::text::is_invisible;
use value::{At, at_value, is_english, letter_at, upper};

/// The longest value of a label that is looked at, in bytes.
const LONGEST: usize = 300;

/// The shortest text that takes a letter back and chooses another one, in bytes.
const SHORTEST_CORRECTION: usize = 10;

/// A sentence that chooses a letter, whose group it is.
static CHOSEN: LazyLock<Regex> = LazyLock::new(|| {
    const LETTER: &str = r"[*_`(\[]*(?:(?i:option|choice|answer|letter|antwort|opción|opção|opzione|réponse|respuesta|resposta|proposition|alternativa|variante)[\s:*_`(\[]+)?[*_`(\[]*([A-Z])(?-u:\b)";
    let pattern = [
        r"(?i:\b(?:choose|chose|pick|picked|select|selected|go with|going with|went with|opt for|opting for|vote for|settle on|leaving|leaves|left with|go for|bet on|lean towards?|points? to|elijo|escojo|escolho|scelgo|choisis|wähle|выбираю)(?: only)?)\s+(?i:(?:with|the answer|la|a|die)\s+)?{LETTER}",
        r"(?i:\b(?:it(?:'s|’s| is| must be| has to be| should be| can only be)|that(?:'s|’s| is)|this (?:is|matches|leads to|gives|corresponds to)|(?:so|therefore|thus|hence),?(?: it(?:'s|’s| is| must be)| the answer is)?|which (?:is|matches|corresponds to)|corresponds to|matches|(?:richtig|korrekt) ist|(?:pick|guess|vote|bet) is|sino|sondern|bensì|mais plutôt)(?: clearly| therefore| only| definitely| die| la| le)?)\s+{LETTER}",
        r"{LETTER}[*_`)\].:]*(?:\s+[^\s.,;:!?]+){0,4}?(?i:\s+(?:is|must be|has to be|should be|seems(?: to be)?)\s+(?:(?:clearly|definitely|indeed|therefore|thus|obviously|probably)\s+)?(?:the\s+)?(?:(?:most|only|single)\s+)?(?:correct|right|best|true|accurate|appropriate|answer|suitable|valid|selected|chosen)(?:\s+(?:answer|option|choice|one|response|because|as|since|and|for|here|in|given|to)\b|[\s*_`]*(?:[.,;:!)\n–—-]|$)))",
        r"{LETTER}[*_`)\].:]*\s+(?i:(?:ist\s+)?(?:richtig|korrekt)\b|est (?:la )?(?:bonne|correcte|exacte)|es (?:la )?correcta|está correta|è (?:la )?(?:corretta|giusta))",
        r"(?:选择|選擇|选|選|而是)\s*{LETTER}",
        r"{LETTER}[*_`)\]]*\s*(?:が正解|が正しい|是正确|正确)",
    ];
    let pattern = pattern.join("|").replace("{LETTER}", LETTER);
    Regex::new(&pattern).expect("a constant pattern")
});

/// An option that a mark picks out: `B) Paris ✅`, `[x] B. Paris`, `B. Paris ← correct`.
static MARKED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m)^[ \t>*_`\-•]*\[[xX✓]\]\s*[*_`(]*([A-Z])[*_`]*[).:]",
        r"|(?m)^[ \t>*_`\-•(\[]*([A-Z])[*_`]*[)\].:][^\n]*(?:✅|✔|✓|☑|←|<--?)",
    ))
    .expect("a constant pattern")
});

/// A line that is nothing but a letter: `B`, `(B)`, `B.`, `**B**`.
static ALONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t>*_`(\[{$#\-]*(?:\\(?:text|textbf|mathbf|mathrm)\{)*([A-ZＡ-Ｚ])[ \t*_`)\]}$.:：。]*\r?$")
        .expect("a constant pattern")
});

/// An answer that begins with its option: `B) Paris`, `**(B)** Paris`, `b. 4`, `B – because`, `B, because`.
static WRITTEN_OUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^[\s>*_`\-(\[]*(?i:(?:option|choice)\s+)?([A-Za-z])[*_`]*[)\].:][*_`)]*[ \t]+\S",
        r"|(?m:^)[ \t>*_`(\[]*([A-Z])[*_`)\]]*(?:\s+[–—-]+\s|,?\s+(?i:because|since)\b)",
    ))
    .expect("a constant pattern")
});

/// The second option of a list, on any line: `B) Rome`.
static SECOND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|\s)[*_`(\[]*[Bb][*_`]*[)\].:]\s*\S").expect("a constant pattern")
});

/// `(B)`, `[B]`, `{B}`.
static BRACKETED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[(\[{]\s*([A-Z])\s*[)\]}]").expect("a constant pattern"));

/// `B` as a word, also between letters of scripts without spaces.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?-u:\b)([A-Z])(?-u:\b)").expect("a constant pattern"));

/// What stands before a letter that is not chosen.
static REJECTED_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i:\b(?:not|nor|neither|never|isn['’]t|wasn['’]t|instead of|rather than|over|than|unlike|except|against|rules? out|ruling out|ruled out|",
        r"eliminates?|eliminating|eliminated|excludes?|excluding|discard(?:ing|ed)?|reject(?:ing|ed|s)?|descart\w+|",
        r"if|whether|tempted by|tempting|thought|wrote|nicht|pas|kein|no es|non è|versus|vs\.?|through)",
        r"|不是|并非|而非|\[ \]|(?-u:\b)[A-Z]\s*[–-])",
        r"(?:\s*(?:it|is|be|that|the|to|choose|pick|option|choice|answer|letter|was|la|die|le)\b)*[\s:,*_`(\[]*$",
    ))
    .expect("a constant pattern")
});

/// What stands before a letter that may be the answer.
static HEDGED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i:\b(?:might be|could be|may be|can be|think|podría ser|pourrait être|könnte|potrebbe essere|poderia ser))",
        r"(?:\s+(?:it|is|be|that|the|option|choice|answer|letter|la|die|le))*[\s:,*_`(\[]*$",
    ))
    .expect("a constant pattern")
});

/// What stands behind a letter that is not chosen.
static REJECTED_BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^[)\]*_`'”’\x22,\s]*where\b|^[*_`)\].]*\s*(?:\([^)\n]{0,40}\)\s*)?(?:(?i:and|or)\s+[*_`(]*[A-Z]\b[*_`)]*\s*)?",
        r"(?i:(?:is|are|was|were|would be|can(?:not)? be|cannot|can['’]t|does|do|isn['’]t|doesn['’]t)\s*(?:also\s+|both\s+|clearly\s+|simply\s+)?",
        r"(?:not|n['’]t|in(?:correct|valid|accurate|appropriate)|wrong|false|untrue|out\b|eliminated|excluded|ruled|discarded|considered|too\b|irrelevant|unrelated|impossible|an? (?:common |classic )?(?:mistake|distractor)|be\b|there\b)",
        r"|(?:isn['’]t|doesn['’]t|cannot|can['’]t|fails?|ignores?|would|seems|describes?|refers?|confuses?|contradicts?|wäre|ist falsch|est faux|est fausse|confond\w*|es incorrecta)\b",
        r"|[:\-–—]\s*(?:incorrect|wrong|false|no\b)|[^\n]{0,60}❌|=|through\b|to\s+[A-Z]\b|\s*[–-]\s*[A-Z]\b)",
        r"|^[*_`)\]]*(?:ではなく|じゃなく|이 아니라|가 아니라|不对|不對|是错|错误|不正确|选项)",
    ))
    .expect("a constant pattern")
});

/// The letter that the answer names, and how.
pub(super) fn letter<'a>(raw: &'a str, letters: Option<&str>) -> Option<(&'a str, FoundBy)> {
    let is_legal = |letter: char| letters.is_none_or(|letters| letters.contains(letter));
    // Only if the answer is nothing else: elsewhere a lower-case letter usually is a word of a sentence.
    let whole = raw.trim_matches(|c: char| {
        c.is_whitespace() || is_invisible(c) || "()[]*_`.\"'“”$：:。".contains(c)
    });
    if let [byte] = whole.as_bytes()
        && byte.is_ascii_alphabetic()
    {
        let by = FoundBy::WholeAnswer;
        return is_legal(char::from(byte.to_ascii_uppercase())).then_some((whole, by));
    }
    let boxed = match boxed::last(raw) {
        LastBox::Open | LastBox::Several => return None,
        LastBox::None => boxed::last_tag(raw).map(|tag| (tag, FoundBy::Tag)),
        LastBox::Closed(found) => Some((found, FoundBy::Box)),
    };
    if boxed.is_some_and(|(found, _)| found.differs && !is_corrected(&raw[..found.start])) {
        return None;
    }
    let other =
        boxed.and_then(|(found, by)| Some((value(found.content, &is_legal)?, found.start, by)));
    match labelled(raw, &is_legal) {
        Claim::Letter(_, _, false) if UNDECIDED.is_match(tail(raw, 200)) => return None,
        Claim::Letter(letter, place, is_final) => match other {
            Some((other, at, by)) if upper(other) == upper(letter) || !is_final || at > place => {
                // Of two different claims neither counts.
                return (upper(other) == upper(letter)).then_some((other, by));
            }
            _ => return Some((letter, FoundBy::Label)),
        },
        Claim::Doubtful if other.is_none() => return None,
        _ => {}
    }
    if let Some((letter, _, by)) = other {
        return Some((letter, by));
    }
    weaker(raw, &is_legal).map(|letter| (letter, FoundBy::Letter))
}

/// The letter of the claims of weaker kinds.
fn weaker<'a>(raw: &'a str, is_legal: &impl Fn(char) -> bool) -> Option<&'a str> {
    let strong: [(&Regex, Rejects); 3] = [
        (&ALONE, Rejects::Nothing),
        (&MARKED, Rejects::Nothing),
        (&CHOSEN, Rejects::Hedged),
    ];
    for (pattern, rejects) in strong {
        match one_of(raw, pattern, is_legal, rejects) {
            Found::None => {}
            Found::One(letter) => return Some(letter),
            Found::Several => return None,
        }
    }
    // The options themselves are no answer.
    let is_of_list = |letter: &&str| upper(letter) == 'A' && SECOND.is_match(raw);
    if let Found::One(letter) = one_of(raw, &WRITTEN_OUT, is_legal, Rejects::Hedged) {
        return Some(letter).filter(|letter| !is_of_list(letter));
    }
    if let Some(letter) = on_last_line(raw).filter(|letter| is_legal(upper(letter))) {
        return Some(letter);
    }
    let weak: [(&Regex, Rejects); 3] = [
        (&BRACKETED, Rejects::Hedged),
        (&WORD, Rejects::Hedged),
        (&WORD, Rejects::Denied),
    ];
    for (pattern, rejects) in weak {
        match one_of(raw, pattern, is_legal, rejects) {
            Found::None => {}
            Found::One(letter) => return Some(letter).filter(|letter| !is_of_list(letter)),
            Found::Several => return None,
        }
    }
    None
}

/// The letters that a pattern finds.
enum Found<'a> {
    None,
    One(&'a str),
    Several,
}

impl<'a> Found<'a> {
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::None => other(),
            found => found,
        }
    }

    fn one(self) -> Option<&'a str> {
        match self {
            Self::One(letter) => Some(letter),
            Self::None | Self::Several => None,
        }
    }
}

/// The option that the last line writes out, behind a line that does not.
fn on_last_line(raw: &str) -> Option<&str> {
    let (before, line) = raw.trim_end().rsplit_once('\n')?;
    let before = before.trim_end();
    let previous = tail(before, LONGEST)
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    let letter = WRITTEN_OUT.captures(start(line, LONGEST))?.get(1)?;
    let is_upper = letter
        .as_str()
        .bytes()
        .all(|byte| byte.is_ascii_uppercase());
    let is_of_list =
        WRITTEN_OUT.is_match(previous) || previous.ends_with(':') && previous.contains("option");
    (is_upper && !is_of_list && !is_rejected_by(&line[letter.end()..])).then_some(letter.as_str())
}

/// Which letters are no claims.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rejects {
    Nothing,
    /// Those that the text says are not the answer.
    Denied,
    /// Also those that may be.
    Hedged,
}

/// What says that there is no choice.
static UNDECIDED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:can['’]?t|cannot|unable to|not able to) (?:settle|decide|choose|tell|determine|say|pick|give an answer|answer)\b")
        .expect("a constant pattern")
});

/// What the labels of a text claim.
enum Claim<'a> {
    None,
    /// This letter, at this place; whether the label is final.
    Letter(&'a str, usize, bool),
    /// The last label has a value that is no legal letter.
    Doubtful,
}

fn labelled<'a>(raw: &'a str, is_legal: &impl Fn(char) -> bool) -> Claim<'a> {
    let mut latest = Claim::None;
    let mut has_final = false;
    let mut is_reported = false;
    // Where the latest claim ends.
    let mut behind = 0;
    for label in labels(raw) {
        if has_final && !label.is_final || is_hedged(raw, &label) {
            continue;
        }
        if lead(raw, &label).is_some_and(|lead| REPORTED.is_match(lead)) {
            is_reported = true;
            continue;
        }
        let line = start(&raw[label.value..], LONGEST);
        let line = &line[..line.find('\n').unwrap_or(line.len())];
        let (letter, is_illegal) = match at_value(line) {
            At::Letter(letter) if is_legal(upper(letter)) => (Some(letter), false),
            At::Letter(_) | At::Several => (None, true),
            At::None => match in_prose(line, is_legal) {
                Some(letter) => (Some(letter), false),
                None => (None, label.is_heading && is_no_answer(line)),
            },
        };
        let is_contradicted = |other: &str, letter: &str| {
            upper(other) != upper(letter)
                && label.is_final == has_final
                && !is_corrected(&raw[behind..label.start])
        };
        latest = match (letter, &latest) {
            (Some(letter), Claim::Letter(other, ..)) if is_contradicted(other, letter) => {
                Claim::Doubtful
            }
            (Some(_), Claim::Doubtful)
                if !label.is_final && !is_corrected(&raw[behind..label.start]) =>
            {
                Claim::Doubtful
            }
            (Some(letter), _) => Claim::Letter(letter, label.start, label.is_final),
            (None, _) if is_illegal => Claim::Doubtful,
            (None, _) => continue,
        };
        has_final |= label.is_final;
        behind = label.value;
    }
    // `The answer is B… wait, so it is C.`
    if let Claim::Letter(letter, ..) = latest
        && raw.len() - behind >= SHORTEST_CORRECTION
    {
        match one_of(&raw[behind..], &CHOSEN, is_legal, Rejects::Hedged) {
            Found::One(other) if upper(other) != upper(letter) && is_corrected(&raw[behind..]) => {
                return Claim::Letter(other, behind, false);
            }
            Found::Several if is_corrected(&raw[behind..]) => return Claim::Doubtful,
            _ => {}
        }
    }
    if is_reported && matches!(latest, Claim::None) {
        return Claim::Doubtful;
    }
    latest
}

/// A condition or others' opinion, at the end of a text: `If it were north, the`, `Many think that the`.
static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:^|[.!?:\n]\s*)[*_]*(?:but\s+)?(?:if|wenn|si|had)\s[^.!?\n]*$",
        r"|\b(?:claims?|claimed|thinks?|believes?|students|some|many|people)\b[^.!?\n]*$",
    ))
    .expect("a constant pattern")
});

/// Somebody else's words, at the end of a text.
static REPORTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:says?|said|suggests?|suggested|wrote) that[^.!?\n]*$")
        .expect("a constant pattern")
});

/// Whether the label belongs to a question or a condition: `Is the answer B?`, `if the answer is B`.
fn is_hedged(raw: &str, label: &Label) -> bool {
    let before = &raw[..label.start];
    let before = before.trim_end_matches([' ', '*', '_']);
    let word = before
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let before = if word.eq_ignore_ascii_case("the") {
        before[..before.len() - word.len()].trim_end()
    } else {
        before
    };
    let word = before
        .rsplit(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    let is_hedge = [
        "if",
        "whether",
        "is",
        "why",
        "incorrect",
        "wrong",
        "common",
        "tempting",
        "popular",
        "typical",
        "naive",
        "usual",
        "other",
        "another",
        "obvious",
    ]
    .iter()
    .any(|hedge| word.eq_ignore_ascii_case(hedge));
    is_hedge || lead(raw, label).is_some_and(|lead| CONDITION.is_match(lead))
}

/// What stands before a label, unless its sentence begins with the label or with words that say nothing of it.
fn lead<'a>(raw: &'a str, label: &Label) -> Option<&'a str> {
    const PLAIN: [&str; 8] = [
        "",
        "the",
        "so",
        "so the",
        "so, the",
        "thus, the",
        "hence, the",
        "therefore, the",
    ];
    let before = tail(&raw[..label.start], 120);
    let sentence = before.rfind(['.', '!', '?', '\n']).map_or(0, |end| end + 1);
    let words =
        before[sentence..].trim_matches(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
    let is_plain = PLAIN.iter().any(|plain| words.eq_ignore_ascii_case(plain));
    (!is_plain).then_some(before)
}

/// The letter of a box or a tag.
fn value<'a>(content: &'a str, is_legal: &impl Fn(char) -> bool) -> Option<&'a str> {
    match at_value(content) {
        At::Letter(letter) => Some(letter).filter(|letter| is_legal(upper(letter))),
        At::Several => None,
        At::None => match labelled(content, is_legal) {
            Claim::Letter(letter, ..) => Some(letter),
            _ => None,
        },
    }
}

/// The letter that a sentence behind a label chooses.
fn in_prose<'a>(line: &'a str, is_legal: &impl Fn(char) -> bool) -> Option<&'a str> {
    let sentence = &line[..sentence_end(line)];
    let found = one_of(sentence, &CHOSEN, is_legal, Rejects::Hedged)
        .or_else(|| one_of(sentence, &BRACKETED, is_legal, Rejects::Hedged))
        .or_else(|| one_of(sentence, &WORD, is_legal, Rejects::Hedged));
    found.one()
}

/// The letter of all that the pattern finds. `Some(None)` if it finds different ones.
fn one_of<'a>(
    text: &'a str,
    pattern: &Regex,
    is_legal: &impl Fn(char) -> bool,
    rejects: Rejects,
) -> Found<'a> {
    let mut found: Option<&'a str> = None;
    let mut behind = 0;
    for captures in pattern.captures_iter(text) {
        let Some(letter) = captures.iter().skip(1).flatten().next() else {
            continue;
        };
        let (Some((name, _)), after) = (letter_at(letter.as_str()), &text[letter.end()..]) else {
            continue;
        };
        if !is_legal(upper(name)) {
            continue;
        }
        if rejects != Rejects::Nothing {
            let is_word = after.starts_with(['\'', '’'])
                && after.chars().nth(1).is_some_and(char::is_alphabetic)
                || is_english(name, after)
                || is_article(name, after);
            if is_word || is_rejected(text, letter.start(), letter.end(), rejects) {
                continue;
            }
        }
        match found {
            Some(other) if upper(other) != upper(name) => {
                if !is_corrected(&text[behind..letter.start()]) {
                    return Found::Several;
                }
                found = Some(name);
            }
            _ => found = Some(name),
        }
        behind = letter.end();
    }
    found.map_or(Found::None, Found::One)
}

/// Whether the letter is an article before a name: `A Frenchman`.
fn is_article(letter: &str, after: &str) -> bool {
    let mut next = after.strip_prefix(' ').unwrap_or_default().chars();
    letter == "A"
        && next.next().is_some_and(char::is_uppercase)
        && next.next().is_some_and(char::is_lowercase)
}

/// Whether the text says of the letter at this place that it is not the answer, perhaps with others: `not A, B or C`.
fn is_rejected(text: &str, from: usize, to: usize, rejects: Rejects) -> bool {
    if is_rejected_by(&text[to..]) {
        return true;
    }
    let mut before = tail(&text[..from], 80);
    let mut is_in_list = is_listed(&text[to..]);
    loop {
        if REJECTED_BEFORE.is_match(before) || rejects == Rejects::Hedged && HEDGED.is_match(before)
        {
            return true;
        }
        // The letter before this one in a list.
        let rest = before.trim_end_matches([' ', '*', '_', '(', '`']);
        let joined = ["or", "and", "nor", "und", "oder", "y", "o", "et", "ou", "e"]
            .iter()
            .find_map(|join| {
                let rest = rest.strip_suffix(join)?;
                rest.ends_with(' ')
                    .then(|| rest.trim_end_matches([' ', ',']))
            });
        let Some(rest) = joined.or_else(|| rest.strip_suffix(',').filter(|_| is_in_list)) else {
            return false;
        };
        let rest = rest.trim_end_matches([')', '*', '_', '`', ' ']);
        let Some(other) = rest.strip_suffix(|c: char| c.is_ascii_uppercase()) else {
            return false;
        };
        if other.ends_with(char::is_alphanumeric) {
            return false;
        }
        (before, is_in_list) = (other, true);
    }
}

/// Whether what follows a letter says that it is not the answer.
fn is_rejected_by(after: &str) -> bool {
    let after = start(after, 120);
    let is_end = |byte| {
        matches!(
            byte,
            b'.' | b')' | b']' | b'}' | b'*' | b'_' | b'`' | b'$' | b' ' | b'\n'
        )
    };
    !after.bytes().all(is_end) && REJECTED_BEHIND.is_match(after)
}

/// Whether another letter of a list follows.
fn is_listed(after: &str) -> bool {
    let rest = after.trim_start_matches([')', '*', '_', '`', ' ', ',']);
    let joined = [
        "or ", "and ", "nor ", "und ", "oder ", "y ", "o ", "et ", "ou ",
    ]
    .iter()
    .find_map(|join| rest.strip_prefix(join));
    let is_comma = after
        .trim_start_matches([')', '*', '_', '`'])
        .starts_with(',');
    let Some(rest) = joined.or_else(|| is_comma.then_some(rest)) else {
        return false;
    };
    let mut letters = rest.trim_start_matches(['*', '_', '(', '`']).chars();
    letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && !letters.next().is_some_and(char::is_alphanumeric)
}
