//! Rust code as words, signs and texts, without comments and what is for tests alone.

/// What code is made of, as far as its rules are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// `::`
    Path,
    Sign(char),
    /// A text or a character, as it stands there; of a lifetime, its quote.
    Text(String),
}

/// The tokens of a file, less the items behind `#[cfg(test)]` and all attributes.
pub(super) fn production_code(text: &str) -> Vec<Token> {
    let tokens = tokens(text);
    let mut code = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_attribute = tokens[at] == Token::Sign('#')
            && matches!(tokens.get(at + 1), Some(Token::Sign('[' | '!')));
        if !is_attribute {
            code.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = closing(&tokens, at, '[', ']');
        at = if is_for_tests(&tokens[at..end]) {
            past_item(&tokens, end)
        } else {
            end
        };
    }
    code
}

/// `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_for_tests(attribute: &[Token]) -> bool {
    let words = attribute.iter().filter_map(|token| match token {
        Token::Word(word) => Some(word.as_str()),
        _ => None,
    });
    let words: Vec<_> = words.collect();
    words.starts_with(&["cfg", "test"]) || words.starts_with(&["cfg", "all", "test"])
}

/// Behind the item that begins at a place: its `;` or its block.
fn past_item(tokens: &[Token], from: usize) -> usize {
    let mut at = from;
    while at < tokens.len() {
        match tokens[at] {
            Token::Sign(';') => return at + 1,
            Token::Sign('{') => return closing(tokens, at, '{', '}'),
            Token::Sign('[') => at = closing(tokens, at, '[', ']'),
            _ => at += 1,
        }
    }
    at
}

/// Behind the bracket that closes the first one from a place on.
fn closing(tokens: &[Token], from: usize, open: char, close: char) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::Sign(sign) if *sign == open => depth += 1,
            Token::Sign(sign) if *sign == close => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            tokens.push(Token::Text(rest[..length].to_owned()));
            length
        } else if first.is_alphabetic() || first == '_' {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            end
        } else if rest.starts_with("::") {
            tokens.push(Token::Path);
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of the text, character or lifetime that begins here.
fn literal(rest: &str) -> Option<usize> {
    let bare = rest.trim_start_matches(['b', 'c']);
    let prefix = rest.len() - bare.len();
    if let Some(raw) = bare.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let body = raw[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = body.find(&end).map_or(body.len(), |at| at + end.len());
        return Some(prefix + 1 + hashes + 1 + length);
    }
    if let Some(body) = bare.strip_prefix('"').filter(|_| prefix < 2) {
        return Some(prefix + 1 + end_of(body, '"'));
    }
    let body = bare.strip_prefix('\'').filter(|_| prefix < 2)?;
    let mut chars = body.chars();
    let is_character = match (chars.next()?, chars.next()) {
        ('\\', _) => true,
        (_, next) => next == Some('\''),
    };
    // A lifetime: its word is left to be read, and does no harm.
    Some(prefix + 1 + if is_character { end_of(body, '\'') } else { 0 })
}

/// Behind the quote that ends a text with escapes.
fn end_of(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    body.len()
}

#[test]
fn code_is_read_without_what_is_for_tests() {
    let text = r##"
        // use crate::comment::A;
        use crate::{a::B, c};
        #[cfg(test)]
        mod tests { use crate::left_out::C; fn f() -> char { '}' } }
        const T: &str = r#"use crate::text::D;"#;
        fn g<'a>(x: &'a str) { super::e(b'"', x) }
    "##;
    let words: Vec<_> = production_code(text)
        .into_iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some(word),
            _ => None,
        })
        .collect();
    let words = words.join(" ");
    assert_eq!(
        words,
        "use crate a B c const T str fn g a x a str super e x"
    );
}
