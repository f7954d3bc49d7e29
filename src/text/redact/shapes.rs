//! Shapes of well-known tokens, which are secrets anywhere.

use std::sync::LazyLock;

use regex::Regex;

/// Token shapes. The second group, if there is one, must look random: [`is_random`].
pub(super) static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    // A token may follow a colour (`\x1b[31m`), an escape in JSON text (`\n`), or `_`. With `\b` alone, the last letter
    // of these would count as the start of the word.
    let start = r"(?:\b|_|\x1b\[[0-9;]*[A-Za-z]|\\u\{1b\}\[[0-9;]*[A-Za-z]|\\u00[0-9A-Fa-f]{2}(?:\[[0-9;]*[A-Za-z])?|\\[bfnrt])";
    let shapes = [
        format!(r"{start}(?:sk|pk|rk)-(?P<sk>[A-Za-z0-9_-]{{8,}})"),
        r"(?:hf|jina|api_org)_(?P<hf>[A-Za-z0-9_-]{8,})".to_owned(),
        r"pplx-(?P<pplx>[A-Za-z0-9_-]{8,})".to_owned(),
        r"AIza[A-Za-z0-9_-]{16,}".to_owned(),
        format!(r"{start}(?i:bearer)(?:\s|\\[nrt])+(?P<bearer>[A-Za-z0-9._~+/=-]{{8,}})"),
        r"gh[pousr]_[A-Za-z0-9]{16,}".to_owned(),
        r"github_pat_[A-Za-z0-9_]{16,}".to_owned(),
        format!(r"{start}(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{{12,}}\b"),
        r#"(?i:aws_(?:secret_access_key|session_token))[\\"']*\s*[:=]\s*[\\"']*[A-Za-z0-9/+=]{16,}"#
            .to_owned(),
        r"xox[abeprs]-[A-Za-z0-9-]{10,}".to_owned(),
    ];
    Regex::new(&shapes.join("|")).expect("the patterns are constant")
});

/// A token truncated to this many bytes, or a few fewer, still has its shape.
const HALF: usize = 80;

/// Every shape contains a match of this. Most texts have none, and checking that is a hundred times faster.
pub(super) static MARKS: LazyLock<Regex> = LazyLock::new(|| {
    let marks = "[spr]k-|hf_|jina_|api_org_|pplx-|AIza|[bB][eE][aA][rR][eE][rR]|gh[pousr]_|github_pat_|\
                 AKIA|ASIA|AROA|AIDA|(?i-u:aws_)|xox[abeprs]-";
    Regex::new(marks).expect("the pattern is constant")
});

/// Where a token may begin at the end of a truncated text, with too little left to match its shape.
pub(crate) fn half_token(text: &str) -> Option<usize> {
    let start = text.ceil_char_boundary(text.len().saturating_sub(HALF));
    MARKS.find(&text[start..]).map(|mark| start + mark.start())
}

/// Whether a candidate is a token rather than words: `sk-learn-estimators` is the name of a library.
pub(super) fn is_random(candidate: &str) -> bool {
    candidate
        .split(['-', '_', '.'])
        .any(|part| part.len() >= 20)
        || candidate.bytes().any(|byte| byte.is_ascii_digit())
}
